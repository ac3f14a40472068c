//! The intervals of all forms of both sketches: sparse, at the switch and dense.

use super::NAME;
use super::simulated::{ESTIMATORS, RankLaw, estimates};
use crate::validate::coverage::deviations;
use crate::validate::effort::Effort;
use crate::validate::prelude::*;
use core::ops::RangeInclusive;
use pds::error::ParamError;
use pds::formats::redis::RedisHyperLogLog;
use pds::hash::DefaultHashBuilder;
use pds::params::HllParams;
use pds::params::hll::CardinalityEstimator::{
    self, Martingale, MaximumLikelihood, UltraMaximumLikelihood,
};
use pds::{AtomicHyperLogLog, HyperLogLog, UltraLogLog};

/// How a form of a sketch takes a hash, and answers by every estimator, with their names, after so many keys.
struct Form<F> {
    insert: fn(&mut F, u64),
    ask: fn(&F, u64) -> Vec<(&'static str, Answer)>,
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

const PLAIN: Form<HyperLogLog> = Form {
    insert: |sketch, hash| _ = sketch.insert_hash(hash),
    ask: |sketch, items| {
        let form = if sketch.is_dense() { "dense" } else { "sparse" };
        let interval = |confidence| sketch.estimate_interval(confidence);
        let mut answers = vec![(form, stated(sketch.estimate(), interval))];
        if sketch.is_dense() && is_normal(sketch.params(), items) {
            let by = |estimator, value| by_error(sketch.params(), estimator, value);
            let martingale = sketch.martingale_estimate().expect("nothing but inserts");
            answers.extend([
                ("dense, likelihood", by(MaximumLikelihood, sketch.estimate_by_likelihood())),
                ("dense, martingale", by(Martingale, martingale)),
            ]);
        }
        answers
    },
};

/// Dense from the first key on.
const ATOMIC: Form<AtomicHyperLogLog> = Form {
    insert: |sketch, hash| _ = sketch.insert_hash(hash),
    ask: |sketch, _| {
        let interval = |confidence| sketch.estimate_interval(confidence);
        vec![("atomic", stated(sketch.estimate(), interval))]
    },
};

const ULTRA: Form<UltraLogLog> = Form {
    insert: |sketch, hash| _ = sketch.insert_hash(hash),
    ask: |sketch, items| {
        let interval = |confidence| sketch.estimate_interval(confidence);
        let mut answers = vec![("ultra", stated(sketch.estimate(), interval))];
        if is_normal(sketch.params(), items) {
            let value = sketch.estimate_by_likelihood();
            let answer = by_error(sketch.params(), UltraMaximumLikelihood, value);
            answers.push(("ultra, likelihood", answer));
        }
        answers
    },
};

const OF_REDIS: Form<RedisHyperLogLog> = Form {
    insert: |sketch, hash| _ = sketch.insert_hash(hash),
    ask: |sketch, _| {
        let interval = |confidence| sketch.estimate_interval(confidence);
        vec![("redis", stated(sketch.estimate(), interval))]
    },
};

/// Keys inserted before each question, ascending: sparse, at the switch, dense.
const SMALL: [u64; 7] = [3, 32, 33, 64, 256, 1_000, 10_000];
const MIDDLE: [u64; 7] = [10, 100, 512, 513, 1_000, 4_096, 20_000];
/// Sparse only: 26 bits of a hash that two keys share are then what errs.
const FINE: [u64; 3] = [100, 4_706, 8_192];
/// The precision that Redis has.
const REDIS: [u64; 3] = [10, 1_000, 20_000];

/// The jobs of all forms, with intervals of `width` times their width.
pub(super) fn jobs(run: &Run, width: f64) -> Vec<Job<'_>> {
    let plain = |params| HyperLogLog::from_params(params, DefaultHashBuilder::default());
    let ultra = |params| UltraLogLog::from_params(params, DefaultHashBuilder::default());
    let atomic = move |params| AtomicHyperLogLog::from(plain(params));
    let mut subjects = vec![
        form(8, &SMALL, PLAIN, plain),
        form(8, &SMALL, ULTRA, ultra),
        form(16, &FINE, PLAIN, plain),
    ];
    if run.effort != Effort::Quick {
        subjects.extend([
            form(12, &MIDDLE, PLAIN, plain),
            form(12, &MIDDLE, ULTRA, ultra),
            form(8, &SMALL[..5], ATOMIC, atomic),
            drawn(8, 9),
        ]);
    }
    if run.effort == Effort::Full {
        subjects.extend([
            form(12, &MIDDLE, ATOMIC, atomic),
            form(14, &REDIS, OF_REDIS, |_| RedisHyperLogLog::new()),
            form(10, &SMALL, PLAIN, plain),
            form(10, &SMALL, ULTRA, ultra),
            drawn(14, 12),
        ]);
    }
    subjects.into_iter().map(|subject| subject.job(run, width)).collect()
}

/// A form of one precision, asked at each of some ascending numbers of keys.
fn form<F: 'static>(
    precision: u32,
    sizes: &'static [u64],
    form: Form<F>,
    build: impl Fn(HllParams) -> F + Send + 'static,
) -> Intervals<'static> {
    let (params, cost) = (params(precision), sizes.last().copied().unwrap_or(0));
    Intervals::new(NAME, format!("p {precision}"), cost, move |random, ask| {
        let mut sketch = build(params);
        let mut inserted = 0;
        for &items in sizes {
            first(items - inserted, &mut *random).for_each(|hash| (form.insert)(&mut sketch, hash));
            inserted = items;
            for (name, answer) in (form.ask)(&sketch, items) {
                ask(Asked { items, name, truth: real(items), answer });
            }
        }
    })
}

/// Registers drawn from the law of a number of keys that nobody can insert, a power of ten.
fn drawn(precision: u32, exponent: u32) -> Intervals<'static> {
    const NAMES: [&str; ESTIMATORS.len()] =
        ["drawn", "drawn, likelihood", "drawn, ultra", "drawn, ultra likelihood"];
    let (params, items) = (params(precision), 10u64.pow(exponent));
    let law = RankLaw::new(params, real(items));
    let cost = params.num_registers();
    Intervals::new(NAME, format!("p {precision}"), cost, move |random, ask| {
        let values = estimates(params, &law, random);
        for ((estimator, name), value) in ESTIMATORS.into_iter().zip(NAMES).zip(values) {
            let answer = by_error(params, estimator, value);
            ask(Asked { items, name, truth: real(items), answer });
        }
    })
}

fn params(precision: u32) -> HllParams {
    HllParams::new(precision).expect("a precision of the list")
}
