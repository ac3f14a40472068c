//! Cuckoo filters of a real server with `RedisBloom`, read, changed and rebuilt.

use pds_formats::error::InsertError;
use pds_formats::redis::{Chunk, RedisCuckooFilter};
use serde_json::Value;

use crate::mutations::bodies::flattened;
use crate::redis_dumps::dumps;
use crate::support::{answers, chunks, json, keys, list, number};
use crate::table::Format;

pub(crate) const FORMAT: Format = Format {
    name: "RedisBloom cuckoo filter",
    type_name: "redis::RedisCuckooFilter",
    can: [true, false, true],
    exact: "all uncompressed",
    tested_against: "RedisBloom 2.8.2 (chunks and dumps)",
    vectors: || {
        let file = json(SERVER);
        let cases = list(&file, "cases").iter().map(|case| chunks(&case["scandump_after_adds"]));
        let chunks = cases.filter(|dump| !dump.is_empty()).map(|dump| flattened(&dump));
        chunks.chain(dumps("cuckoo").into_iter().map(|dump| dump.plain)).collect()
    },
};

const SERVER: &str = include_str!("../data/redis_cuckoo.json");

fn reserve(case: &Value) -> RedisCuckooFilter {
    let [size, iterations, expansion] = ["bucket_size", "max_iterations", "expansion"]
        .map(|name| number(case, name).try_into().unwrap());
    RedisCuckooFilter::with_options(number(case, "capacity"), size, iterations, expansion).unwrap()
}

/// Compares a filter with a dump. The server dumps nothing of an empty filter.
fn check(filter: &RedisCuckooFilter, dump: &[Chunk], name: &str) {
    assert!(filter.to_chunks() == dump, "{name}");
    if !dump.is_empty() {
        assert!(RedisCuckooFilter::from_chunks(dump).as_ref() == Ok(filter), "{name}");
    }
}

#[test]
fn filters_agree_with_the_server_through_adds_and_deletes() {
    let (mut deleted, mut failed) = (0, 0);
    for case in list(&json(SERVER), "cases") {
        let (name, items) = (case["name"].as_str().unwrap(), keys(&case["adds"]));
        let mut filter = reserve(case);
        let mut failures = Vec::new();
        for (i, item) in items
            .iter()
            .flat_map(|item| {
                core::iter::repeat_n(item, usize::try_from(number(case, "adds_per_key")).unwrap())
            })
            .enumerate()
        {
            if filter.insert(item).is_err() {
                failures.push(i as u64);
            }
        }
        let expected: Vec<u64> =
            list(case, "add_failures").iter().map(|failure| failure[0].as_u64().unwrap()).collect();
        assert_eq!(failures, expected, "{name}");
        failed += failures.len();
        check(&filter, &chunks(&case["scandump_after_adds"]), name);
        if !case["deletes"].is_null() {
            let removed: Vec<bool> =
                keys(&case["deletes"]).iter().map(|item| filter.remove(item)).collect();
            assert_eq!(removed, answers(case, "del_answers"), "{name}");
            check(&filter, &chunks(&case["scandump_after_deletes"]), name);
            deleted += 1;
        }
        let contains: Vec<bool> = items.iter().map(|item| filter.contains(item)).collect();
        assert_eq!(contains, answers(case, "mexists_added"), "{name}");
        let absent: Vec<bool> =
            keys(&case["absent_keys"]).iter().map(|item| filter.contains(item)).collect();
        assert_eq!(absent, answers(case, "mexists_absent"), "{name}");
        for (item, count) in items.iter().zip(list(case, "count_added")) {
            assert_eq!(filter.count(item), count.as_u64().unwrap(), "{name}");
        }
        let info = &case["info"];
        if info["Number of items inserted"].as_u64() == Some(filter.len()) {
            assert_eq!(filter.num_tables() as u64, number(info, "Number of filters"), "{name}");
        }
        let hits = absent.iter().filter(|&&hit| hit).count();
        let expected = filter.false_positive_rate() * absent.len() as f64;
        // Six standard errors of a count that is nearly a Poisson one.
        assert!(
            (hits as f64 - expected).abs() <= 6.0 * expected.max(1.0).sqrt(),
            "{name}: {hits} of {expected}"
        );
    }
    assert_eq!((deleted, failed), (2, 26));
}

#[test]
fn a_new_item_is_inserted_once() {
    let mut filter = RedisCuckooFilter::reserve(100).unwrap();
    assert_eq!([filter.insert_new(b"a"), filter.insert_new(b"a")], [Ok(true), Ok(false)]);
    assert_eq!((filter.len(), filter.count(b"a"), filter.remove(b"b")), (1, 1, false));
    assert!(filter.remove(b"a") && filter.is_empty() && !filter.remove(b"a"));
}

#[test]
fn parameters_that_are_none_are_refused() {
    let refused =
        [(3, 2, 20, 1), (100, 0, 20, 1), (100, 256, 20, 1), (100, 2, 0, 1), (u64::MAX, 2, 20, 1)];
    for (capacity, size, iterations, expansion) in refused {
        let built = RedisCuckooFilter::with_options(capacity, size, iterations, expansion);
        assert!(built.is_err(), "{capacity}, {size}, {iterations}");
    }
    assert!(RedisCuckooFilter::with_options(100, 2, 20, 32_769).is_err());
}

#[test]
fn case_17_dumps_that_are_none_are_typed_errors() {
    let file = json(SERVER);
    let sound = chunks(&list(&file, "cases")[0]["scandump_after_adds"]);
    let refuses = |at: usize, bytes: &[u8], text: &str| {
        let mut chunks = sound.clone();
        chunks[0].data[at..at + bytes.len()].copy_from_slice(bytes);
        let error = RedisCuckooFilter::from_chunks(&chunks).unwrap_err();
        assert_eq!(error.to_string(), format!("RedisBloom cuckoo filter: {text}"));
    };
    refuses(
        0,
        &[0],
        "number of items at offset 0 is 768, but must be 900, the number of fingerprints",
    );
    refuses(8, &[1], "number of buckets at offset 8 is 513, but must be a power of two");
    refuses(
        8,
        &(1u64 << 63).to_le_bytes(),
        "number of buckets at offset 8 is 9223372036854775808, but must be such that table 0 has 1 to 2^40 bytes",
    );
    refuses(
        24,
        &u64::MAX.to_le_bytes(),
        "number of tables at offset 24 is 18446744073709551615, but must be from 1 to 65536",
    );
    refuses(32, &[0], "bucket size at offset 32 is 0, but must be from 1 to 255");
    refuses(36, &[3], "expansion at offset 36 is 3, but must be 0 or a power of two");
    assert!(RedisCuckooFilter::from_chunks::<Vec<u8>>(&[]).is_err());
}

/// A server whose `cf-max-expansions` is raised has more tables than a filter grows to here.
#[test]
fn filters_of_many_tables_are_read_and_do_not_grow() {
    let mut filter = RedisCuckooFilter::with_options(2, 1, 1, 1).unwrap();
    let mut error = None;
    while error.is_none() {
        error = filter.insert(b"the same").err();
    }
    let (tables, slots) = (filter.num_tables(), filter.num_slots());
    assert_eq!((tables, slots, error), (32, 64, Some(InsertError::Full { len: 64, capacity: 64 })));
    let mut chunks = filter.to_chunks();
    // Another table of two fingerprints.
    chunks[0].data[0] += 2;
    chunks[0].data[24] += 1;
    chunks.push(Chunk { iterator: chunks[32].iterator + 2, data: chunks[32].data.clone() });
    let mut larger = RedisCuckooFilter::from_chunks(&chunks).unwrap();
    assert_eq!((larger.num_tables(), larger.to_chunks() == chunks), (33, true));
    assert!(larger.insert(b"the same").is_err() && larger.remove(b"the same"));
}

/// A header may say that as many items were removed as a number can hold.
#[test]
fn case_17_the_number_of_deleted_items_does_not_overflow() {
    let file = json(SERVER);
    let case = &list(&file, "cases")[0];
    let mut chunks = chunks(&case["scandump_after_adds"]);
    chunks[0].data[16..24].fill(255);
    let mut filter = RedisCuckooFilter::from_chunks(&chunks).unwrap();
    let item = &keys(&case["adds"])[0];
    assert!(filter.remove(item));
    let read = RedisCuckooFilter::from_chunks(&filter.to_chunks()).unwrap();
    assert_eq!(read.len() + 1, RedisCuckooFilter::from_chunks(&chunks).unwrap().len());
}
