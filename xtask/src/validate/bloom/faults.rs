//! Faults of Bloom filters.
//!
//! The filter is rebuilt from the public parts of the product (the bit array, the positions), so that the product
//! needs no hook. Every effort sees coarse faults, and a full run sees subtle ones.

use super::{LOWER_HALF, Plain};
use crate::validate::constructors::{Constructor, ITEMS, RATE, constructor, filled};
use crate::validate::counts;
use crate::validate::keys::CaseHasher;
use crate::validate::membership::{grid_jobs, large_jobs};
use crate::validate::prelude::*;
use crate::validate::schedule::affordable;
use crate::validate::subject::{Design, Family, Observation, Prediction, Subject};
use core::hash::Hash;
use pds::BloomFilter;
use pds::bloom::{BitArray, BloomParams, DoubleHash};
use pds::hash::{DefaultHashBuilder, KeyHasher, finalize};

pub(super) const FAULTS: [Fault; 8] = [
    fault("fewer-hashes", "one position per key too few", &[FALSE_POSITIVES, SET_BITS], |run| {
        jobs(Wrong::FewerHashes, run)
    }),
    fault("biased-bit", "the top bit of a hash is set three times in four", &[LOWER_HALF], |run| {
        jobs(Wrong::BiasedBit, run)
    }),
    fault(
        "half-the-array",
        "all positions are in the lower half of the array",
        &[SET_BITS, LOWER_HALF],
        |run| jobs(Wrong::HalfTheArray, run),
    ),
    fault("dropped-key", "the first key of each filter is not stored", &[LOST_KEYS], |run| {
        jobs(Wrong::DroppedKey, run)
    }),
    fault(
        "higher-rate",
        "the false-positive rate is 3 % above that of the fill",
        &[FALSE_POSITIVES],
        |run| jobs(Wrong::HigherRate, run),
    )
    .subtle(),
    fault(
        "one-in-a-thousand",
        "one position in a thousand is in the lower half of the array",
        &[LOWER_HALF],
        |run| affordable(large_jobs(Faulty(Some(Wrong::OneInAThousand)), run)),
    )
    .subtle(),
    fault("bits-short", "a constructor takes 3 % of the bits too few", &[PROMISE], |run| {
        vec![bits_short(true).job(FAULTY, run.seed)]
    }),
    fault(
        "narrow-count",
        "standard errors of numbers of keys are nine tenths of what is stated",
        &[COVERAGE[0].1],
        |run| counts::jobs(Plain, run, NARROW),
    ),
];

fn jobs(wrong: Wrong, run: &Run) -> Vec<Job<'_>> {
    affordable(grid_jobs(Faulty(Some(wrong)), run))
}

/// A constructor that takes 3 % of the bits too few, or none.
fn bits_short(is_faulty: bool) -> Constructor {
    let bits = BloomParams::for_double_hashing(ITEMS, RATE).expect("sound").num_bits();
    let bits = if is_faulty { bits - bits * 3 / 100 } else { bits };
    let params = BloomParams::from_bits_and_hashes(bits, 7).expect("sound");
    constructor("new(1000, 0.01)", RATE, ITEMS, move |random, items| {
        let filter = BloomFilter::from_params(params, DefaultHashBuilder::default());
        filled(filter.expect("memory"), random, items)
    })
}

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
    type Filter = FaultyFilter;
    /// The design that the filter claims to have, and its rate at the design load.
    type Params = (BloomParams, f64);

    fn name(&self) -> &'static str {
        FAULTY
    }

    fn params(&self, design: &Design) -> Self::Params {
        let params = Plain.params(design);
        (params, params.rate_at(design.items))
    }

    fn build(&self, &(params, rate): &Self::Params, hasher: CaseHasher) -> FaultyFilter {
        let bits = BitArray::zeroed(params.num_bits()).expect("memory for the filter");
        FaultyFilter { fault: self.0, params, rate, bits, hasher, is_empty: true }
    }

    fn predict(&self, (params, _): &Self::Params, design: &Design, stored: u64) -> Prediction {
        Plain.predict(params, design, stored)
    }
}

/// A Bloom filter with a fault.
#[derive(Debug)]
pub(crate) struct FaultyFilter {
    fault: Option<Wrong>,
    /// The design that the filter claims to have.
    params: BloomParams,
    /// The rate at the design load.
    rate: f64,
    bits: BitArray,
    hasher: CaseHasher,
    is_empty: bool,
}

impl FaultyFilter {
    fn has(&self, fault: Wrong) -> bool {
        self.fault == Some(fault)
    }

    /// The positions of a key, faults included.
    fn positions<K: Hash>(&self, key: &K) -> impl Iterator<Item = u64> + use<K> {
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

impl Subject for FaultyFilter {
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
    fn the_promise_alone_finds_too_few_bits() {
        let broken = |is_faulty| broken(vec![bits_short(is_faulty).job(FAULTY, 1)]);
        assert_eq!(broken(false), []);
        assert_eq!(broken(true), [PROMISE]);
    }

    #[test]
    fn chances_are_as_stated() {
        let lucky = (0..100_000).filter(|&number| chance(number, 0.001)).count();
        assert!((60..=140).contains(&lucky), "{lucky} of 100,000 at one in a thousand");
    }
}
