//! The bounds of sketches that count: an error of at most epsilon, but with probability delta.
//!
//! The streams are those that strain the bounds: as many keys, equally frequent, as make one coincidence in a row too
//! much of an error.

use super::NAME;
use crate::validate::prelude::*;
use pds::error::ParamError;
use pds::hash::DefaultHashBuilder;
use pds::params::{CountMinParams, CountSketchParams};
use pds::{CountMinSketch, CountSketch};

const EPSILON: f64 = 0.09;
/// Frequent keys, of which one is more than epsilon of all.
const FREQUENT: u64 = 11;
/// Bytes of the sketches that are sized by memory.
const BYTES: u64 = 1_024;

/// Sizes a count-min sketch by its delta.
type CountMin = fn(f64) -> Result<CountMinParams, ParamError>;
/// Sizes a count sketch by its delta.
type Signed = fn(f64) -> Result<CountSketchParams, ParamError>;

const COUNT_MIN: [(&str, CountMin); 3] = [
    ("CountMinParams::new", |delta| CountMinParams::new(EPSILON, delta)),
    ("CountMinParams::least_memory", |delta| CountMinParams::least_memory(EPSILON, delta)),
    ("CountMinParams::for_memory", |delta| CountMinParams::for_memory(BYTES, 4, delta)),
];

const SIGNED: [(&str, Signed); 2] = [
    ("CountSketchParams::new", |delta| CountSketchParams::new(0.3, delta)),
    ("CountSketchParams::for_memory", |delta| CountSketchParams::for_memory(8 * BYTES, delta)),
];

/// The jobs of both sketches, for each of their constructors.
pub(super) fn jobs(run: &Run) -> Vec<Job<'_>> {
    let mut all: Vec<_> =
        COUNT_MIN.into_iter().map(|(name, params)| count_min(name, params)).collect();
    all.extend(SIGNED.into_iter().map(|(name, params)| signed(name, params)));
    all.push(inner_product());
    let chosen = all.into_iter().step_by(run.effort.choose([3, 1, 1]));
    chosen.map(|intervals| intervals.job(run, AS_STATED)).collect()
}

/// Returns the parameters for each confidence, found once for all trials: finding them takes longer than a trial.
fn by_confidence<P: Copy>(params: impl Fn(f64) -> Result<P, ParamError>) -> impl Fn(f64) -> P {
    let found = COVERAGE
        .map(|(confidence, _)| (confidence, params(1.0 - confidence).expect("a sound bound")));
    move |wanted| {
        let of_wanted = found.iter().find(|(confidence, _)| *confidence == wanted);
        of_wanted.expect("a confidence of the list").1
    }
}

/// A sketch for this confidence, with a seed of its own.
fn sketch(params: CountMinParams, seed: u64) -> CountMinSketch {
    let hasher = DefaultHashBuilder::with_seed(seed);
    CountMinSketch::builder().params(params).hasher(hasher).build().expect("memory")
}

/// Frequent keys for a bound of `epsilon`: as many as are each a little more than it.
const fn frequent(epsilon: f64) -> u64 {
    whole(0.999 / epsilon)
}

/// The interval of a key that did not come.
fn count_min(name: &'static str, params: CountMin) -> Intervals<'static> {
    let params = by_confidence(params);
    Intervals::new(NAME, "count-min", 500, move |random, ask| {
        let seed = next(random);
        let answer = Answer::new(0.0, |confidence| {
            let params = params(confidence);
            let mut sketch = sketch(params, seed);
            let keys = 0..frequent(params.epsilon());
            keys.for_each(|key| _ = sketch.insert_many(&key, 1_000));
            let interval = sketch.estimate_interval(&u64::MAX);
            real(interval.truth_at_least)..=interval.truth_at_most.map_or(f64::INFINITY, real)
        });
        ask(Asked { items: FREQUENT, name, truth: 0.0, answer });
    })
}

/// The estimate of a key that did not come, and epsilon times the norm on either side.
fn signed(name: &'static str, params: Signed) -> Intervals<'static> {
    let params = by_confidence(params);
    Intervals::new(NAME, "count sketch", 2_000, move |random, ask| {
        let seed = next(random);
        let answer = Answer::new(0.0, |confidence| {
            let params = params(confidence);
            let hasher = DefaultHashBuilder::with_seed(seed);
            let mut sketch = CountSketch::from_params(params, hasher).expect("memory");
            let keys = frequent(params.epsilon().powi(2));
            (0..keys).for_each(|key| _ = sketch.insert_many(&key, 1_000));
            #[expect(clippy::cast_precision_loss, reason = "some thousand")]
            let estimate = sketch.estimate(&u64::MAX).value() as f64;
            let error = params.epsilon() * 1_000.0 * real(keys).sqrt();
            estimate - error..=estimate + error
        });
        ask(Asked { items: FREQUENT, name, truth: 0.0, answer });
    })
}

/// The inner product of two streams that have no key in common.
fn inner_product() -> Intervals<'static> {
    let params = by_confidence(|delta| CountMinParams::new(EPSILON, delta));
    Intervals::new(NAME, "count-min", 1_000, move |random, ask| {
        let seed = next(random);
        let answer = Answer::new(0.0, |confidence| {
            let params = params(confidence);
            let (mut left, mut right) = (sketch(params, seed), sketch(params, seed));
            left.insert_many(&u64::MAX, 1_000);
            (0..FREQUENT).for_each(|key| _ = right.insert_many(&key, 1_000));
            let product = left.inner_product(&right).expect("one shape");
            #[expect(clippy::cast_precision_loss, reason = "some million")]
            let value = product.value as f64;
            value - product.error..=value
        });
        ask(Asked { items: FREQUENT, name: "inner_product", truth: 0.0, answer });
    })
}
