//! `CMS.*`: count-min sketches with counters of 32 bits.

use std::io::{self, Read, Write};

use cms::internal::sketch_of;
use cms::{CountMinParams, CountMinSketch};
use pds_core::error::AllocError;
use pds_core::hash::{DefaultHashBuilder, KeyHasher as _, Raw};

use crate::arguments::{double, integer, unsigned};
use crate::chunks::{self, Chunked};
use crate::quality::{Described, Description, Quality};
use crate::record::{self, ANY_LENGTH, Streamed};
use crate::server::{
    Call, Command, Digest, Failure, Load, Outcome, Rewrite, Save, TypeName, Value, Writing, command,
};

/// All commands, with the replies and errors of RedisBloom.
pub(crate) static COMMANDS: &[Command] = &[
    command!(
        "cms.initbydim",
        Writes,
        First,
        4,
        init_by_dimensions,
        "Creates a sketch of this width and depth"
    ),
    command!(
        "cms.initbyprob",
        Writes,
        First,
        4,
        init_by_probability,
        "Creates a sketch of this error and probability"
    ),
    command!("cms.incrby", Writes, First, -4, increment, "Adds to the counts of items"),
    command!("cms.query", Reads, First, -3, query, "Returns the counts of items"),
    command!(
        "cms.merge",
        Writes,
        FirstAndCounted,
        -4,
        merge,
        "Replaces a sketch by a weighted sum of others"
    ),
    command!(
        "cms.scandump",
        Scans,
        First,
        3,
        chunks::scan_dump::<CountMin>,
        "Returns a sketch in chunks"
    ),
    command!(
        "cms.loadchunk",
        Writes,
        First,
        4,
        chunks::load_chunk::<CountMin>,
        "Restores a sketch from its chunks"
    ),
    command!("cms.info", Reads, First, 2, info, "Returns width, depth and total of a sketch"),
];

const NOT_FOUND: &str = "CMS: key does not exist";

/// A sketch under a key.
#[derive(Debug)]
pub(crate) struct CountMin(CountMinSketch);

static TYPES: [TypeName; 1] = [TypeName::new("pds-cmske", 0)];

/// The number of the layout in the stream.
const PLAIN: u8 = 1;

impl Streamed for CountMin {
    fn write_stream<W: Write>(&self, mut out: W) -> io::Result<()> {
        record::write_head(&mut out, PLAIN, &[])?;
        ANY_LENGTH.write_to(&self.0, out)
    }

    fn read_stream<R: Read>(mut input: R) -> Result<Self, String> {
        let (PLAIN, _) = record::read_head(&mut input)? else {
            return Err("an unknown layout of a count-min sketch".into());
        };
        ANY_LENGTH.read_from(input).map(Self).map_err(|error| error.to_string())
    }
}

impl Value for CountMin {
    fn types() -> &'static [TypeName] {
        &TYPES
    }

    fn save(&self, file: &mut Save<'_>) {
        record::save(self, file);
    }

    fn load(file: &mut Load<'_>, _: usize) -> Result<Self, String> {
        record::load(file)
    }

    fn rewrite(&self, file: &mut Rewrite<'_>) {
        chunks::rewrite(self, file);
    }

    fn digest(&self, digest: &mut Digest<'_>) {
        record::digest(self, digest);
    }

    fn copied(&self) -> Option<Self> {
        self.0.try_clone().ok().map(Self)
    }
}

impl Chunked for CountMin {
    const FAMILY: u64 = 3;
}

/// Builds a sketch under a key that is empty.
fn create(call: &Call<'_>, params: CountMinParams) -> Outcome {
    // A key of another type counts as one that is there, as in RedisBloom.
    let mut key = call.write::<CountMin>(1).map_err(|_| "CMS: key already exists")?;
    if key.value().is_some() {
        return Err("CMS: key already exists".into());
    }
    let build =
        || CountMinSketch::from_params(params, DefaultHashBuilder::with_seed(0)).map(CountMin);
    call.within_limits(0, || key.put(build))
        .map_err(|_| "CMS: Insufficient memory to create the key")?;
    call.ok();
    call.changed(1, c"cms.init");
    Ok(())
}

fn init_by_dimensions(call: &mut Call<'_>) -> Outcome {
    if call.len() != 4 {
        return Err(Failure::Arity);
    }
    let positive = |place| unsigned(call.argument(place)).filter(|&number| number > 0);
    let width = positive(2).ok_or("CMS: invalid width")?;
    let depth = positive(3).ok_or("CMS: invalid depth")?;
    create(call, shape(width, depth)?)
}

fn shape(width: u64, depth: u64) -> Result<CountMinParams, Failure> {
    let depth = u32::try_from(depth).map_err(|_| "CMS: invalid init arguments")?;
    CountMinParams::from_width_and_depth(width, depth)
        .map_err(|_| "CMS: invalid init arguments".into())
}

fn init_by_probability(call: &mut Call<'_>) -> Outcome {
    if call.len() != 4 {
        return Err(Failure::Arity);
    }
    let fraction =
        |place| double(call.argument(place)).filter(|&number| number > 0.0 && number < 1.0);
    let error = fraction(2).ok_or("CMS: invalid overestimation value")?;
    let probability = fraction(3).ok_or("CMS: invalid prob value")?;
    // The shape of RedisBloom: by Markov's inequality, an estimate is above the truth by more than 2 / width with a
    // probability of 1 / 2 in each row.
    let (width, depth) = ((2.0 / error).ceil(), (probability.ln() / 0.5_f64.ln()).ceil());
    if width >= 2f64.powi(63) {
        return Err("CMS: invalid init arguments".into());
    }
    #[expect(clippy::cast_possible_truncation, reason = "whole numbers below 2^63")]
    #[expect(clippy::cast_sign_loss, reason = "neither is negative")]
    create(call, shape(width as u64, depth as u64)?)
}

fn increment(call: &mut Call<'_>) -> Outcome {
    if call.len() < 4 || call.len() % 2 == 1 {
        return Err(Failure::Arity);
    }
    let mut key = call.write::<CountMin>(1)?;
    if key.value().is_none() {
        return Err(NOT_FOUND.into());
    }
    // All are read before the first is added, so that an error changes nothing.
    let weight_of = |place: usize| -> Result<u64, &'static str> {
        let weight = integer(call.argument(place)).ok_or("CMS: Cannot parse number")?;
        u64::try_from(weight).map_err(|_| "CMS: Number cannot be negative")
    };
    let places = || (2..call.len()).step_by(2);
    places().try_for_each(|place| weight_of(place + 1).map(drop))?;
    call.list(places().len());
    key.change(|sketch| {
        for place in places() {
            let hash = sketch.0.hash_key(&Raw(call.argument(place)));
            let count = sketch.0.insert_many_hash(hash, weight_of(place + 1).unwrap_or(0));
            if count.is_saturated() {
                call.error("CMS: INCRBY overflow");
            } else {
                call.count(count.into());
            }
        }
    });
    call.changed(1, c"cms.incrby");
    Ok(())
}

fn query(call: &mut Call<'_>) -> Outcome {
    if call.len() < 3 {
        return Err(Failure::Arity);
    }
    let sketch = call.read::<CountMin>(1)?.ok_or(NOT_FOUND)?;
    let items = call.arguments_from(2);
    call.list(items.len());
    for item in items {
        call.count(sketch.0.estimate_hash(sketch.0.hash_key(&Raw(item))).into());
    }
    Ok(())
}

fn merge(call: &mut Call<'_>) -> Outcome {
    if call.tells_keys() {
        return Ok(());
    }
    if call.len() < 4 {
        return Err(Failure::Arity);
    }
    let count = integer(call.argument(2)).ok_or("CMS: invalid numkeys")?;
    let count = usize::try_from(count).ok().filter(|&count| count > 0);
    let count = count.ok_or("CMS: Number of keys must be positive")?;
    let (sources, end) = (3, call.len());
    let has_weights = end > sources + count;
    let expected = if has_weights { sources + 2 * count + 1 } else { sources + count };
    if count > end {
        return Err("CMS: wrong number of keys".into());
    }
    if has_weights && !call.is_word(sources + count, "WEIGHTS") {
        return Err("CMS: wrong number of keys".into());
    }
    if end != expected {
        return Err(if has_weights {
            "CMS: wrong number of keys/weights"
        } else {
            "CMS: wrong number of keys"
        }
        .into());
    }
    let mut weights = vec![1; count];
    for (place, weight) in (sources + count + 1..end).zip(&mut weights) {
        *weight = integer(call.argument(place)).ok_or("CMS: invalid weight value")?;
    }
    let merged = {
        let target = call.read::<CountMin>(1)?.ok_or(NOT_FOUND)?;
        let mut terms = Vec::with_capacity(count);
        for (place, weight) in (sources..).zip(weights) {
            let source = call.read::<CountMin>(place)?.ok_or(NOT_FOUND)?;
            if source.0.width() != target.0.width() || source.0.depth() != target.0.depth() {
                return Err("CMS: width/depth is not equal".into());
            }
            terms.push((source, weight));
        }
        let terms: Vec<(&CountMinSketch, i64)> =
            terms.iter().map(|(source, weight)| (&source.0, *weight)).collect();
        Sum::of(&terms).ok_or("CMS: MERGE overflow")?
    };
    let mut key: Writing<'_, CountMin> = call.write(1)?;
    call.within_limits(0, || key.put(|| merged.sketch().map(CountMin)))
        .map_err(|_: AllocError| "CMS: Insufficient memory to merge")?;
    call.ok();
    call.changed(1, c"cms.merge");
    Ok(())
}

/// A weighted sum of sketches.
struct Sum {
    counters: Vec<u32>,
    total: u64,
    params: CountMinParams,
}

impl Sum {
    /// Adds sketches of one shape, each times its weight. `None` if a counter or the total ends out of range.
    fn of(terms: &[(&CountMinSketch, i64)]) -> Option<Self> {
        let params = terms.first()?.0.params();
        let len = terms.first()?.0.counters().len();
        let mut counters = Vec::new();
        counters.try_reserve_exact(len).ok()?;
        for cell in 0..len {
            let sum = terms
                .iter()
                .map(|(sketch, weight)| i128::from(sketch.counters()[cell]) * i128::from(*weight));
            counters.push(u32::try_from(sum.sum::<i128>()).ok()?);
        }
        let total =
            terms.iter().map(|(sketch, weight)| i128::from(sketch.total()) * i128::from(*weight));
        let total = i64::try_from(total.sum::<i128>()).ok()?.try_into().ok()?;
        // Counters that saturated lack what the total has. Taken away from others, they may leave too much.
        let width = usize::try_from(params.width()).ok()?;
        let sum = |row: &[u32]| row.iter().map(|&counter| u128::from(counter)).sum::<u128>();
        if counters.chunks(width).any(|row| sum(row) > u128::from(total)) {
            return None;
        }
        Some(Self { counters, total, params })
    }

    fn sketch(&self) -> Result<CountMinSketch, AllocError> {
        sketch_of(self.params, DefaultHashBuilder::with_seed(0), &self.counters, self.total)
    }
}

fn info(call: &mut Call<'_>) -> Outcome {
    if call.len() != 2 {
        return Err(Failure::Arity);
    }
    let sketch = call.read::<CountMin>(1)?.ok_or(NOT_FOUND)?;
    let fields = [
        ("width", sketch.0.width()),
        ("depth", sketch.0.depth().into()),
        ("count", sketch.0.total()),
    ];
    call.map(fields.len());
    for (name, number) in fields {
        call.simple(name);
        call.count(number);
    }
    Ok(())
}

impl Described for CountMin {
    fn describe(&self) -> Description {
        // The bound on the error is the error that is promised, for every total.
        let epsilon = self.0.params().epsilon();
        let measure = "error as a share of the total";
        let quality = Quality::kept(epsilon, epsilon);
        Description { layout: "count-min sketch", items: self.0.total(), measure, quality }
    }
}
