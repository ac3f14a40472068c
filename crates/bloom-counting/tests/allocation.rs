//! Bytes that lie allocate a constant, whatever they claim.
//!
//! One test only: what is measured is the process's.
#![cfg(feature = "std")]

use bloom_counting::{
    BlockedCountingBloomFilter, CountingBloomFilter, CountingBloomFilterView, ReadLimits,
};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// More than errors need, and less than any claim.
const CONSTANT: usize = 64 << 10;

/// The bytes with another number first in their shape and another length, truly sealed.
fn claiming(mut bytes: Vec<u8>, number: u64, payload: u64) -> Vec<u8> {
    bytes[56..64].copy_from_slice(&number.to_le_bytes());
    bytes[112..120].copy_from_slice(&payload.to_le_bytes());
    pds_testkit::mutate::seal(&mut bytes);
    bytes
}

fn refuse(bytes: &[u8], blocked: &[u8]) {
    let limits = || ReadLimits::payload(1 << 16);
    assert!(<CountingBloomFilter>::from_bytes(bytes).is_err());
    assert!(<CountingBloomFilterView>::from_bytes(bytes).is_err());
    assert!(<CountingBloomFilter>::read_from(bytes, limits()).is_err());
    assert!(BlockedCountingBloomFilter::from_bytes(blocked).is_err());
    assert!(BlockedCountingBloomFilter::read_from(blocked, limits()).is_err());
    #[cfg(feature = "serde")]
    for (format, claim) in pds_testkit::format::claiming(1 << 40, bytes) {
        assert!(format.read::<CountingBloomFilter>(&claim).is_err(), "{format:?}");
    }
}

#[test]
fn case_17_a_claim_allocates_nothing() {
    let one = CountingBloomFilter::builder().counters(1).hashes(1).build().unwrap().to_bytes();
    let line = BlockedCountingBloomFilter::builder().lines(1).build().unwrap().to_bytes();
    for lines in [1 << 12, 1 << 20, 1 << 32, 1 << 54] {
        let bytes = claiming(one.clone(), 128 * lines, 64 * lines);
        let blocked = claiming(line.clone(), lines, 64 * lines);
        let before = ALLOCATOR.current_usage();
        ALLOCATOR.reset_peak_usage();
        refuse(&bytes, &blocked);
        let peak = ALLOCATOR.peak_usage().saturating_sub(before);
        assert!(peak < CONSTANT, "{lines} lines claimed: {peak} bytes");
    }
}
