//! Bloom filters of a real server with `RedisBloom`, read, extended and rebuilt.

use pds_formats::error::{DecodeErrorKind, InsertError};
use pds_formats::redis::{Chunk, RdbVersion, RedisBloomFilter};
use serde_json::Value;

use crate::mutations::bodies::flattened;
use crate::redis_dumps::dumps;
use crate::support::{answers, base64, chunks, json, keys, list, number};
use crate::table::Format;

pub(crate) const FORMAT: Format = Format {
    name: "RedisBloom Bloom filter",
    type_name: "redis::RedisBloomFilter",
    can: [true, false, true],
    exact: "all uncompressed",
    tested_against: "RedisBloom 2.8.2 (chunks and dumps)",
    vectors: || {
        let file = json(SERVER);
        let chunks = list(&file, "cases").iter().map(|case| flattened(&dump(case)));
        chunks.chain(dumps("bloom").into_iter().map(|dump| dump.plain)).collect()
    },
};

const SERVER: &str = include_str!("../data/redis_bloom.json");

fn dump(case: &Value) -> Vec<Chunk> {
    chunks(&case["scandump"])
}

fn reserve(case: &Value) -> RedisBloomFilter {
    let growth = case["expansion"].as_u64().map_or(2, |growth| u32::try_from(growth).unwrap());
    let growth = (case["nonscaling"] != true).then_some(growth);
    RedisBloomFilter::reserve(
        case["error_rate"].as_f64().unwrap(),
        number(case, "capacity"),
        growth,
    )
    .unwrap()
}

#[test]
fn filters_agree_with_the_server() {
    for case in list(&json(SERVER), "cases") {
        let (name, items) = (&case["name"], keys(&case["keys"]));
        let read = RedisBloomFilter::from_chunks(&dump(case)).unwrap();
        let mut built = reserve(case);
        let added: Vec<bool> = items.iter().map(|item| built.insert(item).unwrap()).collect();
        assert_eq!(added, answers(case, "madd_answers"), "{name}");
        assert_eq!(built.to_chunks()[0], dump(case)[0], "{name}");
        assert!(built.to_chunks() == dump(case), "{name}");
        assert!(built == read && read.to_chunks() == dump(case), "{name}");

        let contains =
            |keys: &[Vec<u8>]| -> Vec<bool> { keys.iter().map(|key| read.contains(key)).collect() };
        let queried = usize::try_from(number(case, "present_queried")).unwrap();
        assert_eq!(contains(&items[..queried]), answers(case, "mexists_present"));
        assert_eq!(contains(&keys(&case["absent_keys"])), answers(case, "mexists_absent"));
        let info = &case["info"];
        assert_eq!(read.len(), number(case, "card"));
        assert_eq!(read.capacity(), number(info, "Capacity"));
        assert_eq!(read.num_layers() as u64, number(info, "Number of filters"));
        let (rate, promised) = (read.false_positive_rate(), case["error_rate"].as_f64().unwrap());
        assert!(rate < 1.2 * promised, "{name}: {rate} of {promised}");
    }
}

#[test]
fn a_filter_that_does_not_grow_is_full_as_on_the_server() {
    let file = json(SERVER);
    let case = &file["nonscaling_full"];
    let mut filter = RedisBloomFilter::reserve(
        case["error_rate"].as_f64().unwrap(),
        number(case, "capacity"),
        None,
    )
    .unwrap();
    for (item, answer) in keys(&case["keys"]).iter().zip(list(case, "add_answers")) {
        match answer.as_str().unwrap() {
            "1" => assert_eq!(filter.insert(item), Ok(true)),
            "0" => assert_eq!(filter.insert(item), Ok(false)),
            _ => assert_eq!(filter.insert(item), Err(InsertError::Full { len: 10, capacity: 10 })),
        }
    }
    assert!(!filter.is_scaling() && filter.to_chunks() == dump(case));
}

#[test]
fn parameters_that_are_none_are_refused() {
    for rate in [0.0, 1.0, -1.0, f64::NAN] {
        assert!(RedisBloomFilter::reserve(rate, 10, None).is_err());
    }
    assert!(RedisBloomFilter::reserve(0.1, 0, None).is_err());
    assert!(RedisBloomFilter::reserve(0.1, 10, Some(0)).is_err());
    assert!(RedisBloomFilter::reserve(0.1, u64::MAX, Some(2)).is_err());
}

/// A layer after the last possible one would have a rate of zero, or more items than can be counted.
#[test]
fn growth_ends_with_an_error() {
    let mut filter = RedisBloomFilter::reserve(1e-300, 1, Some(1)).unwrap();
    let error = (0..1_000u64).find_map(|item| filter.insert(&item.to_le_bytes()).err());
    let error = error.expect("an end after less than a hundred layers");
    assert_eq!(error, InsertError::Full { len: filter.len(), capacity: filter.len() });
    assert!((70..90).contains(&filter.num_layers()), "{}", filter.num_layers());
    // The last layers have a thousand hash functions.
    assert!(RedisBloomFilter::from_chunks(&filter.to_chunks()).as_ref() == Ok(&filter));
    assert!(RedisBloomFilter::from_dump(&filter.to_dump(RdbVersion::default())) == Ok(filter));
}

fn refuses(chunks: &[Chunk], kind: DecodeErrorKind, text: &str) {
    let error = RedisBloomFilter::from_chunks(chunks).unwrap_err();
    assert_eq!(
        (error.to_string(), error.kind()),
        (format!("RedisBloom Bloom filter: {text}"), kind)
    );
}

#[test]
fn case_17_chunks_that_are_none_are_typed_errors() {
    use DecodeErrorKind::{Invalid, Trailing, Truncated};
    let sound = RedisBloomFilter::reserve(0.01, 100, Some(2)).unwrap().to_chunks();
    let header = |at: usize, bytes: &[u8]| {
        let mut chunks = sound.clone();
        chunks[0].data[at..at + bytes.len()].copy_from_slice(bytes);
        chunks
    };
    refuses(&[], Truncated, "number of items at offset 0 needs 8 bytes, but 0 are left");
    refuses(
        &header(0, &[1]),
        Invalid,
        "number of items at offset 0 is 1, but must be 0, the sum of all layers",
    );
    refuses(
        &header(0, &[255; 8]),
        Invalid,
        "number of items at offset 0 is 18446744073709551615, but must be 0, the sum of all layers",
    );
    // The sum and the items of the only layer, beyond which no item can be counted.
    let mut full = header(0, &[255; 8]);
    full[0].data[36..44].copy_from_slice(&[255; 8]);
    refuses(
        &full,
        Invalid,
        "number of items at offset 0 is 18446744073709551615, but must be below 2^64 - 1",
    );
    refuses(
        &header(8, &[2]),
        Invalid,
        "length of the header at offset 8 is 73, but must be 20 and 53 per layer",
    );
    refuses(
        &header(12, &[7]),
        Invalid,
        "options at offset 12 is 7, but must be 5, or 13 for a filter that does not grow",
    );
    refuses(
        &header(16, &[0]),
        Invalid,
        "growth at offset 16 is 0, but must be at least 1 in a filter that grows",
    );
    // More bits than the bytes that are there, and more hash functions than any rate needs.
    refuses(
        &header(28, &u64::MAX.to_le_bytes()),
        Invalid,
        "bits of a layer at offset 28 is 18446744073709551615, but must be a multiple of 64 and 8 \
         per byte of the layer, which are 144",
    );
    let both = [1u64 << 59, 1 << 62].map(u64::to_le_bytes).concat();
    refuses(
        &header(20, &both),
        Truncated,
        "bits of a layer at offset 73 needs 576460752303423488 bytes, but 144 are left",
    );
    refuses(
        &header(60, &u32::MAX.to_le_bytes()),
        Invalid,
        "number of hash functions at offset 60 is 4294967295, but must be from 1 to 1100",
    );
    let mut longer = sound.clone();
    longer[1].data.push(0);
    longer[1].iterator += 1;
    refuses(&longer, Trailing, "the data ends at offset 217, but 1 more bytes follow");
    longer[1].iterator += 1;
    refuses(&longer, Invalid, "iterator of the chunk at offset 73 is 147, but must be 146");
    // Before growth was stored the header had 16 bytes, and 49 for each layer.
    let mut old = sound.clone();
    old[0].data.truncate(65);
    refuses(
        &old,
        Invalid,
        "length of the header at offset 8 is 65, but must be 20 and 53 per layer (16 and 49 are \
         those of RedisBloom before 2.0)",
    );
}

#[test]
fn case_17_dumps_that_are_none_are_typed_errors() {
    use DecodeErrorKind::{Checksum, Kind, Truncated};
    let refuses = |bytes: &[u8], kind: DecodeErrorKind, text: &str| {
        let error = RedisBloomFilter::from_dump(bytes).unwrap_err();
        assert_eq!(
            (error.to_string(), error.kind()),
            (format!("RedisBloom Bloom filter: {text}"), kind)
        );
    };
    let sound =
        RedisBloomFilter::reserve(0.01, 100, Some(2)).unwrap().to_dump(RdbVersion::default());
    refuses(&sound[..9], Truncated, "footer at offset 0 needs 10 bytes, but 9 are left");
    let mut changed = sound.clone();
    changed[30] ^= 1;
    assert_eq!(RedisBloomFilter::from_dump(&changed).unwrap_err().kind(), Checksum);
    // The value of another type, with a checksum that fits.
    let file = json(include_str!("../data/redis_cms.json"));
    refuses(
        &base64(&list(&file, "cases")[0]["dump"]),
        Kind,
        "type of the module at offset 1 is \"CMSk-TYPE\", but must be \"MBbloom--\"",
    );
}

#[test]
fn the_growth_is_the_one_that_was_asked_for() {
    for growth in [Some(1), Some(4), None] {
        let filter = RedisBloomFilter::reserve(0.01, 100, growth).unwrap();
        assert_eq!(RedisBloomFilter::from_chunks(&filter.to_chunks()).unwrap().growth(), growth);
    }
}

/// Two layers may say that they have as many items as can be counted, but for one.
#[test]
fn case_17_the_number_of_items_does_not_overflow() {
    let mut filter = RedisBloomFilter::reserve(0.01, 1, Some(2)).unwrap();
    assert_eq!([filter.insert(b"a"), filter.insert(b"b")], [Ok(true); 2]);
    let mut chunks = filter.to_chunks();
    let header = &mut chunks[0].data;
    // The sum, the items of the first layer and its capacity: the second one is not full.
    header[..8].copy_from_slice(&(u64::MAX - 2).to_le_bytes());
    header[36..44].copy_from_slice(&(u64::MAX - 3).to_le_bytes());
    let mut filter = RedisBloomFilter::from_chunks(&chunks).unwrap();
    let mut new = (0..100u64).map(|item| filter.insert(&item.to_le_bytes()));
    assert_eq!(new.find(|added| *added != Ok(false)), Some(Ok(true)));
    let refused = new.find(|added| *added != Ok(false));
    let full = InsertError::Full { len: u64::MAX - 1, capacity: 3 };
    assert_eq!((refused, filter.len()), (Some(Err(full)), u64::MAX - 1));
    assert!(RedisBloomFilter::from_chunks(&filter.to_chunks()) == Ok(filter));
}
