//! A fault of counting filters.

use crate::validate::prelude::*;
use crate::validate::removal::{Removals, Ways, steps};
use pds::bloom::DoubleHash;
use pds::hash::{DefaultHashBuilder, KeyHasher};

pub(super) const FAULTS: [Fault; 1] =
    [fault("decrements-saturated", "saturated counters are lowered", &[LOST_KEYS], |run| {
        let removals = Removals { seed: run.seed, steps: steps(run.effort), keys: 400 };
        vec![removals.job_by("faulty counting", "m = 100, k = 3", || [0; 100], LOWERS_SATURATED)]
    })];

/// Counters of 4 bits.
type Counters = [u8; 100];

/// Counters that are lowered although they are saturated.
const LOWERS_SATURATED: Ways<Counters> = Ways {
    insert: |counters, key| {
        positions(key).for_each(|position| counters[position] = (counters[position] + 1).min(15));
        true
    },
    remove: |counters, key| {
        let contained = (LOWERS_SATURATED.contains)(counters, key);
        let lower = |count: u8| count.saturating_sub(1);
        positions(key).for_each(|position| counters[position] = lower(counters[position]));
        contained
    },
    contains: |counters, key| positions(key).all(|position| counters[position] > 0),
};

/// The positions of a key, each once.
fn positions(key: u64) -> impl Iterator<Item = usize> {
    let mut probes = DoubleHash::new(DefaultHashBuilder::default().hash_key(&key));
    let mut positions = [(); 3].map(|()| index(probes.next_position(100)));
    positions.sort_unstable();
    let is_first = move |&at: &usize| at == 0 || positions[at - 1] != positions[at];
    (0..3).filter(is_first).map(move |at| positions[at])
}

#[cfg(test)]
mod tests {
    use super::*;
    use pds::CountingBloomFilter;

    #[test]
    fn the_same_history_without_the_fault_loses_no_key() {
        let removals = Removals { seed: 1, steps: 100_000, keys: 400 };
        let filter = CountingBloomFilter::builder().counters(100).hashes(3).build();
        assert_eq!(removals.run(filter.expect("sound parameters"), &Ways::OWN), 0);
        assert!(removals.run([0; 100], &LOWERS_SATURATED) > 100);
    }
}
