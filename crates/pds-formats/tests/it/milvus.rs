//! The blobs that the clients of Milvus agree on.

use pds_formats::error::DecodeErrorKind;
use pds_formats::milvus::MilvusBloomFilter;
use serde_json::json;

use crate::support::hex;
use crate::table::Format;

pub(crate) const FORMAT: Format = Format {
    name: "Milvus Bloom filter",
    type_name: "milvus::MilvusBloomFilter",
    can: [true, true, true],
    exact: "all",
    tested_against: "two golden vectors of pymilvus' own tests",
    vectors: || VECTORS.iter().map(|vector| hex(&json!(vector))).collect(),
};

/// The members -2^63, -1, 0, 1, 2, 42, 1000000007 and 2^63 - 1, and seven strings, at a rate of 0.001.
const VECTORS: [&str; 2] = [
    "4d424631010001000800000000000000fca9f1d24d62503f0100000001000000\
     0117100a804845062834804200440612100448a40680089c4040542838410046",
    "4d424631010001000700000000000000fca9f1d24d62503f0100000002000000\
     10002c24010e020492110042181000b08a40860000284209010114a8015410c0",
];

const INTEGERS: [i64; 8] = [i64::MIN, -1, 0, 1, 2, 42, 1_000_000_007, i64::MAX];
const STRINGS: [&str; 7] = ["", "a", "milvus", "bloom", "日本語", "🚀🚀", "hello world"];

#[test]
fn blobs_are_those_of_other_clients() {
    let mut integers = MilvusBloomFilter::new(8, 0.001).unwrap();
    INTEGERS.into_iter().for_each(|value| {
        integers.insert_integer(value);
    });
    let mut strings = MilvusBloomFilter::new(7, 0.001).unwrap();
    STRINGS.into_iter().for_each(|value| {
        strings.insert_string(value);
    });
    assert_eq!([integers.to_bytes(), strings.to_bytes()].to_vec(), (FORMAT.vectors)());
    assert!(INTEGERS.iter().all(|&value| integers.contains_integer(value)));
    assert!(STRINGS.iter().all(|value| strings.contains_string(value)));
}

/// The bytes "A" to "H" are those of an integer. Only the domain tells them apart.
#[test]
fn a_value_is_found_in_its_own_domain_only() {
    let mut strings = MilvusBloomFilter::new(10, 0.01).unwrap();
    let integer = i64::from_le_bytes(*b"ABCDEFGH");
    assert!(strings.insert_string("ABCDEFGH") && !strings.contains_integer(integer));
    assert!(strings.insert_integer(integer) && strings.contains_integer(integer));
    assert!(!strings.insert_integer(integer));
    let mut empty = MilvusBloomFilter::new(10, 0.01).unwrap();
    assert!(!empty.contains_string("") && !empty.contains_integer(0));
    empty.union_with(&strings).unwrap();
    assert!(empty.contains_string("ABCDEFGH") && empty.declared_values() == 20);
    assert!(empty.union_with(&MilvusBloomFilter::new(1_000, 0.01).unwrap()).is_err());
    assert!(strings.rate_at(10) > 0.0 && strings.declared_rate() == 0.01);
    assert!(strings.into_parquet().contains("ABCDEFGH"));
}

#[test]
fn case_17_blobs_that_are_none_are_typed_errors() {
    let sound = &(FORMAT.vectors)()[0];
    let refuses = |at: usize, byte: u8, kind: DecodeErrorKind, text: &str| {
        let mut changed = sound.clone();
        changed[at] = byte;
        let error = MilvusBloomFilter::from_bytes(&changed).unwrap_err();
        assert_eq!(
            (error.to_string(), error.kind()),
            (format!("Milvus Bloom filter: {text}"), kind)
        );
    };
    use DecodeErrorKind::{Hasher, Invalid, Magic, Truncated, Version};
    refuses(0, b'm', Magic, "magic number at offset 0 is \"mBF1\", but must be \"MBF1\"");
    refuses(4, 2, Version, "version at offset 4 is 2, but must be 1");
    refuses(6, 2, Hasher, "algorithm at offset 6 is 2, but must be 1, XXH64 in split blocks");
    refuses(
        24,
        3,
        Invalid,
        "number of blocks at offset 24 is 3, but must be a power of two up to 4194304",
    );
    refuses(24, 2, Truncated, "blocks at offset 32 needs 64 bytes, but 32 are left");
    refuses(28, 4, Invalid, "domains at offset 28 is 4, but must be from 0 to 3");
    refuses(30, 1, Invalid, "reserved byte at offset 30 is 1, but must be 0");
}
