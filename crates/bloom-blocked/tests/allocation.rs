//! Bytes that lie allocate a constant, whatever they claim.
//!
//! One test only: what is measured is the process's.
#![cfg(feature = "std")]

use bloom_blocked::{
    AtomicBlockedBloomFilter, BlockedBloomFilter, BlockedBloomFilterView, ReadLimits,
};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// More than errors need, and less than any claim.
const CONSTANT: usize = 64 << 10;

/// The bytes of one block with another number of blocks and another length, truly sealed.
fn claiming(blocks: u64) -> Vec<u8> {
    let builder = BlockedBloomFilter::builder().blocks(1).hashes(8);
    let mut bytes = builder.build().unwrap().to_bytes();
    bytes[56..64].copy_from_slice(&blocks.to_le_bytes());
    bytes[112..120].copy_from_slice(&(64 * blocks).to_le_bytes());
    pds_testkit::mutate::seal(&mut bytes);
    bytes
}

fn refuse(bytes: &[u8]) {
    let limits = || ReadLimits::payload(1 << 16);
    assert!(BlockedBloomFilter::from_bytes(bytes).is_err());
    assert!(AtomicBlockedBloomFilter::from_bytes(bytes).is_err());
    assert!(BlockedBloomFilterView::from_bytes(bytes).is_err());
    assert!(BlockedBloomFilter::read_from(bytes, limits()).is_err());
    #[cfg(feature = "serde")]
    for (format, claim) in pds_testkit::format::claiming(1 << 40, bytes) {
        assert!(format.read::<BlockedBloomFilter>(&claim).is_err(), "{format:?}");
    }
}

#[test]
fn case_17_a_claim_allocates_nothing() {
    for blocks in [1 << 12, 1 << 20, 1 << 32, 1 << 54] {
        let bytes = claiming(blocks);
        let before = ALLOCATOR.current_usage();
        ALLOCATOR.reset_peak_usage();
        refuse(&bytes);
        let peak = ALLOCATOR.peak_usage().saturating_sub(before);
        assert!(peak < CONSTANT, "{blocks} blocks claimed: {peak} bytes");
    }
}
