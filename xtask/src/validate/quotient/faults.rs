//! Faults of quotient filters.

use super::counts::{TOO_LOW, counted};
use super::{BY_FEW_QUOTIENTS, CROWDED, build, crowd, crowded, grown};
use crate::validate::prelude::*;
use crate::validate::removal::{Removals, Ways, steps};
use pds::QuotientFilter;
use pds::hash::{KeyHasher, reduce};

pub(super) const FAULTS: [Fault; 5] = [
    fault(
        "drops-a-bit",
        "doubling drops the bit of a remainder that it should move",
        &[FALSE_POSITIVES],
        |run| vec![grown(run, 64_000, DROPS_A_BIT)],
    ),
    fault(
        "ignores-overflow",
        "slots behind the last quotient are not searched",
        &[LOST_KEYS],
        |run| history(run, IGNORES_OVERFLOW),
    ),
    fault("joins-runs", "some removals lose the first key of the next run", &[LOST_KEYS], |run| {
        history(run, JOINS_RUNS)
    }),
    fault(
        "offset-saturated",
        "an offset of 255 is taken for itself, not for 255 or more",
        &[LOST_KEYS],
        |run| vec![crowd(run).job_by(FAULTY, CROWDED, || build(1_024, 8), TRUSTS_OFFSETS)],
    ),
    fault("drops-a-digit", "counts lose all digits but the first", &[TOO_LOW], |run| {
        vec![counted(run, DIGIT, 90_000, |filter, hash| match filter.count_hash(hash) {
            0 => 0,
            count => 1 + (count - 1) % (1 << DIGIT),
        })]
    }),
];

/// The name of the filter with a fault in the rows.
const FAULTY: &str = "faulty quotient";
/// Bits of a digit of the filter that loses some.
const DIGIT: u32 = 4;

fn history(run: &Run, ways: Ways<QuotientFilter>) -> Vec<Job<'_>> {
    let removals = Removals { seed: run.seed, steps: steps(run.effort), keys: 256 };
    vec![removals.job_by(FAULTY, "256 slots of 8 bits", || build(256, 8), ways)]
}

/// Finds no key of a block that begins more than 255 slots into the runs of earlier ones.
const TRUSTS_OFFSETS: Ways<QuotientFilter> = Ways {
    contains: |filter, key| {
        let first = reduce(crowded(filter, key), filter.num_slots()) / 64 * 64;
        let earlier = filter.fingerprints().take_while(|&(quotient, _)| quotient < first);
        let end = earlier.fold(0, |end: u64, (quotient, _)| end.max(quotient) + 1);
        end <= first + 255 && (BY_FEW_QUOTIENTS.contains)(filter, key)
    },
    ..BY_FEW_QUOTIENTS
};

/// Fingerprints without their last bit.
const DROPS_A_BIT: Ways<QuotientFilter> = Ways {
    insert: |filter, hash| filter.insert_hash(without_a_bit(filter, hash)).is_ok(),
    contains: |filter, hash| filter.contains_hash(without_a_bit(filter, hash)),
    ..Ways::BY_HASH
};

/// Clears the last bit of the fingerprint, by clearing the bits of the hash from about its place on.
fn without_a_bit(filter: &QuotientFilter, hash: u64) -> u64 {
    let bits = filter.num_slots().ilog2() + filter.remainder_bits();
    hash & !(u64::MAX >> (bits - 1))
}

/// Finds no key of the last two quotients.
const IGNORES_OVERFLOW: Ways<QuotientFilter> = Ways {
    contains: |filter, key| {
        let quotient = reduce(filter.hash_key(&key), filter.num_slots());
        quotient + 2 < filter.num_slots() && filter.contains(&key)
    },
    ..Ways::OWN
};

/// Loses a key of the next quotient to a removal, every hundredth time.
const JOINS_RUNS: Ways<QuotientFilter> = Ways {
    remove: |filter, key| {
        let (slots, bits) = (filter.num_slots(), filter.remainder_bits());
        let quotient = reduce(filter.hash_key(&key), slots);
        let removed = filter.remove(&key);
        let next = filter.fingerprints().find(|&(next, _)| next == quotient + 1);
        if let Some((quotient, remainder)) = next.filter(|_| key.is_multiple_of(100)) {
            // The least hash of this fingerprint in 256 slots.
            filter.remove_hash((quotient << bits | remainder) << (64 - slots.ilog2() - bits));
        }
        removed
    },
    ..Ways::OWN
};

#[cfg(test)]
mod tests {
    use super::super::CROWD;
    use super::*;

    #[test]
    fn the_same_history_without_the_fault_loses_no_key() {
        let removals = Removals { seed: 1, steps: 100_000, keys: 256 };
        assert_eq!(removals.run(build(256, 8), &Ways::OWN), 0);
        assert!(removals.run(build(256, 8), &IGNORES_OVERFLOW) > 100);
        assert!(removals.run(build(256, 8), &JOINS_RUNS) > 100);
        let removals = Removals { keys: CROWD, ..removals };
        assert_eq!(removals.run(build(1_024, 8), &BY_FEW_QUOTIENTS), 0);
        assert!(removals.run(build(1_024, 8), &TRUSTS_OFFSETS) > 100);
    }
}
