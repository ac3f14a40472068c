//! Values of `postgresql-hll`'s format, as its port for Python writes them.

use pds_formats::error::DecodeErrorKind;
use pds_formats::postgres::{PostgresExplicit, PostgresHll, PostgresHllParams};
use serde_json::Value;

use crate::support::{hex, integers, json, list, number};
use crate::table::Format;

pub(crate) const FORMAT: Format = Format {
    name: "postgresql-hll value",
    type_name: "postgres::PostgresHll",
    can: [true, true, true],
    exact: "all",
    tested_against: "python-hll 0.1.3, a port; hash functions not tested against the owner",
    vectors: || list(&vectors(), "cases").iter().map(|case| hex(&case["bytes"])).collect(),
};

fn vectors() -> Value {
    json(include_str!("../data/postgres.json"))
}

fn empty(case: &Value) -> PostgresHll {
    let byte = |name| u8::try_from(number(case, name)).unwrap();
    let explicit = match case["expthresh"].as_i64().unwrap() {
        -1 => PostgresExplicit::Auto,
        0 => PostgresExplicit::Off,
        code => PostgresExplicit::Log2(u8::try_from(code).unwrap() - 1),
    };
    let is_sparse_enabled = case["sparseon"].as_bool().unwrap();
    let (log2m, register_width) = (byte("log2m"), byte("regwidth"));
    PostgresHll::new(PostgresHllParams { log2m, register_width, explicit, is_sparse_enabled })
        .unwrap()
}

#[test]
fn values_are_built_and_answer_as_in_the_port() {
    let mut types = [0; 5];
    for case in list(&vectors(), "cases") {
        let bytes = hex(&case["bytes"]);
        let mut built = empty(case);
        integers(&case["hashes"]).into_iter().for_each(|hash| built.insert_hash(hash));
        assert_eq!(built.to_bytes(), bytes, "{case}");
        let read = PostgresHll::from_bytes(&bytes).unwrap();
        assert_eq!(read, built);
        assert_eq!(read.estimate().value.ceil(), case["cardinality"].as_f64().unwrap());
        types[usize::from(bytes[0] & 15)] += 1;
    }
    assert!(types[1..].iter().all(|&values| values > 0), "{types:?}");
}

#[test]
fn values_are_continued_and_merged() {
    for case in list(&vectors(), "cases") {
        let hashes = integers(&case["hashes"]);
        for at in [0, hashes.len() / 3, hashes.len()] {
            let [left, right] = [&hashes[..at], &hashes[at..]].map(|hashes| {
                let mut sketch = empty(case);
                hashes.iter().for_each(|&hash| sketch.insert_hash(hash));
                sketch
            });
            let mut continued = PostgresHll::from_bytes(&left.to_bytes()).unwrap();
            hashes[at..].iter().for_each(|&hash| continued.insert_hash(hash));
            let mut merged = left;
            merged.merge(&right).unwrap();
            assert_eq!(continued.to_bytes(), hex(&case["bytes"]));
            assert_eq!(merged.estimate(), continued.estimate());
        }
    }
}

#[test]
fn keys_are_counted_within_the_error() {
    let mut sketch = PostgresHll::new(PostgresHllParams::default()).unwrap();
    (0..20_000).for_each(|key| sketch.insert_bigint(key));
    let estimate = sketch.estimate();
    assert!((estimate.value - 20_000.0).abs() < 4.0 * estimate.standard_error, "{estimate:?}");
    let mut few = PostgresHll::new(PostgresHllParams::default()).unwrap();
    few.insert_integer(1);
    few.insert_bigint(1);
    few.insert_text("1");
    few.insert_bytes(b"1");
    assert_eq!(few.estimate().value, 3.0);
}

/// Inserts a hash for each of the first registers, with the value 1.
fn registers(sketch: &mut PostgresHll, count: i64) {
    (0..count).for_each(|register| sketch.insert_hash(register | 1 << sketch.params().log2m));
}

/// The extension compares bits, not bytes.
#[test]
fn registers_are_sparse_while_they_take_less_bits() {
    let off = PostgresExplicit::Off;
    for (log2m, register_width, last) in [(10, 5, 341), (7, 5, 53), (11, 5, 639), (4, 8, 10)] {
        let params =
            PostgresHllParams { log2m, register_width, explicit: off, ..Default::default() };
        let mut sketch = PostgresHll::new(params).unwrap();
        registers(&mut sketch, last);
        assert_eq!(sketch.to_bytes()[0], 0x13, "{log2m}, {last}");
        registers(&mut sketch, last + 1);
        assert_eq!(sketch.to_bytes()[0], 0x14, "{log2m}, {last}");
    }
}

/// It holds 128 KiB, which are 2^17 registers, or 16,383 hashes and their number.
#[test]
fn values_fit_into_the_memory_of_the_extension() {
    let auto = PostgresHllParams { log2m: 17, register_width: 8, ..Default::default() };
    let wide = PostgresHllParams { explicit: PostgresExplicit::Log2(17), ..Default::default() };
    for params in [auto, wide] {
        let mut sketch = PostgresHll::new(params).unwrap();
        (0..16_383).for_each(|hash| sketch.insert_hash(hash));
        assert_eq!((sketch.to_bytes()[0], sketch.to_bytes().len()), (0x12, 3 + 8 * 16_383));
        // One that is there changes nothing.
        sketch.insert_hash(7);
        assert_eq!(sketch.to_bytes()[0], 0x12);
        sketch.insert_hash(16_383);
        assert!(sketch.to_bytes()[0] > 0x12);
    }
    for log2m in 0..4 {
        let params = PostgresHllParams { log2m, explicit: PostgresExplicit::Off, ..auto };
        let mut sketch = PostgresHll::new(params).unwrap();
        (0..100).for_each(|key| sketch.insert_bigint(key));
        let read = PostgresHll::from_bytes(&sketch.to_bytes()).unwrap();
        assert!(read == sketch && read.estimate().value > 0.0, "{log2m}");
    }
}

/// More hashes than the limit, as bytes may hold, stay while none is added.
#[test]
fn hashes_that_are_there_do_not_leave_explicit() {
    let hashes: Vec<u8> = (1..=4i64).flat_map(i64::to_be_bytes).collect();
    let bytes = [&[0x12, 0x8b, 0x42][..], &hashes].concat();
    let mut sketch = PostgresHll::from_bytes(&bytes).unwrap();
    sketch.insert_hash(3);
    assert_eq!(sketch.to_bytes(), bytes);
    sketch.insert_hash(5);
    assert_eq!(sketch.to_bytes()[0], 0x13);
    // Hashes that are none are read by the extension, too.
    let none = PostgresHll::from_bytes(&bytes[..3]).unwrap();
    assert_eq!((none.estimate().value, none.to_bytes()), (0.0, bytes[..3].to_vec()));
}

/// Limits of equal effect are other parameters for the extension.
#[test]
fn case_13_an_automatic_limit_is_no_other_one() {
    let auto = PostgresHllParams { register_width: 4, ..Default::default() };
    let same = PostgresHllParams { explicit: PostgresExplicit::Log2(7), ..auto };
    let mut sketch = PostgresHll::new(auto).unwrap();
    assert!(sketch.merge(&PostgresHll::new(same).unwrap()).is_err());
}

#[test]
fn case_13_values_that_differ_are_not_merged() {
    let params = PostgresHllParams::default();
    let mut ours = PostgresHll::new(params).unwrap();
    let others = [
        PostgresHllParams { log2m: 12, ..params },
        PostgresHllParams { register_width: 6, ..params },
        PostgresHllParams { explicit: PostgresExplicit::Off, ..params },
        PostgresHllParams { is_sparse_enabled: false, ..params },
    ];
    let names = others
        .map(|params| ours.merge(&PostgresHll::new(params).unwrap()).unwrap_err().parameter());
    assert_eq!(names, ["log2m", "register width", "code of the explicit limit", "sparse flag"]);
    let refused = [
        PostgresHllParams { log2m: 18, ..params },
        PostgresHllParams { register_width: 0, ..params },
        PostgresHllParams { register_width: 9, ..params },
        PostgresHllParams { explicit: PostgresExplicit::Log2(18), ..params },
    ];
    assert!(refused.iter().all(|&params| PostgresHll::new(params).is_err()));
}

#[test]
fn case_17_bytes_that_lie_are_typed_errors() {
    let refuses = |bytes: &[u8], kind: DecodeErrorKind, text: &str| {
        let error = PostgresHll::from_bytes(bytes).unwrap_err();
        let text = format!("postgresql-hll value: {text}");
        assert_eq!((error.to_string(), error.kind()), (text, kind));
    };
    use DecodeErrorKind::{Invalid, Trailing, Truncated, Version};
    refuses(&[0x21, 0x8b, 0x7f], Version, "schema version at offset 0 is 2, but must be 1");
    refuses(&[0x15, 0x8b, 0x7f], Invalid, "type at offset 0 is 5, but must be 1 to 4");
    refuses(
        &[0x10, 0x8b, 0x7f],
        Invalid,
        "type at offset 0 is 0, but must be 1 to 4 (0 is UNDEFINED, which stands for no value at all)",
    );
    refuses(&[0x11, 0x92, 0x7f], Invalid, "log2m at offset 1 is 18, but must be at most 17");
    refuses(&[0x11, 0x8b, 0xff], Invalid, "top bit of the limits at offset 2 is 1, but must be 0");
    refuses(
        &[0x11, 0x8b, 0x60],
        Invalid,
        "code of the explicit limit at offset 2 is 32, but must be 0 to 18, or 63",
    );
    refuses(&[0x11, 0x8b, 0x7f, 0], Trailing, "the data ends at offset 3, but 1 more bytes follow");
    refuses(
        &[0x12, 0x8b, 0x7f, 0],
        Truncated,
        "explicit hash at offset 3 needs 8 bytes, but 1 are left",
    );
    let twice = [&[0x12, 0x8b, 0x7f][..], &[1; 16]].concat();
    refuses(
        &twice,
        Invalid,
        "explicit hash at offset 11 is 72340172838076673, but must be greater than the one before",
    );
    refuses(
        &[0x13, 0x8b, 0x7f, 0, 0x20],
        Invalid,
        "sparse register at offset 3 is 32, but must be a register after the one before, with a value above 0",
    );
    refuses(
        &[0x14, 0x91, 0x7f, 0],
        Truncated,
        "registers at offset 3 needs 81920 bytes, but 1 are left",
    );
}
