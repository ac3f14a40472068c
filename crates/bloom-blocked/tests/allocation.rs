//! Forged bytes allocate a constant, whatever they claim.
//!
//! There is only one test, because the allocations of the whole process are measured.
#![cfg(feature = "std")]

use bloom_blocked::bytes::ByteOptions;
use bloom_blocked::{AtomicBlockedBloomFilter, BlockedBloomFilter, BlockedBloomFilterView};
use pds_testkit::allocation::{CONSTANT, PeakAlloc, peak_of};
use pds_testkit::{envelope, portable};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

fn refuse(bytes: &[u8]) {
    portable::refuse::<BlockedBloomFilter>(bytes);
    assert!(ByteOptions::new().from_bytes::<AtomicBlockedBloomFilter>(bytes).is_err());
    assert!(BlockedBloomFilterView::open(bytes).is_err());
    #[cfg(feature = "serde")]
    pds_testkit::format::refuse_claims::<BlockedBloomFilter>(bytes);
}

#[test]
fn case_17_a_claim_allocates_nothing() {
    let one = BlockedBloomFilter::builder().blocks(1).hashes(8).build().unwrap().to_bytes();
    for blocks in [1 << 12, 1 << 20, 1 << 32, 1 << 54] {
        let bytes = envelope::claiming(&one, blocks, 64 * blocks);
        let ((), peak) = peak_of(&ALLOCATOR, || refuse(&bytes));
        assert!(peak < CONSTANT, "{blocks} blocks claimed: {peak} bytes");
    }
}
