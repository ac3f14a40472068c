//! Count-min sketches of Spark's library, read, asked and rebuilt.

use pds_formats::error::DecodeErrorKind;
use pds_formats::spark::{SparkCountMin, SparkKey};
use serde_json::Value;

use super::spark_bloom::ask;
use crate::support::{base64, json, list, number, text};
use crate::table::Format;

pub(crate) const FORMAT: Format = Format {
    name: "Spark count-min sketch",
    type_name: "spark::SparkCountMin",
    can: [true, true, true],
    exact: "all",
    tested_against: "spark-sketch 4.3.0",
    vectors: || list(&vectors(), "cases").iter().map(|case| base64(&case["bytes"])).collect(),
};

fn vectors() -> Value {
    json(include_str!("../data/spark_cms.json"))
}

fn create(case: &Value) -> SparkCountMin {
    let seed = i32::try_from(case["seed"].as_i64().unwrap()).unwrap();
    let shape = list(case, "create");
    match shape[0].as_str().unwrap() {
        "eps" => SparkCountMin::new(shape[1].as_f64().unwrap(), shape[2].as_f64().unwrap(), seed)
            .unwrap(),
        _ => {
            let [depth, width] = [1, 2].map(|i| shape[i].as_u64().unwrap());
            SparkCountMin::with_size(depth, width, seed).unwrap()
        }
    }
}

/// Adds the keys of a case with their weights.
fn fill(sketch: &mut SparkCountMin, case: &Value) {
    let (mut position, weight_mod) = (0, number(case, "weight_mod"));
    ask(&case["keys"], |key| {
        sketch.insert(key, 1 + position * position % weight_mod);
        position += 1;
        true
    });
}

fn estimates(sketch: &SparkCountMin, spec: &Value) -> Vec<u64> {
    let mut all = Vec::new();
    ask(spec, |key: SparkKey<'_>| {
        all.push(sketch.estimate(key));
        true
    });
    all
}

#[test]
fn sketches_are_built_and_answer_as_in_spark() {
    for case in list(&vectors(), "cases") {
        let name = text(case, "name");
        let mut built = create(case);
        fill(&mut built, case);
        assert_eq!(built.to_bytes(), base64(&case["bytes"]), "{name}");

        let read = SparkCountMin::from_bytes(&base64(&case["bytes"])).unwrap();
        assert!(read == built && read.total() == number(case, "total_count"), "{name}");
        let numbers =
            |name| list(case, name).iter().map(|n| n.as_u64().unwrap()).collect::<Vec<_>>();
        assert_eq!(estimates(&read, &case["keys"]), numbers("estimates"), "{name}");
        assert_eq!(estimates(&read, &case["absent_keys"]), numbers("estimates_absent"), "{name}");
        // Spark's own sketch remembers the arguments of its creation until it is written.
        if case["create"][0] != "eps" {
            assert_eq!(read.relative_error(), case["relative_error"].as_f64().unwrap());
            assert_eq!(read.confidence(), case["confidence"].as_f64().unwrap());
        }
    }
}

#[test]
fn sizes_are_those_of_spark() {
    for row in list(&vectors(), "eps_confidence_depth_width") {
        let sketch =
            SparkCountMin::new(row[0].as_f64().unwrap(), row[1].as_f64().unwrap(), 1).unwrap();
        let size = (sketch.depth() as u64, u64::from(sketch.width()));
        assert_eq!(size, (row[2].as_u64().unwrap(), row[3].as_u64().unwrap()), "{row}");
    }
    for (error, confidence) in
        [(0.0, 0.5), (1.0, 0.5), (0.1, 0.0), (0.1, 1.0), (f64::NAN, 0.5), (1e-300, 0.5)]
    {
        assert!(SparkCountMin::new(error, confidence, 1).is_err(), "{error}, {confidence}");
    }
}

#[test]
fn sketches_are_continued_and_merged() {
    for case in list(&vectors(), "cases") {
        let read = SparkCountMin::from_bytes(&base64(&case["bytes"])).unwrap();
        let (mut twice, mut merged) = (read.clone(), read.clone());
        fill(&mut twice, case);
        merged.merge(&read).unwrap();
        assert_eq!(merged.to_bytes(), twice.to_bytes());
    }
}

#[test]
fn case_13_sketches_that_differ_are_not_merged() {
    let mut ours = SparkCountMin::with_size(3, 50, 1).unwrap();
    let names = [(4, 50, 1), (3, 51, 1), (3, 50, 2)].map(|(depth, width, seed)| {
        let other = SparkCountMin::with_size(depth, width, seed).unwrap();
        ours.merge(&other).unwrap_err().parameter()
    });
    assert_eq!(names, ["depth", "width", "multiplier of a row"]);
}

#[test]
fn case_11_counts_stop_at_their_limit() {
    let mut sketch = SparkCountMin::with_size(2, 5, 1).unwrap();
    sketch.insert("a", u64::MAX);
    sketch.insert("a", 1);
    let max = i64::MAX.cast_unsigned();
    assert_eq!((sketch.estimate("a"), sketch.total()), (max, max));
    sketch.merge(&sketch.clone()).unwrap();
    assert_eq!(SparkCountMin::from_bytes(&sketch.to_bytes()).unwrap().estimate("a"), max);
}

#[test]
fn case_17_bytes_that_lie_are_typed_errors() {
    let mut sketch = SparkCountMin::with_size(1, 2, 1).unwrap();
    sketch.insert("a", 5);
    let sound = sketch.to_bytes();
    let refuses = |at: usize, new: &[u8], kind: DecodeErrorKind, text: &str| {
        let mut changed = sound.clone();
        changed[at..at + new.len()].copy_from_slice(new);
        let error = SparkCountMin::from_bytes(&changed).unwrap_err();
        let text = format!("Spark count-min sketch: {text}");
        assert_eq!((error.to_string(), error.kind()), (text, kind));
    };
    use DecodeErrorKind::{Invalid, Trailing, Truncated, Version};
    refuses(3, &[2], Version, "version at offset 0 is 2, but must be 1");
    let sum = "sum of counters at offset 28 is 5, but must be 4, the total count, in row 0";
    refuses(11, &[4], Invalid, sum);
    refuses(12, &[0; 4], Invalid, "depth at offset 12 is 0, but must be from 1 to 2147483647");
    let huge = "multipliers and counters at offset 20 needs 51539607528 bytes, but 24 are left";
    refuses(12, &i32::MAX.to_be_bytes(), Truncated, huge);
    let error = SparkCountMin::from_bytes(&[&sound[..], &[0]].concat()).unwrap_err();
    assert_eq!(error.kind(), Trailing, "{error}");
    let multiplier = "multiplier at offset 20 is -1, but must be from 0 to 2147483647";
    refuses(20, &[255; 8], Invalid, multiplier);
}
