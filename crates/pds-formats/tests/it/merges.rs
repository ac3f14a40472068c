//! Merges of every format that the table says to merge, of all pairs of its vectors: whatever their shapes and seeds.

use pds_formats::datasketches::{DataSketchesBloomFilter, DataSketchesCountMin, DataSketchesHll};
use pds_formats::dcso::DcsoBloomFilter;
use pds_formats::guava::GuavaBloomFilter;
use pds_formats::milvus::MilvusBloomFilter;
use pds_formats::parquet::ParquetBloomFilter;
use pds_formats::postgres::PostgresHll;
use pds_formats::presto::PrestoHll;
use pds_formats::redis::{RdbVersion, RedisCountMinSketch, RedisHyperLogLog};
use pds_formats::spark::{SparkBloomFilter, SparkCountMin};

use crate::table::FORMATS;

/// Merges the second value into the first. Returns what is written, or `None` if the two are refused.
type Merge = fn(&[u8], &[u8]) -> Option<Vec<u8>>;

/// Merges by a method that refuses some values. The first one must then be as it was.
macro_rules! refusing {
    ($type:ident, $merge:ident) => {
        |left, right| {
            let [mut merged, other] = [left, right].map(|bytes| $type::from_bytes(bytes).unwrap());
            let before = merged.to_bytes();
            let outcome = merged.$merge(&other);
            assert!(outcome.is_ok() || merged.to_bytes() == before, "changed, and refused");
            outcome.ok().map(|()| merged.to_bytes())
        }
    };
}

/// Merges by a method that takes all values.
macro_rules! taking_all {
    ($type:ident) => {
        |left, right| {
            let [mut merged, other] = [left, right].map(|bytes| $type::from_bytes(bytes).unwrap());
            merged.merge(&other);
            Some(merged.to_bytes())
        }
    };
}

/// Filters and sketches of distinct keys, which know each key once.
const SETS: &[(&str, Merge)] = &[
    ("Parquet Bloom filter", refusing!(ParquetBloomFilter, union_with)),
    ("Redis HyperLogLog", taking_all!(RedisHyperLogLog)),
    ("DataSketches HLL sketch", taking_all!(DataSketchesHll)),
    ("DataSketches Bloom filter", refusing!(DataSketchesBloomFilter, union_with)),
    ("Spark Bloom filter", refusing!(SparkBloomFilter, union_with)),
    ("Guava Bloom filter", refusing!(GuavaBloomFilter, union_with)),
    ("postgresql-hll value", refusing!(PostgresHll, merge)),
    ("Presto HyperLogLog", refusing!(PrestoHll, merge)),
];

/// Values that count what they took. Those of Milvus and DCSO hold the number of their inserts.
const COUNTS: &[(&str, Merge)] = &[
    ("Milvus Bloom filter", refusing!(MilvusBloomFilter, union_with)),
    ("DCSO Bloom filter", refusing!(DcsoBloomFilter, union_with)),
    ("RedisBloom count-min sketch", |left, right| {
        let [mut merged, other] =
            [left, right].map(|bytes| RedisCountMinSketch::from_dump(bytes).unwrap());
        let before = merged.clone();
        let outcome = merged.merge(&other, 1);
        assert!(outcome.is_ok() || merged == before, "changed, and refused");
        outcome.ok().map(|()| merged.to_dump(RdbVersion::default()))
    }),
    ("DataSketches count-min sketch", refusing!(DataSketchesCountMin, merge)),
    ("Spark count-min sketch", refusing!(SparkCountMin, merge)),
];

/// Vectors of more bytes are merged with few others.
const LONG: usize = 1 << 14;

/// Calls `check` for pairs of vectors of a format: all of up to 16 KiB, and each with itself.
fn for_each_pair(name: &str, mut check: impl FnMut(&[u8], &[u8])) {
    let format = FORMATS.iter().find(|format| format.name == name).expect("a format");
    let vectors = (format.vectors)();
    let (short, long): (Vec<_>, Vec<_>) = vectors.iter().partition(|vector| vector.len() <= LONG);
    for left in &short {
        short.iter().for_each(|right| check(left, right));
    }
    long.iter().for_each(|vector| check(vector, vector));
}

#[test]
fn the_table_says_which_formats_merge() {
    let merging = FORMATS.iter().filter(|format| format.can[1]).map(|format| format.name);
    let mut expected: Vec<&str> = merging.collect();
    let mut found: Vec<&str> = SETS.iter().chain(COUNTS).map(|merge| merge.0).collect();
    expected.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, expected);
}

/// Returns whether two values have the same keys. HLL sketches of DataSketches also hold what they know of their history,
/// which a merge of registers loses.
fn has_same_keys(name: &str, left: &[u8], right: &[u8]) -> bool {
    if name != "DataSketches HLL sketch" {
        return left == right;
    }
    let [left, right] =
        [left, right].map(|bytes| DataSketchesHll::from_bytes(bytes).unwrap().registers());
    left == right
}

/// The same merge again changes nothing, and the order of two sets does not matter.
#[test]
fn case_13_a_set_has_each_key_once() {
    for &(name, merge) in SETS {
        let mut merged = 0;
        for_each_pair(name, |left, right| {
            let (there, back) = (merge(left, right), merge(right, left));
            assert_eq!(there.is_some(), back.is_some(), "{name}");
            let (Some(there), Some(back)) = (there, back) else { return };
            for (merged, other) in [(there, right), (back, left)] {
                let again = merge(&merged, other).unwrap();
                assert!(has_same_keys(name, &again, &merged), "{name}: the same again");
            }
            merged += 1;
        });
        assert!(merged > 0, "{name}");
    }
}

#[test]
fn case_13_counts_merge_in_any_order() {
    for &(name, merge) in COUNTS {
        let mut merged = 0;
        for_each_pair(name, |left, right| {
            let (there, back) = (merge(left, right), merge(right, left));
            assert!(there == back, "{name}: the order of a sum");
            merged += u32::from(there.is_some());
        });
        assert!(merged > 0, "{name}");
    }
}
