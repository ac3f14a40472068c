//! Static filters of `xor_singleheader`.

use pds_formats::error::DecodeErrorKind;
use pds_formats::xorf::{XorFilter, XorKind};
use serde_json::Value;

use crate::support::{answers, base64, integers, json, list, text};
use crate::table::Format;

macro_rules! format {
    ($name:ident: $kind:literal) => {
        pub(crate) const $name: Format = Format {
            name: concat!("xor_singleheader ", $kind, " filter"),
            type_name: "xorf::XorFilter",
            can: [true, false, false],
            exact: "all",
            tested_against: "the C library in pyxorfilter 1.1.2",
            vectors: || {
                let file = vectors();
                let cases = list(&file, "cases").iter().filter(|case| case["kind"] == $kind);
                cases.map(|case| base64(&case["bytes"])).collect()
            },
        };
    };
}
format!(XOR_8: "xor8");
format!(XOR_16: "xor16");
format!(BINARY_FUSE_8: "binary_fuse8");
format!(BINARY_FUSE_16: "binary_fuse16");

fn vectors() -> Value {
    json(include_str!("../data/xorf.json"))
}

fn kind(case: &Value) -> XorKind {
    match text(case, "kind") {
        "xor8" => XorKind::Xor8,
        "xor16" => XorKind::Xor16,
        "binary_fuse8" => XorKind::BinaryFuse8,
        _ => XorKind::BinaryFuse16,
    }
}

#[test]
fn filters_answer_as_in_the_library() {
    let mut false_positives = 0;
    for case in list(&vectors(), "cases") {
        let bytes = base64(&case["bytes"]);
        let read = XorFilter::from_bytes(kind(case), &bytes).unwrap();
        assert_eq!((read.to_bytes(), read.kind()), (bytes, kind(case)));
        let ask = |spec| {
            let keys = integers(spec).into_iter();
            keys.map(|key: i64| read.contains(key.cast_unsigned())).collect::<Vec<_>>()
        };
        assert!(ask(&case["keys"]).into_iter().all(|found| found));
        let absent = ask(&case["absent_keys"]);
        assert_eq!(absent, answers(case, "absent_answers"), "{}", case["kind"]);
        false_positives += absent.into_iter().filter(|&found| found).count();
        assert!(read.num_fingerprints() >= integers(&case["keys"]).len());
    }
    assert!(false_positives > 10);
}

#[test]
fn case_17_bytes_that_lie_are_typed_errors() {
    let file = vectors();
    let sound = |name: &str| {
        let case = list(&file, "cases").iter().find(|case| case["kind"] == name).unwrap();
        (kind(case), base64(&case["bytes"]))
    };
    let refuses = |name: &str, at: usize, new: &[u8], kind: DecodeErrorKind, text: &str| {
        let (of, mut changed) = sound(name);
        changed[at..at + new.len()].copy_from_slice(new);
        let error = XorFilter::from_bytes(of, &changed).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert_eq!(
            error.to_string(),
            format_args!("xor_singleheader {name} filter: {text}").to_string()
        );
    };
    use DecodeErrorKind::{Invalid, Trailing, Truncated};
    let length = "block length at offset 8 is 0, but must be from 1 to 4294967295";
    refuses("xor8", 8, &[0; 8], Invalid, length);
    refuses(
        "xor8",
        8,
        &[12],
        Truncated,
        "fingerprints at offset 16 needs 36 bytes, but 33 are left",
    );
    refuses("xor16", 8, &[10], Trailing, "the data ends at offset 76, but 6 more bytes follow");
    let segment = "segment length at offset 8 is 5, but must be a power of two up to 262144";
    refuses("binary_fuse8", 8, &[5], Invalid, segment);
    let count = "number of segments at offset 12 is 4294967295, but must be from 1 to 1073741821";
    refuses("binary_fuse8", 12, &[255; 4], Invalid, count);
    let all = "length of all segments at offset 16 is 5, but must be 4, as the segments say";
    refuses("binary_fuse16", 16, &[5], Invalid, all);
    let array = "number of fingerprints at offset 20 is 13, but must be 12, as the segments say";
    refuses("binary_fuse8", 20, &[13], Invalid, array);
}
