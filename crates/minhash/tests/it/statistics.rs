//! Measured errors against predicted ones, with literal seeds.
//!
//! All tests of this file together raise a false alarm with a probability of 10^-6 at most.

#![expect(clippy::cast_possible_truncation, reason = "whole numbers of keys")]
#![expect(clippy::cast_sign_loss, reason = "whole numbers of keys")]

use minhash::{MinHash, MinHashParams};
use pds_params::minhash::error_in_units;
use pds_testkit::keys;
use pds_testkit::stats::{normal_quantile, split_budget};

const FALSE_ALARM: f64 = 1e-6;
/// How many judgements the tests below pass, rounded up.
const JUDGEMENTS: usize = 400;

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

/// Sketches of two sets with `common` keys in both and `union` keys in all. The others are halved.
fn pair(
    values: u32,
    union: u64,
    common: u64,
    hashes: &mut impl Iterator<Item = u64>,
) -> [MinHash; 2] {
    let mut sketches = [MinHash::new(values).unwrap(), MinHash::new(values).unwrap()];
    let all: Vec<u64> = hashes.take(union as usize).collect();
    let (both, others) = all.split_at(common as usize);
    let (left, right) = others.split_at(others.len() / 2);
    for (sketch, own) in sketches.iter_mut().zip([left, right]) {
        sketch.insert_hash_batch(both);
        sketch.insert_hash_batch(own);
    }
    sketches
}

/// The numbers of common keys nearest to these Jaccard indexes, without 0 and 1.
fn commons(union: u64) -> Vec<u64> {
    let shares = [0.05, 0.25, 0.5, 0.75, 0.95];
    let mut commons = shares.map(|share| (union as f64 * share).round() as u64).to_vec();
    commons.dedup();
    commons.retain(|&common| common > 0 && common < union);
    commons
}

#[test]
fn the_estimate_is_unbiased_and_its_error_the_predicted_one() {
    let sizes = [2, 3, 6, 16, 32, 64, 128, 300, 1_000, 4_000];
    let by_size = sizes.map(|union| (64, union, if union < 1_000 { 2_000 } else { 1_000 }));
    let others = [(16, 8, 3_000), (16, 100, 2_000), (1_024, 300, 600), (4_096, 4_096, 600)];
    let mut hashes = keys::random(1);
    for (values, union, trials) in by_size.into_iter().chain(others) {
        for common in commons(union) {
            let truth = common as f64 / union as f64;
            let unit = MinHashParams::new(values).unwrap().standard_error(truth);
            let errors: Vec<f64> = (0..trials)
                .map(|_| {
                    let [left, right] = pair(values, union, common, &mut hashes);
                    (left.jaccard(&right).unwrap().value - truth) / unit
                })
                .collect();
            let (bias, error) = mean(&errors);
            assert!((bias / error).abs() < limit(), "{union} keys, J = {truth}: bias {bias}");
            assert!(
                2.0 * limit() * error < 0.4,
                "a bias of 0.4 units would be seen, nearly always"
            );
            let squares: Vec<f64> = errors.iter().map(|error| error * error).collect();
            let (variance, error) = mean(&squares);
            let predicted = error_in_units(values, union as f64);
            let z = (variance - predicted * predicted) / error;
            assert!(z.abs() < limit(), "{union} keys, J = {truth}: {variance} for {predicted}²");
        }
    }
}

#[test]
fn a_bias_of_a_tenth_of_the_unit_would_be_seen() {
    const TRIALS: usize = 15_000;
    let mut hashes = keys::random(5);
    for union in [8, 32, 64, 200, 500] {
        for common in [union / 4, union / 2, 7 * union / 8] {
            let truth = common as f64 / union as f64;
            let unit = MinHashParams::new(32).unwrap().standard_error(truth);
            let errors = core::iter::repeat_with(|| {
                let [left, right] = pair(32, union, common, &mut hashes);
                (left.jaccard(&right).unwrap().value - truth) / unit
            });
            let (bias, error) = mean(&errors.take(TRIALS).collect::<Vec<_>>());
            assert!((bias / error).abs() < limit(), "{union} keys, J = {truth}: bias {bias}");
            // One limit for the false alarm, and 2.4 standard errors that a true bias is seen in 99 of 100 runs.
            assert!((limit() + 2.4) * error < 0.1, "{union} keys, J = {truth}: {error}");
        }
    }
}

#[test]
fn the_standard_error_that_is_told_is_the_predicted_one() {
    let mut hashes = keys::random(2);
    for (values, union) in
        [(16, 50), (256, 20), (256, 256), (256, 1_000), (256, 20_000), (4_096, 4_096)]
    {
        let told: Vec<f64> = (0..50)
            .map(|_| {
                let [left, right] = pair(values, union, union / 2, &mut hashes);
                left.jaccard(&right).unwrap().standard_error
            })
            .collect();
        let predicted = error_in_units(values, union as f64) * 0.5 / f64::from(values).sqrt();
        let told = mean(&told).0;
        // The mean of sqrt(J (1 - J)) over estimates with a spread is lower than that of the truth.
        let tolerance = 0.02 + 0.5 / f64::from(values);
        assert!((told / predicted - 1.0).abs() < tolerance, "{values}, {union}: {told}");
    }
}

#[test]
fn intervals_hold_the_truth_as_often_as_they_say() {
    const TRIALS: u32 = 2_400;
    const CONFIDENCES: [f64; 2] = [0.5, 0.95];
    let mut hashes = keys::random(3);
    let limit = limit();
    for values in [16, 128] {
        // Also near both ends, where a normal approximation fails.
        for (union, common) in [(1, 1), (10, 9), (100, 50), (500, 2)] {
            let truth = common as f64 / union as f64;
            let mut missed = [0.0; 2];
            for _ in 0..TRIALS {
                let [left, right] = pair(values, union, common, &mut hashes);
                let comparison = left.compare(&right).unwrap();
                for (missed, confidence) in missed.iter_mut().zip(CONFIDENCES) {
                    let interval = comparison.jaccard_interval(confidence).unwrap();
                    *missed += f64::from(u32::from(!interval.contains(&truth)));
                }
            }
            for (missed, confidence) in missed.into_iter().zip(CONFIDENCES) {
                let most = f64::from(TRIALS) * (1.0 - confidence);
                let z = (missed - most) / (most * confidence).sqrt();
                assert!(z < limit, "{values} values, {common} of {union}: {missed} missed");
            }
        }
    }
}

#[test]
fn signatures_are_unbiased_with_the_error_of_the_table_and_their_intervals_hold() {
    const TRIALS: usize = 1_000;
    let mut hashes = keys::random(4);
    for (union, common) in [(400, 20), (400, 200), (400, 380)] {
        let truth = common as f64 / union as f64;
        let pairs: Vec<_> = (0..TRIALS).map(|_| pair(64, union, common, &mut hashes)).collect();
        for bits in [1, 2, 4, 8, 16, 32] {
            let compared = pairs.iter().map(|pair| {
                let [left, right] = [0, 1].map(|i| pair[i].signature(bits).unwrap());
                (left.compare(&right).unwrap(), left.params().standard_error(truth))
            });
            let (mut errors, mut missed) = (Vec::new(), 0.0);
            for (comparison, unit) in compared {
                errors.push((comparison.jaccard().value - truth) / unit);
                let interval = comparison.jaccard_interval(0.9).unwrap();
                missed += f64::from(u32::from(!interval.contains(&truth)));
            }
            let (bias, error) = mean(&errors);
            assert!((bias / error).abs() < limit(), "{bits} bits, J = {truth}: bias {bias}");
            let squares: Vec<f64> = errors.iter().map(|error| error * error).collect();
            let (variance, error) = mean(&squares);
            assert!(variance - limit() * error < 1.0, "{bits} bits, J = {truth}: {variance}");
            assert!(variance > 0.6, "{bits} bits, J = {truth}: {variance}");
            let most = 0.1 * TRIALS as f64;
            assert!(missed < most + limit() * (0.9 * most).sqrt(), "{bits} bits: {missed} missed");
        }
    }
}

#[test]
fn containment_with_known_sizes() {
    let mut hashes = keys::random(5);
    // 300 of 400 keys are in a set of 900.
    let (truth, sizes) = (0.75, (400, 900));
    let (mut errors, mut told, mut missed) = (Vec::new(), Vec::new(), 0);
    for _ in 0..400 {
        let all: Vec<u64> = hashes.by_ref().take(1_000).collect();
        let mut sketches = [MinHash::new(1_024).unwrap(), MinHash::new(1_024).unwrap()];
        sketches[0].insert_hash_batch(&all[..400]);
        sketches[1].insert_hash_batch(&all[100..]);
        let comparison = sketches[0].compare(&sketches[1]).unwrap();
        let estimate = comparison.containment(sizes.0, sizes.1);
        errors.push(estimate.value - truth);
        told.push(estimate.standard_error);
        let interval = comparison.containment_interval(sizes.0, sizes.1, 0.9).unwrap();
        missed += u32::from(!interval.contains(&truth));
    }
    let (bias, error) = mean(&errors);
    assert!((bias / error).abs() < limit(), "{bias} ± {error}");
    let spread = error * (errors.len() as f64).sqrt();
    let told = mean(&told).0;
    assert!((told / spread - 1.0).abs() < 0.2, "{told} is told, {spread} measured");
    assert!(missed < 80, "{missed} of 400 missed");
}
