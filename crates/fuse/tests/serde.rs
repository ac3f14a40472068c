//! The portable bytes as a serde value, under four formats.

use fuse::RibbonFilter;
use fuse::hash::SipHashBuilder;
use pds_core::bytes::WithKey;
use pds_testkit::format::{FORMATS, survives};

#[test]
fn case_18_every_format_gives_the_structure_back_or_an_error() {
    for keys in [0, 1, 30] {
        let filter = RibbonFilter::new(0..keys, 0.1).unwrap();
        survives(&filter, &filter.to_bytes());
    }
}

#[test]
fn a_secret_key_is_serialised_on_request() {
    let hasher = SipHashBuilder::from_key(*b"0123456789abcdef");
    let filter = RibbonFilter::builder().hasher(hasher).build(["stored"]).unwrap();
    for format in FORMATS {
        let written = format.write(&WithKey(&filter)).unwrap();
        let read: RibbonFilter<SipHashBuilder> = format.read(&written).unwrap();
        assert!(read == filter && read.contains("stored"), "{format:?}");
        assert!(format.read::<RibbonFilter>(&written).is_err(), "{format:?}: another hasher");
    }
}
