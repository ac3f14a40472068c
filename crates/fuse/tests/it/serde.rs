//! The portable bytes as a serde value, under four formats.

use fuse::hash::SipHashBuilder;
use fuse::{ExactFilter, RetrievalMap, RibbonFilter};
use pds_core::bytes::WithKey;
use pds_testkit::format::{FORMATS, survives};

#[test]
fn case_18_every_format_gives_the_structure_back_or_an_error() {
    for keys in [0, 1, 30] {
        let filter = RibbonFilter::new(0..keys, 0.1).unwrap();
        survives(&filter, &filter.to_bytes());
        let map = RetrievalMap::new((0..keys).map(|key| (key, 3)), 2).unwrap();
        survives(&map, &map.to_bytes());
        let exact = ExactFilter::new(0..keys, keys..3 * keys).unwrap();
        survives(&exact, &exact.to_bytes());
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
