//! The intervals of all forms of both sketches: sparse, at the switch and dense.

use super::NAME;
use super::simulated::{ESTIMATORS, RankLaw, estimates};
use crate::validate::Run;
use crate::validate::coverage::{Answer, Asked, Intervals, Trial, deviations};
use crate::validate::effort::Effort;
use crate::validate::judge::real;
use crate::validate::schedule::Job;
use core::ops::RangeInclusive;
use pds::error::ParamError;
use pds::formats::redis::RedisHyperLogLog;
use pds::hash::DefaultHashBuilder;
use pds::params::HllParams;
use pds::params::hll::CardinalityEstimator::{
    self, Martingale, MaximumLikelihood, UltraMaximumLikelihood,
};
use pds::{AtomicHyperLogLog, HyperLogLog, UltraLogLog};

/// A form of a sketch.
trait Form {
    fn insert(&mut self, hash: u64);

    /// The answer of every estimator to so many keys, by its name.
    fn ask(&self, items: u64, tell: &mut dyn FnMut(&'static str, Answer));
}

/// All numbers whose estimates are as close to them, in standard errors, as this one of the dense form.
fn by_error(params: HllParams, estimator: CardinalityEstimator, value: f64) -> Answer {
    let relative = params.estimate(estimator, value).standard_error / value;
    Answer::new(value, |confidence| {
        let spread = deviations(confidence) * relative;
        value / (1.0 + spread)..=value / (1.0 - spread)
    })
}

/// From a quarter of a key in each register on, errors are close to normal: only then does a standard error tell how
/// often an estimate is how far off.
const fn is_normal(params: HllParams, items: u64) -> bool {
    4 * items >= params.num_registers()
}

/// The interval that a sketch states.
fn stated(value: f64, interval: impl Fn(f64) -> Result<RangeInclusive<f64>, ParamError>) -> Answer {
    Answer::new(value, |confidence| interval(confidence).expect("a confidence"))
}

impl Form for HyperLogLog {
    fn insert(&mut self, hash: u64) {
        self.insert_hash(hash);
    }

    fn ask(&self, items: u64, tell: &mut dyn FnMut(&'static str, Answer)) {
        let form = if self.is_dense() { "dense" } else { "sparse" };
        tell(form, stated(self.estimate(), |confidence| self.estimate_interval(confidence)));
        if self.is_dense() && is_normal(self.params(), items) {
            let by = |estimator, value| by_error(self.params(), estimator, value);
            tell("dense, likelihood", by(MaximumLikelihood, self.estimate_by_likelihood()));
            let martingale = self.martingale_estimate().expect("nothing but inserts");
            tell("dense, martingale", by(Martingale, martingale));
        }
    }
}

/// Dense from the first key on.
impl Form for AtomicHyperLogLog {
    fn insert(&mut self, hash: u64) {
        self.insert_hash(hash);
    }

    fn ask(&self, _items: u64, tell: &mut dyn FnMut(&'static str, Answer)) {
        tell("atomic", stated(self.estimate(), |confidence| self.estimate_interval(confidence)));
    }
}

impl Form for UltraLogLog {
    fn insert(&mut self, hash: u64) {
        self.insert_hash(hash);
    }

    fn ask(&self, items: u64, tell: &mut dyn FnMut(&'static str, Answer)) {
        tell("ultra", stated(self.estimate(), |confidence| self.estimate_interval(confidence)));
        let value = self.estimate_by_likelihood();
        if is_normal(self.params(), items) {
            tell("ultra, likelihood", by_error(self.params(), UltraMaximumLikelihood, value));
        }
    }
}

impl Form for RedisHyperLogLog {
    fn insert(&mut self, hash: u64) {
        self.insert_hash(hash);
    }

    fn ask(&self, _items: u64, tell: &mut dyn FnMut(&'static str, Answer)) {
        tell("redis", stated(self.estimate(), |confidence| self.estimate_interval(confidence)));
    }
}

/// Keys inserted before each question, ascending: sparse, at the switch, dense.
const SMALL: [u64; 7] = [3, 32, 33, 64, 256, 1_000, 10_000];
const MIDDLE: [u64; 7] = [10, 100, 512, 513, 1_000, 4_096, 20_000];
/// Sparse only: 26 bits of a hash that two keys share are then what errs.
const FINE: [u64; 3] = [100, 4_706, 8_192];
/// The precision that Redis has.
const REDIS: [u64; 3] = [10, 1_000, 20_000];

/// The jobs of all forms, with intervals of `width` times their width.
pub(super) fn jobs(run: &Run, width: f64) -> Vec<Job<'_>> {
    let mut subjects = vec![
        form(8, &SMALL, |params| HyperLogLog::from_params(params, hasher())),
        form(8, &SMALL, |params| UltraLogLog::from_params(params, hasher())),
        form(16, &FINE, |params| HyperLogLog::from_params(params, hasher())),
    ];
    if run.effort != Effort::Quick {
        subjects.extend([
            form(12, &MIDDLE, |params| HyperLogLog::from_params(params, hasher())),
            form(12, &MIDDLE, |params| UltraLogLog::from_params(params, hasher())),
            form(8, &SMALL[..5], |params| {
                AtomicHyperLogLog::from(HyperLogLog::from_params(params, hasher()))
            }),
            form(14, &REDIS, |_| RedisHyperLogLog::new()),
            drawn(8, 9),
        ]);
    }
    if run.effort == Effort::Full {
        subjects.extend([
            form(12, &MIDDLE, |params| {
                AtomicHyperLogLog::from(HyperLogLog::from_params(params, hasher()))
            }),
            form(10, &SMALL, |params| HyperLogLog::from_params(params, hasher())),
            form(10, &SMALL, |params| UltraLogLog::from_params(params, hasher())),
            drawn(14, 12),
        ]);
    }
    subjects.into_iter().map(|subject| subject.job(run, width)).collect()
}

fn hasher() -> DefaultHashBuilder {
    DefaultHashBuilder::default()
}

/// A form of one precision, asked at each of some ascending numbers of keys.
fn form<F: Form>(
    precision: u32,
    sizes: &'static [u64],
    build: impl Fn(HllParams) -> F + Send + 'static,
) -> Intervals<'static> {
    let params = params(precision);
    let trial: Trial<'_> = Box::new(move |random, ask| {
        let mut sketch = build(params);
        let mut inserted = 0;
        for &items in sizes {
            (inserted..items).for_each(|_| sketch.insert(random.next().expect("endless")));
            inserted = items;
            sketch.ask(items, &mut |name, answer| {
                ask(Asked { items, name, truth: real(items), answer })
            });
        }
    });
    let cost = sizes.last().copied().unwrap_or(0);
    Intervals { structure: NAME, shape: format!("p {precision}"), cost, trial }
}

/// Registers drawn from the law of a number of keys that nobody can insert, a power of ten.
fn drawn(precision: u32, exponent: u32) -> Intervals<'static> {
    const NAMES: [&str; ESTIMATORS.len()] =
        ["drawn", "drawn, likelihood", "drawn, ultra", "drawn, ultra likelihood"];
    let (params, items) = (params(precision), 10u64.pow(exponent));
    let law = RankLaw::new(params, real(items));
    let trial: Trial<'_> = Box::new(move |mut random, ask| {
        let values = estimates(params, &law, &mut random);
        for ((estimator, name), value) in ESTIMATORS.into_iter().zip(NAMES).zip(values) {
            let answer = by_error(params, estimator, value);
            ask(Asked { items, name, truth: real(items), answer });
        }
    });
    let cost = params.num_registers();
    Intervals { structure: NAME, shape: format!("p {precision}"), cost, trial }
}

fn params(precision: u32) -> HllParams {
    HllParams::new(precision).expect("a precision of the list")
}
