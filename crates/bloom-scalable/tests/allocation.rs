//! Bytes that lie allocate a constant, whatever they claim, and inserts allocate nothing but layers.
//!
//! One test only: what is measured is the process's.

use bloom_scalable::{LayeredBloomFilter, ScalableBloomFilter, ScalableBloomFilterView};
use pds_testkit::allocation::{CONSTANT, PeakAlloc, peak_of};
use pds_testkit::{envelope, portable};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

fn refuse(bytes: &[u8]) {
    portable::refuse::<ScalableBloomFilter>(bytes);
    assert!(ScalableBloomFilterView::open(bytes).is_err());
    #[cfg(feature = "serde")]
    pds_testkit::format::refuse_claims::<ScalableBloomFilter>(bytes);
}

#[test]
fn case_17_a_claim_allocates_nothing_and_neither_does_an_insert_into_a_layer_that_is_there() {
    let bytes = ScalableBloomFilter::new(3, 0.01).unwrap().to_bytes();
    for layers in [2_u64, 1_000_000, 1 << 40, u64::MAX] {
        let even = envelope::with_number(&envelope::with_number(&bytes, 3, 1), 6, layers);
        let merged =
            envelope::with_number(&envelope::with_number(&bytes, 6, layers), 7, layers - 1);
        for claim in [even, merged] {
            let ((), peak) = peak_of(&ALLOCATOR, || refuse(&claim));
            assert!(peak < CONSTANT, "{layers} layers claimed: {peak} bytes");
        }
    }
    let mut filter = ScalableBloomFilter::new(1_000, 0.01).unwrap();
    let mut layered = LayeredBloomFilter::new(&[1_000, 1_000], 0.01).unwrap();
    let keys: Vec<u32> = (0..500).collect();
    let mut answers = [false; 500];
    let ((), peak) = peak_of(&ALLOCATOR, || {
        for key in 0..1_000_u32 {
            filter.insert(&key).unwrap();
            layered.insert(&key);
        }
        filter.insert_batch(&keys).unwrap();
        filter.contains_batch(&keys, &mut answers);
    });
    assert_eq!(peak, 0);
    // Growth allocates the layer, and the list of layers.
    while filter.room() > 0 {
        filter.insert(&filter.room()).unwrap();
    }
    let before = filter.size_in_bytes();
    let ((), peak) = peak_of(&ALLOCATOR, || {
        filter.insert(&u64::MAX).unwrap();
    });
    let layer = usize::try_from(filter.size_in_bytes() - before).unwrap();
    assert!((layer..layer + CONSTANT).contains(&peak), "{peak} bytes for {layer}");
}
