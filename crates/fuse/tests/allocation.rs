//! Bytes that lie allocate a constant, whatever they claim; a build needs little beyond its hashes and its result.
//!
//! One test only: what is measured is the process's.
#![cfg(feature = "std")]

use fuse::{
    ExactFilter, ExactFilterView, RetrievalMap, RetrievalMapView, RibbonFilter, RibbonFilterView,
};
use pds_core::bytes::Portable;
use pds_testkit::allocation::{CONSTANT, PeakAlloc, peak_of};
use pds_testkit::{envelope, keys, portable};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Reads bytes in every way.
macro_rules! refuse {
    ($structure:ty, $view:ty, $bytes:expr) => {{
        portable::refuse::<$structure>($bytes);
        assert!(<$view>::open($bytes).is_err());
        #[cfg(feature = "serde")]
        pds_testkit::format::refuse_claims::<$structure>($bytes);
    }};
}

/// Returns bytes that claim as many keys.
fn claim(structure: &impl Portable, keys: u64) -> Vec<u8> {
    let bytes = pds_core::bytes::ByteOptions::new().with_key().to_bytes(structure);
    envelope::claiming(&bytes, keys, keys)
}

#[test]
fn case_17_a_claim_allocates_nothing_and_a_build_little() {
    let filter = RibbonFilter::new([1], 0.01).unwrap();
    let map = RetrievalMap::new([(1, 1)], 8).unwrap();
    let exact = ExactFilter::new([1], [2, 3]).unwrap();
    for keys in [1 << 16, 1 << 24, 1 << 32, 1 << 60] {
        let claims = [claim(&filter, keys), claim(&map, keys), claim(&exact, keys)];
        let ((), peak) = peak_of(&ALLOCATOR, || {
            refuse!(RibbonFilter, RibbonFilterView<&[u8]>, claims[0].as_slice());
            refuse!(RetrievalMap, RetrievalMapView<&[u8]>, claims[1].as_slice());
            refuse!(ExactFilter, ExactFilterView<&[u8]>, claims[2].as_slice());
        });
        assert!(peak < CONSTANT, "{keys} keys claimed: {peak} bytes");
    }
    let hashes: Vec<u64> = keys::random(1).take(4_000_000).collect();
    let builder = RibbonFilter::builder().columns(8.0);
    let (filter, peak) = peak_of(&ALLOCATOR, || builder.build_hashes(hashes).unwrap());
    // The rest is the rows of one segment, and the bumped keys.
    let scratch = peak as f64 - filter.size_in_bytes() as f64;
    assert!(scratch < 2.0 * 4e6, "{scratch} bytes for 4 million keys");
}
