//! Errors say what was wrong, which value, what is allowed.

#[cfg(feature = "alloc")]
use pds_core::bytes::Kind;
use pds_core::error::{
    AllocError, BuildError, DecodeError, Incompatible, ParamError, SectionFault,
};
use pds_core::hash::{DefaultHashBuilder, SipHashBuilder};

#[test]
fn differing_shapes_are_named() {
    assert_eq!(Incompatible::check_shape("number of bits", 8, 8), Ok(()));
    let error = Incompatible::check_shape("number of bits", 8, 9).unwrap_err();
    assert_eq!(error.to_string(), "the number of bits differs: 8 here, 9 in the other");
}

/// Shares as they are given and modes by their names, not as the bits that hold them.
#[test]
fn differing_shares_and_modes_are_named() {
    assert_eq!(Incompatible::check_share("phi", 0.1, 0.1), Ok(()));
    let error = Incompatible::check_share("phi", 0.1, 1e-7).unwrap_err();
    assert_eq!(error.to_string(), "phi differs: 0.1 here, 1e-7 in the other");
    assert_eq!(Incompatible::check_mode("update", "plain", "plain"), Ok(()));
    let error = Incompatible::check_mode("update", "plain", "conservative").unwrap_err();
    assert_eq!(error.to_string(), "the update differs: plain here, conservative in the other");
}

#[test]
fn differing_hashers_are_found_by_a_probe() {
    let (a, b) = (DefaultHashBuilder::default(), DefaultHashBuilder::with_seed(5));
    assert_eq!(Incompatible::check_hasher(&a, &a), Ok(()));
    let error = Incompatible::check_hasher(&a, &b).unwrap_err();
    assert!(error.to_string().starts_with("the hasher or its seed differs"), "{error}");
    let (a, b) = (SipHashBuilder::from_key([0; 16]), SipHashBuilder::from_key([1; 16]));
    assert!(Incompatible::check_hasher(&a, &b).is_err());
}

#[test]
fn build_errors_show_their_cause() {
    let error = BuildError::from(AllocError { bytes: 800 });
    assert_eq!(error.to_string(), "memory of 800 bytes was refused");
}

/// A sentence for each thing that can be wrong with bytes: what, where, and what there should be.
#[cfg(feature = "alloc")]
#[test]
fn decode_errors_are_written_for_people() {
    let offset = 10;
    let (expected, found) = (Kind::BLOOM, Kind::CUCKOO);
    let section = |fault| DecodeError::Section { offset: 104, tag: 4, fault };
    let shape = ParamError::NotAProbability { parameter: "rate", value: 2.0 };
    for (error, words) in [
        (
            DecodeError::Truncated { offset: 5, expected: 128 },
            "the input ends too early: 5 of at least 128 bytes are there",
        ),
        (
            DecodeError::Magic { offset: 192, found: *b"RIFFxxxx" },
            "the 8 bytes at offset 192 are [52, 49, 46, 46, 78, 78, 78, 78], with which no pds structure starts",
        ),
        (
            DecodeError::Version { offset: 8, expected: 1, found: 2 },
            "format version 2 at offset 8 is not known, only those up to 1 are",
        ),
        (
            DecodeError::Kind { offset, expected, found },
            "the kind at offset 10 is 6 (cuckoo filter), expected 1 (Bloom filter)",
        ),
        (
            DecodeError::OtherKind { offset, found, allowed: "a filter" },
            "the kind at offset 10 is 6 (cuckoo filter), expected a filter",
        ),
        (
            DecodeError::Choice {
                name: "the update",
                offset: 96,
                found: 1,
                meaning: Some("conservative"),
                allowed: "plain",
            },
            "the update at offset 96 is conservative (number 1), but must be plain",
        ),
        (
            DecodeError::Hasher { offset: 12, expected: 1, found: 2 },
            "hasher id 2 (SipHash-1-3) at offset 12, where id 1 (XXH3-64) was expected",
        ),
        (
            DecodeError::Hasher { offset: 12, expected: 40_000, found: 1 },
            "hasher id 1 (XXH3-64) at offset 12, where id 40000 was expected",
        ),
        (
            DecodeError::KeyMissing { offset: 48 },
            "the secret key of the hasher is not stored at offset 48; pass the hasher to",
        ),
        (
            DecodeError::Field {
                name: "flags",
                offset: 14,
                found: 9,
                allowed: "a sum of 1, 2 and 4",
            },
            "flags at offset 14 is 9, but must be a sum of 1, 2 and 4",
        ),
        (DecodeError::Shape { offset: 56, error: shape }, "impossible shape at offset 56: rate"),
        (
            DecodeError::Numbers { offset: 96, expected: 2, found: 3 },
            "the shape at offset 96 has 3 numbers, but must have 2",
        ),
        (section(SectionFault::Unknown), "section 4 of the head at offset 104 is not known"),
        (section(SectionFault::Repeated), "section 4 of the head at offset 104 is there twice"),
        (
            section(SectionFault::After { tag: 5 }),
            "section 4 of the head at offset 104 stands behind section 5, but tags must ascend",
        ),
        (
            section(SectionFault::TooLong { found: 40, left: 8 }),
            "section 4 of the head at offset 104 has 40 bytes, but the head has 8 left",
        ),
        (
            section(SectionFault::Length { found: 9, allowed: "16 bytes" }),
            "section 4 of the head at offset 104 has 9 bytes, but must have 16 bytes",
        ),
        (section(SectionFault::Missing), "section 4 of the head at offset 104 is missing"),
        (
            section(SectionFault::Unexpected),
            "section 4 of the head at offset 104 is there, but the structure has none",
        ),
        (
            DecodeError::PayloadLength { offset: 16, min: 64, max: 64, found: 65 },
            "by the length at offset 16 the payload has 65 bytes, but the shape needs 64",
        ),
        (
            DecodeError::PayloadLength { offset: 16, min: 64, max: 80, found: 5 },
            "by the length at offset 16 the payload has 5 bytes, but the shape allows 64 to 80",
        ),
        (
            DecodeError::PayloadEnd { offset: 150, needed: 8, left: 2 },
            "8 bytes are needed at offset 150, but the payload has 2 left",
        ),
        (
            DecodeError::Unread { offset: 150, found: 2 },
            "the structure ends at offset 150, but 2 bytes of its payload follow",
        ),
        (
            DecodeError::Nesting { offset: 580, limit: 4 },
            "the envelope at offset 580 lies in more than 4 others",
        ),
        (
            DecodeError::Checksum { part: "payload", offset: 192, expected: 0xAB, found: 1 },
            "the payload checksum at offset 192 is 0000000000000001, but the payload has 00000000000000ab",
        ),
        (
            DecodeError::Padding { offset: 184, found: 1 << 63 },
            "unused bits at offset 184 are not zero: 0x8000000000000000",
        ),
        (DecodeError::Trailing { offset: 200, found: 1 }, "at least one byte follows the end"),
        (DecodeError::Trailing { offset: 200, found: 7 }, "7 bytes follow the end at offset 200"),
        (
            DecodeError::Limit { offset: 16, limit: 64, found: 65 },
            "the length of the envelope at offset 16 is 65 bytes, above the limit of 64",
        ),
        (DecodeError::Alloc(AllocError { bytes: 800 }), "memory of 800 bytes was refused"),
    ] {
        let text = error.to_string();
        assert!(text.starts_with(words), "{text}");
    }
}
