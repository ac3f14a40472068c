//! A sketch with a fault put in, written anew from the public estimator, so that the product needs no hook.

use super::{Counter, SKETCHES, Series, measure};
use crate::validate::Run;
use crate::validate::judge::Measurement;
use crate::validate::sabotage::Fault;
use crate::validate::schedule::{Job, Progress};
use pds::hll::internal::{FINITE_SIZE, improved};
use pds::params::HllParams;
use pds::params::hll::CardinalityEstimator::Improved;
use pds::{DefaultHashBuilder, KeyHasher};

const PRECISION: u32 = 10;
/// On both sides of one key a register.
const SIZES: [u64; 3] = [200, 1_000, 3_162];

/// As many sketches with this fault as an ordinary run has.
pub(in crate::validate) fn jobs(fault: Fault, run: &Run) -> Vec<Job<'_>> {
    let seed = run.seed;
    let run = Box::new(move |progress: &Progress| measured(Some(fault), seed, progress));
    vec![Job { cost: SKETCHES * SIZES[SIZES.len() - 1], run }]
}

/// The measurements of sketches with a fault, or without one to see that nothing but the fault is found.
pub(super) fn measured(fault: Option<Fault>, seed: u64, progress: &Progress) -> Vec<Measurement> {
    let series = Series {
        structure: "sabotaged hll",
        precision: PRECISION,
        hasher: "default",
        sizes: SIZES.into(),
        sketches: SKETCHES,
    };
    measure(&series, [Improved], || Faulty::new(fault), seed, progress)
}

/// A HyperLogLog written anew, with a fault.
struct Faulty {
    fault: Option<Fault>,
    sparse: Vec<u64>,
    registers: Vec<u8>,
    cached: Option<f64>,
}

impl Faulty {
    fn new(fault: Option<Fault>) -> Self {
        Self { fault, sparse: Vec::new(), registers: vec![0; 1 << PRECISION], cached: None }
    }

    fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    fn raise(&mut self, hash: u64) {
        let register = usize::try_from(hash >> (64 - PRECISION)).expect("a register in memory");
        let rank = 1 + (hash << PRECISION | 1 << (PRECISION - 1)).leading_zeros();
        let rank =
            u8::try_from(rank).expect("a rank below 64") + u8::from(self.has(Fault::RankOffByOne));
        self.registers[register] = rank.max(self.registers[register]);
    }

    fn promote(&mut self) {
        let mut hashes = core::mem::take(&mut self.sparse);
        if self.has(Fault::LostOnPromotion) {
            hashes.pop();
        }
        hashes.into_iter().for_each(|hash| self.raise(hash));
    }

    fn estimate(&self) -> f64 {
        let mut counts = [0; 64];
        self.registers.iter().for_each(|&rank| counts[usize::from(rank)] += 1);
        let params = HllParams::new(PRECISION).expect("a precision in range");
        if self.has(Fault::WrongConstant) {
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
        if !self.has(Fault::StaleEstimate) {
            self.cached = None;
        }
    }

    fn estimates(&mut self) -> [f64; 1] {
        let estimate = self.estimate();
        [*self.cached.get_or_insert(estimate)]
    }
}
