//! `CMS.*`: count-min sketches with counters of 32 bits.

use std::ffi::CStr;
use std::io::{self, Read, Write};

use cms::internal::sketch_of;
use cms::{CountMinParams, CountMinSketch};
use pds_core::hash::{DefaultHashBuilder, KeyHasher as _, Raw};
use pds_formats::redis::{RdbVersion, RedisCountMinSketch};

use crate::arguments::{double, integer, unsigned};
use crate::chunks::{self, Chunked};
use crate::foreign::Recorder;
use crate::quality::{Described, Description, Quality};
use crate::record::{self, ANY_LENGTH, Streamed};
use crate::server::{Call, Command, Failure, Outcome, TypeName, Writing, command};

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
const NO_MEMORY: &str = "CMS: Insufficient memory to create the key";

/// A sketch under a key.
#[derive(Debug)]
pub(crate) enum CountMin {
    /// Ours.
    Ours(CountMinSketch),
    /// A sketch of RedisBloom.
    Redis(RedisCountMinSketch),
}

/// Ours, and that of RedisBloom, whose snapshots the module reads and writes.
static TYPES: [TypeName; 2] = [TypeName::new("pds-cmske", 0), TypeName::new("CMSk-TYPE", 0)];

/// The numbers of the layouts in the stream.
const PLAIN: u8 = 1;
const REDIS_BLOOM: u8 = 2;

impl Streamed for CountMin {
    fn write_stream<W: Write>(&self, mut out: W) -> io::Result<()> {
        match self {
            Self::Ours(sketch) => {
                record::write_head(&mut out, PLAIN, &[])?;
                ANY_LENGTH.write_to(sketch, out)
            }
            Self::Redis(sketch) => {
                record::write_bytes(out, REDIS_BLOOM, &[], &sketch.to_dump(RdbVersion::default()))
            }
        }
    }

    fn read_stream<R: Read>(mut input: R) -> Result<Self, String> {
        let (layout, numbers) = record::read_head(&mut input)?;
        match (layout, numbers.as_slice()) {
            (PLAIN, []) => {
                ANY_LENGTH.read_from(input).map(Self::Ours).map_err(|error| error.to_string())
            }
            (REDIS_BLOOM, &[length, sum]) => {
                let bytes = record::read_bytes(input, length, sum)?;
                let sketch = RedisCountMinSketch::from_dump(&bytes);
                sketch.map(Self::Redis).map_err(|error| error.to_string())
            }
            _ => Err("an unknown layout of a count-min sketch".into()),
        }
    }
}

impl CountMin {
    /// Adds to the count of an item. Returns the new count, and whether it is at its limit.
    fn add(&mut self, item: &[u8], weight: u64) -> (u64, bool) {
        match self {
            Self::Ours(sketch) => {
                let count = sketch.insert_many_hash(sketch.hash_key(&Raw(item)), weight);
                (count.into(), count.is_saturated())
            }
            Self::Redis(sketch) => {
                let count = sketch.insert(item, u32::try_from(weight).unwrap_or(u32::MAX));
                (count.into(), count == u32::MAX)
            }
        }
    }

    fn estimate(&self, item: &[u8]) -> u64 {
        match self {
            Self::Ours(sketch) => sketch.estimate_hash(sketch.hash_key(&Raw(item))).into(),
            Self::Redis(sketch) => sketch.estimate(item).into(),
        }
    }

    /// Returns width, depth and total.
    fn numbers(&self) -> [u64; 3] {
        match self {
            Self::Ours(sketch) => [sketch.width(), sketch.depth().into(), sketch.total()],
            Self::Redis(sketch) => [sketch.width().into(), sketch.depth().into(), sketch.total()],
        }
    }
}

impl Chunked for CountMin {
    const FAMILY: u64 = 3;
    const LOADER: &'static CStr = c"CMS.LOADCHUNK";

    fn type_names() -> &'static [TypeName] {
        &TYPES
    }

    fn copy(&self) -> Option<Self> {
        match self {
            Self::Ours(sketch) => sketch.try_clone().ok().map(Self::Ours),
            Self::Redis(sketch) => Some(Self::Redis(sketch.clone())),
        }
    }

    fn is_foreign(&self) -> bool {
        matches!(self, Self::Redis(_))
    }

    fn payload(&self) -> Option<Vec<u8>> {
        let Self::Redis(sketch) = self else { return None };
        Some(sketch.to_dump(RdbVersion::default()))
    }

    fn read_foreign(mut fields: Recorder<'_, '_>) -> Result<Self, String> {
        for _ in 0..3 {
            fields.unsigned()?;
        }
        fields.bytes()?;
        let sketch = RedisCountMinSketch::from_dump(&fields.end());
        sketch.map(Self::Redis).map_err(|error| error.to_string())
    }
}

/// Opens a key that has to be empty, before other arguments are looked at.
fn empty_key<'a>(call: &'a Call<'_>) -> Result<Writing<'a, CountMin>, Failure> {
    // A key of another type counts as one that is there, as in RedisBloom.
    let key = call.write::<CountMin>(1).map_err(|_| "CMS: key already exists")?;
    if key.value().is_some() { Err("CMS: key already exists".into()) } else { Ok(key) }
}

/// Builds a sketch under a key that is empty.
fn create(call: &Call<'_>, mut key: Writing<'_, CountMin>, params: CountMinParams) -> Outcome {
    let build = || {
        CountMinSketch::from_params(params, DefaultHashBuilder::with_seed(0)).map(CountMin::Ours)
    };
    call.within_limits(0, || key.put(build)).map_err(|_| NO_MEMORY)?;
    call.ok();
    call.changed(1, c"cms.init");
    Ok(())
}

fn init_by_dimensions(call: &mut Call<'_>) -> Outcome {
    if call.len() != 4 {
        return Err(Failure::Arity);
    }
    let key = empty_key(call)?;
    let positive = |place| unsigned(call.argument(place)).filter(|&number| number > 0);
    let width = positive(2).ok_or("CMS: invalid width")?;
    let depth = positive(3).ok_or("CMS: invalid depth")?;
    create(call, key, shape(width, depth)?)
}

fn shape(width: u64, depth: u64) -> Result<CountMinParams, Failure> {
    let depth = u32::try_from(depth).map_err(|_| NO_MEMORY)?;
    CountMinParams::from_width_and_depth(width, depth).map_err(|_| NO_MEMORY.into())
}

fn init_by_probability(call: &mut Call<'_>) -> Outcome {
    if call.len() != 4 {
        return Err(Failure::Arity);
    }
    let key = empty_key(call)?;
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
    create(call, key, shape(width as u64, depth as u64)?)
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
            let weight = weight_of(place + 1).unwrap_or(0);
            match sketch.add(call.argument(place), weight) {
                (_, true) => call.error("CMS: INCRBY overflow"),
                (count, false) => call.count(count),
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
        call.count(sketch.estimate(item));
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
    if count > end {
        return Err("CMS: wrong number of keys".into());
    }
    match (sources..end).find(|&place| call.is_word(place, "WEIGHTS")) {
        Some(at) if at != sources + count || end != sources + 2 * count + 1 => {
            return Err("CMS: wrong number of keys/weights".into());
        }
        None if end != sources + count => return Err("CMS: wrong number of keys".into()),
        _ => {}
    }
    let mut weights = vec![1; count];
    for (place, weight) in (sources + count + 1..end).zip(&mut weights) {
        *weight = integer(call.argument(place)).ok_or("CMS: invalid weight value")?;
    }
    let mut key: Writing<'_, CountMin> = call.write(1)?;
    key.put(|| merged(call, sources, &weights))?;
    call.ok();
    call.changed(1, c"cms.merge");
    Ok(())
}

/// Returns the weighted sum of the sketches under the keys from a place on.
fn merged(call: &Call<'_>, first: usize, weights: &[i64]) -> Result<CountMin, Failure> {
    let target = call.read::<CountMin>(1)?.ok_or(NOT_FOUND)?;
    let mut sources = Vec::with_capacity(weights.len());
    for place in first..first + weights.len() {
        let source = call.read::<CountMin>(place)?.ok_or(NOT_FOUND)?;
        if source.numbers()[..2] != target.numbers()[..2] {
            return Err("CMS: width/depth is not equal".into());
        }
        sources.push(source);
    }
    // The counters of the sum, and the sketch that is made of them.
    let bytes = target.bytes() as u64;
    if !call.has_room(bytes, 2 * bytes) {
        return Err(NO_MEMORY.into());
    }
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for (source, &weight) in sources.iter().zip(weights) {
        match &**source {
            CountMin::Ours(sketch) => ours.push((sketch, weight)),
            CountMin::Redis(sketch) => theirs.push((sketch, weight)),
        }
    }
    match (&*target, theirs.is_empty(), ours.is_empty()) {
        (CountMin::Ours(_), true, _) => {
            Ok(CountMin::Ours(Sum::of(&ours).ok_or("CMS: MERGE overflow")?.sketch()?))
        }
        (CountMin::Redis(target), _, true) => merged_foreign(target, &theirs).map(CountMin::Redis),
        _ => Err("CMS: sketches of RedisBloom cannot be merged with others".into()),
    }
}

/// Returns the weighted sum of sketches of RedisBloom.
fn merged_foreign(
    target: &RedisCountMinSketch,
    terms: &[(&RedisCountMinSketch, i64)],
) -> Result<RedisCountMinSketch, Failure> {
    let sum = RedisCountMinSketch::with_size(target.width(), target.depth());
    let mut sum = sum.map_err(|_| NO_MEMORY)?;
    for (sketch, weight) in terms {
        let weight = u32::try_from(*weight);
        let weight = weight
            .map_err(|_| "CMS: weights of sketches of RedisBloom are from 0 to 4294967295")?;
        sum.merge(sketch, weight).map_err(|_| "CMS: width/depth is not equal")?;
    }
    Ok(sum)
}

/// Cells that are added together in a merge.
const BLOCK: usize = 1 << 10;

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
        // Cells are added block by block, so that each sketch is read in the order of its memory.
        for first in (0..len).step_by(BLOCK) {
            let cells = first..len.min(first + BLOCK);
            let mut sums = [0_i128; BLOCK];
            for (sketch, weight) in terms {
                for (sum, &counter) in sums.iter_mut().zip(&sketch.counters()[cells.clone()]) {
                    *sum += i128::from(counter) * i128::from(*weight);
                }
            }
            for &sum in &sums[..cells.len()] {
                counters.push(u32::try_from(sum).ok()?);
            }
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

    fn sketch(&self) -> Result<CountMinSketch, Failure> {
        let hasher = DefaultHashBuilder::with_seed(0);
        sketch_of(self.params, hasher, &self.counters, self.total).map_err(|_| NO_MEMORY.into())
    }
}

fn info(call: &mut Call<'_>) -> Outcome {
    if call.len() != 2 {
        return Err(Failure::Arity);
    }
    let sketch = call.read::<CountMin>(1)?.ok_or(NOT_FOUND)?;
    let [width, depth, total] = sketch.numbers();
    let fields = [("width", width), ("depth", depth), ("count", total)];
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
        let (layout, epsilon) = match self {
            Self::Ours(sketch) => ("count-min sketch", sketch.params().epsilon()),
            Self::Redis(sketch) => ("RedisBloom", 2.0 / f64::from(sketch.width())),
        };
        let (measure, quality) = ("error as a share of the total", Quality::kept(epsilon, epsilon));
        Description { layout, items: self.numbers()[2], measure, quality }
    }
}
