//! Bytes that lie allocate a constant, whatever they claim.
//!
//! One test only: what is measured is the process's.
#![cfg(feature = "std")]

use cuckoo::{CuckooFilter, CuckooFilterView, ReadLimits};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// More than errors need, and less than any claim.
const CONSTANT: usize = 64 << 10;

/// A header that claims so many buckets, truly sealed, with 8 bytes of payload behind it.
fn claiming(buckets: u64) -> Vec<u8> {
    let mut bytes =
        CuckooFilter::builder().buckets(1).fingerprint_bits(16).build().unwrap().to_bytes();
    bytes[56..64].copy_from_slice(&buckets.to_le_bytes());
    bytes[112..120].copy_from_slice(&(8 * buckets).to_le_bytes());
    pds_testkit::mutate::seal(&mut bytes);
    bytes
}

fn refuse(bytes: &[u8]) {
    assert!(CuckooFilter::from_bytes(bytes).is_err());
    assert!(CuckooFilterView::from_bytes(bytes).is_err());
    assert!(CuckooFilter::read_from(bytes, ReadLimits::payload(1 << 16)).is_err());
    #[cfg(feature = "serde")]
    for (format, claim) in pds_testkit::format::claiming(1 << 40, bytes) {
        assert!(format.read::<CuckooFilter>(&claim).is_err(), "{format:?}");
    }
}

#[test]
fn case_17_a_claim_allocates_nothing() {
    for buckets in [1 << 16, 1 << 24, 1 << 32, 1 << 60] {
        let bytes = claiming(buckets);
        let before = ALLOCATOR.current_usage();
        ALLOCATOR.reset_peak_usage();
        refuse(&bytes);
        let peak = ALLOCATOR.peak_usage().saturating_sub(before);
        assert!(peak < CONSTANT, "{buckets} buckets claimed: {peak} bytes");
    }
}
