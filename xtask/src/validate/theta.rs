//! Theta sketches: the mean and the spread of estimated numbers of keys, of operations too, and their intervals.
//!
//! A case is two sets with some keys in common. Many pairs of sketches of it are filled with keys of their own.

mod faults;

use super::errors::Errors;
use super::prelude::*;
use pds::params::ThetaParams;
use pds::theta::ThetaSet;
use pds::{CompactThetaSketch, ThetaSketch, ThetaUnion};

/// Theta sketches, and the results of operations on them.
pub(crate) const STRUCTURE: Structure =
    Structure { name: SKETCH, title: "Theta sketch", variants: &[], jobs, faults: &faults::FAULTS };

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

/// An operation on two sketches: its name, the result, and the true number.
type Operation =
    (&'static str, fn(&ThetaSketch, &ThetaSketch) -> CompactThetaSketch, fn(Pairs) -> u64);

const OPERATIONS: [Operation; 4] = [
    ("left set", |left, _| left.to_compact(), |pairs| pairs.left),
    ("union", union, Pairs::union),
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

fn jobs(run: &Run) -> Vec<Job<'_>> {
    let pairs = [
        Pairs { sizes: [64, 64], left: 300, right: 300, common: 150 },
        Pairs { sizes: [64, 256], left: 1_200, right: 800, common: 400 },
        Pairs { sizes: [256, 256], left: 1_500, right: 1_500, common: 1_450 },
        Pairs { sizes: [1_024, 64], left: 2_500, right: 300, common: 200 },
    ];
    pairs.into_iter().map(|pairs| pairs.job(run, &OPERATIONS)).collect()
}

/// Two sets, and the nominal sizes of their sketches.
#[derive(Clone, Copy)]
struct Pairs {
    sizes: [u32; 2],
    left: u64,
    right: u64,
    common: u64,
}

impl Pairs {
    const fn union(self) -> u64 {
        self.left + self.right - self.common
    }

    /// Fills the sketches of both sets with keys of their own.
    fn draw(self, hashes: Random<'_>) -> [ThetaSketch; 2] {
        let mut sketches = self.sizes.map(|size| ThetaSketch::new(size).expect("a nominal size"));
        for key in first(self.common, &mut *hashes) {
            sketches.iter_mut().for_each(|sketch| _ = sketch.insert(&key));
        }
        for (sketch, all) in sketches.iter_mut().zip([self.left, self.right]) {
            sketch.extend(first(all - self.common, &mut *hashes));
        }
        sketches
    }

    /// Judges the estimates of operations.
    fn job<'a>(self, run: &'a Run, operations: &'a [Operation]) -> Job<'a> {
        let instances = run.effort.choose([10_000, 10_000, 100_000]);
        let seed = run.seed ^ self.left << 32 ^ self.common;
        Job::new(instances * (self.left + self.right), move || {
            let mut hashes = keys::random(seed);
            let mut all: Vec<_> = operations.iter().map(|_| Errors::default()).collect();
            for _ in 0..instances {
                let [left, right] = self.draw(&mut hashes);
                for ((_, result_of, truth_of), errors) in operations.iter().zip(&mut all) {
                    let (result, truth) = (result_of(&left, &right), real(truth_of(self)));
                    let estimate = result.estimate_with_error();
                    let interval = result.estimate_interval(AT.0).expect("a confidence");
                    errors.add(estimate.value - truth, interval.contains(&truth));
                    errors.add_stated(estimate.standard_error);
                }
            }
            let judge = |((name, _, truth_of), errors): (&Operation, Errors)| {
                let shape = format!("{name}, K = {} and {}", self.sizes[0], self.sizes[1]);
                let (truth, stated) = (truth_of(self), errors.stated());
                let case = Case::random(SKETCH, truth, stated / real(truth), shape).of(instances);
                let case = Case { hasher: "murmur3", ..case };
                // The square of a stated error is unbiased only to the first order.
                let stated = [0.97 * stated, stated];
                errors.judge(&case, real(truth), stated, [MEAN_NUMBER, NUMBER_SPREAD, AT.1])
            };
            operations.iter().zip(all).flat_map(judge).collect()
        })
    }
}
