//! Faults of cardinality sketches.
//!
//! Most are those of a sketch that is written anew from the public estimator, so that the product needs no hook.

use super::histories::LOW_END;
use super::{Counter, MEAN_ESTIMATE, SKETCHES, Series, identities, interval_jobs, measure};
use crate::validate::identity::{IDENTITY, Identity, KEYS, and, merged, with};
use crate::validate::prelude::*;
use crate::validate::proofs::{self, CONTRADICTIONS};
use pds::UltraLogLog;
use pds::hash::{DefaultHashBuilder, KeyHasher};
use pds::hll::internal::{FINITE_SIZE, improved};
use pds::params::HllParams;
use pds::params::hll::CardinalityEstimator::Improved;

pub(super) const FAULTS: [Fault; 7] = [
    of_estimates("rank-off-by-one", "all ranks of a HyperLogLog are one too high", |run| {
        jobs(Wrong::RankOffByOne, run)
    }),
    of_estimates(
        "lost-on-promotion",
        "a HyperLogLog loses the last key when it becomes dense",
        |run| jobs(Wrong::LostOnPromotion, run),
    ),
    of_estimates("stale-estimate", "a HyperLogLog repeats an earlier answer", |run| {
        jobs(Wrong::StaleEstimate, run)
    }),
    of_estimates("wrong-constant", "estimates of a HyperLogLog are 1 % too high", |run| {
        jobs(Wrong::Constant, run)
    }),
    fault(
        "narrow-interval",
        "intervals are nine tenths as wide as stated",
        &[COVERAGE[0].1],
        |run| interval_jobs(run, NARROW),
    ),
    fault(
        "empty-lowers-precision",
        "an UltraLogLog takes on the lower precision of an empty one",
        &[IDENTITY],
        |run| vec![ultra(true).job(FAULTY, run.seed)],
    ),
    fault(
        "low-end",
        "intervals of an UltraLogLog begin at half of the lower end",
        &[CONTRADICTIONS],
        |run| proofs::jobs(run, FAULTY, &LOW_END),
    ),
];

/// A fault that the mean of estimates shows.
const fn of_estimates(
    name: &'static str,
    effect: &'static str,
    jobs: for<'a> fn(&'a Run) -> Vec<Job<'a>>,
) -> Fault {
    fault(name, effect, &[MEAN_ESTIMATE], jobs)
}

/// The name of a sketch with a fault in the rows.
const FAULTY: &str = "faulty hll";

/// The fault of the sketch that is written anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wrong {
    RankOffByOne,
    LostOnPromotion,
    StaleEstimate,
    Constant,
}

const PRECISION: u32 = 10;
/// On both sides of one key a register.
const SIZES: [u64; 3] = [200, 1_000, 3_162];

/// As many sketches with this fault as an ordinary run has.
fn jobs(fault: Wrong, run: &Run) -> Vec<Job<'_>> {
    let cost = SKETCHES * SIZES[SIZES.len() - 1];
    vec![Job::new(cost, move || measured(Some(fault), run.seed))]
}

/// The measurements of sketches with a fault, or without one to see that nothing but the fault is found.
fn measured(fault: Option<Wrong>, seed: u64) -> Vec<Measurement> {
    let series = Series {
        structure: FAULTY,
        precision: PRECISION,
        hasher: "default",
        sizes: SIZES.into(),
        sketches: SKETCHES,
    };
    measure(&series, [Improved], || Faulty::new(fault), seed)
}

/// A HyperLogLog written anew, with a fault.
struct Faulty {
    fault: Option<Wrong>,
    sparse: Vec<u64>,
    registers: Vec<u8>,
    cached: Option<f64>,
}

impl Faulty {
    fn new(fault: Option<Wrong>) -> Self {
        Self { fault, sparse: Vec::new(), registers: vec![0; 1 << PRECISION], cached: None }
    }

    fn has(&self, fault: Wrong) -> bool {
        self.fault == Some(fault)
    }

    fn raise(&mut self, hash: u64) {
        let register = index(hash >> (64 - PRECISION));
        let rank = 1 + (hash << PRECISION | 1 << (PRECISION - 1)).leading_zeros();
        let rank =
            u8::try_from(rank).expect("a rank below 64") + u8::from(self.has(Wrong::RankOffByOne));
        self.registers[register] = rank.max(self.registers[register]);
    }

    fn promote(&mut self) {
        let mut hashes = core::mem::take(&mut self.sparse);
        if self.has(Wrong::LostOnPromotion) {
            hashes.pop();
        }
        hashes.into_iter().for_each(|hash| self.raise(hash));
    }

    fn estimate(&self) -> f64 {
        let mut counts = [0; 64];
        self.registers.iter().for_each(|&rank| counts[usize::from(rank)] += 1);
        let params = HllParams::new(PRECISION).expect("a precision in range");
        if self.has(Wrong::Constant) {
            1.01 * improved(&counts, params, 0.0)
        } else {
            improved(&counts, params, FINITE_SIZE)
        }
    }
}

impl Counter<1> for Faulty {
    fn insert(&mut self, keys: &[u64]) {
        let hasher = DefaultHashBuilder::default();
        self.sparse.extend(keys.iter().map(|key| hasher.hash_key(key)));
        self.promote();
        if !self.has(Wrong::StaleEstimate) {
            self.cached = None;
        }
    }

    fn estimates(&mut self) -> [f64; 1] {
        let estimate = self.estimate();
        [*self.cached.get_or_insert(estimate)]
    }
}

/// UltraLogLog sketches that take on the lower precision of an empty one, or sound ones of one precision.
fn ultra(is_faulty: bool) -> Identity<UltraLogLog> {
    let merge = |left: &mut UltraLogLog, right: &UltraLogLog| {
        let precision = left.precision().min(right.precision());
        let mut right = right.clone();
        let reduced = left.reduce_precision(precision).and(right.reduce_precision(precision));
        reduced.is_err() || merged(left, &right)
    };
    let full = |seed| with(identities::ultra(12), seed, KEYS);
    let empty = move || identities::ultra(if is_faulty { 6 } else { 12 });
    Identity::merged_by(merge, "ultra", full, empty, |sketch| {
        and(sketch.to_bytes(), &[sketch.estimate()])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::tests::broken;

    #[test]
    fn the_stand_in_without_a_fault_breaks_nothing() {
        assert_eq!(broken(vec![Job::new(1, || measured(None, 1))]), []);
    }

    #[test]
    fn a_sound_merge_with_an_empty_sketch_breaks_nothing() {
        assert_eq!(broken(vec![ultra(false).job(FAULTY, 1)]), []);
    }
}
