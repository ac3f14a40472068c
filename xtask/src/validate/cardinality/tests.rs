//! Every fault that a sketch can have is found, in as many sketches as an ordinary run has, and none where none is.

use super::*;
use crate::validate::judge::{FALSE_ALARM, Verdict, judge};
use pds::hash::finalize;
use pds::hll::estimator::{FINITE_SIZE, improved};

const PRECISION: u32 = 10;
/// More tests than a run has.
const TESTS_OF_A_RUN: f64 = 3_000.0;

/// What can be wrong with a sketch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// Every rank is one too high.
    RankOffByOne,
    /// The last key before the switch to the dense form gets no register there.
    LostOnPromotion,
    /// What was estimated first is the answer, until as many keys more have come.
    StaleEstimate,
    /// The estimate lacks the factor 1 / (1 + 1.079 / m), and one per cent.
    WrongConstant,
}

/// A HyperLogLog written anew, with a fault.
struct Faulty {
    fault: Fault,
    sparse: Vec<u64>,
    registers: Vec<u8>,
    cached: Option<f64>,
}

impl Faulty {
    fn new(fault: Fault) -> Self {
        Self { fault, sparse: Vec::new(), registers: vec![0; 1 << PRECISION], cached: None }
    }

    fn raise(&mut self, hash: u64) {
        let register = usize::try_from(hash >> (64 - PRECISION)).unwrap();
        let rank = 1 + (hash << PRECISION | 1 << (PRECISION - 1)).leading_zeros();
        let rank = u8::try_from(rank).unwrap() + u8::from(self.fault == Fault::RankOffByOne);
        self.registers[register] = rank.max(self.registers[register]);
    }

    fn promote(&mut self) {
        let mut hashes = core::mem::take(&mut self.sparse);
        if self.fault == Fault::LostOnPromotion {
            hashes.pop();
        }
        hashes.into_iter().for_each(|hash| self.raise(hash));
    }

    fn estimate(&self) -> f64 {
        let mut counts = [0; 64];
        self.registers.iter().for_each(|&rank| counts[usize::from(rank)] += 1);
        match self.fault {
            Fault::WrongConstant => 1.01 * improved(&counts, PRECISION, 0.0),
            _ => improved(&counts, PRECISION, FINITE_SIZE),
        }
    }
}

impl Counter<1> for Faulty {
    fn insert(&mut self, keys: &[u64]) {
        let hasher = DefaultHashBuilder::default();
        self.sparse.extend(keys.iter().map(|key| finalize(hasher.hash_one(key))));
        self.promote();
        if self.fault != Fault::StaleEstimate {
            self.cached = None;
        }
    }

    fn estimates(&mut self) -> [f64; 1] {
        let estimate = self.estimate();
        [*self.cached.get_or_insert(estimate)]
    }
}

fn broken(fault: Fault) -> Vec<Check> {
    let series = Series {
        precision: PRECISION,
        hasher: "default",
        sizes: vec![200, 1_000, 3_162],
        sketches: SKETCHES,
    };
    let rows = measure(&series, [Improved], || Faulty::new(fault), 1, &Progress::new(1));
    let rows = judge(rows, FALSE_ALARM / TESTS_OF_A_RUN);
    rows.iter().filter(|row| row.verdict == Verdict::Broken).map(|row| row.check).collect()
}

#[test]
fn without_a_fault_nothing_is_found() {
    assert_eq!(broken(Fault::None), []);
}

#[test]
fn a_rank_off_by_one_is_found() {
    assert!(broken(Fault::RankOffByOne).contains(&Check::MeanEstimate));
}

#[test]
fn a_register_lost_on_promotion_is_found() {
    assert!(broken(Fault::LostOnPromotion).contains(&Check::MeanEstimate));
}

#[test]
fn a_stale_estimate_is_found() {
    assert!(broken(Fault::StaleEstimate).contains(&Check::MeanEstimate));
}

#[test]
fn a_wrong_constant_is_found() {
    assert!(broken(Fault::WrongConstant).contains(&Check::MeanEstimate));
}
