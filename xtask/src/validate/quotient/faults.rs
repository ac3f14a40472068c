//! Faults of quotient filters.

use super::counts::{Counting, TOO_LOW, counts_of};
use super::{CROWD, CROWDED, Crowded, SLOTS, build, growing, rate};
use crate::validate::effort::Effort;
use crate::validate::fingerprints::Hashed;
use crate::validate::measure::{FALSE_POSITIVES, LOST_KEYS};
use crate::validate::removal::{Removals, Removing, steps};
use crate::validate::structures::Fault;
use pds::hash::KeyHasher;
use pds::{CountingQuotientFilter, QuotientFilter};

pub(super) const FAULTS: [Fault; 5] = [
    Fault {
        name: "drops-a-bit",
        effect: "doubling drops the bit of a remainder that it should move",
        breaks: &[FALSE_POSITIVES],
        effort: Effort::Quick,
        jobs: |run| {
            let note = "64000 items in a filter that grows".to_owned();
            let mean = growing().params().rate_at(64_000);
            vec![rate(run, DropsABit(growing()), (64_000, mean), note)]
        },
    },
    Fault {
        name: "ignores-overflow",
        effect: "slots behind the last quotient are not searched",
        breaks: &[LOST_KEYS],
        effort: Effort::Quick,
        jobs: |run| {
            let removals = Removals { seed: run.seed, steps: steps(run.effort), keys: 256 };
            let shape = "256 slots of 8 bits".to_owned();
            vec![removals.job("faulty quotient", shape, || IgnoresOverflow(build(256, 8)))]
        },
    },
    Fault {
        name: "joins-runs",
        effect: "some removals lose the first key of the next run",
        breaks: &[LOST_KEYS],
        effort: Effort::Quick,
        jobs: |run| {
            let removals = Removals { seed: run.seed, steps: steps(run.effort), keys: 256 };
            let shape = "256 slots of 8 bits".to_owned();
            vec![removals.job("faulty quotient", shape, || JoinsRuns(build(256, 8)))]
        },
    },
    Fault {
        name: "offset-saturated",
        effect: "an offset of 255 is taken for itself, not for 255 or more",
        breaks: &[LOST_KEYS],
        effort: Effort::Quick,
        jobs: |run| {
            let removals = Removals { seed: run.seed, steps: steps(run.effort), keys: CROWD };
            let filter = || TrustsOffsets(Crowded(build(1_024, 8)));
            vec![removals.job("faulty quotient", CROWDED.to_owned(), filter)]
        },
    },
    Fault {
        name: "drops-a-digit",
        effect: "counts lose all digits but the first",
        breaks: &[TOO_LOW],
        effort: Effort::Quick,
        jobs: |run| {
            let build = || DropsADigit(build_counting());
            vec![counts_of(run, DIGIT, 90_000, build)]
        },
    },
];

/// Bits of a digit of the filter that loses some.
const DIGIT: u32 = 4;

fn build_counting() -> CountingQuotientFilter {
    let builder = CountingQuotientFilter::builder().slots(2 * SLOTS).remainder_bits(DIGIT);
    builder.build().expect("a shape of the list")
}

/// Counts that are known in their first digit only.
struct DropsADigit(CountingQuotientFilter);

impl Counting for DropsADigit {
    fn add(&mut self, hash: u64, times: u64) {
        self.0.add(hash, times);
    }

    fn take_away(&mut self, hash: u64, times: u64) {
        self.0.take_away(hash, times);
    }

    fn count(&self, hash: u64) -> u64 {
        match self.0.count_hash(hash) {
            0 => 0,
            count => 1 + (count - 1) % (1 << DIGIT),
        }
    }
}

/// Finds no key of a block that begins more than 255 slots into the runs of earlier ones.
#[derive(Debug)]
struct TrustsOffsets(Crowded);

impl Removing for TrustsOffsets {
    fn insert(&mut self, key: u64) -> bool {
        self.0.insert(key)
    }

    fn remove(&mut self, key: u64) -> bool {
        self.0.remove(key)
    }

    fn contains(&self, key: u64) -> bool {
        let filter = &self.0.0;
        let first = pds::hash::reduce(self.0.hash(key), filter.num_slots()) / 64 * 64;
        let earlier = filter.fingerprints().take_while(|&(quotient, _)| quotient < first);
        let end = earlier.fold(0, |end: u64, (quotient, _)| end.max(quotient) + 1);
        end <= first + 255 && self.0.contains(key)
    }
}

/// Fingerprints without their last bit.
struct DropsABit(QuotientFilter);

impl DropsABit {
    /// Clears the last bit of the fingerprint, by clearing the bits of the hash from about its place on.
    fn without(&self, hash: u64) -> u64 {
        let bits = self.0.num_slots().ilog2() + self.0.remainder_bits();
        hash & !(u64::MAX >> (bits - 1))
    }
}

impl Hashed for DropsABit {
    fn take(&mut self, hash: u64) -> bool {
        self.0.take(self.without(hash))
    }

    fn has(&self, hash: u64) -> bool {
        self.0.has(self.without(hash))
    }
}

/// Finds no key of the last two quotients.
#[derive(Debug)]
struct IgnoresOverflow(QuotientFilter);

impl Removing for IgnoresOverflow {
    fn insert(&mut self, key: u64) -> bool {
        self.0.insert(&key).is_ok()
    }

    fn remove(&mut self, key: u64) -> bool {
        self.0.remove(&key)
    }

    fn contains(&self, key: u64) -> bool {
        let quotient = pds::hash::reduce(self.0.hash_key(&key), self.0.num_slots());
        quotient + 2 < self.0.num_slots() && self.0.contains(&key)
    }
}

/// Loses a key of the next quotient to a removal, every hundredth time.
#[derive(Debug)]
struct JoinsRuns(QuotientFilter);

impl Removing for JoinsRuns {
    fn insert(&mut self, key: u64) -> bool {
        self.0.insert(&key).is_ok()
    }

    fn remove(&mut self, key: u64) -> bool {
        let (slots, bits) = (self.0.num_slots(), self.0.remainder_bits());
        let quotient = pds::hash::reduce(self.0.hash_key(&key), slots);
        let removed = self.0.remove(&key);
        let mut all = self.0.fingerprints();
        let next = all.find(|&(next, _)| next == quotient + 1);
        drop(all);
        if let Some((quotient, remainder)) = next.filter(|_| key.is_multiple_of(100)) {
            // The least hash of this fingerprint in 256 slots.
            self.0.remove_hash((quotient << bits | remainder) << (64 - slots.ilog2() - bits));
        }
        removed
    }

    fn contains(&self, key: u64) -> bool {
        self.0.contains(&key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_history_without_the_fault_loses_no_key() {
        let removals = Removals { seed: 1, steps: 100_000, keys: 256 };
        assert_eq!(removals.run(&mut build(256, 8), |_| ()), 0);
        assert!(removals.run(&mut IgnoresOverflow(build(256, 8)), |_| ()) > 100);
        assert!(removals.run(&mut JoinsRuns(build(256, 8)), |_| ()) > 100);
        let removals = Removals { keys: CROWD, ..removals };
        assert_eq!(removals.run(&mut Crowded(build(1_024, 8)), |_| ()), 0);
        assert!(removals.run(&mut TrustsOffsets(Crowded(build(1_024, 8))), |_| ()) > 100);
    }
}
