//! `TOPK.*`: the most frequent items of a stream, by HeavyKeeper in the layout of RedisBloom.
//!
//! RedisBloom draws random numbers, so that its replicas differ from their primary. Here they follow from the number of
//! inserts, which is stored with the list.

use std::ffi::CStr;
use std::io::{self, Read, Write};

use pds_formats::redis::{RdbVersion, RedisTopK};

use crate::arguments::{double, integer, unsigned};
use crate::chunks::{self, Chunked};
use crate::foreign::Recorder;
use crate::quality::{Described, Description, Quality};
use crate::record::{self, Streamed};
use crate::server::{Call, Command, Failure, Outcome, TypeName, command};

/// All commands, with the replies and errors of RedisBloom.
pub(crate) static COMMANDS: &[Command] = &[
    command!(
        "topk.reserve",
        Writes,
        First,
        -3,
        reserve,
        "Creates a list of the most frequent items"
    ),
    command!(
        "topk.add",
        Writes,
        First,
        -3,
        add,
        "Counts items, and returns those that left the list"
    ),
    command!("topk.incrby", Writes, First, -4, increment, "Adds to the counts of items"),
    command!("topk.query", Scans, First, -3, query, "Tests whether items are in the list"),
    command!("topk.count", Scans, First, -3, count, "Returns the counts of items"),
    command!("topk.list", Scans, First, -2, list, "Returns the list, the most frequent item first"),
    command!("topk.info", Reads, First, 2, info, "Returns what a list was created with"),
    command!(
        "topk.scandump",
        Scans,
        First,
        3,
        chunks::scan_dump::<TopK>,
        "Returns a list in chunks"
    ),
    command!(
        "topk.loadchunk",
        Writes,
        First,
        4,
        chunks::load_chunk::<TopK>,
        "Restores a list from its chunks"
    ),
];

const NOT_FOUND: &str = "TopK: key does not exist";

const NO_MEMORY: &str = "ERR Insufficient memory to create topk data structure";

const WRONG_WEIGHT: &str =
    "TopK: increment must be an integer greater or equal to 0 and smaller or equal to 100,000";

/// The greatest weight of one item in `TOPK.INCRBY`.
const MAX_WEIGHT: i64 = 100_000;

/// A list under a key.
#[derive(Clone, Debug)]
pub(crate) struct TopK {
    list: RedisTopK,
    /// The number of inserts, from which the random numbers follow. `None` as long as nothing was inserted into a list of
    /// RedisBloom. Its snapshots have no such number, so that replicas would differ.
    inserts: Option<u64>,
}

/// Ours, and that of RedisBloom, whose snapshots the module reads and writes.
static TYPES: [TypeName; 2] = [TypeName::new("pds-top-k", 0), TypeName::new("TopK-TYPE", 0)];

/// The number of the layout in the stream.
const HEAVY_KEEPER: u8 = 1;

impl Streamed for TopK {
    fn write_stream<W: Write>(&self, out: W) -> io::Result<()> {
        let bytes = self.list.to_dump(RdbVersion::default());
        match self.inserts {
            Some(inserts) => record::write_bytes(out, HEAVY_KEEPER, &[inserts], &bytes),
            None => record::write_bytes(out, HEAVY_KEEPER, &[], &bytes),
        }
    }

    fn read_stream<R: Read>(mut input: R) -> Result<Self, String> {
        let (layout, numbers) = record::read_head(&mut input)?;
        let (inserts, length, sum) = match (layout, numbers.as_slice()) {
            (HEAVY_KEEPER, &[inserts, length, sum]) => (Some(inserts), length, sum),
            (HEAVY_KEEPER, &[length, sum]) => (None, length, sum),
            _ => return Err("an unknown layout of a top-k list".into()),
        };
        let bytes = record::read_bytes(input, length, sum)?;
        let list = RedisTopK::from_dump(&bytes).map_err(|error| error.to_string())?;
        Ok(Self { list, inserts })
    }
}

impl Chunked for TopK {
    const FAMILY: u64 = 4;
    const LOADER: &'static CStr = c"TOPK.LOADCHUNK";

    fn type_names() -> &'static [TypeName] {
        &TYPES
    }

    fn copy(&self) -> Option<Self> {
        Some(self.clone())
    }

    fn is_foreign(&self) -> bool {
        self.inserts.is_none()
    }

    fn payload(&self) -> Option<Vec<u8>> {
        self.is_foreign().then(|| self.list.to_dump(RdbVersion::default()))
    }

    fn read_foreign(mut fields: Recorder<'_, '_>) -> Result<Self, String> {
        let k = fields.unsigned()?;
        fields.unsigned()?;
        fields.unsigned()?;
        fields.double()?;
        // The buckets, the heap, and the items.
        for _ in 0..k.saturating_add(2) {
            fields.bytes()?;
        }
        let list = RedisTopK::from_dump(&fields.end()).map_err(|error| error.to_string())?;
        Ok(Self { list, inserts: None })
    }
}

impl Described for TopK {
    fn describe(&self) -> Description {
        let items = self.list.list().len() as u64;
        let quality = Quality { promised: None, now: 0.0, health: "unknown" };
        Description { layout: "HeavyKeeper, as RedisBloom", items, measure: "none", quality }
    }
}

impl TopK {
    /// Counts an item, and replies with the one that left the list for it. Without a weight it replies with an error.
    fn answer(&mut self, call: &Call<'_>, item: &[u8], weight: Option<u32>) {
        let Some(weight) = weight else { return call.error(WRONG_WEIGHT) };
        let inserts = self.inserts.unwrap_or(0).wrapping_add(1);
        self.inserts = Some(inserts);
        self.list.set_seed(inserts);
        match self.list.insert(item, weight) {
            Some(displaced) => call.bytes(&displaced),
            None => call.null(),
        }
    }
}

fn reserve(call: &mut Call<'_>) -> Outcome {
    if call.len() != 3 && call.len() != 6 {
        return Err(Failure::Arity);
    }
    let positive = |place: usize| {
        let number = unsigned(call.argument(place)).and_then(|number| u32::try_from(number).ok());
        number.filter(|&number| number > 0)
    };
    let k = positive(2).ok_or("TopK: invalid k")?;
    let (mut width, mut depth, mut decay) = (8, 7, 0.9);
    if call.len() == 6 {
        width = positive(3).ok_or("TopK: invalid width")?;
        depth = positive(4).ok_or("TopK: invalid depth")?;
        decay = double(call.argument(5))
            .filter(|&decay| decay > 0.0 && decay <= 1.0)
            .ok_or("TopK: invalid decay value. must be '<= 1' & '> 0'")?;
    }
    // A key of another type counts as one that is there, as in RedisBloom.
    let mut key = call.write::<TopK>(1).map_err(|_| "TopK: key already exists")?;
    if key.value().is_some() {
        return Err("TopK: key already exists".into());
    }
    let build =
        || RedisTopK::reserve(k, width, depth, decay).map(|list| TopK { list, inserts: Some(0) });
    call.within_limits(0, || key.put(build)).map_err(|_| NO_MEMORY)?;
    call.ok();
    call.changed(1, c"topk.reserve");
    Ok(())
}

fn add(call: &mut Call<'_>) -> Outcome {
    if call.len() < 3 {
        return Err(Failure::Arity);
    }
    add_each(call, 1, |_| Some(1), c"topk.add")
}

fn increment(call: &mut Call<'_>) -> Outcome {
    if call.len() < 4 || call.len() % 2 == 1 {
        return Err(Failure::Arity);
    }
    let weight_of = |place: usize| {
        let weight =
            integer(call.argument(place + 1)).filter(|weight| (0..=MAX_WEIGHT).contains(weight));
        weight.and_then(|weight| u32::try_from(weight).ok())
    };
    add_each(call, 2, weight_of, c"topk.incrby")
}

/// Counts the items from the second argument on, every so many arguments, with the weights of their places, of which some
/// may be wrong.
fn add_each(
    call: &Call<'_>,
    step: usize,
    weight_of: impl Fn(usize) -> Option<u32>,
    event: &std::ffi::CStr,
) -> Outcome {
    let mut key = call.write::<TopK>(1)?;
    let list = key.value().ok_or(NOT_FOUND)?;
    let places = || (2..call.len()).step_by(step);
    let is_changed = places().any(|place| weight_of(place).is_some());
    let becomes_ours = list.inserts.is_none() && is_changed;
    // The list may take all of the items, and gives back those that leave it afterwards.
    let items: u64 = places().map(|place| call.argument(place).len() as u64).sum();
    let has = key.bytes() as u64;
    if !call.has_room(has + items, items + if becomes_ours { has } else { 0 }) {
        return Err(NO_MEMORY.into());
    }
    if becomes_ours {
        // From its first insert on, a list of RedisBloom is one of ours.
        let list = list.list.clone();
        key.put(|| Ok::<_, Failure>(TopK { list, inserts: Some(0) }))?;
    }
    call.list(places().len());
    // Items that leave the list are freed where they were counted.
    key.change(|list| {
        places().for_each(|place| list.answer(call, call.argument(place), weight_of(place)));
    });
    if is_changed {
        call.changed(1, event);
    }
    Ok(())
}

fn query(call: &mut Call<'_>) -> Outcome {
    if call.len() < 3 {
        return Err(Failure::Arity);
    }
    let list = call.read::<TopK>(1)?.ok_or(NOT_FOUND)?;
    let items = call.arguments_from(2);
    call.list(items.len());
    items.for_each(|item| call.bool(list.list.contains(item)));
    Ok(())
}

fn count(call: &mut Call<'_>) -> Outcome {
    if call.len() < 3 {
        return Err(Failure::Arity);
    }
    let list = call.read::<TopK>(1)?.ok_or(NOT_FOUND)?;
    let items = call.arguments_from(2);
    call.list(items.len());
    items.for_each(|item| call.count(list.list.estimate(item).into()));
    Ok(())
}

fn list(call: &mut Call<'_>) -> Outcome {
    if !(2..=3).contains(&call.len()) {
        return Err(Failure::Arity);
    }
    let with_count = call.len() == 3;
    if with_count && !call.is_word(2, "WITHCOUNT") {
        return Err("WITHCOUNT keyword expected".into());
    }
    let list = call.read::<TopK>(1)?.ok_or(NOT_FOUND)?;
    let items = list.list.list();
    call.list(if with_count { 2 * items.len() } else { items.len() });
    for (item, count) in items {
        call.bytes(item);
        if with_count {
            call.count(count.into());
        }
    }
    Ok(())
}

fn info(call: &mut Call<'_>) -> Outcome {
    if call.len() != 2 {
        return Err(Failure::Arity);
    }
    let list = call.read::<TopK>(1)?.ok_or(NOT_FOUND)?;
    call.map(4);
    call.simple("k");
    call.count(list.list.k() as u64);
    call.simple("width");
    call.count(list.list.width().into());
    call.simple("depth");
    call.count(list.list.depth().into());
    call.simple("decay");
    call.double(list.list.decay());
    Ok(())
}
