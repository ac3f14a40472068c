//! Bytes that lie allocate a constant, whatever they claim; a build needs little beyond its hashes and its result.
//!
//! One test only: what is measured is the process's.
#![cfg(feature = "std")]

use fuse::{RibbonFilter, RibbonFilterView};
use pds_testkit::allocation::{CONSTANT, PeakAlloc, peak_of};
use pds_testkit::{envelope, keys, portable};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

fn refuse(bytes: &[u8]) {
    portable::refuse::<RibbonFilter>(bytes);
    assert!(RibbonFilterView::open(bytes).is_err());
    #[cfg(feature = "serde")]
    pds_testkit::format::refuse_claims::<RibbonFilter>(bytes);
}

#[test]
fn case_17_a_claim_allocates_nothing_and_a_build_little() {
    let one = RibbonFilter::new([1], 0.01).unwrap().to_bytes();
    for keys in [1 << 16, 1 << 24, 1 << 32, 1 << 60] {
        let bytes = envelope::claiming(&one, keys, keys);
        let ((), peak) = peak_of(&ALLOCATOR, || refuse(&bytes));
        assert!(peak < CONSTANT, "{keys} keys claimed: {peak} bytes");
    }
    let hashes: Vec<u64> = keys::random(1).take(4_000_000).collect();
    let builder = RibbonFilter::builder().columns(8.0);
    let (filter, peak) = peak_of(&ALLOCATOR, || builder.build_hashes(hashes).unwrap());
    // What is left: the rows of one segment, and the keys that are bumped.
    let scratch = peak as f64 - filter.size_in_bytes() as f64;
    assert!(scratch < 2.0 * 4e6, "{scratch} bytes for 4 million keys");
}
