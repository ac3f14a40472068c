//! The sketches of other systems: the errors that they tell of themselves.

use super::NAME;
use crate::validate::cardinality::{ESTIMATE_SPREAD, MEAN_ESTIMATE};
use crate::validate::frequency::{BELOW_TRUTH, BEYOND_BOUND};
use crate::validate::prelude::*;
use pds::Estimate;
use pds::formats::datasketches::{DataSketchesCountMin, DataSketchesHll, HllRegisters};
use pds::formats::postgres::{PostgresHll, PostgresHllParams};
use pds::formats::redis::RedisCountMinSketch;
use pds::formats::spark::SparkCountMin;

/// Sketches of each counter of distinct keys: as many as show a tenth more or less error almost surely.
const SKETCHES: u64 = 10_000;
/// The keys of each: many times its registers.
const KEYS: u64 = 5_000;

/// Sketches of each counter of weights, and its different keys.
const STREAMS: u64 = 200;
const ITEMS: u64 = 2_000;

/// A counter of distinct keys: the estimate of a sketch of these keys.
type Distinct = fn(Random<'_>) -> Estimate;

/// One row or two for each sketch.
pub(super) fn jobs<'a>(run: &Run) -> Vec<Job<'a>> {
    let distinct: [(_, Distinct); 3] = [
        ("DataSketches HLL, lg_k 8", hll),
        ("DataSketches HLL, lg_k 8, merged", merged_hll),
        ("postgresql-hll, log2m 8", postgres),
    ];
    let mut jobs: Vec<_> =
        distinct.map(|(name, estimate)| distinct_job(name, estimate, 1.0, run.seed)).into();
    jobs.extend(WEIGHTS.map(|sketch| weights_job(sketch, 1.0, run.seed)));
    jobs
}

/// An estimate that states half of its error.
pub(super) fn half_the_error<'a>(run: &Run) -> Vec<Job<'a>> {
    vec![distinct_job("half the error", hll, 0.5, run.seed)]
}

/// A bound that is a twentieth of the stated one.
pub(super) fn tight_bound<'a>(run: &Run) -> Vec<Job<'a>> {
    vec![weights_job(WEIGHTS[0], 0.05, run.seed)]
}

fn distinct_job<'a>(name: &'static str, estimate: Distinct, stated: f64, seed: u64) -> Job<'a> {
    Job::new(SKETCHES * KEYS, move || {
        let mut random = keys::random(seed ^ label(name));
        let (mut sum, mut squares, mut error) = (0.0, 0.0, 0.0);
        for _ in 0..SKETCHES {
            let estimate = estimate(&mut first(KEYS, &mut random));
            error = stated * estimate.standard_error / estimate.value;
            let deviation = estimate.value / real(KEYS) - 1.0;
            sum += deviation;
            squares += deviation * deviation;
        }
        let case = case(name, KEYS, error, SKETCHES);
        let count = real(SKETCHES);
        let spread = (squares / count).sqrt() / error;
        // The limits of theory: a tenth of an error as a bias, and two percent of the error itself.
        let one = |slack: f64, deviation| Law::between(1.0 - slack, 1.0 + slack, deviation);
        let of_mean = one(0.1 * error, error / count.sqrt());
        let of_spread = one(0.02, 1.0 / (2.0 * count).sqrt());
        vec![
            case.row(MEAN_ESTIMATE, of_mean, 1.0 + sum / count, count),
            case.row(ESTIMATE_SPREAD, of_spread, spread, count),
        ]
    })
}

fn case(name: &str, items: u64, rate: f64, instances: u64) -> Case {
    Case { hasher: "none", ..Case::random(NAME, items, rate, name).of(instances) }
}

fn new_hll() -> DataSketchesHll {
    DataSketchesHll::new(8, HllRegisters::Hll8).expect("in range")
}

fn hll(keys: Random<'_>) -> Estimate {
    let mut sketch = new_hll();
    keys.for_each(|key| _ = sketch.insert(key));
    sketch.estimate()
}

/// Two sketches of half of the keys each.
fn merged_hll(keys: Random<'_>) -> Estimate {
    let mut sketches = [new_hll(), new_hll()];
    keys.zip([0, 1].into_iter().cycle()).for_each(|(key, of)| _ = sketches[of].insert(key));
    let [mut merged, other] = sketches;
    merged.merge(&other);
    merged.estimate()
}

fn postgres(keys: Random<'_>) -> Estimate {
    let mut sketch =
        PostgresHll::new(PostgresHllParams { log2m: 8, ..Default::default() }).expect("sound");
    keys.for_each(|key| sketch.insert_bigint(key.cast_signed()));
    sketch.estimate()
}

/// A counter of weights: its error as a share of the total, the probability of a greater one, and the estimates of weighted keys.
#[derive(Clone, Copy)]
struct Weights {
    name: &'static str,
    error: f64,
    probability: f64,
    estimates: fn(&[(u64, u32)]) -> Vec<f64>,
}

const WEIGHTS: [Weights; 3] = [
    Weights {
        name: "RedisBloom count-min, 200 x 4",
        error: 2.0 / 200.0,
        probability: 1.0 / 16.0,
        estimates: |weighted| {
            let mut sketch = RedisCountMinSketch::with_size(200, 4).expect("sound");
            for (key, weight) in weighted {
                sketch.insert(&key.to_le_bytes(), *weight);
            }
            weighted.iter().map(|(key, _)| f64::from(sketch.estimate(&key.to_le_bytes()))).collect()
        },
    },
    Weights {
        name: "DataSketches count-min, 200 x 3",
        error: core::f64::consts::E / 200.0,
        // e^-3
        probability: 0.049_787_068_367_863_94,
        estimates: |weighted| {
            let mut sketch = DataSketchesCountMin::new(9_001, 3, 200).expect("sound");
            for (key, weight) in weighted {
                sketch.insert(*key, f64::from(*weight));
            }
            weighted.iter().map(|(key, _)| sketch.estimate(*key)).collect()
        },
    },
    Weights {
        name: "Spark count-min, 200 x 4",
        error: 2.0 / 200.0,
        probability: 1.0 / 16.0,
        estimates: |weighted| {
            let mut sketch = SparkCountMin::with_size(4, 200, 17).expect("sound");
            for (key, weight) in weighted {
                sketch.insert(key.cast_signed(), u64::from(*weight));
            }
            weighted.iter().map(|(key, _)| real(sketch.estimate(key.cast_signed()))).collect()
        },
    },
];

fn weights_job<'a>(sketch: Weights, stated: f64, seed: u64) -> Job<'a> {
    Job::new(2 * STREAMS * ITEMS, move || {
        let mut random = keys::random(seed ^ label(sketch.name));
        let (mut too_low, mut beyond) = (0, 0);
        for _ in 0..STREAMS {
            // A few keys are heavy: those are what others are mistaken for.
            let weight = |i: u64| if i.is_multiple_of(25) { 100 } else { 1 };
            let weighted: Vec<(u64, u32)> =
                (0..ITEMS).map(|i| (next(&mut random), weight(i))).collect();
            let total: f64 = weighted.iter().map(|&(_, weight)| f64::from(weight)).sum();
            let estimates = (sketch.estimates)(&weighted);
            for (estimate, (_, weight)) in estimates.into_iter().zip(weighted) {
                let error = estimate - f64::from(weight);
                too_low += u64::from(error < 0.0);
                beyond += u64::from(error > stated * sketch.error * total);
            }
        }
        let bound = sketch.probability * real(STREAMS * ITEMS);
        let case = case(sketch.name, ITEMS, sketch.error, STREAMS);
        vec![
            case.none(BELOW_TRUTH, too_low),
            case.row(BEYOND_BOUND, Law::at_most(bound, 0.0), real(beyond), bound),
        ]
    })
}
