//! Bytes that lie allocate a constant, whatever they claim, and views and comparisons allocate nothing.
//!
//! One test only: what is measured is the process's.

use pds_testkit::allocation::{CONSTANT, PeakAlloc, peak_of};
use theta::{CompactThetaSketch, ThetaSet, ThetaSketch, ThetaSketchView};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

#[test]
fn a_claim_allocates_nothing_and_a_sketch_what_it_promises() {
    let mut sketch = ThetaSketch::new(4_096).unwrap();
    sketch.extend(0..100_000_i64);
    let plain = sketch.to_compact().to_bytes();
    let packed = sketch.to_compact().to_compressed_bytes();
    for (bytes, at, length) in [(&plain, 8, 4), (&packed, 16, 2)] {
        let mut claim = bytes[..64].to_vec();
        claim[at..at + length].fill(255);
        let (result, peak) = peak_of(&ALLOCATOR, || {
            assert!(ThetaSketchView::open(&claim).is_err());
            CompactThetaSketch::from_bytes(&claim)
        });
        assert!(result.is_err() && peak < CONSTANT, "{peak} bytes");
    }
    // Bytes whose hashes are wrong are refused before memory is taken.
    for bytes in [&plain, &packed] {
        let mut damaged = bytes.clone();
        let last = damaged.len() - 300;
        damaged[last..].fill(0);
        let (result, peak) = peak_of(&ALLOCATOR, || CompactThetaSketch::from_bytes(&damaged));
        assert!(result.is_err() && peak < 1_000, "{peak} bytes");
        let (result, peak) = peak_of(&ALLOCATOR, || CompactThetaSketch::from_bytes(bytes));
        assert_eq!(peak, 8 * result.unwrap().num_retained());
    }
    let views = [&plain, &packed].map(|bytes| ThetaSketchView::open(bytes).unwrap());
    let (jaccard, peak) = peak_of(&ALLOCATOR, || {
        assert!(views.iter().all(|view| view.verify().is_ok()));
        views[0].compare(&views[1]).unwrap().jaccard().value
    });
    assert_eq!((jaccard, peak), (1.0, 0));

    // Growth and the lowering of theta: the table, the next one, and the hashes in between.
    let (size, peak) = peak_of(&ALLOCATOR, || {
        let mut sketch = ThetaSketch::new(4_096).unwrap();
        sketch.extend(0..100_000_i64);
        sketch.size_in_bytes()
    });
    assert_eq!(size, 32 * 4_096);
    assert!(peak as u64 <= 2 * size + 16 * 4_096, "{peak} bytes");
}
