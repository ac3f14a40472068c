//! Bytes that lie allocate a constant, whatever they claim.
//!
//! One test only: what is measured is the process's.
#![cfg(feature = "std")]

use cuckoo::{CuckooFilter, CuckooFilterView};
use pds_testkit::allocation::{CONSTANT, PeakAlloc, peak_of};
use pds_testkit::{envelope, portable};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

fn refuse(bytes: &[u8]) {
    portable::refuse::<CuckooFilter>(bytes);
    assert!(CuckooFilterView::open(bytes).is_err());
    #[cfg(feature = "serde")]
    pds_testkit::format::refuse_claims::<CuckooFilter>(bytes);
}

#[test]
fn case_17_a_claim_allocates_nothing() {
    let builder = CuckooFilter::builder().buckets(1).fingerprint_bits(16);
    let one = builder.build().unwrap().to_bytes();
    for buckets in [1 << 16, 1 << 24, 1 << 32, 1 << 60] {
        let bytes = envelope::claiming(&one, buckets, 8 * buckets);
        let ((), peak) = peak_of(&ALLOCATOR, || refuse(&bytes));
        assert!(peak < CONSTANT, "{buckets} buckets claimed: {peak} bytes");
    }
}
