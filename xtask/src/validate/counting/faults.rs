//! A fault of counting filters.

use crate::validate::effort::Effort;
use crate::validate::measure::LOST_KEYS;
use crate::validate::removal::{Removals, Removing, steps};
use crate::validate::structures::Fault;
use pds::bloom::DoubleHash;
use pds::hash::{DefaultHashBuilder, KeyHasher};

pub(super) const FAULTS: [Fault; 1] = [Fault {
    name: "decrements-saturated",
    effect: "saturated counters are lowered",
    breaks: &[LOST_KEYS],
    effort: Effort::Quick,
    jobs: |run| {
        let removals = Removals { seed: run.seed, steps: steps(run.effort), keys: 400 };
        let shape = "m = 100, k = 3".to_owned();
        vec![removals.job("faulty counting", shape, || LowersSaturated::new(100))]
    },
}];

/// Counters of 4 bits that are lowered although they are saturated.
#[derive(Debug)]
struct LowersSaturated(Vec<u8>);

impl LowersSaturated {
    fn new(counters: usize) -> Self {
        Self(vec![0; counters])
    }

    fn counters(&mut self, key: u64, change: impl Fn(u8) -> u8) {
        let mut positions = self.positions(key);
        positions.sort_unstable();
        positions.dedup();
        positions.into_iter().for_each(|position| self.0[position] = change(self.0[position]));
    }

    fn positions(&self, key: u64) -> Vec<usize> {
        let mut probes = DoubleHash::new(DefaultHashBuilder::default().hash_key(&key));
        let position = |_| usize::try_from(probes.next_position(self.0.len() as u64));
        (0..3).map(position).map(|position| position.expect("a position in memory")).collect()
    }
}

impl Removing for LowersSaturated {
    fn insert(&mut self, key: u64) -> bool {
        self.counters(key, |count| (count + 1).min(15));
        true
    }

    fn remove(&mut self, key: u64) -> bool {
        let contained = self.contains(key);
        self.counters(key, |count| count.saturating_sub(1));
        contained
    }

    fn contains(&self, key: u64) -> bool {
        self.positions(key).into_iter().all(|position| self.0[position] > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pds::CountingBloomFilter;

    #[test]
    fn the_same_history_without_the_fault_loses_no_key() {
        let removals = Removals { seed: 1, steps: 100_000, keys: 400 };
        let filter = CountingBloomFilter::builder().counters(100).hashes(3).build();
        assert_eq!(removals.run(&mut filter.expect("sound parameters"), |_| ()), 0);
        assert!(removals.run(&mut LowersSaturated::new(100), |_| ()) > 100);
    }
}
