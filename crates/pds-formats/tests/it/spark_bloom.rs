//! Filters of Spark's library, read, asked and rebuilt.

use pds_formats::error::DecodeErrorKind;
use pds_formats::spark::{SparkBloomFilter, SparkBloomVersion, SparkKey};
use serde_json::Value;

use crate::support::{answers, base64, hex, integers, json, keys, list, number, text};
use crate::table::Format;

pub(crate) const FORMAT: Format = Format {
    name: "Spark Bloom filter",
    type_name: "spark::SparkBloomFilter",
    can: [true, true, true],
    exact: "all",
    tested_against: "spark-sketch 4.3.0, versions 1 and 2",
    vectors: || {
        let file = vectors();
        let default = hex(&file["default_create_5_items_fpp_0.1_bytes_hex"]);
        list(&file, "cases").iter().map(|case| base64(&case["bytes"])).chain([default]).collect()
    },
};

fn vectors() -> Value {
    json(include_str!("../data/spark_bloom.json"))
}

/// Hands every key of a specification to `visit`. Returns the answers.
pub(crate) fn ask(spec: &Value, mut visit: impl FnMut(SparkKey<'_>) -> bool) -> Vec<bool> {
    if spec["kind"] == "int" {
        return integers(spec).into_iter().map(|key| visit(key.into())).collect();
    }
    keys(spec).iter().map(|key| visit(key[..].into())).collect()
}

fn version(case: &Value) -> SparkBloomVersion {
    match number(case, "version") {
        1 => SparkBloomVersion::V1,
        _ => {
            let seed = case["seed"].as_i64().unwrap();
            SparkBloomVersion::V2 { seed: i32::try_from(seed).unwrap() }
        }
    }
}

#[test]
fn filters_are_built_and_answer_as_in_spark() {
    let mut versions = [0; 2];
    for case in list(&vectors(), "cases") {
        let name = text(case, "name");
        let (items, rate) = (number(case, "expected_items"), case["fpp"].as_f64().unwrap());
        let mut built = SparkBloomFilter::new(version(case), items, rate).unwrap();
        assert_eq!(built.num_bits(), number(case, "bit_size"), "{name}");
        let new = ask(&case["keys"], |key| built.insert(key));
        assert_eq!(new, answers(case, "put_changed"), "{name}");
        assert_eq!(built.to_bytes(), base64(&case["bytes"]), "{name}");

        let read = SparkBloomFilter::from_bytes(&base64(&case["bytes"])).unwrap();
        assert!(read == built && read.count_ones() == number(case, "set_bits"), "{name}");
        assert!(ask(&case["keys"], |key| read.contains(key)).into_iter().all(|found| found));
        let absent = ask(&case["absent_keys"], |key| read.contains(key));
        assert_eq!(absent, answers(case, "might_contain_absent"), "{name}");
        versions[usize::try_from(number(case, "version") - 1).unwrap()] += 1;
    }
    assert!(versions[0] > 0 && versions[1] > 0 && versions[0] + versions[1] == 12);
}

#[test]
fn sizes_are_those_of_spark() {
    let file = vectors();
    for row in list(&file, "size_table_n_fpp_optimalbits_bitsize_k") {
        let (items, rate) = (row[0].as_u64().unwrap(), row[1].as_f64().unwrap());
        let filter = SparkBloomFilter::new(SparkBloomVersion::V1, items, rate).unwrap();
        let size = (filter.num_bits(), u64::from(filter.num_hashes()));
        assert_eq!(size, (row[3].as_u64().unwrap(), row[4].as_u64().unwrap()), "{row}");
    }
    let v1 = SparkBloomVersion::V1;
    for (items, rate) in [(0, 0.1), (1, 0.0), (1, 1.0), (1, f64::NAN), (1, 0.9), (u64::MAX, 0.1)] {
        assert!(SparkBloomFilter::new(v1, items, rate).is_err(), "{items}, {rate}");
    }
}

/// A continued filter is the filter of all keys, whether it grew by keys or by a union.
#[test]
fn filters_are_continued_and_united() {
    for case in list(&vectors(), "cases") {
        let read = SparkBloomFilter::from_bytes(&base64(&case["bytes"])).unwrap();
        let mut continued = read.clone();
        ask(&case["absent_keys"], |key| continued.insert(key));
        let mut others = read.clone();
        others.clear();
        ask(&case["absent_keys"], |key| others.insert(key));
        let mut united = read.clone();
        united.union_with(&others).unwrap();
        assert_eq!(united.to_bytes(), continued.to_bytes());
        assert!((0.0..=1.0).contains(&united.false_positive_rate()));
    }
}

#[test]
fn case_13_filters_that_differ_are_not_united() {
    let filter = |version, items| SparkBloomFilter::new(version, items, 0.03).unwrap();
    let [v1, seeded] = [SparkBloomVersion::V1, SparkBloomVersion::V2 { seed: -1 }];
    let mut ours = filter(SparkBloomVersion::V2 { seed: 0 }, 100);
    let refused = [filter(v1, 100), filter(seeded, 100), filter(ours.version(), 1_000)];
    let names = refused.map(|other| ours.union_with(&other).unwrap_err().parameter());
    assert_eq!(names, ["version", "seed, as an unsigned number,", "number of bits"]);
}

#[test]
fn estimates_of_the_number_of_keys_are_close() {
    let mut filter = SparkBloomFilter::new(SparkBloomVersion::V1, 2_000, 0.01).unwrap();
    (0..2_000_i64).for_each(|key| {
        filter.insert(key);
    });
    let estimate = filter.approx_len();
    assert!((estimate.value - 2_000.0).abs() < 5.0 * estimate.standard_error, "{estimate:?}");
}

#[test]
fn case_17_bytes_that_lie_are_typed_errors() {
    let sound = base64(&vectors()["cases"][0]["bytes"]);
    let refuses = |at: usize, value: i32, kind: DecodeErrorKind, text: &str| {
        let mut changed = sound.clone();
        changed[at..at + 4].copy_from_slice(&value.to_be_bytes());
        let error = SparkBloomFilter::from_bytes(&changed).unwrap_err();
        let text = format!("Spark Bloom filter: {text}");
        assert_eq!((error.to_string(), error.kind()), (text, kind));
    };
    use DecodeErrorKind::{Invalid, Trailing, Truncated, Version};
    refuses(0, 3, Version, "version at offset 0 is 3, but must be 1 or 2");
    let hashes = "number of hashes at offset 4 is";
    let allowed = "but must be from 1 to 7360, the number of bits";
    refuses(4, 0, Invalid, &format!("{hashes} 0, {allowed}"));
    refuses(4, -5, Invalid, &format!("{hashes} -5, {allowed}"));
    refuses(4, i32::MAX, Invalid, &format!("{hashes} 2147483647, {allowed}"));
    let words = "number of words at offset 8 is";
    refuses(8, -1, Invalid, &format!("{words} -1, but must be from 1 to 2147483647"));
    refuses(8, 1 << 30, Truncated, "words at offset 12 needs 8589934592 bytes, but 920 are left");
    refuses(8, 114, Trailing, "the data ends at offset 924, but 8 more bytes follow");
}
