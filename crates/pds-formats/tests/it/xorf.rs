//! Static filters of `xor_singleheader`.

use pds_formats::error::DecodeErrorKind;
use pds_formats::xorf::{XorFilter, XorKind};
use serde_json::Value;

use crate::support::{answers, base64, integers, json, list, text};
use crate::table::Format;

macro_rules! format {
    ($name:ident: $kind:literal, $tested_against:expr) => {
        pub(crate) const $name: Format = Format {
            name: concat!("xor_singleheader ", $kind, " filter"),
            type_name: "xorf::XorFilter",
            can: [true, false, false],
            exact: "all",
            tested_against: $tested_against,
            vectors: || {
                let cases = vectors().into_iter().filter(|case| case["kind"] == $kind);
                cases.map(|case| base64(&case["bytes"])).collect()
            },
        };
    };
}
format!(XOR_8: "xor8", PYXORFILTER);
format!(XOR_16: "xor16", PYXORFILTER);
format!(BINARY_FUSE_8: "binary_fuse8", BOTH);
format!(BINARY_FUSE_16: "binary_fuse16", BOTH);

const PYXORFILTER: &str = "the C library in pyxorfilter 1.1.2, xorf 0.13";
const BOTH: &str = "the C library in pyxorfilter 1.1.2 and pyfusefilter 1.3.0, xorf 0.13";

const SIZED: &str = include_str!("../data/xorf_sized.json");

/// Returns the cases of both versions of the library.
fn vectors() -> Vec<Value> {
    let files = [include_str!("../data/xorf.json"), SIZED].map(json);
    files.iter().flat_map(|file| list(file, "cases").clone()).collect()
}

/// Returns whether the number of keys is in the bytes.
fn is_sized(case: &Value) -> bool {
    list(&json(SIZED), "cases").contains(case)
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
    for case in &vectors() {
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

/// Filters that the crate `xorf` builds and writes.
#[test]
fn filters_of_the_crate_xorf_are_read() {
    use xorf::{BinaryFuse8, BinaryFuse16, DmaSerializable, Filter, Xor8, Xor16};

    /// Returns the bytes, and the answers for keys that are in and others.
    fn check<F: Filter<u64>>(filter: &F, kind: XorKind, bytes: &[u8]) {
        let read = XorFilter::from_bytes(kind, bytes).unwrap();
        assert!(read.to_bytes() == bytes && read.num_fingerprints() == filter.len());
        for key in 0..70_000 {
            assert_eq!(read.contains(key), filter.contains(&key), "{kind:?}, {key}");
        }
        let mut longer = bytes.to_vec();
        longer.push(0);
        assert!(XorFilter::from_bytes(kind, &longer).is_err());
        assert!(XorFilter::from_bytes(kind, &bytes[..bytes.len() - 1]).is_err());
    }
    fn dma<F: DmaSerializable>(filter: &F) -> Vec<u8> {
        let mut bytes = vec![0; F::DESCRIPTOR_LEN];
        filter.dma_copy_descriptor_to(&mut bytes);
        [&bytes, filter.dma_fingerprints()].concat()
    }
    for count in [1, 2, 17, 300] {
        let keys: Vec<u64> = (0..count).collect();
        let (narrow, wide) = (Xor8::from(&keys), Xor16::from(&keys));
        check(&narrow, XorKind::Xor8, &bincode1::serialize(&narrow).unwrap());
        check(&wide, XorKind::Xor16, &bincode1::serialize(&wide).unwrap());
        let narrow = BinaryFuse8::try_from(&keys).unwrap();
        check(&narrow, XorKind::BinaryFuse8, &dma(&narrow));
        let wide = BinaryFuse16::try_from(&keys).unwrap();
        check(&wide, XorKind::BinaryFuse16, &dma(&wide));
    }
}

/// Later versions of the library write the number of keys after the seed.
#[test]
fn damage_is_found_in_both_layouts() {
    for case in vectors().iter().filter(|case| text(case, "kind").contains("fuse")) {
        let (mut bytes, kind) = (base64(&case["bytes"]), kind(case));
        let at = if is_sized(case) { 24 } else { 20 };
        bytes[at] ^= 1;
        let error = XorFilter::from_bytes(kind, &bytes).unwrap_err();
        assert_eq!(
            (error.field(), error.offset()),
            (Some("number of fingerprints"), Some(at as u64))
        );
    }
}

#[test]
fn case_17_bytes_that_lie_are_typed_errors() {
    let cases = vectors();
    let sound = |name: &str| {
        let case = cases.iter().find(|case| case["kind"] == name).unwrap();
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
