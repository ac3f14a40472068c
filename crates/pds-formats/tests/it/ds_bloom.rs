//! Bloom filters of DataSketches, read, asked and rebuilt.

use pds_formats::datasketches::{DataSketchesBloomFilter, DataSketchesKey};
use pds_formats::error::DecodeErrorKind;
use serde_json::Value;

use crate::support::{answers, base64, integers, json, keys, list, number};
use crate::table::Format;

pub(crate) const FORMAT: Format = Format {
    name: "DataSketches Bloom filter",
    type_name: "datasketches::DataSketchesBloomFilter",
    can: [true, true, true],
    exact: "all",
    tested_against: "datasketches-java 6.2.0",
    vectors: || list(&vectors(), "cases").iter().map(|case| base64(&case["bytes"])).collect(),
};

fn vectors() -> Value {
    json(include_str!("../data/datasketches_bloom.json"))
}

/// Hands every key of a specification to `visit`. Returns the answers.
pub(crate) fn ask<T>(spec: &Value, mut visit: impl FnMut(DataSketchesKey<'_>) -> T) -> Vec<T> {
    if spec["kind"] == "int" {
        return integers(spec).into_iter().map(|key| visit(key.into())).collect();
    }
    keys(spec).iter().map(|key| visit(key[..].into())).collect()
}

#[test]
fn filters_are_built_and_answer_as_in_datasketches() {
    for case in list(&vectors(), "cases") {
        let (seed, create) = (number(case, "seed"), list(case, "create"));
        let first = create[1].as_u64().unwrap();
        let mut built = match create[0].as_str().unwrap() {
            "accuracy" => {
                DataSketchesBloomFilter::new(seed, first, create[2].as_f64().unwrap()).unwrap()
            }
            _ => {
                let hashes = create[2].as_u64().unwrap();
                DataSketchesBloomFilter::with_size(seed, first, hashes).unwrap()
            }
        };
        let size = (built.num_bits(), u64::from(built.num_hashes()));
        assert_eq!(size, (number(case, "capacity_bits"), number(case, "num_hashes")));
        let found = ask(&case["keys"], |key| {
            let found = built.contains(key);
            assert_eq!(built.insert(key), !found);
            found
        });
        assert_eq!(found, answers(case, "query_before_update"));
        assert_eq!(built.to_bytes(), base64(&case["bytes"]), "{create:?}");

        let read = DataSketchesBloomFilter::from_bytes(&base64(&case["bytes"])).unwrap();
        assert!(read == built && read.count_ones() == number(case, "bits_used"));
        let absent = ask(&case["absent_keys"], |key| read.contains(key));
        assert_eq!(absent, answers(case, "query_absent"));
    }
}

#[test]
fn filters_are_continued_and_united() {
    for case in list(&vectors(), "cases") {
        let read = DataSketchesBloomFilter::from_bytes(&base64(&case["bytes"])).unwrap();
        let mut continued = read.clone();
        ask(&case["absent_keys"], |key| continued.insert(key));
        let mut others = read.clone();
        others.clear();
        ask(&case["absent_keys"], |key| others.insert(key));
        let mut united = read.clone();
        united.union_with(&others).unwrap();
        assert_eq!(united.to_bytes(), continued.to_bytes());
        assert!(!united.insert("") && !united.contains(""), "ignored");
    }
}

#[test]
fn case_13_filters_that_differ_are_not_united() {
    let mut ours = DataSketchesBloomFilter::with_size(1, 640, 5).unwrap();
    let others = [(2, 640, 5), (1, 704, 5), (1, 640, 6)];
    let names = others.map(|(seed, bits, hashes)| {
        let other = DataSketchesBloomFilter::with_size(seed, bits, hashes).unwrap();
        ours.union_with(&other).unwrap_err().parameter()
    });
    assert_eq!(names, ["seed", "number of bits", "number of hashes"]);
    for (bits, hashes) in [(0, 1), (1, 0), (64, 65), (1 << 20, 32_768), (u64::MAX, 1)] {
        assert!(DataSketchesBloomFilter::with_size(1, bits, hashes).is_err(), "{bits}, {hashes}");
    }
    for (items, rate) in [(0, 0.1), (1, 0.0), (1, 1.0), (1, f64::NAN)] {
        assert!(DataSketchesBloomFilter::new(1, items, rate).is_err(), "{items}, {rate}");
    }
}

#[test]
fn case_17_bytes_that_lie_are_typed_errors() {
    let mut filter = DataSketchesBloomFilter::with_size(7, 128, 3).unwrap();
    let empty = filter.to_bytes();
    filter.insert(1);
    let refuses = |sound: &[u8], at: usize, new: &[u8], kind: DecodeErrorKind, text: &str| {
        let mut changed = sound.to_vec();
        changed[at..at + new.len()].copy_from_slice(new);
        let error = DataSketchesBloomFilter::from_bytes(&changed).unwrap_err();
        let text = format!("DataSketches Bloom filter: {text}");
        assert_eq!((error.to_string(), error.kind()), (text, kind));
    };
    use DecodeErrorKind::{Invalid, Kind, Trailing, Truncated, Version};
    let full = &filter.to_bytes()[..];
    assert_eq!((full.len(), empty.len()), (48, 24));
    refuses(full, 0, &[3], Invalid, "preamble size at offset 0 is 3, but must be 4");
    refuses(full, 1, &[2], Version, "serial version at offset 1 is 2, but must be 1");
    refuses(full, 2, &[7], Kind, "family at offset 2 is 7, but must be 21");
    let big = "flags at offset 3 is 1, but must be without bit 0, which marks big-endian numbers";
    refuses(full, 3, &[1], Invalid, big);
    refuses(
        full,
        3,
        &[8],
        Invalid,
        "flags at offset 3 is 8, but must be known flags, of the bits 0x04",
    );
    let hashes =
        "number of hashes at offset 4 is 200, but must be from 1 to 128, the number of bits";
    refuses(full, 4, &[200], Invalid, hashes);
    let negative =
        "number of hashes at offset 4 is 32768, but must be at most 32767, as in a signed number";
    refuses(full, 4, &[0, 128], Invalid, negative);
    refuses(full, 16, &[3], Truncated, "words at offset 32 needs 24 bytes, but 16 are left");
    refuses(full, 16, &[1], Trailing, "the data ends at offset 40, but 8 more bytes follow");
    refuses(full, 24, &[2], Invalid, "number of set bits at offset 24 is 2, but must be 3");
    let words = "number of words at offset 16 is 2147483647, but must be up to 131072 in a filter without bits";
    refuses(&empty, 16, &[255, 255, 255, 127], Invalid, words);
    refuses(
        &empty,
        4,
        &[0, 0],
        Invalid,
        "number of hashes at offset 4 is 0, but must be from 1 to 128",
    );
}

/// The library makes one number of all NaN but not of both zeros, and ignores empty strings but not empty arrays of bytes.
#[test]
fn zeros_and_empty_keys_are_those_of_the_library() {
    let mut filter = DataSketchesBloomFilter::new(7, 100, 1e-6).unwrap();
    assert!(filter.insert(-0.0) && !filter.contains(0.0) && filter.contains(-0.0));
    assert!(filter.insert(f64::NAN) && filter.contains(-f64::NAN));
    assert!(!filter.insert("") && !filter.contains(""));
    assert!(filter.insert(&b""[..]) && filter.contains(&b""[..]));
}
