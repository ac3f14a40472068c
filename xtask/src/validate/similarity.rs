//! Sketches of similar sets: the mean and the spread of estimated Jaccard indexes, their intervals, and the recall of the index.
//!
//! A case is a number of values, a number of keys in the union and a Jaccard index. Many pairs of sketches of it are filled with
//! keys of their own. The left one is filled by a batch and the right one key by key, so a difference of the two shows, too.

mod faults;

use super::effort::Effort;
use super::errors::Errors;
use super::prelude::*;
use pds::minhash::Comparison;
use pds::params::minhash::error_in_units;
use pds::params::{LshParams, MinHashParams, SignatureParams};
use pds::{LshIndex, MinHash};

/// MinHash sketches, their signatures, and their index.
pub(crate) const STRUCTURE: Structure = Structure {
    name: SKETCH,
    title: "MinHash sketch",
    variants: &[(SIGNATURE, "MinHash signature"), (INDEX, "Index of similar sets")],
    jobs,
    faults: &faults::FAULTS,
};

const SKETCH: &str = "minhash";
const SIGNATURE: &str = "signature";
const INDEX: &str = "lsh";

const MEAN_JACCARD: Check = Check::new(
    "mean Jaccard index",
    "The mean of the estimates of many pairs, as a multiple of the true index.",
);
const JACCARD_SPREAD: Check = Check::new(
    "spread of Jaccard indexes",
    "The root mean square of their errors, as a multiple of the predicted standard error.",
);
const ERROR_BOUND: Check = Check::new(
    "error of Jaccard indexes",
    "The same in units of sqrt(J (1 - J) / K): at most 0.72 up to K / 2 keys, 0.80 up to K, 1 everywhere.",
);
const RECALL: Check = Check::new(
    "recall of the index",
    "The share of similar pairs that the index finds, within 1 % of the curve 1 - (1 - J^rows)^bands.",
);

const ABOUT_JACCARD: [Check; 3] = [MEAN_JACCARD, JACCARD_SPREAD, AT.1];

/// Numbers of keys in the union.
const UNIONS: [u64; 8] = [20, 40, 64, 100, 128, 256, 500, 1_000];
/// These are filled with the greatest effort only.
const LARGEST: [u64; 3] = [10_000, 100_000, 1_000_000];
const SHARES: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];
const VALUES: u32 = 128;
/// The confidence of the intervals, and its check.
const AT: (f64, Check) = COVERAGE[0];

fn jobs(run: &Run) -> Vec<Job<'_>> {
    let largest = (run.effort == Effort::Full).then_some(LARGEST);
    let unions = UNIONS.into_iter().chain(largest.into_iter().flatten());
    let sketches = unions.flat_map(|union| SHARES.map(|share| Pairs::new(VALUES, union, share)));
    let others = [(16, 8), (16, 1_000), (1_024, 500), (4_096, 2_000)];
    let others = others.map(|(values, union)| Pairs::new(values, union, 0.5));
    let mut jobs: Vec<_> =
        sketches.chain(others).map(|pairs| pairs.job(run, by_batch, one_by_one)).collect();
    for share in [0.25, 0.5, 0.95] {
        let estimate = |comparison: Comparison| comparison.jaccard().value;
        jobs.extend([1, 2, 4, 8, 16, 32].map(|bits| signatures(run, bits, share, estimate)));
    }
    for (threshold, recall) in [(0.5, 0.9), (0.8, 0.95)] {
        let params = LshParams::new(VALUES, threshold, recall).expect("a sound design");
        let shares = [0.6 * threshold, 0.8 * threshold, threshold];
        jobs.extend(shares.map(|share| index(run, params, params, share)));
    }
    jobs
}

/// A sketch of these keys, inserted together.
fn by_batch(values: u32, hashes: &[u64]) -> MinHash {
    let mut sketch = MinHash::new(values).expect("a sound size");
    sketch.insert_hash_batch(hashes);
    sketch
}

/// A sketch of these keys, inserted one after the other.
fn one_by_one(values: u32, hashes: &[u64]) -> MinHash {
    let mut sketch = MinHash::new(values).expect("a sound size");
    hashes.iter().for_each(|&hash| _ = sketch.insert_hash(hash));
    sketch
}

/// Pairs of sets with a number of keys in both, and in one of them or both.
#[derive(Clone, Copy)]
struct Pairs {
    values: u32,
    union: u64,
    common: u64,
}

impl Pairs {
    fn new(values: u32, union: u64, share: f64) -> Self {
        // Rounded to the nearest number of keys.
        let common = (1..union).min_by(|&a, &b| {
            (real(a) - share * real(union)).abs().total_cmp(&(real(b) - share * real(union)).abs())
        });
        Self { values, union, common: common.expect("two keys at least") }
    }

    fn jaccard(self) -> f64 {
        real(self.common) / real(self.union)
    }

    /// How many pairs of an effort are filled, and what they cost.
    fn instances(self, run: &Run) -> (u64, u64) {
        let instances = run.effort.choose([6_000, 6_000, 40_000]);
        let per_key = 1 + 6 * u64::from(self.values) / self.union;
        let instances = if self.union > 5_000 { 6_000 } else { instances };
        (instances, instances * self.union * per_key)
    }

    fn case(self, structure: &'static str, shape: &str, instances: u64) -> Case {
        let shape = format!("{} values{shape}, J = {:.3}", self.values, self.jaccard());
        Case::random(structure, self.union, self.jaccard(), shape).of(instances)
    }

    /// Draws the keys of a pair: all of the left set, all of the right one.
    fn draw(self, hashes: Random<'_>) -> [Vec<u64>; 2] {
        let both: Vec<u64> = first(self.common, &mut *hashes).collect();
        let only_left = (self.union - self.common) / 2;
        let sides = [only_left, self.union - self.common - only_left];
        sides.map(|only| both.iter().copied().chain(first(only, &mut *hashes)).collect())
    }

    /// Judges pairs of sketches that are filled by these functions.
    fn job<'a>(
        self,
        run: &'a Run,
        left_of: impl Fn(u32, &[u64]) -> MinHash + Send + 'a,
        right_of: impl Fn(u32, &[u64]) -> MinHash + Send + 'a,
    ) -> Job<'a> {
        let (instances, cost) = self.instances(run);
        let seed = run.seed ^ self.union << 32 ^ self.common;
        Job::new(cost, move || {
            let errors = self.errors(seed, instances, |left, right| {
                let (left, right) = (left_of(self.values, left), right_of(self.values, right));
                let comparison = left.compare(&right).expect("equal sizes and hashers");
                (comparison, comparison.jaccard().value)
            });
            let unit = MinHashParams::new(self.values)
                .expect("a sound size")
                .standard_error(self.jaccard());
            let predicted = unit * error_in_units(self.values, real(self.union));
            let case = self.case(SKETCH, "", instances);
            let mut judged = errors.judge(&case, self.jaccard(), [predicted; 2], ABOUT_JACCARD);
            let limit = match self.union {
                union if union <= u64::from(self.values) / 2 => 0.72,
                union if union <= u64::from(self.values) => 0.80,
                _ => 1.0,
            };
            let (spread, deviation) = errors.spread(unit);
            let law = Law::at_most(limit, deviation);
            judged.push(case.row(ERROR_BOUND, law, spread, real(instances)));
            judged
        })
    }

    /// The errors of the estimates from so many pairs.
    fn errors(
        self,
        seed: u64,
        instances: u64,
        compare: impl Fn(&[u64], &[u64]) -> (Comparison, f64),
    ) -> Errors {
        let mut hashes = keys::random(seed);
        let mut errors = Errors::default();
        for _ in 0..instances {
            let [left, right] = self.draw(&mut hashes);
            let (comparison, estimate) = compare(&left, &right);
            let interval = comparison.jaccard_interval(AT.0).expect("a confidence");
            errors.add(estimate - self.jaccard(), interval.contains(&self.jaccard()));
        }
        errors
    }
}

/// Returns the standard error of the Jaccard index from signatures of sets with so many keys in all.
// The part of the error that comes from the minima is lower for small sets.
pub(super) fn signature_error(params: SignatureParams, jaccard: f64, union: f64) -> f64 {
    let bound = params.standard_error(jaccard);
    let values = MinHashParams::new(params.num_values()).expect("a sound size");
    let (independent, units) =
        (values.standard_error(jaccard), error_in_units(params.num_values(), union));
    (bound * bound - independent * independent * (1.0 - units * units)).sqrt()
}

/// Judges the estimates of signatures, from sets with 400 keys in all.
fn signatures<'a>(
    run: &'a Run,
    bits: u32,
    share: f64,
    estimate: impl Fn(Comparison) -> f64 + Send + 'a,
) -> Job<'a> {
    let pairs = Pairs::new(VALUES, 400, share);
    let (instances, cost) = pairs.instances(run);
    let seed = run.seed ^ u64::from(bits) << 48 ^ pairs.common;
    Job::new(cost, move || {
        let signature =
            |keys: &[u64]| by_batch(VALUES, keys).signature(bits).expect("a sound size");
        let errors = pairs.errors(seed, instances, |left, right| {
            let comparison = signature(left).compare(&signature(right));
            let comparison = comparison.expect("equal sizes and hashers");
            (comparison, estimate(comparison))
        });
        let params = SignatureParams::new(VALUES, bits).expect("a sound size");
        let error = signature_error(params, pairs.jaccard(), real(pairs.union));
        let case = pairs.case(SIGNATURE, &format!(" of {bits} bits"), instances);
        errors.judge(&case, pairs.jaccard(), [error; 2], ABOUT_JACCARD)
    })
}

/// Judges the recall of an index that is said to have the shape `stated`.
fn index(run: &Run, stated: LshParams, built: LshParams, share: f64) -> Job<'_> {
    let pairs = Pairs::new(VALUES, 1_000, share);
    let instances = run.effort.choose([8_000, 40_000, 200_000]);
    let seed = run.seed ^ u64::from(stated.bands()) << 40 ^ pairs.common;
    Job::new(3 * instances * pairs.union, move || {
        let mut hashes = keys::random(seed);
        let mut index = LshIndex::from_params(built, pds::hash::DefaultHashBuilder::default());
        let mut rights = Vec::new();
        let lefts = first(instances, 0..).map(|document| {
            let [left, right] = pairs.draw(&mut hashes).map(|keys| by_batch(VALUES, &keys));
            rights.push(right);
            (document, left)
        });
        index.insert_batch(lefts).expect("equal sizes and hashers");
        let found = (0..).zip(&rights).filter(|(document, right)| {
            index.query(right).expect("equal sizes and hashers").contains(document)
        });
        let observed = real(found.count() as u64) / real(instances);
        let curve = stated.recall(pairs.jaccard());
        let deviation = (curve * (1.0 - curve) / real(instances)).sqrt();
        let law = Law::between(0.99 * curve, 1.01 * curve, deviation);
        let shape = format!(", {} x {}", stated.bands(), stated.rows());
        let case = pairs.case(INDEX, &shape, instances);
        let events = curve.min(1.0 - curve) * real(instances);
        vec![case.row(RECALL, law, observed, events)]
    })
}
