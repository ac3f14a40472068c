//! Sketches that count distinct keys: the mean and the spread of their estimates.
//!
//! A case is a precision, a number of keys and a hasher. Many sketches of it are filled with keys of their own, and
//! their relative errors, as multiples of the predicted standard error, are judged twice: the mean must be 0, and the
//! root of the mean square 1. Numbers that nobody can insert are drawn: which ranks each register has seen.

mod faults;
mod histories;
mod identities;
mod intervals;
mod overlap;
mod promise;
mod simulated;

use super::effort::Effort;
use super::prelude::*;
use super::proofs;
use core::ops::Range;
use pds::hash::{DefaultHashBuilder, KeyHasher, Mixed};
use pds::params::HllParams;
use pds::params::hll::CardinalityEstimator::{
    self, Improved, Martingale, MaximumLikelihood, UltraFgra, UltraMaximumLikelihood,
};
use pds::{HyperLogLog, UltraLogLog};
use pds_testkit::hashers::{Fnv1aBuilder, IdentityBuilder};

/// The cardinality sketches.
pub(crate) const STRUCTURE: Structure = Structure {
    name: NAME,
    title: "HyperLogLog and UltraLogLog",
    variants: &[],
    jobs,
    faults: &faults::FAULTS,
};

const NAME: &str = "hll";

pub(crate) const MEAN_ESTIMATE: Check = Check::new(
    "mean estimate",
    "The mean of the estimates of many sketches, as a multiple of the true number.",
);
pub(crate) const ESTIMATE_SPREAD: Check = Check::new(
    "spread of estimates",
    "The root mean square of their errors, as a multiple of the predicted standard error.",
);

/// Sketches of a case: as many as show a tenth more or less error almost surely.
const SKETCHES: u64 = 12_000;
/// Sketches of the one series that goes to ten million keys: with the small slack of its many registers, a tenth more or
/// less error is just seen.
const LARGE_SKETCHES: u64 = 5_000;
/// Sketches of each number that is drawn at a precision above 14: a tenth more or less error is just seen.
const FINE_SKETCHES: u64 = 5_000;
/// Keys that are inserted in one call.
const BATCH: u64 = 4_096;

/// The estimators, in the order of `Estimates`.
const ESTIMATORS: [CardinalityEstimator; 5] =
    [Improved, MaximumLikelihood, Martingale, UltraFgra, UltraMaximumLikelihood];

/// The sketches of one job: one precision and hasher, at growing numbers of keys.
#[derive(Debug, Clone)]
struct Series {
    structure: &'static str,
    precision: u32,
    hasher: &'static str,
    /// Ascending.
    sizes: Vec<u64>,
    sketches: u64,
}

impl Series {
    fn keys(&self) -> u64 {
        self.sizes.last().copied().unwrap_or(0)
    }
}

/// The precisions and sizes of a run: none, two points a decade up to what the effort affords, and the last size at which a sketch is
/// sparse with the first at which it is dense.
fn series(effort: Effort) -> Vec<Series> {
    let of = |precision: u32, hasher, sizes: Range<u64>, sketches| {
        let switch = (1 << precision) / 8;
        let grid = (0..).map(grid).take_while(|n| *n < sizes.end);
        let all = [0, switch, switch + 1].into_iter().chain(grid);
        let mut sizes: Vec<u64> = all.filter(|n| sizes.contains(n)).collect();
        sizes.sort_unstable();
        sizes.dedup();
        Series { structure: NAME, precision, hasher, sizes, sketches }
    };
    let small = 0..effort.choose([5_000, 20_000, 100_001]);
    let mut all: Vec<_> = [8, 10, 12].map(|p| of(p, "default", small.clone(), SKETCHES)).into();
    all.extend(["identity", "fnv1a"].map(|hasher| of(8, hasher, small.clone(), SKETCHES)));
    if effort == Effort::Full {
        all.push(of(12, "default", small.end..10_000_001, LARGE_SKETCHES));
        all.push(of(14, "default", small, SKETCHES));
    }
    all
}

/// The i-th number of keys: 1, 3, 10, 32, ...
fn grid(i: i32) -> u64 {
    whole(10f64.powf(f64::from(i) / 2.0).round())
}

fn jobs(run: &Run) -> Vec<Job<'_>> {
    let mut jobs = estimate_jobs(run);
    jobs.extend(promise::jobs(run));
    jobs.extend(interval_jobs(run, AS_STATED));
    jobs.extend(identities::jobs(run.seed));
    jobs.extend(proofs::jobs(run, NAME, &histories::HISTORIES));
    jobs
}

/// Returns a job for each series, and one for each number of keys that is drawn.
fn estimate_jobs(run: &Run) -> Vec<Job<'_>> {
    let seed = run.seed;
    let job = |series: Series| {
        Job::new(series.sketches * series.keys(), move || match series.hasher {
            "identity" => measure_pairs(&series, &Mixed(IdentityBuilder), seed),
            "fnv1a" => measure_pairs(&series, &Mixed(Fnv1aBuilder), seed),
            _ => measure_pairs(&series, &DefaultHashBuilder::default(), seed),
        })
    };
    let mut jobs: Vec<Job<'_>> = series(run.effort).into_iter().map(job).collect();
    let exponents = run.effort.choose([&[9, 15, 18][..], &[9, 12, 15, 18], &EXPONENTS]);
    jobs.extend(exponents.iter().map(|&exponent| simulated::job(8, exponent, SKETCHES, seed)));
    // From 10^9 on: the number of keys is then drawn too, whose spread is no error of many registers.
    let fine = run.effort.choose([&[(16, 9)][..], &[(16, 9)], &FINE]);
    let job = |&(precision, exponent)| simulated::job(precision, exponent, FINE_SKETCHES, seed);
    jobs.extend(fine.iter().map(job));
    jobs
}

/// Returns the jobs of all intervals, of `width` times their width.
fn interval_jobs(run: &Run, width: f64) -> Vec<Job<'_>> {
    let mut jobs = intervals::jobs(run, width);
    jobs.extend(overlap::jobs(run, width));
    jobs
}

/// The powers of ten of a full run's drawn numbers.
const EXPONENTS: [i32; 12] = [7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18];

/// The precisions above 14 of a full run, and the powers of ten that are drawn for them.
const FINE: [(u32, i32); 4] = [(16, 9), (16, 12), (18, 9), (18, 15)];

/// A sketch that is filled with keys and then asked by some estimators.
trait Counter<const N: usize> {
    fn insert(&mut self, keys: &[u64]);
    fn estimates(&mut self) -> [f64; N];
}

fn measure_pairs<S: KeyHasher + Clone>(series: &Series, hasher: &S, seed: u64) -> Vec<Measurement> {
    let params = HllParams::new(series.precision).expect("a precision of the list");
    let pair = || Pair {
        plain: HyperLogLog::from_params(params, hasher.clone()),
        ultra: UltraLogLog::from_params(params, hasher.clone()),
        hashes: Vec::new(),
    };
    measure(series, ESTIMATORS, pair, seed)
}

fn measure<C: Counter<N>, const N: usize>(
    series: &Series,
    estimators: [CardinalityEstimator; N],
    new: impl Fn() -> C,
    seed: u64,
) -> Vec<Measurement> {
    let mut errors = vec![[Errors::default(); N]; series.sizes.len()];
    for start in first(series.sketches, keys::random(seed)) {
        let mut counter = new();
        let mut inserted = 0;
        for (&size, errors) in series.sizes.iter().zip(&mut errors) {
            insert_numbered(&mut counter, start, inserted..size);
            inserted = size;
            for (errors, estimate) in errors.iter_mut().zip(counter.estimates()) {
                // Of no keys, the estimate itself.
                errors.add(if size == 0 { estimate } else { estimate / real(size) - 1.0 });
            }
        }
    }
    let judged = series.sizes.iter().zip(&errors);
    let judge_size = |(&size, errors): (&u64, &[Errors; N])| {
        let cases = estimators.into_iter().zip(errors);
        cases
            .flat_map(|(estimator, errors)| judge(series, real(size), estimator, errors))
            .collect::<Vec<_>>()
    };
    judged.flat_map(judge_size).collect()
}

/// Inserts the keys of these numbers in a run of consecutive keys.
fn insert_numbered<const N: usize>(counter: &mut impl Counter<N>, start: u64, numbers: Range<u64>) {
    for from in numbers.clone().step_by(index(BATCH)) {
        let batch = from..numbers.end.min(from + BATCH);
        counter.insert(&batch.map(|number| start.wrapping_add(number)).collect::<Vec<_>>());
    }
}

/// Both sketches of the same keys.
struct Pair<S> {
    plain: HyperLogLog<S>,
    ultra: UltraLogLog<S>,
    /// Room for the hashes of a batch.
    hashes: Vec<u64>,
}

impl<S: KeyHasher> Counter<{ ESTIMATORS.len() }> for Pair<S> {
    fn insert(&mut self, keys: &[u64]) {
        // Hashed once for both: half of the time.
        let hashes = keys.iter().map(|key| self.plain.hasher().hash_key(key));
        self.hashes.clear();
        self.hashes.extend(hashes);
        self.plain.insert_hash_batch(&self.hashes);
        self.ultra.insert_hash_batch(&self.hashes);
    }

    fn estimates(&mut self) -> [f64; ESTIMATORS.len()] {
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

/// Judges the errors of one estimator at one number of keys.
fn judge(
    series: &Series,
    size: f64,
    estimator: CardinalityEstimator,
    errors: &Errors,
) -> Vec<Measurement> {
    let params = HllParams::new(series.precision).expect("a precision of the list");
    let sketches = real(series.sketches);
    let is_plain = matches!(estimator, Improved | MaximumLikelihood | Martingale);
    let is_sparse = is_plain && size <= real(params.max_sparse_entries());
    let predicted = params.standard_error_at(estimator, size);
    let case = Case {
        structure: series.structure,
        items: whole(size),
        rate: predicted,
        shape: format!("p {}, {}", series.precision, name(estimator)),
        keys: if series.hasher == "none" { "drawn" } else { "consecutive" },
        hasher: series.hasher,
        instances: series.sketches,
    };
    let of_mean = match size {
        0.0 => case.row(MEAN_ESTIMATE, Law::Exactly(0.0), errors.sum, sketches),
        size => {
            let law =
                if is_sparse { sparse_law(size, sketches) } else { bias_law(predicted, sketches) };
            case.row(MEAN_ESTIMATE, law, 1.0 + errors.sum / sketches, sketches)
        }
    };
    // Few keys err seldom, and much then: no normal law. The sparse form is judged by its mean alone.
    let is_spread = !is_sparse && size > real(params.max_sparse_entries());
    let of_spread = is_spread.then(|| {
        let law = spread_law(estimator, params, size, sketches);
        case.row(ESTIMATE_SPREAD, law, (errors.squares / sketches).sqrt() / predicted, sketches)
    });
    core::iter::once(of_mean).chain(of_spread).collect()
}

/// The bias that theory leaves is of the order of 1 / m, a tenth of an error at precision 8.
fn bias_law(predicted: f64, sketches: f64) -> Law {
    let slack = 0.1 * predicted;
    let deviation = predicted / sketches.sqrt();
    Law::between(1.0 - slack, 1.0 + slack, deviation)
}

/// The mean of sparse sketches: nothing errs but pairs of keys that share 26 bits, a Poisson number of them in all,
/// of which each makes up for half of itself.
fn sparse_law(size: f64, sketches: f64) -> Law {
    let pairs = sketches * size * size / 2f64.powi(27);
    // Twelve more or less, where none is expected, are seldom enough for the false-alarm level of a run.
    let (slack, deviation) = (12.0 / (sketches * size), pairs.sqrt() / (sketches * size));
    Law::between(1.0 - slack, 1.0 + slack, deviation)
}

/// The root mean square of so many errors, each a normal variable, as a multiple of the predicted one.
///
/// Theory is for many registers, and two per cent off at 256, or half a one at 4,096. Where there are few keys to a register, it is a bound
/// for the estimators that do not exhaust the state, or that know more than the state. Few keys err by the Poisson number of
/// pairs that share a register, whose fourth moment is larger than a normal variable's by the inverse of that number.
fn spread_law(estimator: CardinalityEstimator, params: HllParams, size: f64, sketches: f64) -> Law {
    let registers = real(params.num_registers());
    let pairs = size * size / (2.0 * registers);
    let deviation = ((2.0 + 1.0 / pairs) / (4.0 * sketches)).sqrt();
    let (few, slack) = (size < 8.0 * registers, 0.004 + 4.0 / registers);
    match estimator {
        UltraFgra if few => Law::at_most(1.25, 1.25 * deviation),
        Martingale if few => Law::at_most(1.03, deviation),
        _ => Law::between(1.0 - slack, 1.0 + slack, deviation),
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
