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
    assert_eq!(names, ["log2m", "register width", "limit of explicit hashes", "sparse flag"]);
    let refused = [
        PostgresHllParams { log2m: 3, ..params },
        PostgresHllParams { log2m: 25, ..params },
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
    refuses(
        &[0x21, 0x8b, 0x7f],
        Version,
        "schema version and type at offset 0 is 33, but must be of schema version 1, in the upper half",
    );
    refuses(
        &[0x15, 0x8b, 0x7f],
        Invalid,
        "schema version and type at offset 0 is 21, but must be of type 1 to 4, in the low half",
    );
    refuses(
        &[0x11, 0x83, 0x7f],
        Invalid,
        "register width and log2m at offset 1 is 131, but must be with a log2m from 4 to 24, in the low five bits",
    );
    refuses(
        &[0x11, 0x8b, 0x60],
        Invalid,
        "limits at offset 2 is 96, but must be with a code of 0 to 18 or 63, in the low six bits",
    );
    refuses(&[0x11, 0x8b, 0x7f, 0], Trailing, "the data ends at offset 3, but 1 more bytes follow");
    refuses(
        &[0x12, 0x8b, 0x7f],
        Truncated,
        "explicit hash at offset 3 needs 8 bytes, but 0 are left",
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
        &[0x14, 0x98, 0x7f, 0],
        Truncated,
        "registers at offset 3 needs 10485760 bytes, but 1 are left",
    );
}
