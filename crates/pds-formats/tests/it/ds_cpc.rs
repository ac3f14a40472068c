//! CPC sketches of DataSketches: their estimates.

use pds_formats::datasketches::DataSketchesCpc;
use pds_formats::error::DecodeErrorKind;
use serde_json::Value;

use crate::support::{base64, json, list, number};
use crate::table::Format;

pub(crate) const FORMAT: Format = Format {
    name: "DataSketches CPC sketch",
    type_name: "datasketches::DataSketchesCpc",
    can: [true, false, false],
    exact: "all",
    tested_against: "datasketches 5.2.0 for Python",
    vectors: || {
        let file = vectors();
        let union = base64(&file["union"]["bytes"]);
        let written =
            |case: &Value| (number(case, "seed") == 9_001).then(|| base64(&case["bytes"]));
        list(&file, "cases").iter().filter_map(written).chain([union]).collect()
    },
};

fn vectors() -> Value {
    json(include_str!("../data/datasketches_cpc.json"))
}

#[test]
fn estimates_are_those_of_datasketches() {
    let file = vectors();
    for case in list(&file, "cases") {
        let (bytes, seed) = (base64(&case["bytes"]), number(case, "seed"));
        let sketch = DataSketchesCpc::from_bytes_with_seed(&bytes, seed).unwrap();
        assert_eq!(sketch.estimate().value, case["estimate"].as_f64().unwrap());
        assert_eq!(u64::from(sketch.lg_k()), number(case, "lg_k"));
        assert_eq!(sketch.to_bytes(), bytes);
    }
    // The library approximates the exact estimate of a merged sketch by a polynomial.
    let union = DataSketchesCpc::from_bytes(&base64(&file["union"]["bytes"])).unwrap();
    let (ours, theirs) = (union.estimate().value, file["union"]["estimate"].as_f64().unwrap());
    assert!((ours / theirs - 1.0).abs() < 1e-6 && union.is_merged(), "{ours}, {theirs}");
}

#[test]
fn case_17_bytes_that_lie_are_typed_errors() {
    let union = base64(&vectors()["union"]["bytes"]);
    let refuses = |at: usize, new: &[u8], kind: DecodeErrorKind, text: &str| {
        let mut changed = union.clone();
        changed[at..at + new.len()].copy_from_slice(new);
        let error = DataSketchesCpc::from_bytes(&changed).unwrap_err();
        let text = format!("DataSketches CPC sketch: {text}");
        assert_eq!((error.to_string(), error.kind()), (text, kind));
    };
    use DecodeErrorKind::{Hasher, Invalid, Truncated, Version};
    refuses(0, &[5], Invalid, "preamble size at offset 0 is 5, but must be 6");
    refuses(1, &[2], Version, "serial version at offset 1 is 2, but must be 1");
    refuses(3, &[27], Invalid, "lg_k at offset 3 is 27, but must be from 4 to 26");
    refuses(
        4,
        &[64],
        Invalid,
        "first interesting column at offset 4 is 64, but must be from 0 to 63",
    );
    let seed = "seed hash at offset 6 is 37632, but must be 37836, that of seed 9001";
    refuses(6, &[0], Hasher, seed);
    let coupons = "number of coupons at offset 8 is 4294967295, but must be from 1 to 65536";
    refuses(8, &[255; 4], Invalid, coupons);
    let left = union.len() - 24;
    let lie =
        format!("compressed coupons at offset 24 needs 17179869716 bytes, but {left} are left");
    refuses(16, &[255; 4], Truncated, &lie);
}
