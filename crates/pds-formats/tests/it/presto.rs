//! Values of the type `HyperLogLog` of Velox, which are those of Presto and Trino, rebuilt, read, merged.

use pds_formats::error::DecodeErrorKind;
use pds_formats::presto::PrestoHll;
use serde_json::Value;

use crate::support::{hex, json, list, number};
use crate::table::Format;

pub(crate) const FORMAT: Format = Format {
    name: "Presto HyperLogLog",
    type_name: "presto::PrestoHll",
    can: [true, true, true],
    exact: "all",
    tested_against: "pyvelox 0.2.0",
    vectors: || list(&vectors(), "cases").iter().map(|case| hex(&case["bytes"])).collect(),
};

fn vectors() -> Value {
    json(include_str!("../data/presto.json"))
}

fn insert(sketch: &mut PrestoHll, case: &Value, keys: core::ops::Range<u64>) {
    keys.for_each(|key| {
        _ = if case["keys"] == "bigint" {
            sketch.insert_bigint(key.cast_signed())
        } else {
            sketch.insert_text(&format!("item:{key}"))
        };
    });
}

#[test]
fn values_agree_with_the_engine() {
    let (mut sparse, mut linear, mut corrected) = (0, 0, 0);
    for case in list(&vectors(), "cases") {
        let bytes = hex(&case["bytes"]);
        let read = PrestoHll::from_bytes(&bytes).unwrap();
        let count = number(case, "count");
        let name = format!("{} {} {count}", case["keys"], case["error"]);
        let mut built = PrestoHll::new(read.precision()).unwrap();
        insert(&mut built, case, 0..count);
        assert!(built == read && built.to_bytes() == bytes, "{name}");
        let (theirs, ours) = (number(case, "cardinality"), read.estimate());
        let zeros = read.registers().iter().filter(|&&value| value == 0).count();
        if bytes[0] == 2 {
            sparse += 1;
            assert_eq!(read.cardinality(), theirs, "{name}");
        } else if 5 * zeros > 2 * read.registers().len() {
            linear += 1;
            assert_eq!(read.cardinality(), theirs, "{name}");
        } else {
            // Of many keys the engine has another estimator.
            corrected += 1;
            assert!((ours.value - theirs as f64).abs() < 0.5 * ours.standard_error, "{name}");
        }
        assert!((ours.value - count as f64).abs() <= 4.0 * ours.standard_error + 0.5, "{name}");
        // Halves that share keys, in either order, sparse or not.
        let (a, b) = (count * 2 / 3, count / 3);
        let half = |keys| {
            let mut half = PrestoHll::new(read.precision()).unwrap();
            insert(&mut half, case, keys);
            half
        };
        let (first, second) = (half(0..a), half(b..count));
        for (left, right) in [(&first, &second), (&second, &first), (&read, &first)] {
            let mut merged = left.clone();
            merged.merge(right).unwrap();
            assert!(merged == read, "{name}");
        }
        let mut continued = PrestoHll::from_bytes(&first.to_bytes()).unwrap();
        insert(&mut continued, case, 0..count);
        assert!(continued == read, "{name}");
    }
    assert!(sparse >= 8 && linear >= 1 && corrected >= 5, "{sparse} {linear} {corrected}");
}

/// Registers that exceed the least one by more than 15 stand behind the others.
#[test]
fn great_registers_come_back() {
    let mut sketch = PrestoHll::new(4).unwrap();
    for register in 0..16u64 {
        // Every register from 1 on; some with 15, 16, 30 and 60 zeros.
        let zeros = [0, 14, 15, 16, 30, 60][usize::try_from(register % 6).unwrap()];
        sketch.insert_hash(register << 60 | (1 << 59) >> zeros);
    }
    let values = [1, 15, 16, 17, 31, 61].map(u8::from);
    assert!(sketch.registers().iter().zip(values.iter().cycle()).all(|(a, b)| a == b));
    let bytes = sketch.to_bytes();
    // A baseline of 1, and overflows of registers with 17, 31 and 61.
    assert_eq!((bytes[..3].to_vec(), bytes[11]), (vec![3, 4, 1], 7));
    assert_eq!(PrestoHll::from_bytes(&bytes).unwrap(), sketch);
    // The first dense layout has one overflow at most, or a negative number.
    let old = |end: &[u8]| PrestoHll::from_bytes(&[&[1, 4, 0][..], &[0xf0; 8], end].concat());
    let read = old(&[2, 0, 5]).unwrap();
    assert_eq!(read.registers()[..4], [15, 0, 20, 0]);
    assert_eq!(read.to_bytes()[0], 3);
    assert_eq!(old(&[255, 255, 0]).unwrap().registers()[..4], [15, 0, 15, 0]);
    assert!(old(&[1, 0, 5]).is_err());
}

#[test]
fn case_13_values_of_other_precisions_are_not_merged() {
    let mut sketch = PrestoHll::new(11).unwrap();
    let error = sketch.merge(&PrestoHll::new(12).unwrap()).unwrap_err();
    assert_eq!(error.parameter(), "precision");
    assert!(PrestoHll::new(3).is_err() && PrestoHll::new(17).is_err() && sketch.is_empty());
}

#[test]
fn case_17_bytes_that_lie_are_typed_errors() {
    use DecodeErrorKind::{Invalid, Trailing, Truncated, Version};
    let refuses = |bytes: &[u8], kind: DecodeErrorKind, text: &str| {
        let error = PrestoHll::from_bytes(bytes).unwrap_err();
        let text = format!("Presto HyperLogLog: {text}");
        assert_eq!((error.to_string(), error.kind()), (text, kind));
    };
    refuses(
        &[0, 12, 0, 0],
        Version,
        "format tag at offset 0 is 0, but must be 1 (dense), 2 (sparse) or 3 (dense, version 2)",
    );
    refuses(&[2, 17, 0, 0], Invalid, "index bits at offset 1 is 17, but must be from 4 to 16");
    refuses(
        &[2, 12, 255, 127],
        Truncated,
        "entries at offset 4 needs 131068 bytes, but 0 are left",
    );
    refuses(
        &[2, 12, 0, 128],
        Invalid,
        "number of entries at offset 2 is 32768, but must be from 0 to 32767",
    );
    refuses(
        &[2, 12, 2, 0, 1, 1, 0, 0, 2, 1, 0, 0],
        Invalid,
        "entry at offset 8 is 258, but must be of a greater prefix than the one before",
    );
    refuses(
        &[2, 12, 1, 0, 39, 0, 0, 0],
        Invalid,
        "entry at offset 4 is 39, but must be with at most 38 zeros in its low six bits",
    );
    let dense = |baseline: u8, end: &[u8]| [&[3, 4, baseline][..], &[0xf0; 8], end].concat();
    refuses(&dense(62, &[0, 0]), Invalid, "baseline at offset 2 is 62, but must be from 0 to 61");
    refuses(&dense(0, &[0, 0, 7]), Trailing, "the data ends at offset 13, but 1 more bytes follow");
    let one = |at: u8, value: u8| dense(0, &[1, 0, at, 0, value]);
    refuses(
        &one(1, 3),
        Invalid,
        "bucket of an overflow at offset 13 is 1, but must be a register of 15 that has no other overflow",
    );
    refuses(&one(2, 0), Invalid, "overflow at offset 15 is 0, but must be from 1 to 46");
    refuses(&one(2, 47), Invalid, "overflow at offset 15 is 47, but must be from 1 to 46");
    refuses(
        &dense(0, &[2, 0, 2, 0, 2, 0, 1, 1]),
        Invalid,
        "bucket of an overflow at offset 15 is 2, but must be a register of 15 that has no other overflow",
    );
    refuses(&dense(50, &[0, 0]), Invalid, "register at offset 3 is 65, but must be at most 61");
    let mut above = dense(0, &[0, 0]);
    above[3..11].fill(0x11);
    refuses(&above, Invalid, "baseline at offset 2 is 0, but must be 1, the least register");
}
