//! Coverage of intervals compared with their confidence, one-sided, with literal seeds.
//!
//! The number of intervals that hold is binomial. All points of one test together raise a false alarm with a
//! probability of one in a million. If the number of keys is not small, intervals must not be wider than 1.25 of those
//! of the best estimator.
#![cfg(feature = "std")]

use core::ops::RangeInclusive;

use hll::{HyperLogLog, UltraLogLog};
use pds_params::hll::{Sketch, relative_standard_error};
use pds_testkit::keys;
use pds_testkit::stats::{Binomial, normal_quantile, split_budget};

/// The probability that a correct interval fails one of these tests.
const ALPHA: f64 = 1e-6;

const CONFIDENCES: [f64; 4] = [0.5, 0.95, 0.997_3, 0.999_99];

/// A sketch in the form that is tested.
trait Counter {
    const SKETCH: Sketch;
    fn of_precision(precision: u32) -> Self;
    fn insert(&mut self, keys: &[u64]);
    fn interval(&self, confidence: f64) -> RangeInclusive<f64>;
    fn is_sparse(&self) -> bool;
}

impl Counter for HyperLogLog {
    const SKETCH: Sketch = Sketch::HyperLogLog;

    fn of_precision(precision: u32) -> Self {
        Self::new(precision).unwrap()
    }

    fn insert(&mut self, keys: &[u64]) {
        self.insert_batch(keys);
    }

    fn interval(&self, confidence: f64) -> RangeInclusive<f64> {
        self.estimate_interval(confidence).unwrap()
    }

    fn is_sparse(&self) -> bool {
        !self.is_dense()
    }
}

/// A HyperLogLog that is dense from the start, as the shared one is.
struct Dense(HyperLogLog);

impl Counter for Dense {
    const SKETCH: Sketch = Sketch::HyperLogLog;

    fn of_precision(precision: u32) -> Self {
        let mut sketch = HyperLogLog::new(precision).unwrap();
        sketch.make_dense();
        Self(sketch)
    }

    fn insert(&mut self, keys: &[u64]) {
        self.0.insert_batch(keys);
    }

    fn interval(&self, confidence: f64) -> RangeInclusive<f64> {
        self.0.estimate_interval(confidence).unwrap()
    }

    fn is_sparse(&self) -> bool {
        false
    }
}

impl Counter for UltraLogLog {
    const SKETCH: Sketch = Sketch::UltraLogLog;

    fn of_precision(precision: u32) -> Self {
        Self::new(precision).unwrap()
    }

    fn insert(&mut self, keys: &[u64]) {
        self.insert_batch(keys);
    }

    fn interval(&self, confidence: f64) -> RangeInclusive<f64> {
        self.estimate_interval(confidence).unwrap()
    }

    fn is_sparse(&self) -> bool {
        false
    }
}

/// Intervals of sketches of one number of keys.
#[derive(Default)]
struct Tally {
    hold: [u64; CONFIDENCES.len()],
    width: [f64; CONFIDENCES.len()],
    sparse: bool,
}

/// Fills `sketches` sketches with random keys, and computes the intervals at each of `sizes`.
fn measure<C: Counter>(precision: u32, sizes: &[usize], sketches: u64) -> Vec<Tally> {
    let mut tallies: Vec<Tally> = sizes.iter().map(|_| Tally::default()).collect();
    for run in 0..sketches {
        let mut sketch = C::of_precision(precision);
        let mut stream = keys::random(run << 8 | u64::from(precision));
        let mut inserted = 0;
        for (&size, tally) in sizes.iter().zip(&mut tallies) {
            let more: Vec<u64> = stream.by_ref().take(size - inserted).collect();
            sketch.insert(&more);
            inserted = size;
            tally.sparse |= sketch.is_sparse();
            for (i, confidence) in CONFIDENCES.into_iter().enumerate() {
                let interval = sketch.interval(confidence);
                tally.hold[i] += u64::from(interval.contains(&(size as f64)));
                tally.width[i] += interval.end() - interval.start();
            }
        }
    }
    tallies
}

/// Precisions, numbers of keys and numbers of sketches.
type Points<'a> = &'a [(u32, &'a [usize])];

fn judge<C: Counter>(points: Points, sketches: u64) {
    let tests = points.iter().map(|(_, sizes)| sizes.len()).sum::<usize>() * CONFIDENCES.len();
    let alpha = split_budget(ALPHA, tests);
    for &(precision, sizes) in points {
        for (&size, tally) in sizes.iter().zip(measure::<C>(precision, sizes, sketches)) {
            for (i, confidence) in CONFIDENCES.into_iter().enumerate() {
                let what = format!("{size} keys at precision {precision}, {confidence}");
                let least = Binomial::new(sketches, confidence).least_accepted(alpha);
                let registers = 1 << precision;
                let ideal = relative_standard_error(C::SKETCH, registers, size as f64)
                    * 2.0
                    * normal_quantile((1.0 - confidence) / 2.0);
                let width = tally.width[i] / (sketches as f64 * size as f64 * ideal);
                println!("{what}: {} of {sketches} hold, width {width:.2}", tally.hold[i]);
                assert!(tally.hold[i] >= least, "{what}: {} hold, at least {least}", tally.hold[i]);
                let is_normal = !tally.sparse && size as u64 >= registers;
                assert!(!is_normal || width < 1.25, "{what}: {width} of the ideal width");
            }
        }
    }
}

/// At sparse sizes, on both sides of the switch, and dense ones.
const AUTOMATIC: Points = &[
    (4, &[1, 2, 3, 4, 5, 8, 16, 40, 100, 1_000]),
    (8, &[5, 32, 33, 64, 150, 640, 2_000]),
    (12, &[100, 512, 513, 1_000, 10_240]),
    (16, &[100, 1_500, 4_706, 8_192, 8_193]),
];

const DENSE: Points = &[
    (4, &[1, 2, 3, 5, 7, 10, 12, 16, 40, 64, 1_000]),
    (5, &[1, 4, 8, 20, 32, 80, 500]),
    (6, &[1, 6, 16, 40, 64, 160, 1_000]),
    (8, &[1, 2, 8, 16, 32, 64, 128, 256, 640, 3_000]),
    (10, &[10, 50, 128, 500, 2_560, 10_000]),
];

#[test]
fn case_28_intervals_hold_at_every_size() {
    judge::<HyperLogLog>(AUTOMATIC, 1_000);
}

#[test]
fn case_28_intervals_of_dense_sketches_hold_at_every_size() {
    judge::<Dense>(DENSE, 1_000);
}

#[test]
fn case_49_intervals_of_ultra_sketches_hold_at_every_size() {
    judge::<UltraLogLog>(DENSE, 1_000);
}

/// The same with forty times as many sketches. This detects 0.1 % of coverage at a confidence of 0.997 3.
#[test]
#[ignore = "takes a quarter of an hour"]
fn case_28_intervals_hold_at_every_size_in_many_sketches() {
    judge::<HyperLogLog>(AUTOMATIC, 40_000);
    judge::<Dense>(DENSE, 40_000);
    judge::<UltraLogLog>(DENSE, 40_000);
}

/// The estimate of a common part near either end of what is possible is furthest from the truth, and its error has to say
/// so. Among 3,000 normal errors, one beyond 4.75 standard errors is seen with a probability of 0.6 %.
#[test]
fn case_55_overlaps_of_a_known_and_a_large_set_hold_in_the_tails() {
    let mut random = keys::random(55);
    let mut insert = |count: u64, sketches: &mut [&mut HyperLogLog]| {
        for _ in 0..count {
            let hash = random.next().unwrap();
            sketches.iter_mut().for_each(|sketch| {
                sketch.insert_hash(hash);
            });
        }
    };
    for [only_known, common] in [[300, 100], [100, 300]] {
        let mut greatest = 0.0;
        for _ in 0..3_000 {
            let mut known = HyperLogLog::new(12).unwrap();
            let mut large = HyperLogLog::new(10).unwrap();
            insert(only_known, &mut [&mut known]);
            insert(5_000, &mut [&mut large]);
            insert(common, &mut [&mut known, &mut large]);
            let both = known.overlap(&large).unwrap().both;
            let error = (both.value - common as f64).abs() / both.standard_error;
            greatest = f64::max(greatest, error);
        }
        assert!(greatest < 4.75, "{common} in both: off by {greatest} standard errors");
    }
}
