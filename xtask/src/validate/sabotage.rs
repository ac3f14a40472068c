//! Structures with a fault put in, first of all a Bloom filter: a validator that cannot fail is worthless.
//!
//! The filter is rebuilt from the public parts of the product (the bit array, the positions), so that the product
//! needs no hook. Coarse faults are to be seen at every effort, subtle ones in a full run.

use super::Run;
use super::bloom;
use super::cardinality;
use super::constructors;
use super::counts;
use super::coverage::NARROW;
use super::identity;
use super::proofs;
use super::sabotage_blocked::FaultyBlocked;
use super::sabotage_frequency;
use super::sabotage_removal;
use super::schedule::Job;
use super::structures;
use super::subject::{Design, Family, Interval, Observation, Prediction, Subject};
use clap::ValueEnum;
use core::hash::Hash;
use pds::KeyHasher;
use pds::bloom::{BitArray, BloomParams, DoubleHash};
use pds::hash::finalize;

/// Tells the faults' own decisions about a key from the filter's.
const OTHER: u64 = 0x6a09_e667_f3bc_c909;
/// The most operations of a case that is run on a sabotaged filter. A fault shows in many cases, the subtle ones in those
/// of 10^8 bits or of a rate of one per cent; the longest, for the rarest events, would take an hour and add nothing.
const LONGEST_CASE: u64 = 110_000_000;

/// What is wrong with the filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Fault {
    /// One position a key too few
    FewerHashes,
    /// A hash that has its top bit set three times in four
    BiasedBit,
    /// Positions in the lower half of the array only
    HalfTheArray,
    /// The first key of each filter is not stored
    DroppedKey,
    /// A rate of false positives 3 % above that of the fill (seen with --full)
    HigherRate,
    /// One position in a thousand goes to the lower half of the array (seen with --full)
    OneInAThousand,
    /// A blocked filter whose keys have no position in the last lane
    LaneLeftOut,
    /// A blocked filter whose positions come from the bits that choose the block
    CorrelatedLanes,
    /// A cuckoo filter that loses a key to every insert that fails
    DropsVictim,
    /// A counting filter that lowers counters although they stick
    DecrementsSaturated,
    /// A HyperLogLog whose ranks are all one too high
    RankOffByOne,
    /// A HyperLogLog that loses the last key before it becomes dense
    LostOnPromotion,
    /// A HyperLogLog that answers what it has answered before
    StaleEstimate,
    /// A HyperLogLog whose estimates are one per cent too high
    WrongConstant,
    /// Intervals of cardinality sketches, nine tenths as wide as they are stated
    NarrowInterval,
    /// An UltraLogLog that takes on the lower precision of an empty one
    EmptyLowersPrecision,
    /// An UltraLogLog whose intervals begin at half of the lower end
    LowEnd,
    /// A constructor of Bloom filters that takes 3 % of the bits too few
    BitsShort,
    /// Standard errors of a Bloom filter's numbers of keys, nine tenths of what is stated
    NarrowCount,
    /// A count-min sketch whose second row has the columns of the first
    RowTwice,
    /// A count-min sketch whose second row shares the hash of the first: its column is the next one
    SharedHash,
    /// A count-min sketch whose counters of 16 bits wrap
    WrappingCounter,
}

impl Fault {
    /// The name on the command line.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().expect("no fault is hidden").get_name().to_owned()
    }

    /// The structure whose fault it is.
    pub(crate) const fn structure(self) -> &'static str {
        match self {
            Self::LaneLeftOut | Self::CorrelatedLanes => "blocked",
            Self::DropsVictim => "cuckoo",
            Self::DecrementsSaturated => "counting",
            Self::RankOffByOne
            | Self::LostOnPromotion
            | Self::StaleEstimate
            | Self::WrongConstant
            | Self::NarrowInterval
            | Self::EmptyLowersPrecision
            | Self::LowEnd => "hll",
            Self::RowTwice | Self::SharedHash | Self::WrappingCounter => "cms",
            _ => "bloom",
        }
    }

    /// The jobs that validate a filter with this fault.
    pub(crate) fn jobs(self, run: &Run) -> Vec<Job<'_>> {
        match self {
            Self::LaneLeftOut | Self::CorrelatedLanes => {
                affordable(structures::cheap_jobs(FaultyBlocked(Some(self)), run))
            }
            Self::DropsVictim | Self::DecrementsSaturated => sabotage_removal::jobs(self, run),
            Self::RankOffByOne
            | Self::LostOnPromotion
            | Self::StaleEstimate
            | Self::WrongConstant => cardinality::sabotage::jobs(self, run),
            Self::RowTwice | Self::SharedHash | Self::WrappingCounter => {
                sabotage_frequency::jobs(self, run)
            }
            Self::NarrowInterval => cardinality::interval_jobs(run, NARROW),
            Self::EmptyLowersPrecision => identity::fault_jobs(self, run),
            Self::LowEnd => proofs::fault_jobs(run),
            Self::BitsShort => constructors::fault_jobs(self, run),
            Self::NarrowCount => counts::bloom_jobs(run, NARROW),
            _ => affordable(structures::membership_jobs(Faulty(Some(self)), run)),
        }
    }
}

fn affordable(mut jobs: Vec<Job<'_>>) -> Vec<Job<'_>> {
    jobs.retain(|job| job.cost <= LONGEST_CASE);
    jobs
}

/// Builds filters with a fault, or without one to see that nothing but the fault is found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Faulty(pub(crate) Option<Fault>);

impl Family for Faulty {
    type Filter<S: KeyHasher + Clone> = FaultyFilter<S>;

    fn name(&self) -> &'static str {
        "sabotaged bloom"
    }

    fn build<S: KeyHasher + Clone>(&self, design: &Design, hasher: S) -> FaultyFilter<S> {
        let params = bloom::params(design);
        let bits = BitArray::zeroed(params.num_bits()).expect("memory for the filter");
        let rate = params.rate_at(design.items);
        FaultyFilter { fault: self.0, params, rate, bits, hasher, is_empty: true }
    }

    fn predict(&self, design: &Design, stored: u64) -> Prediction {
        bloom::predict(&bloom::params(design), design, stored)
    }
}

/// A Bloom filter with a fault.
#[derive(Debug)]
pub(crate) struct FaultyFilter<S> {
    fault: Option<Fault>,
    /// What the filter claims to be.
    params: BloomParams,
    /// The rate at the design load.
    rate: f64,
    bits: BitArray,
    hasher: S,
    is_empty: bool,
}

impl<S: KeyHasher> FaultyFilter<S> {
    fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    /// The positions of a key, faults included.
    fn positions<K: Hash>(&self, key: &K) -> impl Iterator<Item = u64> + use<S, K> {
        let hash = self.bias(self.hasher.hash_key(key));
        let (bits, fault) = (self.params.num_bits(), self.fault);
        let count = self.params.num_hashes() - u32::from(self.has(Fault::FewerHashes));
        let mut probes = DoubleHash::new(hash);
        (0..count.max(1)).map(move |index| {
            let position = probes.next_position(bits);
            let to_lower_half = match fault {
                Some(Fault::HalfTheArray) => true,
                Some(Fault::OneInAThousand) => chance(hash ^ u64::from(index), 0.001),
                _ => false,
            };
            if to_lower_half { position / 2 } else { position }
        })
    }

    /// Sets the top bit of every other hash.
    fn bias(&self, hash: u64) -> u64 {
        if self.has(Fault::BiasedBit) && chance(hash, 0.5) { hash | 1 << 63 } else { hash }
    }
}

impl<S: KeyHasher + Clone> Subject for FaultyFilter<S> {
    fn insert<K: Hash>(&mut self, key: &K) {
        let is_first = core::mem::take(&mut self.is_empty);
        if is_first && self.has(Fault::DroppedKey) {
            return;
        }
        for position in self.positions(key) {
            self.bits.set(position);
        }
    }

    fn contains<K: Hash>(&self, key: &K) -> bool {
        let is_unlucky =
            || self.has(Fault::HigherRate) && chance(self.hasher.hash_key(key), 0.03 * self.rate);
        self.positions(key).all(|position| self.bits.get(position)) || is_unlucky()
    }

    fn contains_batch<K: Hash>(&self, keys: &[K], answers: &mut [bool]) {
        keys.iter().zip(answers).for_each(|(key, answer)| *answer = self.contains(key));
    }

    fn rate_now(&self, stored: u64) -> Interval {
        bloom::rate_now(self.bits.count_ones(), &self.params, stored)
    }

    fn fill(&self, stored: u64) -> Observation {
        bloom::fill(self.bits.count_ones(), &self.params, stored)
    }

    fn spread(&self) -> Vec<Observation> {
        bloom::spread(self.bits.words(), self.params.num_bits())
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

    #[test]
    fn chances_are_as_stated() {
        let lucky = (0..100_000).filter(|&number| chance(number, 0.001)).count();
        assert!((60..=140).contains(&lucky), "{lucky} of 100,000 at one in a thousand");
    }
}
