//! Sketches that count distinct keys: the mean and the spread of their estimates.
//!
//! A case is a precision, a number of keys and a hasher. Many sketches of it are filled with keys of their own, and
//! their relative errors, as multiples of the predicted standard error, are judged twice: the mean must be 0, and the
//! root of the mean square 1.

use super::Run;
use super::effort::Effort;
use super::judge::{Case, Check, Law, Measurement, real};
use super::schedule::{Job, Progress};
use core::hash::BuildHasher;
use pds::params::HllParams;
use pds::params::hll::CardinalityEstimator::{
    self, Improved, Martingale, MaximumLikelihood, UltraFgra, UltraMaximumLikelihood,
};
use pds::{DefaultHashBuilder, HyperLogLog, UltraLogLog};
use pds_testkit::hashers::{Fnv1aBuilder, IdentityBuilder};
use pds_testkit::keys;

/// Sketches of a case: as many as show a tenth more or less error almost surely.
const SKETCHES: u64 = 12_000;

/// The estimators, in the order of [`Estimates`].
const ESTIMATORS: [CardinalityEstimator; 5] =
    [Improved, MaximumLikelihood, Martingale, UltraFgra, UltraMaximumLikelihood];

type Estimates = [f64; ESTIMATORS.len()];

/// What is measured in one job: sketches of one precision and hasher, at growing numbers of keys.
#[derive(Debug, Clone)]
struct Series {
    precision: u32,
    hasher: &'static str,
    /// Ascending. All are above the reach of the sparse form, which is as good as exact.
    sizes: Vec<u64>,
}

impl Series {
    fn keys(&self) -> u64 {
        self.sizes.last().copied().unwrap_or(0)
    }
}

/// The precisions and sizes of a run: two points a decade, up to what the effort affords.
fn series(effort: Effort) -> Vec<Series> {
    let most = effort.choose([5_000, 20_000, 100_000]);
    let of = |precision: u32, hasher| {
        let least = 1 << precision;
        let sizes = (0..).map(grid).skip_while(|&n| n < least / 4).take_while(|&n| n <= most);
        Series { precision, hasher, sizes: sizes.collect() }
    };
    let mut all: Vec<_> = [8, 10, 12].map(|precision| of(precision, "default")).into();
    all.extend(["identity", "fnv1a"].map(|hasher| of(8, hasher)));
    if effort == Effort::Full {
        all.push(of(14, "default"));
        all.push(Series { precision: 12, hasher: "default", sizes: vec![1_000_000] });
    }
    all
}

/// The i-th number of keys: 1, 3, 10, 32, ...
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "far below 2^53")]
fn grid(i: i32) -> u64 {
    10f64.powf(f64::from(i) / 2.0).round() as u64
}

/// A job for each series.
pub(crate) fn jobs(run: &Run) -> Vec<Job<'_>> {
    let seed = run.seed;
    let job = |series: Series| Job {
        cost: SKETCHES * series.keys(),
        run: Box::new(move |progress| match series.hasher {
            "identity" => measure(&series, &IdentityBuilder, seed, progress),
            "fnv1a" => measure(&series, &Fnv1aBuilder, seed, progress),
            _ => measure(&series, &DefaultHashBuilder::default(), seed, progress),
        }),
    };
    series(run.effort).into_iter().map(job).collect()
}

fn measure<S: BuildHasher + Clone>(
    series: &Series,
    hasher: &S,
    seed: u64,
    progress: &Progress,
) -> Vec<Measurement> {
    let params = HllParams::new(series.precision).expect("a precision of the list");
    let mut errors = vec![[Errors::default(); ESTIMATORS.len()]; series.sizes.len()];
    for start in keys::random(seed).take(usize::try_from(SKETCHES).expect("a few thousand")) {
        let mut pair = Pair {
            plain: HyperLogLog::from_params(params, hasher.clone()),
            ultra: UltraLogLog::from_params(params, hasher.clone()),
        };
        let mut stream = keys::consecutive(start);
        let mut inserted = 0;
        for (&size, errors) in series.sizes.iter().zip(&mut errors) {
            stream.by_ref().take(usize::try_from(size - inserted).expect("fits")).for_each(|key| {
                pair.plain.insert(&key);
                pair.ultra.insert(&key);
            });
            inserted = size;
            for (errors, estimate) in errors.iter_mut().zip(pair.estimates()) {
                errors.add(estimate / real(size) - 1.0);
            }
        }
        progress.advance(inserted);
    }
    let judged = series.sizes.iter().zip(&errors);
    judged.flat_map(|(&size, errors)| judge(series, params, size, errors)).collect()
}

/// Both sketches of the same keys.
struct Pair<S> {
    plain: HyperLogLog<S>,
    ultra: UltraLogLog<S>,
}

impl<S> Pair<S> {
    fn estimates(&self) -> Estimates {
        [
            self.plain.estimate(),
            self.plain.estimate_by_likelihood(),
            self.plain.martingale_estimate().expect("nothing but inserts"),
            self.ultra.estimate(),
            self.ultra.estimate_by_likelihood(),
        ]
    }
}

/// Sums over relative errors.
#[derive(Debug, Clone, Copy, Default)]
struct Errors {
    sum: f64,
    squares: f64,
}

impl Errors {
    const fn add(&mut self, error: f64) {
        self.sum += error;
        self.squares += error * error;
    }
}

fn judge(
    series: &Series,
    params: HllParams,
    size: u64,
    errors: &[Errors; ESTIMATORS.len()],
) -> Vec<Measurement> {
    let judged = ESTIMATORS.into_iter().zip(errors);
    judged
        .flat_map(|(estimator, errors)| {
            let predicted = params.standard_error_at(estimator, real(size));
            let case = Case {
                structure: "hll",
                items: size,
                rate: predicted,
                shape: format!("p {}, {}", series.precision, name(estimator)),
                keys: "consecutive",
                hasher: series.hasher,
                instances: SKETCHES,
            };
            let mean = 1.0 + errors.sum / real(SKETCHES);
            let spread = (errors.squares / real(SKETCHES)).sqrt() / predicted;
            // The bias that theory leaves is of the order of 1 / m, a tenth of an error at precision 8.
            let slack = 0.1 * predicted;
            let deviation = predicted / real(SKETCHES).sqrt();
            let law = Law::Normal { low: 1.0 - slack, high: 1.0 + slack, deviation, looks: 1 };
            let bias = (Check::MeanEstimate, law, mean);
            let spread = (Check::EstimateSpread, spread_law(estimator, params, size), spread);
            [bias, spread].map(|(check, law, observed)| Measurement {
                case: case.clone(),
                check,
                law,
                observed,
                events: real(SKETCHES),
            })
        })
        .collect()
}

/// The root mean square of so many errors, each a normal variable, as a multiple of the predicted one.
///
/// Theory is for many registers, and two per cent off at 256. Where there are few keys to a register, it is a bound
/// for the estimators that do not exhaust the state, or that know more than the state.
fn spread_law(estimator: CardinalityEstimator, params: HllParams, size: u64) -> Law {
    let deviation = 1.0 / (2.0 * real(SKETCHES)).sqrt();
    let few = size < 8 * params.num_registers();
    match estimator {
        UltraFgra if few => Law::at_most(1.25, 1.25 * deviation),
        Martingale if few => Law::at_most(1.03, deviation),
        _ => Law::Normal { low: 0.98, high: 1.02, deviation, looks: 1 },
    }
}

const fn name(estimator: CardinalityEstimator) -> &'static str {
    match estimator {
        Improved => "improved",
        MaximumLikelihood => "likelihood",
        Martingale => "martingale",
        UltraFgra => "ultra fgra",
        _ => "ultra likelihood",
    }
}
