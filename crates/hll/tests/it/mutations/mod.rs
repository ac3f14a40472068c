//! The bodies of the fuzz targets, run over many inputs without a fuzzer.
#![cfg(feature = "std")]

mod bodies;

use hll::{HyperLogLog, HyperLogLogView, UltraLogLog, UltraLogLogView};
use pds_testkit::envelope::with_payload;
use pds_testkit::mutate::inputs;

#[test]
fn case_17_forged_bytes_are_refused_or_come_back_unchanged() {
    inputs(1, 30_000).for_each(|input| bodies::mutate(&input));
}

/// A sketch at precision 4 whose registers are all full.
fn full() -> Vec<u8> {
    let mut sketch = HyperLogLog::new(4).unwrap();
    sketch.make_dense();
    // Four times the greatest rank, six bits each.
    let four = 61 * (1 << 18 | 1 << 12 | 1 << 6 | 1u32);
    with_payload(&sketch.to_bytes(), &four.to_le_bytes()[..3].repeat(4))
}

/// The number of keys that leaves 16 registers full once in twenty: (1 - e^(-n / 2^64))^16 = 1 / 20.
const FILLS: f64 = 3.25e19;

/// Full registers make the estimate infinite. The search for its error once did not end.
#[test]
fn full_registers_have_an_estimate_and_an_error() {
    let bytes = full();
    let view = HyperLogLogView::open(&bytes).unwrap();
    let estimate = HyperLogLog::from_bytes(&bytes).unwrap().estimate_with_error();
    assert_eq!((estimate.value, estimate.standard_error), (f64::INFINITY, f64::INFINITY));
    assert_eq!(view.estimate_with_error(), estimate);
    let interval = view.estimate_interval(0.9).unwrap();
    assert!((interval.start() / FILLS - 1.0).abs() < 0.01, "{interval:?}");
    assert_eq!(interval.end(), &f64::INFINITY);
    bodies::view(&bytes);
}

/// Their Jaccard index was once not a number.
#[test]
fn full_sketches_overlap() {
    let full = HyperLogLog::from_bytes(&full()).unwrap();
    let overlap = full.overlap(&full).unwrap();
    // As many as there are hashes.
    assert_eq!((overlap.jaccard(), overlap.union()), (1.0, 2f64.powi(64)));
    assert!(overlap.both.standard_error.is_finite(), "{overlap:?}");
    let mut some = HyperLogLog::new(4).unwrap();
    some.extend(0..1_000u32);
    for overlap in [full.overlap(&some).unwrap(), some.overlap(&full).unwrap()] {
        assert!(overlap.jaccard() < 1e-9, "{overlap:?}");
        assert!((overlap.union() / 2f64.powi(64) - 1.0).abs() < 1e-9, "{overlap:?}");
        let of_some = overlap.both.value + overlap.only_left.value.min(overlap.only_right.value);
        assert!((of_some / 1_000.0 - 1.0).abs() < 1.0, "{overlap:?}");
    }
}

/// The same for an UltraLogLog: its estimate was once not a number.
#[test]
fn full_ultra_registers_have_an_infinite_estimate() {
    // The greatest rank, and both ranks below it have occurred.
    let mut sketch = UltraLogLog::new(4).unwrap();
    (0..16u64).for_each(|index| _ = sketch.insert_hash(index << 60));
    let bytes = with_payload(&sketch.to_bytes(), &[4 * 61 + 3; 16]);
    let sketch = UltraLogLog::from_bytes(&bytes).unwrap();
    assert_eq!([sketch.estimate(), sketch.estimate_by_likelihood()], [f64::INFINITY; 2]);
    assert_eq!(sketch.estimate_with_error().standard_error, f64::INFINITY);
    let view = UltraLogLogView::open(&bytes).unwrap();
    let interval = sketch.estimate_interval(0.9).unwrap();
    assert_eq!(view.estimate_interval(0.9).as_ref(), Ok(&interval));
    assert!((interval.start() / FILLS - 1.0).abs() < 0.01, "{interval:?}");
}

#[test]
fn operations_with_bytes_in_between_keep_what_is_promised() {
    inputs(3, 10_000).for_each(|input| bodies::ops(&input));
}
