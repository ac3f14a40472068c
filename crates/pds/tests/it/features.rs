//! A structure whose feature is off is refused with the name of the feature.
//!
//! `cargo test -p pds --no-default-features --features std,bloom --test it features` runs it.
#![cfg(all(feature = "std", feature = "bloom", not(feature = "scalable"), not(feature = "cms")))]

use pds::bytes::Kind;
use pds::{BloomFilter, DynFilter, DynFilterView};
use pds_testkit::envelope::forged;

/// Returns the bytes of a filter whose header states another kind.
fn of_kind(kind: Kind) -> Vec<u8> {
    let bytes = BloomFilter::new(10, 0.01).unwrap().to_bytes();
    forged(&bytes, 10, &kind.id().to_le_bytes())
}

#[test]
fn the_feature_of_a_filter_is_named() {
    let bytes = of_kind(Kind::SCALABLE_BLOOM);
    let expected = "the kind at offset 10 is 31 (scalable Bloom filter), expected a structure whose feature is on (of \
                    `pds`, `scalable` is off)";
    assert_eq!(DynFilter::from_bytes(&bytes).unwrap_err().to_string(), expected);
    assert_eq!(DynFilterView::open(&bytes).unwrap_err().to_string(), expected);
    // A sketch is none of the filters, and no feature helps.
    let error = DynFilter::from_bytes(&of_kind(Kind::COUNT_MIN)).unwrap_err().to_string();
    assert!(error.contains("expected a membership filter ("), "{error}");
}
