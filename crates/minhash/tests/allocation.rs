//! Bytes that lie allocate a constant, whatever they claim, and inserts and comparisons allocate nothing.
//!
//! One test only: what is measured is the process's.

use minhash::{LshIndex, LshIndexView, MinHash, MinHashView};
use pds_testkit::allocation::{CONSTANT, PeakAlloc, peak_of};
use pds_testkit::{envelope, portable};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

fn sketch(keys: core::ops::Range<u32>) -> MinHash {
    let mut sketch = MinHash::new(128).unwrap();
    sketch.extend(keys);
    sketch
}

#[test]
fn case_17_a_claim_allocates_nothing_and_an_index_what_it_promises() {
    let bytes = sketch(0..5).to_bytes();
    let claim = envelope::claiming(&bytes, 4_096, 8 * 4_096);
    let ((), peak) = peak_of(&ALLOCATOR, || {
        portable::refuse::<MinHash>(&claim);
        assert!(MinHashView::open(claim.as_slice()).is_err());
        #[cfg(feature = "serde")]
        pds_testkit::format::refuse_claims::<MinHash>(&bytes);
    });
    assert!(peak < CONSTANT, "{peak} bytes");
    let mut index = LshIndex::new(128, 0.8, 0.95).unwrap();
    index.insert(1, &sketch(0..5)).unwrap();
    let bytes = index.to_bytes();
    for documents in [1_u64 << 16, 1 << 24, 1 << 40, 1 << 57] {
        let claim = envelope::with_number(&bytes, 3, documents);
        let ((), peak) = peak_of(&ALLOCATOR, || {
            portable::refuse::<LshIndex>(&claim);
            assert!(LshIndexView::open(claim.as_slice()).is_err());
        });
        assert!(peak < CONSTANT, "{documents} documents claimed: {peak} bytes");
    }

    let (mut left, right) = (sketch(0..3), sketch(2..9));
    let hashes: Vec<u64> = (0..5_000).map(minhash::hash::finalize).collect();
    let ((), peak) = peak_of(&ALLOCATOR, || {
        (0..5_000_u64).for_each(|key| _ = left.insert(&key));
        left.insert_hash_batch(&hashes);
        left.insert_batch(&hashes);
        left.merge(&right).unwrap();
        assert!(left.compare(&right).unwrap().jaccard_interval(0.9).is_ok());
    });
    assert_eq!(peak, 0);

    // The promised peak while it is sorted, and 12 bytes per band and document after that. Vectors double, so one document more
    // than a power of two is the worst number.
    let documents = (1_u32 << 14) + 1;
    let shared = sketch(0..9);
    for bands in [1, 13] {
        let sketches = (0..documents).map(|document| (document, &shared));
        let mut index = LshIndex::builder().bands(bands).rows(7).build().unwrap();
        let size = u64::from(bands) * (12 * u64::from(documents) + 4);
        let (count, peak) = peak_of(&ALLOCATOR, || index.insert_batch(sketches).unwrap());
        assert_eq!((count, index.size_in_bytes()), (documents as usize, size));
        // The lists themselves, and a last half word per band.
        let most = (28 * u64::from(bands) + 32) * u64::from(documents) + 1_024;
        assert!(peak as u64 <= most, "{bands} bands: {peak} bytes, {most} are promised");
    }
}
