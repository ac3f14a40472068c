//! The commands, with the replies and errors of RedisBloom.

use pds_core::error::MergeError;
use pds_formats::redis::ValkeyBloomFilter;

use super::{Added, Bloom, Design, Kind, Refusal, window};
use crate::arguments::{double, integer, unsigned};
use crate::chunks;
use crate::server::{self, Call, Command, Failure, Outcome, Value as _, Writing, command};

/// All of them.
pub(crate) static COMMANDS: &[Command] = &[
    command!("bf.reserve", Writes, First, -4, reserve, "Creates a Bloom filter"),
    command!(
        "bf.add",
        Writes,
        First,
        3,
        add,
        "Adds an item, and creates the filter if there is none"
    ),
    command!(
        "bf.madd",
        Writes,
        First,
        -3,
        add_many,
        "Adds items, and creates the filter if there is none"
    ),
    command!(
        "bf.insert",
        Writes,
        First,
        -4,
        insert,
        "Adds items, and creates the filter as it is told"
    ),
    command!("bf.exists", Reads, First, 3, exists, "Tests whether an item may be in"),
    command!("bf.mexists", Reads, First, -3, exist, "Tests for each item whether it may be in"),
    command!("bf.card", Scans, First, 2, cardinality, "Returns the number of items that were new"),
    command!(
        "bf.merge",
        Writes,
        FirstAndSources,
        -3,
        merge,
        "Adds the items of filters of the same kind to the first one"
    ),
    command!("bf.load", Writes, First, 3, load, "Restores a filter of valkey-bloom from its bytes"),
    command!(
        "bf.info",
        Scans,
        First,
        -2,
        info,
        "Returns what a filter is made for, and what it holds"
    ),
    command!("bf.debug", Scans, First, 2, debug, "Returns the layers of a filter"),
    command!(
        "bf.scandump",
        Scans,
        First,
        3,
        chunks::scan_dump::<Bloom>,
        "Returns a filter in chunks"
    ),
    command!(
        "bf.loadchunk",
        Writes,
        First,
        4,
        chunks::load_chunk::<Bloom>,
        "Restores a filter from its chunks"
    ),
];

const NOT_FOUND: &str = "ERR not found";
const NO_MEMORY: &str = "ERR Insufficient memory to create filter";

/// Items that are added together. Their hashes are far less than a block that the limits of memory refuse.
const BATCH: usize = 1 << 10;

impl Refusal {
    const fn text(self) -> &'static str {
        match self {
            Self::Full => "ERR non scaling filter is full",
            Self::Layers => "ERR problem inserting into filter",
            Self::Memory => "ERR Insufficient memory to grow filter",
        }
    }
}

impl Design {
    /// The filter that an add creates.
    fn default() -> Self {
        let growth = u32::try_from(server::expansion()).unwrap_or(2);
        Self {
            rate: server::error_rate(),
            capacity: server::initial_size(),
            kind: Kind::Growing(growth),
        }
    }

    /// Tells replicas to create the same filter, whose settings may be others.
    fn replicate(&self, call: &Call<'_>, key: usize) {
        let mut words = vec![self.rate.to_string(), self.capacity.to_string()];
        match self.kind {
            Kind::Growing(growth) => words.extend(["EXPANSION".into(), growth.to_string()]),
            Kind::Fixed => words.push("NONSCALING".into()),
            Kind::LastKeys => words.push("WINDOW".into()),
            Kind::LastTime(time) => words.extend(["WINDOW".into(), time.to_string()]),
        }
        call.replicate("BF.RESERVE", key, &words.iter().map(String::as_bytes).collect::<Vec<_>>());
    }
}

/// Builds a filter under a key that is empty.
fn create(call: &Call<'_>, key: &mut Writing<'_, Bloom>, design: Design) -> Outcome {
    call.within_limits(0, || key.put(|| Bloom::new(design))).map_err(|_| NO_MEMORY.into())
}

/// The reply of `BF.INSERT` to numbers out of range.
const BAD_ARGUMENT: &str = "Bad argument received";

/// Reads a rate. The texts are those for what is no number, and for one out of range.
fn rate_of(bytes: &[u8], bad: &'static str, range: &'static str) -> Result<f64, Failure> {
    let rate = double(bytes).ok_or(bad)?;
    if rate > 0.0 && rate < 1.0 { Ok(rate) } else { Err(range.into()) }
}

/// Reads a capacity.
fn capacity_of(bytes: &[u8], bad: &'static str, range: &'static str) -> Result<u64, Failure> {
    let capacity = u64::try_from(integer(bytes).ok_or(bad)?).unwrap_or(0);
    if capacity > 0 { Ok(capacity) } else { Err(range.into()) }
}

/// Reads a growth.
fn growth_of(bytes: &[u8], bad: &'static str, range: &'static str) -> Result<u32, Failure> {
    let growth = integer(bytes).ok_or(bad)?;
    match growth {
        ..=0 => Err(range.into()),
        growth => {
            u32::try_from(growth).ok().filter(|&growth| growth <= 32_768).ok_or_else(|| bad.into())
        }
    }
}

fn reserve(call: &mut Call<'_>) -> Outcome {
    if !(4..=7).contains(&call.len()) {
        return Err(Failure::Arity);
    }
    let rate = rate_of(call.argument(2), "ERR bad error rate", "ERR (0 < error rate range < 1) ")?;
    let too_small = "ERR (capacity should be larger than 0)";
    let capacity = capacity_of(call.argument(3), "ERR bad capacity", too_small)?;
    let find = |word: &str| (4..call.len()).find(|&place| call.is_word(place, word));
    let (fixed, window) = (find("NONSCALING"), find("WINDOW"));
    let growth = match find("EXPANSION") {
        Some(_) if fixed.is_some() || window.is_some() => {
            return Err("Nonscaling filters cannot expand".into());
        }
        Some(place) if place + 1 == call.len() => return Err("ERR no expansion".into()),
        Some(place) => {
            let range = "ERR expansion should be greater or equal to 1";
            growth_of(call.argument(place + 1), "ERR bad expansion", range)?
        }
        None => u32::try_from(server::expansion()).unwrap_or(2),
    };
    let kind = match (window, fixed) {
        (Some(_), Some(_)) => {
            return Err("ERR a window does not scale: leave NONSCALING out".into());
        }
        (Some(place), _) if place + 1 == call.len() => Kind::LastKeys,
        (Some(place), _) => {
            let time = unsigned(call.argument(place + 1)).filter(|&time| time > 0);
            Kind::LastTime(
                time.ok_or("ERR bad window: expected milliseconds, or nothing for the last items")?,
            )
        }
        (_, Some(_)) => Kind::Fixed,
        _ => Kind::Growing(growth),
    };
    let mut key = call.write::<Bloom>(1)?;
    if key.value().is_some() {
        return Err("ERR item exists".into());
    }
    let design = Design { rate, capacity, kind };
    create(call, &mut key, design)?;
    call.ok();
    design.replicate(call, 1);
    call.notify(1, c"bf.reserve");
    Ok(())
}

fn add(call: &mut Call<'_>) -> Outcome {
    if call.len() != 3 {
        return Err(Failure::Arity);
    }
    let mut key = call.write::<Bloom>(1)?;
    create_default(call, &mut key)?;
    if key.value().is_some_and(Bloom::ages) {
        let (answers, time) = add_aging(call, &mut key, 2, None);
        answers.first().ok_or(NOT_FOUND)?.map_err(Refusal::text).map(|is_new| call.bool(is_new))?;
        replicate_aging(call, 2, time);
        return Ok(());
    }
    let (has, item) = (key.bytes(), call.argument(2));
    let added = call.within_limits(has, || key.change(|bloom| bloom.layout_mut().add(item)));
    let is_new = added.ok_or(NOT_FOUND)?.map_err(Refusal::text)?;
    call.bool(is_new);
    if is_new {
        call.changed(1, c"bf.add");
    }
    Ok(())
}

/// Creates the default filter if there is none.
fn create_default(call: &Call<'_>, key: &mut Writing<'_, Bloom>) -> Outcome {
    if key.value().is_some() {
        return Ok(());
    }
    let design = Design::default();
    create(call, key, design)?;
    design.replicate(call, 1);
    Ok(())
}

fn add_many(call: &mut Call<'_>) -> Outcome {
    if call.len() < 3 {
        return Err(Failure::Arity);
    }
    let mut key = call.write::<Bloom>(1)?;
    create_default(call, &mut key)?;
    add_from(call, &mut key, 2, None);
    Ok(())
}

/// Adds the items from a place on at a time, and replies with a list.
fn add_from(call: &Call<'_>, key: &mut Writing<'_, Bloom>, first: usize, time: Option<u64>) {
    if key.value().is_some_and(Bloom::ages) {
        let (answers, time) = add_aging(call, key, first, time);
        reply(call, &answers);
        return replicate_aging(call, first, time);
    }
    let (has, items) = (key.bytes(), call.arguments_from(first).collect::<Vec<_>>());
    let mut answers = Vec::with_capacity(items.len());
    call.within_limits(has, || {
        key.change(|bloom| {
            for part in items.chunks(BATCH) {
                bloom.layout_mut().add_each(part, &mut answers);
                if answers.last().is_some_and(Result::is_err) {
                    break;
                }
            }
        })
    });
    reply(call, &answers);
    if !answers.contains(&Ok(true)) {
        return;
    }
    if !answers.contains(&Err(Refusal::Memory)) {
        return call.changed(1, c"bf.add");
    }
    // A replica has no limits, and would take what was refused here. So it gets the others only.
    let refused = |&(_, answer): &(usize, &Result<bool, Refusal>)| *answer != Err(Refusal::Memory);
    let taken = (first..).zip(&answers).filter(refused).map(|(place, _)| call.argument(place));
    call.replicate("BF.MADD", 1, &taken.collect::<Vec<_>>());
    call.notify(1, c"bf.add");
}

fn reply(call: &Call<'_>, answers: &[Added]) {
    call.list(answers.len());
    for answer in answers {
        match answer {
            Ok(is_new) => call.bool(*is_new),
            Err(refusal) => call.error(refusal.text()),
        }
    }
}

/// Adds items to a filter that forgets. Returns the time at which they were added.
fn add_aging(
    call: &Call<'_>,
    key: &mut Writing<'_, Bloom>,
    first: usize,
    time: Option<u64>,
) -> (Vec<Added>, Option<u64>) {
    let items: Vec<&[u8]> = call.arguments_from(first).collect();
    let (mut answers, mut at) = (Vec::with_capacity(items.len()), None);
    key.change(|bloom| {
        if let Bloom::LastTime(filter) = bloom {
            filter.advance(time.unwrap_or_else(window::now));
            at = Some(filter.time());
        }
        bloom.layout_mut().add_each(&items, &mut answers);
    });
    (answers, at)
}

/// Tells replicas to add items to a filter that forgets, at the same time. An item that was in is younger now.
fn replicate_aging(call: &Call<'_>, first: usize, time: Option<u64>) {
    let time = time.map(|time| time.to_string());
    let at = time.as_deref().map_or(vec![], |time| vec![&b"AT"[..], time.as_bytes()]);
    let items = call.arguments_from(first);
    let words = at.into_iter().chain([&b"NOCREATE"[..], b"ITEMS"]).chain(items);
    call.replicate("BF.INSERT", 1, &words.collect::<Vec<_>>());
    call.notify(1, c"bf.add");
}

/// Reads the time of items in milliseconds since 1970, for a filter of the last time.
///
/// One that is ahead of the clock would stop that of the filter until then. A primary may say it: its clock is another one.
fn time_of(call: &Call<'_>, bytes: &[u8]) -> Result<u64, Failure> {
    let time = unsigned(bytes).ok_or("Bad time")?;
    if time <= window::now() || call.is_replayed() {
        Ok(time)
    } else {
        Err("ERR the time is ahead of the clock of the server".into())
    }
}

fn insert(call: &mut Call<'_>) -> Outcome {
    let mut design = Design::default();
    let (mut creates, mut is_fixed, mut time, mut place) = (true, false, None, 2);
    while !call.is_word(place, "ITEMS") {
        let value = call.argument(place + 1);
        let has_value = place + 1 < call.len();
        if place >= call.len() {
            return Err(Failure::Arity);
        } else if call.is_word(place, "NOCREATE") {
            creates = false;
            place += 1;
            continue;
        } else if call.is_word(place, "NONSCALING") {
            is_fixed = true;
            place += 1;
            continue;
        } else if !has_value {
            let known = ["CAPACITY", "ERROR", "EXPANSION", "AT"]
                .iter()
                .any(|word| call.is_word(place, word));
            return Err(if known { Failure::Arity } else { "Unknown argument received".into() });
        } else if call.is_word(place, "CAPACITY") {
            design.capacity = capacity_of(value, "Bad capacity", BAD_ARGUMENT)?;
        } else if call.is_word(place, "ERROR") {
            design.rate = rate_of(value, "Bad error rate", BAD_ARGUMENT)?;
        } else if call.is_word(place, "EXPANSION") {
            design.kind = Kind::Growing(growth_of(value, "Bad expansion", BAD_ARGUMENT)?);
        } else if call.is_word(place, "AT") {
            time = Some(time_of(call, value)?);
        } else {
            return Err("Unknown argument received".into());
        }
        place += 2;
    }
    if place + 1 >= call.len() {
        return Err(Failure::Arity);
    }
    if is_fixed {
        design.kind = Kind::Fixed;
    }
    let mut key = call.write::<Bloom>(1)?;
    if key.value().is_none() {
        if !creates {
            return Err(NOT_FOUND.into());
        }
        create(call, &mut key, design)?;
        design.replicate(call, 1);
    }
    add_from(call, &mut key, place + 1, time);
    Ok(())
}

fn exists(call: &mut Call<'_>) -> Outcome {
    if call.len() != 3 {
        return Err(Failure::Arity);
    }
    // A key of another type contains nothing, as in RedisBloom.
    let bloom = call.read::<Bloom>(1).unwrap_or(None);
    call.bool(bloom.is_some_and(|bloom| bloom.layout().contains(call.argument(2))));
    Ok(())
}

fn exist(call: &mut Call<'_>) -> Outcome {
    if call.len() < 3 {
        return Err(Failure::Arity);
    }
    let bloom = call.read::<Bloom>(1).unwrap_or(None);
    let items: Vec<&[u8]> = call.arguments_from(2).collect();
    let answers = match bloom {
        Some(bloom) => bloom.layout().contains_each(&items),
        None => vec![false; items.len()],
    };
    call.list(answers.len());
    answers.into_iter().for_each(|answer| call.bool(answer));
    Ok(())
}

fn cardinality(call: &mut Call<'_>) -> Outcome {
    if call.len() != 2 {
        return Err(Failure::Arity);
    }
    call.count(call.read::<Bloom>(1)?.map_or(0, |bloom| bloom.items()));
    Ok(())
}

fn info(call: &mut Call<'_>) -> Outcome {
    if !(2..=3).contains(&call.len()) {
        return Err(Failure::Arity);
    }
    let bloom = call.read::<Bloom>(1)?.ok_or(NOT_FOUND)?;
    let information = bloom.layout().information();
    let fields = [
        ("CAPACITY", "Capacity", Some(information.capacity)),
        ("SIZE", "Size", Some(bloom.shown_bytes(bloom.bytes()))),
        ("FILTERS", "Number of filters", Some(information.layers)),
        ("ITEMS", "Number of items inserted", Some(information.items)),
        ("EXPANSION", "Expansion rate", information.growth),
    ];
    let value = |number: Option<u64>| match number {
        Some(number) => call.count(number),
        None => call.null(),
    };
    if call.len() == 2 {
        call.map(fields.len());
        for (_, name, number) in fields {
            call.simple(name);
            value(number);
        }
        return Ok(());
    }
    let field = fields.into_iter().find(|(word, ..)| call.is_word(2, word));
    let (_, name, number) = field.ok_or("Invalid information value")?;
    if call.is_resp3() {
        call.map(1);
        call.simple(name);
    } else {
        call.list(1);
    }
    value(number);
    Ok(())
}

fn debug(call: &mut Call<'_>) -> Outcome {
    if call.len() != 2 {
        return Err(Failure::Arity);
    }
    let bloom = call.read::<Bloom>(1)?.ok_or(NOT_FOUND)?;
    let lines = bloom.layout().lines();
    call.list(lines.len() + 1);
    call.simple(&format!("size:{}", bloom.items()));
    lines.iter().for_each(|line| call.simple(line));
    Ok(())
}

/// `BF.MERGE target source ...`: a target that is missing begins as a copy of the first source.
fn merge(call: &mut Call<'_>) -> Outcome {
    if call.len() < 3 {
        return Err(Failure::Arity);
    }
    let mut key = call.write::<Bloom>(1)?;
    // All is merged beside the target, so that an error changes nothing.
    key.put(|| merged(call))?;
    call.ok();
    call.changed(1, c"bf.merge");
    Ok(())
}

/// Returns the union of the filters under all keys, of which the first may be missing.
fn merged(call: &Call<'_>) -> Result<Bloom, Failure> {
    let (first, others) = match call.read::<Bloom>(1)? {
        Some(target) => (target, 2),
        None => (call.read::<Bloom>(2)?.ok_or(NOT_FOUND)?, 3),
    };
    let bytes = first.bytes();
    if !call.has_room(bytes as u64, bytes as u64) {
        return Err(NO_MEMORY.into());
    }
    let mut merged = first.copied().ok_or(NO_MEMORY)?;
    call.within_limits(bytes, || {
        (others..call.len()).try_for_each(|place| {
            let source = call.read::<Bloom>(place)?.ok_or(NOT_FOUND)?;
            merged.merge(&source)
        })
    })?;
    Ok(merged)
}

impl Bloom {
    fn merge(&mut self, other: &Self) -> Outcome {
        let merged = match (self, other) {
            (Self::Growing(filter), Self::Growing(other)) => filter.merge(other),
            (Self::Fixed(filter), Self::Fixed(other)) => filter.merge(other),
            _ => return Err("ERR filters of these kinds cannot be merged".into()),
        };
        merged.map_err(|error: MergeError| format!("ERR {error}").into())
    }
}

/// `BF.LOAD key bytes`: the command by which valkey-bloom writes a filter into append-only files.
fn load(call: &mut Call<'_>) -> Outcome {
    if call.len() != 3 {
        return Err(Failure::Arity);
    }
    let mut key = call.write::<Bloom>(1)?;
    if key.value().is_some() {
        return Err("BUSYKEY Target key name already exists.".into());
    }
    let bytes = call.argument(2);
    if !call.has_room(bytes.len() as u64, bytes.len() as u64) {
        return Err(NO_MEMORY.into());
    }
    let loaded = key.put(|| ValkeyBloomFilter::from_bytes(bytes).map(Bloom::Valkey));
    loaded.map_err(|error| format!("ERR {error}"))?;
    call.ok();
    call.changed(1, c"bf.load");
    Ok(())
}
