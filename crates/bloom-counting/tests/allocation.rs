//! Bytes that lie allocate a constant, whatever they claim.
//!
//! One test only: what is measured is the process's.
#![cfg(feature = "std")]

use bloom_counting::{BlockedCountingBloomFilter, CountingBloomFilter, CountingBloomFilterView};
use pds_testkit::allocation::{CONSTANT, PeakAlloc, peak_of};
use pds_testkit::{envelope, portable};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

fn refuse(bytes: &[u8], blocked: &[u8]) {
    portable::refuse::<CountingBloomFilter>(bytes);
    portable::refuse::<BlockedCountingBloomFilter>(blocked);
    assert!(<CountingBloomFilterView<_>>::open(bytes).is_err());
    #[cfg(feature = "serde")]
    pds_testkit::format::refuse_claims::<CountingBloomFilter>(bytes);
}

#[test]
fn case_17_a_claim_allocates_nothing() {
    let one = CountingBloomFilter::builder().counters(1).hashes(1).build().unwrap().to_bytes();
    let line = BlockedCountingBloomFilter::builder().lines(1).build().unwrap().to_bytes();
    for lines in [1 << 12, 1 << 20, 1 << 32, 1 << 54] {
        let bytes = envelope::claiming(&one, 128 * lines, 64 * lines);
        let blocked = envelope::claiming(&line, lines, 64 * lines);
        let ((), peak) = peak_of(&ALLOCATOR, || refuse(&bytes, &blocked));
        assert!(peak < CONSTANT, "{lines} lines claimed: {peak} bytes");
    }
}
