//! Measured errors against predicted ones, with literal seeds.
//!
//! All tests of this file together raise a false alarm with a probability of 10^-6 at most.

use core::ops::RangeInclusive;

use pds_testkit::keys;
use pds_testkit::stats::{normal_quantile, split_budget};
use theta::{Estimate, ThetaParams, ThetaSet, ThetaSketch, ThetaUnion};

const FALSE_ALARM: f64 = 1e-6;
/// How many judgements the tests below pass, rounded up.
const JUDGEMENTS: usize = 120;

/// Standard errors that a sound measurement stays within.
fn limit() -> f64 {
    normal_quantile(split_budget(FALSE_ALARM, JUDGEMENTS) / 2.0)
}

/// The mean of numbers, and its standard error.
fn mean(numbers: &[f64]) -> (f64, f64) {
    let count = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    let squares = numbers.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>();
    (mean, (squares / (count - 1.0) / count).sqrt())
}

/// Estimates of one number.
#[derive(Default)]
struct Record {
    /// Errors, in units of the told standard error of a trial.
    errors: Vec<f64>,
    relative: Vec<f64>,
    told: Vec<f64>,
    missed: f64,
}

const CONFIDENCE: f64 = 0.9;

impl Record {
    fn add(&mut self, truth: f64, estimate: Estimate, interval: &RangeInclusive<f64>) {
        self.errors.push(estimate.value - truth);
        self.relative.push((estimate.value / truth - 1.0).powi(2));
        self.told.push(estimate.standard_error.powi(2));
        self.missed += f64::from(u8::from(!interval.contains(&truth)));
    }

    /// Judges the bias, the told variance, and how often the interval missed.
    fn judge(&self, name: &str) {
        let (bias, error) = mean(&self.errors);
        assert!((bias / error).abs() < limit(), "{name}: bias {bias} ± {error}");
        let squares: Vec<f64> = self.errors.iter().map(|error| error * error).collect();
        let (variance, error) = mean(&squares);
        let (told, told_error) = mean(&self.told);
        let z = (variance - told) / error.hypot(told_error);
        assert!(z.abs() < limit(), "{name}: a variance of {variance}, {told} is told");
        let trials = self.errors.len() as f64;
        let most = trials * (1.0 - CONFIDENCE);
        let z = (self.missed - most) / (most * CONFIDENCE).sqrt();
        assert!(z < limit(), "{name}: {} of {trials} missed", self.missed);
        // Neither are they much too wide.
        assert!(self.missed > 0.5 * most - limit() * most.sqrt(), "{name}: {}", self.missed);
    }

    fn relative_error(&self) -> (f64, f64) {
        mean(&self.relative)
    }

    /// Judges the relative standard error by its promised bound.
    fn judge_promise(&self, name: &str, promised: f64) {
        let (variance, error) = self.relative_error();
        assert!(variance - limit() * error < promised * promised, "{name}: {variance}");
    }
}

fn random(size: u32, sampling: f32, keys: &[u64]) -> ThetaSketch {
    let builder = ThetaSketch::builder().nominal_size(size).sampling(sampling);
    let mut sketch = builder.build().unwrap();
    sketch.extend(keys);
    sketch
}

#[test]
fn numbers_of_keys_are_unbiased_with_the_told_error_and_intervals_hold() {
    let cases = [
        (16, 1.0, 31, 4_000),
        (16, 1.0, 1_000, 4_000),
        (64, 1.0, 200, 3_000),
        (64, 1.0, 10_000, 1_000),
        (1_024, 1.0, 5_000, 1_000),
        (64, 0.25, 80, 4_000),
    ];
    let mut hashes = keys::random(1);
    for (size, sampling, count, trials) in cases {
        let mut record = Record::default();
        for _ in 0..trials {
            let keys: Vec<u64> = hashes.by_ref().take(count).collect();
            let sketch = random(size, sampling, &keys);
            let interval = sketch.estimate_interval(CONFIDENCE).unwrap();
            record.add(count as f64, sketch.estimate_with_error(), &interval);
        }
        let name = format!("{size}, {sampling}, {count} keys");
        record.judge(&name);
        let params = ThetaParams::new(size).unwrap().with_sampling(sampling).unwrap();
        record.judge_promise(&name, params.relative_error());
    }
}

#[test]
fn the_error_of_few_sampled_keys_is_at_most_that_of_one() {
    let mut hashes = keys::random(5);
    for (sampling, count) in [(0.25, 1), (0.5, 3), (0.5, 10), (0.1, 1), (0.1, 20)] {
        let mut record = Record::default();
        for _ in 0..20_000 {
            let keys: Vec<u64> = hashes.by_ref().take(count).collect();
            let sketch = random(16, sampling, &keys);
            let interval = sketch.estimate_interval(CONFIDENCE).unwrap();
            record.add(count as f64, sketch.estimate_with_error(), &interval);
        }
        let params = ThetaParams::new(16).unwrap().with_sampling(sampling).unwrap();
        let name = format!("{sampling}, {count} keys");
        record.judge_promise(&name, params.relative_error());
        let sampling = f64::from(sampling);
        let expected = (1.0 - sampling) / (sampling * count as f64);
        let (variance, error) = record.relative_error();
        assert!((variance - expected).abs() < limit() * error, "{name}: {variance}, {expected}");
    }
}

#[test]
fn a_number_that_is_not_known_is_never_told_as_exact() {
    const TRIALS: usize = 300;
    let mut hashes = keys::random(6);
    for (left, right, common) in [(2_000, 2_000, 4), (200, 10_000, 20)] {
        let mut none_kept = 0;
        for _ in 0..TRIALS {
            let keys: Vec<u64> = hashes.by_ref().take(left + right - common).collect();
            let [ours, others] = [&keys[..left], &keys[left - common..]];
            let both = random(64, 1.0, ours).intersection(&random(64, 1.0, others)).unwrap();
            none_kept += usize::from(both.num_retained() == 0);
            let estimate = both.estimate_with_error();
            assert!(
                estimate.standard_error > 0.9 * (1.0 - both.theta()) / both.theta(),
                "{estimate}"
            );
        }
        assert!(none_kept > TRIALS / 2, "{none_kept}");
    }
    // Nothing is in common with an empty set, and that is exact.
    let some = random(64, 1.0, &keys::random(7).take(1_000).collect::<Vec<_>>());
    let none = some.intersection(&random(64, 1.0, &[])).unwrap();
    assert_eq!(none.estimate_with_error(), Estimate { value: 0.0, standard_error: 0.0 });
}

#[test]
fn after_trimming_the_error_is_that_of_the_nominal_size() {
    let mut hashes = keys::random(2);
    let mut record = Record::default();
    for _ in 0..3_000 {
        let keys: Vec<u64> = hashes.by_ref().take(2_000).collect();
        let mut sketch = random(64, 1.0, &keys);
        sketch.trim();
        assert_eq!(sketch.num_retained(), 64);
        let interval = sketch.estimate_interval(CONFIDENCE).unwrap();
        record.add(2_000.0, sketch.estimate_with_error(), &interval);
    }
    let promised = ThetaParams::new(64).unwrap().relative_error();
    let (variance, error) = record.relative_error();
    // Nearly all of it: 1 / (K - 1) is the error for infinitely many keys.
    assert!(
        (variance / (promised * promised) - 0.98).abs() < limit() * error / promised.powi(2) + 0.03
    );
}

#[test]
fn operations_are_unbiased_with_the_told_error_and_intervals_hold() {
    const TRIALS: usize = 2_000;
    // Sizes, keys, keys in both.
    let cases = [(64, 64, 1_000, 1_000, 300), (128, 32, 600, 3_000, 500), (64, 64, 500, 500, 480)];
    let mut hashes = keys::random(3);
    for (left_size, right_size, left, right, common) in cases {
        let mut records: [Record; 4] = Default::default();
        let union = left + right - common;
        for _ in 0..TRIALS {
            let keys: Vec<u64> = hashes.by_ref().take(union).collect();
            let sketches = [
                random(left_size, 1.0, &keys[..left]),
                random(right_size, 1.0, &keys[union - right..]),
            ];
            let params = ThetaParams::new(left_size.max(right_size)).unwrap();
            let mut united = ThetaUnion::new(params, sketches[0].hasher());
            sketches.iter().for_each(|sketch| united.add(sketch).unwrap());
            let results = [
                united.to_compact(),
                sketches[0].intersection(&sketches[1]).unwrap(),
                sketches[0].difference(&sketches[1]).unwrap(),
                sketches[1].difference(&sketches[0]).unwrap(),
            ];
            let truths = [union, common, left - common, right - common];
            for ((record, result), truth) in records.iter_mut().zip(results).zip(truths) {
                let interval = result.estimate_interval(CONFIDENCE).unwrap();
                record.add(truth as f64, result.estimate_with_error(), &interval);
            }
        }
        for (record, name) in records.iter().zip(["union", "both", "left only", "right only"]) {
            record.judge(&format!("{name} of {left} and {right}"));
        }
    }
}

#[test]
fn jaccard_indexes_are_unbiased_and_their_intervals_hold() {
    const TRIALS: usize = 2_000;
    let mut hashes = keys::random(4);
    for (common, union) in [(50, 1_000), (500, 1_000), (950, 1_000)] {
        let truth = common as f64 / union as f64;
        let mut record = Record::default();
        for _ in 0..TRIALS {
            let keys: Vec<u64> = hashes.by_ref().take(union).collect();
            let half = (union - common) / 2;
            let left = random(64, 1.0, &keys[..common + half]);
            let others: Vec<u64> = [&keys[..common], &keys[common + half..]].concat();
            let comparison = left.compare(&random(64, 1.0, &others)).unwrap();
            let interval = comparison.jaccard_interval(CONFIDENCE).unwrap();
            record.add(truth, comparison.jaccard(), &interval);
        }
        let (bias, error) = mean(&record.errors);
        assert!((bias / error).abs() < limit(), "J = {truth}: bias {bias} ± {error}");
        let most = TRIALS as f64 * (1.0 - CONFIDENCE);
        assert!(record.missed < most + limit() * most.sqrt(), "J = {truth}: {}", record.missed);
        let (variance, _) =
            mean(&record.errors.iter().map(|error| error * error).collect::<Vec<_>>());
        let told = mean(&record.told).0;
        assert!(
            (told / variance - 1.0).abs() < 0.2,
            "J = {truth}: {told} told, {variance} measured"
        );
    }
}
