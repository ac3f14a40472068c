//! Faults of Bloom filters.
//!
//! The filter is rebuilt from the public parts of the product (the bit array, the positions), so that the product
//! needs no hook. Every effort sees coarse faults, and a full run sees subtle ones.

use super::{Plain, constructors};
use crate::validate::counts;
use crate::validate::coverage::{COVERAGE, NARROW};
use crate::validate::effort::Effort;
use crate::validate::measure::{FALSE_POSITIVES, LOST_KEYS, PROMISE, SET_BITS};
use crate::validate::membership::{grid_jobs, large_jobs};
use crate::validate::schedule::affordable;
use crate::validate::structures::Fault;
use crate::validate::subject::{Design, Family, Interval, Observation, Prediction, Subject};
use core::hash::Hash;
use pds::bloom::{BitArray, BloomParams, DoubleHash};
use pds::hash::{KeyHasher, finalize};

pub(super) const FAULTS: [Fault; 8] = [
    Fault {
        name: "fewer-hashes",
        effect: "one position per key too few",
        breaks: &[FALSE_POSITIVES, SET_BITS],
        effort: Effort::Quick,
        jobs: |run| affordable(grid_jobs(Faulty(Some(Wrong::FewerHashes)), run)),
    },
    Fault {
        name: "biased-bit",
        effect: "the top bit of a hash is set three times in four",
        breaks: &[super::LOWER_HALF],
        effort: Effort::Quick,
        jobs: |run| affordable(grid_jobs(Faulty(Some(Wrong::BiasedBit)), run)),
    },
    Fault {
        name: "half-the-array",
        effect: "all positions are in the lower half of the array",
        breaks: &[SET_BITS, super::LOWER_HALF],
        effort: Effort::Quick,
        jobs: |run| affordable(grid_jobs(Faulty(Some(Wrong::HalfTheArray)), run)),
    },
    Fault {
        name: "dropped-key",
        effect: "the first key of each filter is not stored",
        breaks: &[LOST_KEYS],
        effort: Effort::Quick,
        jobs: |run| affordable(grid_jobs(Faulty(Some(Wrong::DroppedKey)), run)),
    },
    Fault {
        name: "higher-rate",
        effect: "the false-positive rate is 3 % above that of the fill",
        breaks: &[FALSE_POSITIVES],
        effort: Effort::Full,
        jobs: |run| affordable(grid_jobs(Faulty(Some(Wrong::HigherRate)), run)),
    },
    Fault {
        name: "one-in-a-thousand",
        effect: "one position in a thousand is in the lower half of the array",
        breaks: &[super::LOWER_HALF],
        effort: Effort::Full,
        jobs: |run| affordable(large_jobs(Faulty(Some(Wrong::OneInAThousand)), run)),
    },
    Fault {
        name: "bits-short",
        effect: "a constructor takes 3 % of the bits too few",
        breaks: &[PROMISE],
        effort: Effort::Quick,
        jobs: |run| vec![constructors::bits_short(true).job(FAULTY, run.seed)],
    },
    Fault {
        name: "narrow-count",
        effect: "standard errors of numbers of keys are nine tenths of what is stated",
        breaks: &[COVERAGE[0].1],
        effort: Effort::Quick,
        jobs: |run| counts::jobs(Plain, run, NARROW),
    },
];

/// The name of the filter with a fault in the rows.
pub(super) const FAULTY: &str = "faulty bloom";

/// Tells the decisions of the faults about a key from those of the filter.
const OTHER: u64 = 0x6a09_e667_f3bc_c909;

/// The fault of the filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wrong {
    FewerHashes,
    BiasedBit,
    HalfTheArray,
    DroppedKey,
    HigherRate,
    OneInAThousand,
}

/// Builds filters with a fault, or without one to see that nothing but the fault is found.
#[derive(Debug, Clone, Copy)]
struct Faulty(Option<Wrong>);

impl Family for Faulty {
    type Filter<S: KeyHasher + Clone> = FaultyFilter<S>;
    /// The design that the filter claims to have, and its rate at the design load.
    type Params = (BloomParams, f64);

    fn name(&self) -> &'static str {
        FAULTY
    }

    fn params(&self, design: &Design) -> Self::Params {
        let params = Plain.params(design);
        (params, params.rate_at(design.items))
    }

    fn build<S: KeyHasher + Clone>(&self, params: &Self::Params, hasher: S) -> FaultyFilter<S> {
        let &(params, rate) = params;
        let bits = BitArray::zeroed(params.num_bits()).expect("memory for the filter");
        FaultyFilter { fault: self.0, params, rate, bits, hasher, is_empty: true }
    }

    fn predict(&self, (params, _): &Self::Params, design: &Design, stored: u64) -> Prediction {
        Plain.predict(params, design, stored)
    }
}

/// A Bloom filter with a fault.
#[derive(Debug)]
pub(crate) struct FaultyFilter<S> {
    fault: Option<Wrong>,
    /// The design that the filter claims to have.
    params: BloomParams,
    /// The rate at the design load.
    rate: f64,
    bits: BitArray,
    hasher: S,
    is_empty: bool,
}

impl<S: KeyHasher> FaultyFilter<S> {
    fn has(&self, fault: Wrong) -> bool {
        self.fault == Some(fault)
    }

    /// The positions of a key, faults included.
    fn positions<K: Hash>(&self, key: &K) -> impl Iterator<Item = u64> + use<S, K> {
        let hash = self.bias(self.hasher.hash_key(key));
        let (bits, fault) = (self.params.num_bits(), self.fault);
        let count = self.params.num_hashes() - u32::from(self.has(Wrong::FewerHashes));
        let mut probes = DoubleHash::new(hash);
        (0..count.max(1)).map(move |index| {
            let position = probes.next_position(bits);
            let to_lower_half = match fault {
                Some(Wrong::HalfTheArray) => true,
                Some(Wrong::OneInAThousand) => chance(hash ^ u64::from(index), 0.001),
                _ => false,
            };
            if to_lower_half { position / 2 } else { position }
        })
    }

    /// Sets the top bit of every other hash.
    fn bias(&self, hash: u64) -> u64 {
        if self.has(Wrong::BiasedBit) && chance(hash, 0.5) { hash | 1 << 63 } else { hash }
    }
}

impl<S: KeyHasher + Clone> Subject for FaultyFilter<S> {
    fn insert<K: Hash>(&mut self, key: &K) {
        let is_first = core::mem::take(&mut self.is_empty);
        if is_first && self.has(Wrong::DroppedKey) {
            return;
        }
        for position in self.positions(key) {
            self.bits.set(position);
        }
    }

    fn contains<K: Hash>(&self, key: &K) -> bool {
        let is_unlucky =
            || self.has(Wrong::HigherRate) && chance(self.hasher.hash_key(key), 0.03 * self.rate);
        self.positions(key).all(|position| self.bits.get(position)) || is_unlucky()
    }

    fn contains_batch<K: Hash>(&self, keys: &[K], answers: &mut [bool]) {
        keys.iter().zip(answers).for_each(|(key, answer)| *answer = self.contains(key));
    }

    fn rate_now(&self, stored: u64) -> Interval {
        super::rate_now(self.bits.count_ones(), &self.params, stored)
    }

    fn fill(&self, stored: u64) -> Observation {
        super::fill(self.bits.count_ones(), &self.params, stored)
    }

    fn spread(&self) -> Vec<Observation> {
        super::spread(self.bits.words(), self.params.num_bits())
    }
}

/// Decides with this probability, always alike for a number and unlike all that the filter derives from it.
fn chance(number: u64, probability: f64) -> bool {
    #[expect(clippy::cast_precision_loss, reason = "53 bits are plenty for a decision")]
    let uniform = finalize(number ^ OTHER) as f64 / u64::MAX as f64;
    uniform < probability
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::tests::{broken, cheap, quick};

    #[test]
    fn the_stand_in_without_a_fault_breaks_nothing() {
        assert_eq!(broken(cheap(grid_jobs(Faulty(None), &quick()))), []);
    }

    #[test]
    fn chances_are_as_stated() {
        let lucky = (0..100_000).filter(|&number| chance(number, 0.001)).count();
        assert!((60..=140).contains(&lucky), "{lucky} of 100,000 at one in a thousand");
    }
}
