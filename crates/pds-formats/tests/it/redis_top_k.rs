//! Top-k lists of a real server with `RedisBloom`, rebuilt, read and extended.

use pds_formats::error::DecodeErrorKind;
use pds_formats::redis::{RdbVersion, RedisTopK};
use serde_json::Value;

use crate::redis_dumps::{dumps, with_checksum};
use crate::support::{answers, hex, json, keys, list, number, weighted};
use crate::table::Format;

pub(crate) const FORMAT: Format = Format {
    name: "RedisBloom top-k list",
    type_name: "redis::RedisTopK",
    can: [true, false, true],
    exact: "uncompressed, but addresses",
    tested_against: "RedisBloom 2.8.2",
    vectors: || dumps("top-k").into_iter().map(|case| case.plain).collect(),
};

const SERVER: &str = include_str!("../data/redis_topk.json");

fn reserve(case: &Value) -> RedisTopK {
    let [k, width, depth] =
        ["k", "width", "depth"].map(|name| u32::try_from(number(case, name)).unwrap());
    RedisTopK::reserve(k, width, depth, case["decay"].as_f64().unwrap()).unwrap()
}

/// Inserts the keys of a case with their weights. Returns the items that left the list.
fn fill(top: &mut RedisTopK, case: &Value) -> Vec<Option<Vec<u8>>> {
    let stream = weighted(keys(&case["keys"]), number(case, "weight_mod"));
    stream.map(|(key, weight)| top.insert(&key, weight.try_into().unwrap())).collect()
}

/// The server answers with items up to their first zero byte.
fn cut(item: &[u8]) -> Vec<u8> {
    item.split(|&byte| byte == 0).next().unwrap().to_vec()
}

#[test]
fn lists_agree_with_the_server() {
    for case in list(&json(SERVER), "cases") {
        let name = &case["name"];
        let mut top = reserve(case);
        let displaced: Vec<_> =
            fill(&mut top, case).into_iter().map(|item| item.map(|item| cut(&item))).collect();
        let expected: Vec<_> = list(case, "incrby_answers_hex")
            .iter()
            .map(|item| item.is_string().then(|| hex(item)))
            .collect();
        assert_eq!(displaced, expected, "{name}");
        let found: Vec<_> =
            top.list().into_iter().map(|(item, count)| (cut(item), count)).collect();
        let expected: Vec<_> = list(case, "list_withcount")
            .iter()
            .map(|entry| (hex(&entry[0]), u32::try_from(entry[1].as_u64().unwrap()).unwrap()))
            .collect();
        assert_eq!(found, expected, "{name}");
        let keys = keys(&case["keys"]);
        assert_eq!(
            keys.iter().map(|key| top.contains(key)).collect::<Vec<_>>(),
            answers(case, "query")
        );
        let counts: Vec<u64> = keys.iter().map(|key| top.estimate(key).into()).collect();
        let expected: Vec<u64> = list(case, "count").iter().map(|n| n.as_u64().unwrap()).collect();
        assert_eq!(counts, expected, "{name}");
        let read = RedisTopK::from_dump(&top.to_dump(RdbVersion::default())).unwrap();
        assert!(read == top && read.list() == top.list(), "{name}");
    }
}

/// Zeros in the place of the addresses that the server writes into its dumps, and a checksum that fits.
fn without_addresses(top: &RedisTopK, dump: &[u8]) -> Vec<u8> {
    let mut dump = dump.to_vec();
    // The heap stands before the items, each with three bytes or more, and before an end of eleven.
    let items: usize = top.list().iter().map(|(item, _)| item.len()).sum();
    let heap = dump.len() - 11 - 3 * top.k() - items - 24 * top.k();
    for entry in 0..top.k() {
        dump[heap + 24 * entry + 8..][..8].fill(0);
    }
    with_checksum(dump)
}

#[test]
fn dumps_come_back_but_for_addresses() {
    for case in dumps("top-k") {
        let read = RedisTopK::from_dump(&case.plain).unwrap();
        let written = read.to_dump(RdbVersion::Redis7_4);
        assert!(written == without_addresses(&read, &case.plain), "{}", case.name);
        assert_eq!(RedisTopK::from_dump(&case.compressed).as_ref(), Ok(&read), "{}", case.name);
    }
}

#[test]
fn a_list_that_was_read_goes_on_as_the_server_does() {
    let case = dumps("top-k").into_iter().find(|case| case.name == "decay 1").unwrap();
    let mut built = RedisTopK::reserve(5, 8, 3, 1.0).unwrap();
    fill(&mut built, &case.value);
    let mut read = RedisTopK::from_dump(&case.plain).unwrap();
    assert_eq!(read, built);
    assert_eq!((read.k(), read.width(), read.depth(), read.decay()), (5, 8, 3, 1.0));
    for round in 0..50u32 {
        let item = format!("item:{}", round % 7);
        assert_eq!(read.insert(item.as_bytes(), round), built.insert(item.as_bytes(), round));
        assert_eq!(read, built);
    }
}

/// The server cuts them in its dumps, and keeps their lengths and fingerprints.
#[test]
fn items_with_zero_bytes_are_found() {
    let case = dumps("top-k").into_iter().find(|case| case.name == "binary keys").unwrap();
    let read = RedisTopK::from_dump(&case.plain).unwrap();
    assert_eq!(read.list(), [(&b"a"[..], 5), (b"a", 4), (b"", 3)]);
    let found = [&b"a\0b"[..], b"a", b"", b"a\0c", b"a\0", b"b"].map(|item| read.contains(item));
    assert_eq!(found, [true, true, true, false, false, false]);
    // Here they stay whole.
    let mut ours = RedisTopK::reserve(4, 50, 3, 0.9).unwrap();
    for (item, weight) in [(&b""[..], 3), (b"a\0b", 5), (b"a", 4)] {
        assert_eq!(ours.insert(item, weight), None);
    }
    let again = RedisTopK::from_dump(&ours.to_dump(RdbVersion::default())).unwrap();
    assert_eq!(again.list(), [(&b"a\0b"[..], 5), (b"a", 4), (b"", 3)]);
    assert!(again.contains(b"a\0b"));
}

/// With one bucket, a unit of another item takes one from the count c with probability decay^c. So the mean number of units that
/// a count of c lasts is the sum of decay^-i over i from 1 to c. Its variance is the sum of (1 - decay^i) / decay^2i.
#[test]
fn buckets_decay_as_often_as_the_server_says() {
    let (decay, count) = (0.8f64, 12);
    let mean: f64 = (1..=count).map(|i| decay.powi(-i)).sum();
    let variance: f64 = (1..=count).map(|i| (1.0 - decay.powi(i)) * decay.powi(-2 * i)).sum();
    let mut total = 0;
    let runs = 2_000;
    for seed in 0..runs {
        let mut top = RedisTopK::reserve(1, 1, 1, decay).unwrap();
        top.set_seed(seed);
        top.insert(b"held", count.unsigned_abs());
        // Of a weight n the units after the last decay are the count of the new item, so n - count + 1 were used.
        top.insert(b"new", 1_000);
        assert_eq!(top.estimate(b"held"), 0);
        total += 1_001 - top.estimate(b"new");
    }
    let found = f64::from(total) / runs as f64;
    // Four standard errors: a false alarm in 16,000.
    let bound = 4.0 * (variance / runs as f64).sqrt();
    assert!((found - mean).abs() < bound, "{found}, not {mean} +- {bound}");
    // Unit by unit is the same.
    let mut total = 0u32;
    for seed in 0..runs {
        let mut top = RedisTopK::reserve(1, 1, 1, decay).unwrap();
        top.set_seed(seed);
        top.insert(b"held", count.unsigned_abs());
        while top.estimate(b"new") == 0 {
            top.insert(b"new", 1);
            total += 1;
        }
    }
    let found = f64::from(total) / runs as f64;
    assert!((found - mean).abs() < bound, "{found}, not {mean} +- {bound}");
}

#[test]
fn parameters_that_are_none_are_refused() {
    for (k, width, depth, decay) in [
        (0, 1, 1, 0.5),
        (1, 0, 1, 0.5),
        (1, 1, 0, 0.5),
        (1, 1, 1, 0.0),
        (1, 1, 1, 1.1),
        (1, 1, 1, f64::NAN),
        (1, u32::MAX, u32::MAX, 0.5),
    ] {
        assert!(RedisTopK::reserve(k, width, depth, decay).is_err(), "{k} {width} {depth} {decay}");
    }
}

#[test]
fn case_11_counts_saturate() {
    let mut top = RedisTopK::reserve(1, 1, 1, 0.9).unwrap();
    top.insert(b"a", u32::MAX);
    top.insert(b"a", 7);
    assert_eq!(top.list(), [(&b"a"[..], u32::MAX)]);
}

#[test]
fn case_17_dumps_that_are_none_are_typed_errors() {
    let mut top = RedisTopK::reserve(2, 3, 1, 0.9).unwrap();
    top.insert(b"item", 5);
    let sound = top.to_dump(RdbVersion::default());
    let refuses = |at: usize, new: &[u8], text: &str| {
        let mut dump = sound.clone();
        dump[at..at + new.len()].copy_from_slice(new);
        let error = RedisTopK::from_dump(&with_checksum(dump)).unwrap_err();
        let text = format!("RedisBloom top-k list: {text}");
        assert_eq!((error.to_string(), error.kind()), (text, DecodeErrorKind::Invalid));
    };
    // Type and its number, then k, width, depth with an opcode each, decay, buckets, heap, items.
    refuses(11, &[0], "k at offset 11 is 0, but must be from 1 to 4294967295");
    refuses(11, &[1], "length of a string at offset 51 is 48, but must be 24");
    refuses(13, &[4], "length of a string at offset 25 is 24, but must be 32");
    refuses(17, &[0; 8], "decay at offset 17 is 0, but must be above 0 and at most 1");
    let entry = 53;
    // The entry of the item is the second, since the least count comes first.
    refuses(
        entry + 24,
        &[9],
        "item at offset 104 is \"item\", but must be an item of 4 bytes with the fingerprint 2887508233",
    );
}

/// Width times depth times two words is 4 modulo 2^64 in the second case, as many as the string of the buckets has.
#[test]
fn case_17_more_buckets_than_can_be_counted_are_refused() {
    let small = RedisTopK::reserve(1, 2, 1, 0.9).unwrap().to_dump(RdbVersion::default());
    let number = |number: u32| [&[0x80][..], &number.to_be_bytes()].concat();
    for (width, depth) in [(u32::MAX, u32::MAX), (2_147_549_185, 4_294_836_226), (65_537, 65_536)] {
        // The numbers stand behind an opcode each, as one byte up to 63.
        let (width_at, depth_at) = (13, 15);
        assert_eq!((small[width_at], small[depth_at]), (2, 1));
        let parts =
            [&small[..width_at], &number(width), &[2], &number(depth), &small[depth_at + 1..]];
        let error = RedisTopK::from_dump(&with_checksum(parts.concat())).unwrap_err();
        let told = format!(
            "depth at offset 19 is {depth}, but must be such that there are 1 to 2^32 buckets"
        );
        assert_eq!(error.to_string(), format!("RedisBloom top-k list: {told}"));
    }
}

/// A message is for people and logs. Bytes of strangers do not choose its length.
#[test]
fn case_17_messages_show_the_first_bytes_of_an_item() {
    let mut top = RedisTopK::reserve(1, 1, 1, 0.9).unwrap();
    top.insert(&[0xff; 1_000], 5);
    let mut dump = top.to_dump(RdbVersion::default());
    // The fingerprint of the entry in the heap, before the item and an end of eleven bytes.
    let heap = dump.len() - 11 - (1_000 + 1 + 3) - 24;
    dump[heap] ^= 1;
    let error = RedisTopK::from_dump(&with_checksum(dump)).unwrap_err().to_string();
    let shown =
        format!("is \"{}\" and 936 more bytes, but must be an item of 1000", "\\xff".repeat(64));
    assert!(error.contains(&shown), "{error}");
}
