//! The portable bytes as a serde value, under four formats.

use pds_core::bytes::WithKey;
use pds_testkit::envelope::with_number;
use pds_testkit::format::{FORMATS, Format, survives};
use quotient::QuotientFilter;
use quotient::hash::SipHashBuilder;

use crate::full;

#[test]
fn case_18_every_format_gives_the_filter_back_or_an_error() {
    for filter in [full(2, 4), full(30, 7), full(65, 32)] {
        survives(&filter, &filter.to_bytes());
    }
}

/// A cached count that contradicts the payload, under right checksums.
#[test]
fn case_18_errors_of_the_envelope_come_through() {
    let full = full(30, 7);
    let bytes = with_number(&full.to_bytes(), 2, full.len() - 1);
    for format in [Format::Bincode, Format::Postcard, Format::Cbor] {
        let written = format.write(&bytes).unwrap();
        let error = format.read::<QuotientFilter>(&written).unwrap_err();
        // postcard keeps no text of an error.
        let told = error.contains("fingerprints");
        assert!(told || format == Format::Postcard, "{format:?}: {error}");
    }
}

#[test]
fn a_secret_key_is_serialised_on_request() {
    let hasher = SipHashBuilder::from_key(*b"0123456789abcdef");
    let mut filter = QuotientFilter::builder().expected_items(10).hasher(hasher).build().unwrap();
    filter.insert("stored").unwrap();
    for format in FORMATS {
        let written = format.write(&WithKey(&filter)).unwrap();
        let read: QuotientFilter<SipHashBuilder> = format.read(&written).unwrap();
        assert!(read == filter && read.contains("stored"), "{format:?}");
        assert!(format.read::<QuotientFilter>(&written).is_err(), "{format:?}: another hasher");
    }
}
