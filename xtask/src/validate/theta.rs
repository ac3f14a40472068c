//! Theta sketches: the mean and the spread of estimated numbers of keys, of operations too, and their intervals.
//!
//! A case is two sets with some keys in common. Many pairs of sketches of it are filled with keys of their own.

mod faults;

use super::Run;
use super::coverage::COVERAGE;
use super::effort::Effort;
use super::judge::{Case, Check, Law, Measurement, real};
use super::removal::case;
use super::schedule::{Job, Progress};
use super::structures::Structure;
use pds::params::ThetaParams;
use pds::theta::ThetaSet;
use pds::{CompactThetaSketch, ThetaSketch, ThetaUnion};
use pds_testkit::keys;

/// Theta sketches, and the results of operations on them.
pub(crate) const STRUCTURE: Structure = Structure {
    name: SKETCH,
    title: "Theta sketch",
    variants: &[],
    jobs,
    faults: &faults::FAULTS,
    sketches: &[],
};

const SKETCH: &str = "theta";

const MEAN_NUMBER: Check = Check::new(
    "mean number of keys",
    "The mean of the estimates of many sketches, as a multiple of the true number.",
);
const NUMBER_SPREAD: Check = Check::new(
    "spread of numbers of keys",
    "The root mean square of their errors, as a multiple of that of the stated standard errors.",
);

/// The confidence of the intervals, and its check.
const AT: (f64, Check) = COVERAGE[0];

/// What is estimated from two sketches.
type Operation =
    (&'static str, fn(&ThetaSketch, &ThetaSketch) -> CompactThetaSketch, fn(Pairs) -> u64);

const OPERATIONS: [Operation; 4] = [
    ("left set", |left, _| left.to_compact(), |pairs| pairs.left),
    ("union", union, |pairs| pairs.left + pairs.right - pairs.common),
    (
        "intersection",
        |left, right| left.intersection(right).expect("equal seeds"),
        |pairs| pairs.common,
    ),
    (
        "difference",
        |left, right| left.difference(right).expect("equal seeds"),
        |pairs| pairs.left - pairs.common,
    ),
];

fn union(left: &ThetaSketch, right: &ThetaSketch) -> CompactThetaSketch {
    let size = left.params().nominal_size().max(right.params().nominal_size());
    let params = ThetaParams::new(size).expect("a sound size");
    let mut union = ThetaUnion::new(params, left.hasher());
    union.add(left).expect("equal seeds");
    union.add(right).expect("equal seeds");
    union.to_compact()
}

/// Two sets, and the nominal sizes of their sketches.
#[derive(Clone, Copy)]
struct Pairs {
    sizes: [u32; 2],
    left: u64,
    right: u64,
    common: u64,
}

fn jobs(run: &Run) -> Vec<Job<'_>> {
    let pairs = [
        Pairs { sizes: [64, 64], left: 500, right: 500, common: 250 },
        Pairs { sizes: [64, 256], left: 2_000, right: 1_000, common: 500 },
        Pairs { sizes: [256, 256], left: 3_000, right: 3_000, common: 2_900 },
        Pairs { sizes: [1_024, 64], left: 4_000, right: 300, common: 200 },
    ];
    pairs
        .into_iter()
        .flat_map(|pairs| OPERATIONS.map(|operation| pairs.job(run, operation)))
        .collect()
}

impl Pairs {
    /// Draws the keys of both sets.
    fn draw(self, hashes: &mut impl Iterator<Item = u64>) -> [Vec<u64>; 2] {
        let mut keys =
            |count: u64| -> Vec<u64> { (0..count).zip(&mut *hashes).map(|(_, key)| key).collect() };
        let both = keys(self.common);
        [self.left, self.right].map(|all| [both.clone(), keys(all - self.common)].concat())
    }

    /// Judges the estimates of an operation.
    fn job(self, run: &Run, (name, result_of, truth_of): Operation) -> Job<'_> {
        let instances = run.effort.choose([4_000, 20_000, 100_000]);
        let cost = instances * (self.left + self.right);
        let truth = real(truth_of(self));
        let seed = run.seed ^ self.left << 32 ^ self.common;
        let work = move |progress: &Progress| {
            let mut drawn = keys::random(seed);
            let (mut errors, mut squares, mut stated, mut hits) = (0.0, Vec::new(), 0.0, 0);
            for _ in 0..instances {
                let [left, right] = self.draw(&mut drawn);
                let [left, right] =
                    [(left, self.sizes[0]), (right, self.sizes[1])].map(|(keys, size)| {
                        let mut sketch = ThetaSketch::new(size).expect("a sound size");
                        sketch.extend(keys);
                        sketch
                    });
                let result = result_of(&left, &right);
                let estimate = result.estimate_with_error();
                errors += estimate.value - truth;
                squares.push((estimate.value - truth).powi(2));
                stated += estimate.standard_error.powi(2);
                let interval = result.estimate_interval(AT.0).expect("a confidence");
                hits += u64::from(interval.contains(&truth));
                progress.advance(cost / instances);
            }
            let count = real(instances);
            let (square, stated) = (squares.iter().sum::<f64>() / count, stated / count);
            let shape = format!("{name}, K = {} and {}", self.sizes[0], self.sizes[1]);
            let error = stated.sqrt() / truth;
            let case =
                Case { instances, hasher: "murmur3", ..case(SKETCH, truth_of(self), error, shape) };
            let deviation = (square / count).sqrt() / truth;
            let law = Law::Normal { low: 1.0, high: 1.0, deviation, looks: 1 };
            let observed = 1.0 + errors / count / truth;
            let mean = Measurement {
                case: case.clone(),
                check: MEAN_NUMBER,
                law,
                observed,
                events: count,
            };
            let spread_of_squares =
                squares.iter().map(|one| (one - square).powi(2)).sum::<f64>() / count / count;
            let observed = (square / stated).sqrt();
            let deviation = spread_of_squares.sqrt() / (2.0 * square) * observed;
            let law = Law::Normal { low: 0.98, high: 1.02, deviation, looks: 1 };
            let spread = Measurement {
                case: case.clone(),
                check: NUMBER_SPREAD,
                law,
                observed,
                events: count,
            };
            let law = Law::Coverage { trials: instances, confidence: AT.0 };
            let events = (1.0 - AT.0) * count;
            let hits = Measurement { case, check: AT.1, law, observed: real(hits) / count, events };
            vec![mean, spread, hits]
        };
        Job { cost, run: Box::new(work) }
    }
}
