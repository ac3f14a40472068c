//! The portable bytes as a serde value, under four formats.

use cuckoo::CuckooFilter;
use cuckoo::hash::SipHashBuilder;
use pds_core::bytes::WithKey;
use pds_core::hash::finalize;
use pds_testkit::envelope::with_number;
use pds_testkit::format::{FORMATS, Format, survives};

fn full(buckets: u64, bits: u32) -> CuckooFilter {
    let mut filter =
        CuckooFilter::builder().buckets(buckets).fingerprint_bits(bits).build().unwrap();
    while filter.insert_hash(finalize(filter.len())).is_ok() {}
    filter
}

#[test]
fn case_18_every_format_gives_the_filter_back_or_an_error() {
    for filter in [full(1, 4), full(3, 7), full(5, 32)] {
        survives(&filter, &filter.to_bytes());
    }
}

/// A cached count that contradicts the payload, under right checksums.
#[test]
fn case_18_errors_of_the_envelope_come_through() {
    let full = full(3, 7);
    let bytes = with_number(&full.to_bytes(), 2, full.len() - 1);
    for format in [Format::Bincode, Format::Postcard, Format::Cbor] {
        let written = format.write(&bytes).unwrap();
        let error = format.read::<CuckooFilter>(&written).unwrap_err();
        // postcard keeps no text of an error.
        let told = error.contains("fingerprints");
        assert!(told || format == Format::Postcard, "{format:?}: {error}");
    }
}

#[test]
fn a_secret_key_is_serialised_on_request() {
    let hasher = SipHashBuilder::from_key(*b"0123456789abcdef");
    let mut filter = CuckooFilter::builder().expected_items(10).hasher(hasher).build().unwrap();
    filter.insert("stored").unwrap();
    for format in FORMATS {
        let written = format.write(&WithKey(&filter)).unwrap();
        let read: CuckooFilter<SipHashBuilder> = format.read(&written).unwrap();
        assert!(read == filter && read.contains("stored"), "{format:?}");
        assert!(format.read::<CuckooFilter>(&written).is_err(), "{format:?}: another hasher");
    }
}
