//! Count-min sketches of DataSketches, read, asked and rebuilt.

use pds_formats::datasketches::DataSketchesCountMin;
use pds_formats::error::DecodeErrorKind;
use serde_json::Value;

use super::ds_bloom::ask;
use crate::support::{base64, json, list, number};
use crate::table::Format;

pub(crate) const FORMAT: Format = Format {
    name: "DataSketches count-min sketch",
    type_name: "datasketches::DataSketchesCountMin",
    can: [true, true, true],
    exact: "all",
    tested_against: "datasketches 5.2.0 for Python, built with GNU's library",
    // The reader of the tests is not told another seed.
    vectors: || {
        let is_default = |case: &&Value| number(case, "seed") == 9_001;
        let file = vectors();
        let cases = list(&file, "cases").iter().filter(is_default);
        cases.map(|case| base64(&case["bytes"])).collect()
    },
};

fn vectors() -> Value {
    json(include_str!("../data/datasketches_cms.json"))
}

fn read(case: &Value) -> DataSketchesCountMin {
    DataSketchesCountMin::from_bytes_with_seed(&base64(&case["bytes"]), number(case, "seed"))
        .unwrap()
}

fn floats(case: &Value, name: &str) -> Vec<f64> {
    list(case, name).iter().map(|value| value.as_f64().unwrap()).collect()
}

#[test]
fn sketches_are_built_and_answer_as_in_datasketches() {
    for case in list(&vectors(), "cases") {
        let rows = u8::try_from(number(case, "num_hashes")).unwrap();
        let buckets = u32::try_from(number(case, "num_buckets")).unwrap();
        let mut built = DataSketchesCountMin::new(number(case, "seed"), rows, buckets).unwrap();
        let (mut position, weight_mod) = (0, number(case, "weight_mod"));
        let weights = ask(&case["keys"], |key| {
            let weight = (1 + position * position % weight_mod) as f64;
            built.insert(key, weight);
            position += 1;
            weight
        });
        assert_eq!(built.to_bytes(), base64(&case["bytes"]));

        let read = read(case);
        assert_eq!(read, built);
        assert_eq!(read.total_weight(), case["total_weight"].as_f64().unwrap());
        assert_eq!(read.relative_error(), case["relative_error"].as_f64().unwrap());
        let all = ask(&case["keys"], |key| read.estimate(key));
        assert_eq!(all, floats(case, "estimates"));
        let upper = ask(&case["keys"], |key| read.upper_bound(key));
        let first = floats(case, "upper_bounds");
        assert_eq!(upper[..first.len()], first);
        let lower = ask(&case["keys"], |key| read.lower_bound(key));
        for ((lower, estimate), weight) in lower.into_iter().zip(all).zip(weights) {
            assert!(lower <= weight && weight <= estimate);
        }
    }
}

#[test]
fn sketches_are_continued_and_merged() {
    for case in list(&vectors(), "cases") {
        let read = read(case);
        let (mut continued, mut other) = (read.clone(), read.clone());
        continued.insert("another", 2.5);
        other.merge(&continued).unwrap();
        assert_eq!(other.total_weight(), 2.0 * read.total_weight() + 2.5);
        let sums = read.counters().iter().zip(continued.counters()).map(|(a, b)| a + b);
        assert!(other.counters().iter().copied().eq(sums));
        assert_eq!(continued.estimate("another"), read.estimate("another") + 2.5);
        continued.insert("", 1.0);
        assert_eq!(continued.total_weight(), read.total_weight() + 2.5, "ignored");
    }
}

/// An empty sketch of the library has 16 bytes.
#[test]
fn empty_sketches_have_no_counters() {
    let empty = DataSketchesCountMin::new(9_001, 3, 5).unwrap();
    let bytes = [2, 1, 18, 1, 0, 0, 0, 0, 5, 0, 0, 0, 3, 0xcc, 0x93, 0];
    assert_eq!(empty.to_bytes(), bytes);
    assert_eq!(DataSketchesCountMin::from_bytes(&bytes).unwrap(), empty);
    assert_eq!((empty.estimate("a"), empty.is_empty()), (0.0, true));
}

#[test]
fn case_13_sketches_that_differ_are_not_merged() {
    let mut ours = DataSketchesCountMin::new(1, 3, 5).unwrap();
    let names = [(2, 3, 5), (1, 4, 5), (1, 3, 6)].map(|(seed, rows, buckets)| {
        let other = DataSketchesCountMin::new(seed, rows, buckets).unwrap();
        ours.merge(&other).unwrap_err().parameter()
    });
    assert_eq!(names, ["seed", "number of rows", "number of buckets"]);
    for (rows, buckets) in [(0, 5), (1, 2), (2, 1 << 29)] {
        assert!(DataSketchesCountMin::new(1, rows, buckets).is_err(), "{rows}, {buckets}");
    }
}

#[test]
fn case_17_bytes_that_lie_are_typed_errors() {
    let mut sketch = DataSketchesCountMin::new(9_001, 1, 3).unwrap();
    let empty = sketch.to_bytes();
    sketch.insert("a", 1.0);
    let full = sketch.to_bytes();
    let refuses = |sound: &[u8], at: usize, new: &[u8], kind: DecodeErrorKind, text: &str| {
        let mut changed = sound.to_vec();
        changed[at..at + new.len()].copy_from_slice(new);
        let error = DataSketchesCountMin::from_bytes(&changed).unwrap_err();
        let text = format!("DataSketches count-min sketch: {text}");
        assert_eq!((error.to_string(), error.kind()), (text, kind));
    };
    use DecodeErrorKind::{Hasher, Invalid, Kind, Truncated};
    refuses(&full, 2, &[3], Kind, "family at offset 2 is 3, but must be 18");
    let buckets = "number of buckets at offset 8 is";
    refuses(&full, 8, &[2], Invalid, &format!("{buckets} 2, but must be from 3 to 4294967295"));
    refuses(&full, 8, &[4], Truncated, "counters at offset 24 needs 32 bytes, but 24 are left");
    let most = format!("{buckets} 4294967295, but must be at most 1073741823");
    refuses(&full, 8, &[255; 4], Invalid, &most);
    let most = format!("{buckets} 4294967295, but must be at most 131072");
    refuses(&empty, 8, &[255; 4], Invalid, &most);
    let seed = "seed hash at offset 13 is 37632, but must be 37836, that of seed 9001";
    refuses(&full, 13, &[0], Hasher, seed);
    let infinite = f64::INFINITY.to_le_bytes();
    refuses(
        &full,
        32,
        &infinite,
        Invalid,
        "counter at offset 32 is inf, but must be a finite number",
    );
    for (total, text) in [(f64::INFINITY, "inf"), (-1.0, "-1"), (0.0, "0")] {
        let text = format!(
            "total weight at offset 16 is {text}, but must be finite and above 0 unless the sketch is empty"
        );
        refuses(&full, 16, &total.to_le_bytes(), Invalid, &text);
    }
}

/// Counters are checked together. Each is, and the first that is wrong is named.
#[test]
fn case_17_a_counter_that_is_no_number_is_found_in_any_place() {
    let mut sketch = DataSketchesCountMin::new(9_001, 3, 7).unwrap();
    (0..50).for_each(|key| sketch.insert(key, 1.5));
    let sound = sketch.to_bytes();
    for at in (24..sound.len()).step_by(8) {
        for wrong in [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut bytes = sound.clone();
            bytes[at..].as_chunks_mut().0.iter_mut().step_by(2).for_each(|counter| {
                *counter = wrong.to_le_bytes();
            });
            let error = DataSketchesCountMin::from_bytes(&bytes).unwrap_err();
            assert_eq!(error.offset(), Some(at as u64), "{error}");
        }
        let mut bytes = sound.clone();
        bytes[at..at + 8].copy_from_slice(&f64::MAX.to_le_bytes());
        assert!(DataSketchesCountMin::from_bytes(&bytes).is_ok());
    }
}

/// Sums stop at the greatest finite number, so that every sketch can be read.
#[test]
fn case_11_sums_stay_finite() {
    let mut sketch = DataSketchesCountMin::new(9_001, 2, 3).unwrap();
    [1e308, 1e308, 1e308].into_iter().for_each(|weight| sketch.insert("a", weight));
    assert_eq!((sketch.estimate("a"), sketch.total_weight()), (f64::MAX, f64::MAX));
    let copy = sketch.clone();
    sketch.merge(&copy).unwrap();
    assert_eq!(DataSketchesCountMin::from_bytes(&sketch.to_bytes()).unwrap(), sketch);
    sketch.insert("b", -1e308);
    assert_eq!(sketch.total_weight(), f64::MAX);
}
