//! Files of DCSO's library, read, asked and rebuilt.

use pds_formats::dcso::DcsoBloomFilter;
use pds_formats::error::DecodeErrorKind;
use serde_json::Value;

use crate::support::{answers, base64, json, keys, list, number, text};
use crate::table::Format;

pub(crate) const FORMAT: Format = Format {
    name: "DCSO Bloom filter",
    type_name: "dcso::DcsoBloomFilter",
    can: [true, true, true],
    exact: "all",
    tested_against: "DCSO's Flor 1.1.3 for Python",
    vectors: || list(&vectors(), "cases").iter().map(|case| base64(&case["bytes"])).collect(),
};

fn vectors() -> Value {
    json(include_str!("../data/dcso.json"))
}

#[test]
fn files_are_built_and_answer_as_in_flor() {
    for case in list(&vectors(), "cases") {
        let mut built =
            DcsoBloomFilter::new(number(case, "n"), case["p"].as_f64().unwrap()).unwrap();
        keys(&case["keys"]).iter().for_each(|key| {
            built.insert(key);
        });
        built.set_data(text(case, "data").as_bytes());
        let file = base64(&case["bytes"]);
        assert_eq!(built.to_bytes(), file, "{case}");
        let read = DcsoBloomFilter::from_bytes(&file).unwrap();
        assert!(read == built && read.num_inserted() == number(case, "count"));
        assert_eq!(read.data(), text(case, "data").as_bytes());
        assert!(keys(&case["keys"]).iter().all(|key| read.contains(key)));
        let absent = keys(&case["absent_keys"]);
        let absent: Vec<bool> = absent.iter().map(|key| read.contains(key)).collect();
        assert_eq!(absent, answers(case, "absent_answers"));
    }
}

#[test]
fn files_are_continued_and_joined() {
    let mut joined = DcsoBloomFilter::new(1_000, 0.01).unwrap();
    let mut whole = joined.clone();
    let mut other = joined.clone();
    for key in ["a", "b", "c"] {
        assert!(whole.insert(key.as_bytes()) && !whole.insert(key.as_bytes()));
        let half = if key == "b" { &mut other } else { &mut joined };
        half.insert(key.as_bytes());
    }
    let mut joined = DcsoBloomFilter::from_bytes(&joined.to_bytes()).unwrap();
    joined.union_with(&other).unwrap();
    assert_eq!(joined.to_bytes(), whole.to_bytes());
    assert!((joined.approx_len().value - 3.0).abs() < 0.1 && joined.false_positive_rate() < 1e-9);
    let names = [(999, 0.01), (1_000, 0.02)].map(|(items, rate)| {
        let other = DcsoBloomFilter::new(items, rate).unwrap();
        joined.union_with(&other).unwrap_err().parameter()
    });
    assert_eq!(names, ["capacity", "rate"]);
    for (items, rate) in [(0, 0.1), (1, 0.0), (1, 1.0), (1, f64::NAN), (u64::MAX, 1e-9)] {
        assert!(DcsoBloomFilter::new(items, rate).is_err(), "{items}, {rate}");
    }
}

#[test]
fn case_17_files_that_lie_are_typed_errors() {
    let sound = DcsoBloomFilter::new(10, 0.01).unwrap().to_bytes();
    let refuses = |at: usize, new: &[u8], kind: DecodeErrorKind, text: &str| {
        let mut changed = sound.clone();
        changed[at..at + new.len()].copy_from_slice(new);
        let error = DcsoBloomFilter::from_bytes(&changed).unwrap_err();
        let text = format!("DCSO Bloom filter: {text}");
        assert_eq!((error.to_string(), error.kind()), (text, kind));
    };
    use DecodeErrorKind::{Invalid, Truncated, Version};
    refuses(0, &[2], Version, "flags at offset 0 is 2, but must be of version 1, in the low byte");
    for (hashes, allowed) in
        [(1u64 << 63, "from 1 to 1100"), (129, "from 1 to 128, the number of bits")]
    {
        let text = format!("number of hashes at offset 24 is {hashes}, but must be {allowed}");
        refuses(24, &hashes.to_le_bytes(), Invalid, &text);
    }
    refuses(32, &[129], Truncated, "words at offset 48 needs 24 bytes, but 16 are left");
    let bits = "number of bits at offset 32 is 0, but must be from 1 to 9223372036854775808";
    refuses(32, &[0], Invalid, bits);
    let last = "last word at offset 56 is 9223372036854775808, but must be without bits beyond the number of bits";
    refuses(63, &[128], Invalid, last);
    let rate = "rate at offset 16 is NaN, but must be a number";
    refuses(16, &f64::NAN.to_le_bytes(), Invalid, rate);
}

/// No rate needs more than 1,075 hashes. With as many as bits, a query of 1 MB of ones would take 8 million steps.
#[test]
fn case_17_more_hashes_than_any_rate_needs_are_refused() {
    let with = |hashes: u64| {
        let mut file = DcsoBloomFilter::new(1_000, 0.01).unwrap().to_bytes();
        file[24..32].copy_from_slice(&hashes.to_le_bytes());
        DcsoBloomFilter::from_bytes(&file)
    };
    let smallest = DcsoBloomFilter::new(1, f64::from_bits(1)).unwrap();
    assert_eq!(DcsoBloomFilter::from_bytes(&smallest.to_bytes()).as_ref(), Ok(&smallest));
    assert_eq!((smallest.num_hashes(), with(1_100).unwrap().num_hashes()), (1_074, 1_100));
    let text = "number of hashes at offset 24 is 1101, but must be from 1 to 1100";
    assert_eq!(with(1_101).unwrap_err().to_string(), format!("DCSO Bloom filter: {text}"));
}
