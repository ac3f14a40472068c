//! The hash functions against values on which several other implementations agree.

use pds_formats::hash::{murmur2_32, murmur2_64a, murmur3_32, murmur3_128, spark_murmur3_32};

use crate::support::{json, list, number, text};

/// Hashes of the prefixes of one byte string.
const HASHES: &str = include_str!("../data/hashes.json");

/// Compares a hash function with its table. Returns the number of values.
fn agrees(table: &str, hash: impl Fn(&[u8], u64) -> String) -> usize {
    let file = json(HASHES);
    let one = (0..=255u8).map(|i| i.wrapping_mul(7).wrapping_add(3));
    let input: Vec<u8> = one.cycle().take(1_024).collect();
    let lengths = list(&file, "lengths");
    let mut compared = 0;
    for row in list(&file, table) {
        let seed = u64::from_str_radix(&text(row, "seed")[2..], 16).unwrap();
        for (length, value) in lengths.iter().zip(list(row, "values")) {
            let length = usize::try_from(length.as_u64().unwrap()).unwrap();
            assert_eq!(hash(&input[..length], seed), value.as_str().unwrap(), "{length}, {seed:x}");
            compared += 1;
        }
    }
    assert_eq!((number(&file["input"], "mul"), number(&file["input"], "add")), (7, 3));
    compared
}

fn narrow(seed: u64) -> u32 {
    u32::try_from(seed).unwrap()
}

#[test]
fn hashes_agree_with_independent_values() {
    let counts = [
        agrees("murmurhash64a", |bytes, seed| format!("{:016x}", murmur2_64a(bytes, seed))),
        agrees("murmurhash2_32", |bytes, seed| format!("{:08x}", murmur2_32(bytes, narrow(seed)))),
        agrees("murmur3_x86_32", |bytes, seed| format!("{:08x}", murmur3_32(bytes, narrow(seed)))),
        agrees("spark_murmur3_x86_32", |bytes, seed| {
            format!("{:08x}", spark_murmur3_32(bytes, narrow(seed)))
        }),
        agrees("murmur3_x64_128", |bytes, seed| {
            let [first, second] = murmur3_128(bytes, seed);
            format!("{first:016x}{second:016x}")
        }),
    ];
    assert_eq!(counts, [355, 355, 213, 213, 213]);
}
