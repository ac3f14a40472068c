//! Errors say what was wrong, which value, what is allowed.

#[cfg(feature = "alloc")]
use pds_core::bytes::Kind;
use pds_core::error::{AllocError, BuildError, Incompatible};
#[cfg(feature = "alloc")]
use pds_core::error::{DecodeError, DecodeErrorKind, ParamError};
use pds_core::hash::{DefaultHashBuilder, SipHashBuilder};
#[cfg(feature = "alloc")]
use pds_core::internal::{DecodeFault, SectionFault};
#[cfg(feature = "alloc")]
use pds_params::internal::ParamFault;

#[test]
fn differing_shapes_are_named() {
    assert_eq!(Incompatible::check_shape("number of bits", 8, 8), Ok(()));
    let error = Incompatible::check_shape("number of bits", 8, 9).unwrap_err();
    assert_eq!(error.parameter(), "number of bits");
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
    assert_eq!(error.parameter(), "hasher");
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
    let section = |fault| DecodeError(DecodeFault::Section { offset: 104, tag: 4, fault });
    let shape = ParamError(ParamFault::NotAProbability { parameter: "rate", value: 2.0 });
    for (error, words) in [
        (
            DecodeError(DecodeFault::Truncated { offset: 5, expected: 128 }),
            "the input ends too early: 5 of at least 128 bytes are there",
        ),
        (
            DecodeError(DecodeFault::Magic { offset: 192, found: *b"RIFFxxxx" }),
            "the 8 bytes at offset 192 are [52, 49, 46, 46, 78, 78, 78, 78], not the magic number of pds",
        ),
        (
            DecodeError(DecodeFault::Version { offset: 8, expected: 1, found: 2 }),
            "format version 2 at offset 8 is not known, the latest that is known is 1",
        ),
        (
            DecodeError(DecodeFault::Kind { offset, expected, found }),
            "the kind at offset 10 is 6 (cuckoo filter), expected 1 (Bloom filter)",
        ),
        (
            DecodeError(DecodeFault::OtherKind { offset, found, allowed: "a filter" }),
            "the kind at offset 10 is 6 (cuckoo filter), expected a filter",
        ),
        (
            DecodeError(DecodeFault::Choice {
                name: "the update",
                offset: 96,
                found: 1,
                meaning: Some("conservative"),
                allowed: "plain",
            }),
            "the update at offset 96 is conservative (number 1), but must be plain",
        ),
        (
            DecodeError(DecodeFault::Hasher { offset: 12, expected: 1, found: 2 }),
            "hasher id 2 (SipHash-1-3) at offset 12, where id 1 (XXH3-64) was expected",
        ),
        (
            DecodeError(DecodeFault::Hasher { offset: 12, expected: 40_000, found: 1 }),
            "hasher id 1 (XXH3-64) at offset 12, where id 40000 was expected",
        ),
        (
            DecodeError(DecodeFault::KeyMissing { offset: 48 }),
            "the secret key of the hasher is not stored at offset 48; pass the hasher to",
        ),
        (
            DecodeError(DecodeFault::Field {
                name: "flags",
                offset: 14,
                found: 9,
                allowed: "a sum of 1, 2 and 4",
            }),
            "flags at offset 14 is 9, but must be a sum of 1, 2 and 4",
        ),
        (
            DecodeError(DecodeFault::Shape { offset: 56, error: shape }),
            "impossible shape at offset 56: rate",
        ),
        (
            DecodeError(DecodeFault::Numbers { offset: 96, expected: 2, found: 3 }),
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
            DecodeError(DecodeFault::PayloadLength { offset: 16, min: 64, max: 64, found: 65 }),
            "by the length at offset 16 the payload has 65 bytes, but the shape needs 64",
        ),
        (
            DecodeError(DecodeFault::PayloadLength { offset: 16, min: 64, max: 80, found: 5 }),
            "by the length at offset 16 the payload has 5 bytes, but the shape allows 64 to 80",
        ),
        (
            DecodeError(DecodeFault::PayloadEnd { offset: 150, needed: 8, left: 2 }),
            "8 bytes are needed at offset 150, but the payload has 2 left",
        ),
        (
            DecodeError(DecodeFault::Unread { offset: 150, found: 2 }),
            "the structure ends at offset 150, but 2 bytes of its payload follow",
        ),
        (
            DecodeError(DecodeFault::Nesting { offset: 580, limit: 4 }),
            "the envelope at offset 580 lies in more than 4 others",
        ),
        (
            DecodeError(DecodeFault::Checksum {
                part: "payload",
                offset: 192,
                expected: 0xAB,
                found: 1,
            }),
            "the payload checksum at offset 192 is 0000000000000001, but the payload has 00000000000000ab",
        ),
        (
            DecodeError(DecodeFault::Padding { offset: 184, found: 1 << 63 }),
            "unused bits at offset 184 are not zero: 0x8000000000000000",
        ),
        (
            DecodeError(DecodeFault::Trailing { offset: 200, found: 1 }),
            "at least one byte follows the end",
        ),
        (
            DecodeError(DecodeFault::Trailing { offset: 200, found: 7 }),
            "7 bytes follow the end at offset 200",
        ),
        (
            DecodeError(DecodeFault::Limit { offset: 16, limit: 64, found: 65 }),
            "the length of the envelope at offset 16 is 65 bytes, above the limit of 64",
        ),
        (
            DecodeError(DecodeFault::Alloc(AllocError { bytes: 800 })),
            "memory of 800 bytes was refused",
        ),
    ] {
        let text = error.to_string();
        assert!(text.starts_with(words), "{text}");
    }
}

/// A program can tell a file that is cut, damaged, foreign or locked from one that nobody could have written.
#[cfg(feature = "alloc")]
#[test]
fn decode_errors_have_a_kind_and_an_offset() {
    let (expected, found) = (Kind::BLOOM, Kind::CUCKOO);
    let part = "payload";
    for (fault, kind, offset) in [
        (DecodeFault::Truncated { offset: 5, expected: 8 }, DecodeErrorKind::Truncated, Some(5)),
        (DecodeFault::Magic { offset: 1, found: [0; 8] }, DecodeErrorKind::Magic, Some(1)),
        (
            DecodeFault::Version { offset: 8, expected: 1, found: 2 },
            DecodeErrorKind::Version,
            Some(8),
        ),
        (DecodeFault::Kind { offset: 10, expected, found }, DecodeErrorKind::Kind, Some(10)),
        (
            DecodeFault::OtherKind { offset: 11, found, allowed: "a filter" },
            DecodeErrorKind::Kind,
            Some(11),
        ),
        (
            DecodeFault::Hasher { offset: 32, expected: 1, found: 2 },
            DecodeErrorKind::Hasher,
            Some(32),
        ),
        (DecodeFault::KeyMissing { offset: 48 }, DecodeErrorKind::KeyMissing, Some(48)),
        (
            DecodeFault::KeyMismatch { offset: 40, expected: 1, found: 2 },
            DecodeErrorKind::KeyMismatch,
            Some(40),
        ),
        (
            DecodeFault::Checksum { part, offset: 9, expected: 1, found: 2 },
            DecodeErrorKind::Checksum,
            Some(9),
        ),
        (DecodeFault::Trailing { offset: 3, found: 1 }, DecodeErrorKind::Trailing, Some(3)),
        (DecodeFault::Limit { offset: 16, limit: 1, found: 2 }, DecodeErrorKind::Limit, Some(16)),
        (DecodeFault::Alloc(AllocError { bytes: 8 }), DecodeErrorKind::Alloc, None),
        (DecodeFault::Padding { offset: 7, found: 1 }, DecodeErrorKind::Invalid, Some(7)),
    ] {
        let error = DecodeError(fault);
        assert_eq!((error.kind(), error.offset()), (kind, offset), "{error}");
    }
    let own = DecodeError::invalid("the colour", 70, 9, "0 to 7");
    assert_eq!((own.kind(), own.offset()), (DecodeErrorKind::Invalid, Some(70)));
    assert_eq!(own.to_string(), "the colour at offset 70 is 9, but must be 0 to 7");
}
