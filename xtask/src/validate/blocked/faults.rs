//! Faults of blocked Bloom filters.
//!
//! The positions of the filter are computed anew from the definition of the product, always eight per key, so that the
//! product needs no hook. Without a fault, two implementations then agree.

use super::{Blocked, Shape, count, fill};
use crate::validate::keys::CaseHasher;
use crate::validate::membership::cheap_jobs;
use crate::validate::prelude::*;
use crate::validate::schedule::affordable;
use crate::validate::subject::{Design, Family, Observation, Prediction, Subject};
use core::hash::Hash;
use pds::hash::{KeyHasher, reduce};
use pds::params::BlockedBloomParams;

pub(super) const FAULTS: [Fault; 2] = [
    fault(
        "lane-left-out",
        "keys have no position in the last lane",
        &[FALSE_POSITIVES, SET_BITS],
        |run| affordable(cheap_jobs(Faulty(Some(Wrong::LaneLeftOut)), run)),
    ),
    fault(
        "correlated-lanes",
        "positions come from the bits that choose the block",
        &[FALSE_POSITIVES, SET_BITS],
        |run| affordable(cheap_jobs(Faulty(Some(Wrong::CorrelatedLanes)), run)),
    ),
];

/// The fault of the filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wrong {
    LaneLeftOut,
    CorrelatedLanes,
}

/// The multiplier of `docs/hashing.md`, section 4.
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// Lanes of a block, and positions of a key.
const LANES: u32 = 8;

/// The design that the filter claims to have.
const EIGHT: Blocked =
    Blocked { name: "faulty blocked", shape: Shape::Hashes(LANES), backend: None };

/// Builds blocked filters with a fault, or without one to see that nothing but the fault is found.
#[derive(Debug, Clone, Copy)]
struct Faulty(Option<Wrong>);

impl Family for Faulty {
    type Filter = FaultyFilter;
    type Params = BlockedBloomParams;

    fn name(&self) -> &'static str {
        EIGHT.name()
    }

    fn params(&self, design: &Design) -> BlockedBloomParams {
        EIGHT.params(design)
    }

    fn build(&self, &params: &BlockedBloomParams, hasher: CaseHasher) -> FaultyFilter {
        let words = vec![0; index(params.size_in_bytes() / 8)];
        FaultyFilter { fault: self.0, params, words, hasher }
    }

    fn predict(&self, params: &BlockedBloomParams, design: &Design, stored: u64) -> Prediction {
        EIGHT.predict(params, design, stored)
    }
}

/// A blocked Bloom filter with a fault.
#[derive(Debug)]
pub(crate) struct FaultyFilter {
    fault: Option<Wrong>,
    /// The design that the filter claims to have.
    params: BlockedBloomParams,
    words: Vec<u64>,
    hasher: CaseHasher,
}

impl FaultyFilter {
    /// The words and bits of a key, faults included.
    fn positions<K: Hash>(&self, key: &K) -> impl Iterator<Item = (usize, u64)> + use<K> {
        let hash = self.hasher.hash_key(key);
        let block = reduce(hash, self.params.num_blocks());
        let first = index(u64::from(LANES) * block);
        let fields = match self.fault {
            Some(Wrong::CorrelatedLanes) => hash,
            _ => hash.wrapping_mul(MULTIPLIER),
        };
        let lanes = LANES - u32::from(self.fault == Some(Wrong::LaneLeftOut));
        (first..).zip((0..lanes).map(move |lane| 1 << (fields >> (58 - 6 * lane) & 63)))
    }
}

impl Subject for FaultyFilter {
    fn insert<K: Hash>(&mut self, key: &K) {
        for (word, bit) in self.positions(key) {
            self.words[word] |= bit;
        }
    }

    fn contains<K: Hash>(&self, key: &K) -> bool {
        self.positions(key).all(|(word, bit)| self.words[word] & bit != 0)
    }

    /// The mean over the blocks of the product of their lanes' fills, as the product states it.
    fn rate_now(&self, _stored: u64) -> Interval {
        let fill = |lane: &u64| f64::from(lane.count_ones()) / 64.0;
        let blocks = self.words.chunks_exact(LANES as usize);
        let sum: f64 = blocks.map(|block| block.iter().map(fill).product::<f64>()).sum();
        Interval::exactly(sum / real(self.params.num_blocks()))
    }

    fn fill(&self, stored: u64) -> Observation {
        fill(count(&self.words), &self.params, stored)
    }

    fn spread(&self) -> Vec<Observation> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::membership::grid_jobs;
    use crate::validate::tests::{broken, cheap, quick};

    #[test]
    fn the_stand_in_without_a_fault_breaks_nothing() {
        assert_eq!(broken(cheap(grid_jobs(Faulty(None), &quick()))), []);
    }
}
