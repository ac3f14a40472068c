//! A blocked Bloom filter with a fault put in.
//!
//! Its positions are computed anew from the product's definition, always eight a key, so that the product needs no
//! hook, and what the validator finds without a fault is agreement of two implementations.

use super::blocked::{self, Blocked, Shape};
use super::judge::real;
use super::sabotage::Fault;
use super::subject::{Design, Family, Interval, Observation, Prediction, Subject};
use core::hash::Hash;
use pds::KeyHasher;
use pds::hash::reduce;
use pds::params::BlockedBloomParams;

/// The multiplier of `docs/hashing.md`, section 4.
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// Lanes of a block, and positions of a key.
const LANES: u32 = 8;

/// What the filter claims to be.
const EIGHT: Blocked =
    Blocked { name: "sabotaged blocked", shape: Shape::Hashes(LANES), backend: None };

/// Builds blocked filters with a fault, or without one to see that nothing but the fault is found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FaultyBlocked(pub(crate) Option<Fault>);

impl Family for FaultyBlocked {
    type Filter<S: KeyHasher + Clone> = FaultyBlockedFilter<S>;

    fn name(&self) -> &'static str {
        EIGHT.name()
    }

    fn build<S: KeyHasher + Clone>(&self, design: &Design, hasher: S) -> FaultyBlockedFilter<S> {
        let params = blocked::params(design, EIGHT.shape);
        let words = usize::try_from(params.size_in_bytes() / 8).expect("words in memory");
        FaultyBlockedFilter { fault: self.0, params, words: vec![0; words], hasher }
    }

    fn predict(&self, design: &Design, stored: u64) -> Prediction {
        EIGHT.predict(design, stored)
    }
}

/// A blocked Bloom filter with a fault.
#[derive(Debug)]
pub(crate) struct FaultyBlockedFilter<S> {
    fault: Option<Fault>,
    /// What the filter claims to be.
    params: BlockedBloomParams,
    words: Vec<u64>,
    hasher: S,
}

impl<S: KeyHasher> FaultyBlockedFilter<S> {
    /// The words and bits of a key, faults included.
    fn positions<K: Hash>(&self, key: &K) -> impl Iterator<Item = (usize, u64)> + use<S, K> {
        let hash = self.hasher.hash_key(key);
        let block = reduce(hash, self.params.num_blocks());
        let first = usize::try_from(u64::from(LANES) * block).expect("words in memory");
        let fields = match self.fault {
            Some(Fault::CorrelatedLanes) => hash,
            _ => hash.wrapping_mul(MULTIPLIER),
        };
        let lanes = LANES - u32::from(self.fault == Some(Fault::LaneLeftOut));
        (first..).zip((0..lanes).map(move |lane| 1 << (fields >> (58 - 6 * lane) & 63)))
    }
}

impl<S: KeyHasher + Clone> Subject for FaultyBlockedFilter<S> {
    fn insert<K: Hash>(&mut self, key: &K) {
        for (word, bit) in self.positions(key) {
            self.words[word] |= bit;
        }
    }

    fn contains<K: Hash>(&self, key: &K) -> bool {
        self.positions(key).all(|(word, bit)| self.words[word] & bit != 0)
    }

    fn contains_batch<K: Hash>(&self, keys: &[K], answers: &mut [bool]) {
        keys.iter().zip(answers).for_each(|(key, answer)| *answer = self.contains(key));
    }

    /// The mean over the blocks of the product of their lanes' fills, as the product states it.
    fn rate_now(&self, _stored: u64) -> Interval {
        let fill = |lane: &u64| f64::from(lane.count_ones()) / 64.0;
        let blocks = self.words.chunks_exact(LANES as usize);
        let sum: f64 = blocks.map(|block| block.iter().map(fill).product::<f64>()).sum();
        blocked::exactly(sum / real(self.params.num_blocks()))
    }

    fn fill(&self, stored: u64) -> Observation {
        blocked::fill(blocked::count(&self.words), &self.params, stored)
    }

    fn spread(&self) -> Vec<Observation> {
        Vec::new()
    }
}
