//! The commands, with the replies and errors of RedisBloom.

use super::{Cuckoo, Options, Refusal};
use crate::arguments::integer;
use crate::chunks;
use crate::server::{self, Call, Command, Failure, Outcome, Writing, command};

/// All of them.
pub(crate) static COMMANDS: &[Command] = &[
    command!("cf.reserve", Writes, First, -3, reserve, "Creates a filter that removes and counts"),
    command!("cf.add", Writes, First, 3, add, "Adds a copy of an item"),
    command!("cf.addnx", Writes, First, 3, add_new, "Adds an item if it is not in"),
    command!("cf.insert", Writes, First, -4, insert, "Adds a copy of each item"),
    command!("cf.insertnx", Writes, First, -4, insert_new, "Adds each item that is not in"),
    command!("cf.exists", Reads, First, 3, exists, "Tests whether an item may be in"),
    command!("cf.mexists", Reads, First, -3, exist, "Tests for each item whether it may be in"),
    command!("cf.count", Reads, First, 3, count, "Returns the number of copies of an item"),
    command!("cf.del", Removes, First, 3, remove, "Removes a copy of an item"),
    command!(
        "cf.compact",
        Writes,
        First,
        2,
        compact,
        "Gives memory back that a filter does not need"
    ),
    command!(
        "cf.info",
        Scans,
        First,
        2,
        info,
        "Returns what a filter is made for, and what it holds"
    ),
    command!("cf.debug", Scans, First, 2, debug, "Returns the shape of a filter"),
    command!(
        "cf.scandump",
        Scans,
        First,
        3,
        chunks::scan_dump::<Cuckoo>,
        "Returns a filter in chunks"
    ),
    command!(
        "cf.loadchunk",
        Writes,
        First,
        4,
        chunks::load_chunk::<Cuckoo>,
        "Restores a filter from its chunks"
    ),
];

const NOT_FOUND: &str = "ERR not found";
const NOTHING_TO_COMPACT: &str = "Cuckoo filter was not found";
const NO_MEMORY: &str = "ERR Insufficient memory to create filter";

/// Options of `CF.RESERVE`: word, least and greatest value.
const OPTIONS: [(&str, i64, i64); 3] =
    [("BUCKETSIZE", 1, 255), ("MAXITERATIONS", 1, 65_535), ("EXPANSION", 0, 32_768)];

fn reserve(call: &mut Call<'_>) -> Outcome {
    if call.len() < 3 || call.len().is_multiple_of(2) {
        return Err(Failure::Arity);
    }
    let capacity = integer(call.argument(2)).ok_or("Bad capacity")?;
    let mut values =
        [Options::DEFAULT.bucket_size, Options::DEFAULT.max_iterations, Options::DEFAULT.expansion];
    for ((word, min, max), value) in OPTIONS.into_iter().zip(&mut values) {
        let Some(place) = (3..call.len()).find(|&place| call.is_word(place, word)) else {
            continue;
        };
        let given =
            integer(call.argument(place + 1)).ok_or_else(|| format!("Couldn't parse {word}"))?;
        if !(min..=max).contains(&given) {
            return Err(format!(
                "{word}: value must be an integer between {min} and {max}, inclusive."
            )
            .into());
        }
        *value = given.cast_unsigned();
    }
    let [bucket_size, max_iterations, expansion] = values;
    let capacity = capacity_of(capacity, bucket_size)?;
    let mut key = call.write::<Cuckoo>(1)?;
    if key.value().is_some() {
        return Err("ERR item exists".into());
    }
    create(call, &mut key, capacity, Options { bucket_size, max_iterations, expansion })?;
    call.ok();
    call.changed(1, c"cf.reserve");
    Ok(())
}

/// Returns a capacity, which must be two buckets at least.
fn capacity_of(given: i64, bucket_size: u64) -> Result<u64, Failure> {
    let capacity = u64::try_from(given).ok().filter(|&capacity| capacity >= bucket_size * 2);
    capacity.ok_or_else(|| "Capacity must be at least (BucketSize * 2)".into())
}

/// Builds a filter under a key that is empty.
fn create(
    call: &Call<'_>,
    key: &mut Writing<'_, Cuckoo>,
    capacity: u64,
    options: Options,
) -> Outcome {
    call.within_limits(0, || key.put(|| Cuckoo::new(capacity, options)))
        .map_err(|_| NO_MEMORY.into())
}

/// Builds a filter of the default options under a key that is empty, and tells replicas its capacity.
fn create_default(call: &Call<'_>, key: &mut Writing<'_, Cuckoo>, capacity: u64) -> Outcome {
    create(call, key, capacity, Options::DEFAULT)?;
    call.replicate("CF.RESERVE", 1, &[capacity.to_string().as_bytes()]);
    Ok(())
}

fn add(call: &mut Call<'_>) -> Outcome {
    add_one(call, |filter, item| filter.add(item).map(|()| true), c"cf.add")
}

fn add_new(call: &mut Call<'_>) -> Outcome {
    add_one(call, Cuckoo::add_new, c"cf.addnx")
}

fn add_one(
    call: &Call<'_>,
    add: fn(&mut Cuckoo, &[u8]) -> Result<bool, Refusal>,
    event: &std::ffi::CStr,
) -> Outcome {
    if call.len() != 3 {
        return Err(Failure::Arity);
    }
    let mut key = call.write::<Cuckoo>(1)?;
    if key.value().is_none() {
        create_default(call, &mut key, server::cuckoo_size())?;
    }
    let (has, item) = (key.bytes(), call.argument(2));
    let added = call.within_limits(has, || key.change(|filter| add(filter, item)));
    let is_new = added.ok_or(NOT_FOUND)?.map_err(Refusal::text)?;
    call.bool(is_new);
    if is_new {
        call.changed(1, event);
    }
    Ok(())
}

fn insert(call: &mut Call<'_>) -> Outcome {
    let answers = insert_each(call, |filter, item| filter.add(item).map(|()| true), "CF.INSERT")?;
    let is_resp3 = call.is_resp3();
    call.list(answers.len());
    for answer in answers {
        match answer {
            Ok(_) => call.bool(true),
            Err(_) if is_resp3 => call.bool(false),
            Err(_) => call.integer(-1),
        }
    }
    Ok(())
}

fn insert_new(call: &mut Call<'_>) -> Outcome {
    let answers = insert_each(call, Cuckoo::add_new, "CF.INSERTNX")?;
    call.list(answers.len());
    answers.into_iter().for_each(|answer| call.integer(answer.map_or(-1, i64::from)));
    Ok(())
}

/// Adds items, and returns for each whether it is new.
fn insert_each(
    call: &Call<'_>,
    add: fn(&mut Cuckoo, &[u8]) -> Result<bool, Refusal>,
    name: &str,
) -> Result<Vec<Result<bool, Refusal>>, Failure> {
    let (mut capacity, mut creates, mut place) = (server::cuckoo_size(), true, 2);
    while !call.is_word(place, "ITEMS") {
        if place >= call.len() {
            return Err(Failure::Arity);
        } else if call.is_word(place, "NOCREATE") {
            creates = false;
            place += 1;
        } else if call.is_word(place, "CAPACITY") {
            let given = integer(call.argument(place + 1)).ok_or("Bad capacity")?;
            capacity = capacity_of(given, Options::DEFAULT.bucket_size)?;
            place += 2;
        } else {
            return Err("Unknown argument received".into());
        }
    }
    let first = place + 1;
    if first >= call.len() {
        return Err(Failure::Arity);
    }
    let mut key = call.write::<Cuckoo>(1)?;
    if key.value().is_none() {
        if !creates {
            return Err(NOT_FOUND.into());
        }
        create_default(call, &mut key, capacity)?;
    }
    let has = key.bytes();
    let mut answers = Vec::with_capacity(call.len() - first);
    call.within_limits(has, || {
        key.change(|filter| {
            answers.extend(call.arguments_from(first).map(|item| add(filter, item)))
        });
    });
    if answers.contains(&Ok(true)) {
        replicate(call, name, first, &answers);
        call.notify(1, c"cf.insert");
    }
    Ok(answers)
}

/// Tells replicas to add what was added here. They have no limits, and would take what was refused.
fn replicate(call: &Call<'_>, name: &str, first: usize, answers: &[Result<bool, Refusal>]) {
    if !answers.contains(&Err(Refusal::Memory)) {
        return call.replicate_verbatim();
    }
    let taken = (first..).zip(answers).filter(|(_, answer)| answer.is_ok());
    let items = taken.map(|(place, _)| call.argument(place));
    call.replicate(name, 1, &std::iter::once(&b"ITEMS"[..]).chain(items).collect::<Vec<_>>());
}

fn exists(call: &mut Call<'_>) -> Outcome {
    if call.len() != 3 {
        return Err(Failure::Arity);
    }
    // A key of another type contains nothing, as in RedisBloom.
    let filter = call.read::<Cuckoo>(1).unwrap_or(None);
    call.bool(filter.is_some_and(|filter| filter.contains(call.argument(2))));
    Ok(())
}

fn exist(call: &mut Call<'_>) -> Outcome {
    if call.len() < 3 {
        return Err(Failure::Arity);
    }
    let filter = call.read::<Cuckoo>(1).unwrap_or(None);
    let items = call.arguments_from(2);
    call.list(items.len());
    items.for_each(|item| call.bool(filter.as_ref().is_some_and(|filter| filter.contains(item))));
    Ok(())
}

fn count(call: &mut Call<'_>) -> Outcome {
    if call.len() != 3 {
        return Err(Failure::Arity);
    }
    let filter = call.read::<Cuckoo>(1).unwrap_or(None);
    call.count(filter.map_or(0, |filter| filter.count(call.argument(2))));
    Ok(())
}

fn remove(call: &mut Call<'_>) -> Outcome {
    if call.len() != 3 {
        return Err(Failure::Arity);
    }
    let mut key = call.write::<Cuckoo>(1).map_err(|_| "Not found")?;
    let item = call.argument(2);
    let is_removed = key.change(|filter| filter.remove(item)).ok_or("Not found")?;
    call.bool(is_removed);
    if is_removed {
        call.changed(1, c"cf.del");
    }
    Ok(())
}

fn compact(call: &mut Call<'_>) -> Outcome {
    if call.len() != 2 {
        return Err(Failure::Arity);
    }
    let mut key = call.write::<Cuckoo>(1).map_err(|_| NOTHING_TO_COMPACT)?;
    let has = key.bytes();
    let shrunk = call.within_limits(has, || key.change(Cuckoo::compact));
    shrunk.ok_or(NOTHING_TO_COMPACT)?.map_err(|_| NO_MEMORY)?;
    call.ok();
    call.changed(1, c"cf.compact");
    Ok(())
}

fn info(call: &mut Call<'_>) -> Outcome {
    if call.len() != 2 {
        return Err(Failure::Arity);
    }
    let filter = call.read::<Cuckoo>(1)?.ok_or(NOT_FOUND)?;
    let [buckets, tables, items, deleted, bucket_size, expansion, max_iterations] =
        filter.numbers();
    let fields = [
        ("Size", filter.shown_bytes(filter.bytes())),
        ("Number of buckets", buckets),
        ("Number of filters", tables),
        ("Number of items inserted", items),
        ("Number of items deleted", deleted),
        ("Bucket size", bucket_size),
        ("Expansion rate", expansion),
        ("Max iterations", max_iterations),
    ];
    call.map(fields.len());
    for (name, number) in fields {
        call.simple(name);
        call.count(number);
    }
    Ok(())
}

fn debug(call: &mut Call<'_>) -> Outcome {
    if call.len() != 2 {
        return Err(Failure::Arity);
    }
    let filter = call.read::<Cuckoo>(1)?.ok_or(NOT_FOUND)?;
    let [buckets, tables, items, deleted, bucket_size, expansion, max_iterations] =
        filter.numbers();
    call.simple(&format!(
        "bktsize:{bucket_size} buckets:{buckets} items:{items} deletes:{deleted} filters:{tables} max_iterations:{max_iterations} expansion:{expansion}"
    ));
    Ok(())
}
