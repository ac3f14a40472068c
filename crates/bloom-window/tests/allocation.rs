//! Bytes that lie allocate a constant, whatever they claim, and inserts allocate nothing.
//!
//! One test only: what is measured is the process's.

use bloom_window::hash::DefaultHashBuilder;
use bloom_window::{TimedBloomFilter, WindowBloomFilter, WindowBloomFilterView, WindowParams};
use pds_testkit::allocation::{CONSTANT, PeakAlloc, peak_of};
use pds_testkit::{envelope, portable};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

fn refuse(bytes: &[u8]) {
    portable::refuse::<WindowBloomFilter>(bytes);
    assert!(WindowBloomFilterView::open(bytes).is_err());
    #[cfg(feature = "serde")]
    pds_testkit::format::refuse_claims::<WindowBloomFilter>(bytes);
}

#[test]
fn case_17_a_claim_allocates_nothing_and_neither_does_an_insert() {
    let params = WindowParams::from_shape(10, 2, 1, 3).unwrap();
    let one = WindowBloomFilter::from_params(params, DefaultHashBuilder::default()).unwrap();
    let bytes = one.to_bytes();
    for words in [1_u64 << 16, 1 << 24, 1 << 32, 1 << 57] {
        let claim = envelope::with_number(&bytes, 2, words);
        let ((), peak) = peak_of(&ALLOCATOR, || refuse(&claim));
        assert!(peak < CONSTANT, "{words} words claimed: {peak} bytes");
    }
    let mut window = WindowBloomFilter::new(1_000, 0.01).unwrap();
    let mut timed = TimedBloomFilter::new(1_000, 1_000, 0.01).unwrap();
    let ((), peak) = peak_of(&ALLOCATOR, || {
        for key in 0..5_000_u64 {
            window.insert(&key);
            timed.advance(key).unwrap();
            timed.insert(&key);
        }
    });
    assert_eq!(peak, 0);
}
