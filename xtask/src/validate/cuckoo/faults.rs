//! A fault of cuckoo filters.

use crate::validate::effort::Effort;
use crate::validate::measure::LOST_KEYS;
use crate::validate::removal::{Removals, Removing, steps};
use crate::validate::structures::Fault;
use pds::CuckooFilter;

pub(super) const FAULTS: [Fault; 1] = [Fault {
    name: "drops-victim",
    effect: "an insert that fails loses another key",
    breaks: &[LOST_KEYS],
    effort: Effort::Quick,
    jobs: |run| {
        let removals = Removals { seed: run.seed, steps: steps(run.effort), keys: 400 };
        let shape = "100 buckets of 8 bits".to_owned();
        vec![removals.job("faulty cuckoo", shape, || DropsTheVictim::new(100, 8))]
    },
}];

/// Loses a resident key to every insert that fails. Filters do so that forget the key that they moved last.
#[derive(Debug)]
struct DropsTheVictim {
    filter: CuckooFilter,
    last: u64,
}

impl DropsTheVictim {
    fn new(buckets: u64, bits: u32) -> Self {
        Self { filter: super::build(buckets, bits), last: 0 }
    }
}

impl Removing for DropsTheVictim {
    fn insert(&mut self, key: u64) -> bool {
        if self.filter.insert(&key).is_err() {
            self.filter.remove(&self.last);
        }
        self.last = key;
        true
    }

    fn remove(&mut self, key: u64) -> bool {
        self.filter.remove(&key)
    }

    fn contains(&self, key: u64) -> bool {
        self.filter.contains(&key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_history_without_the_fault_loses_no_key() {
        let removals = Removals { seed: 1, steps: 100_000, keys: 400 };
        assert_eq!(removals.run(&mut super::super::build(100, 8), |_| ()), 0);
        assert!(removals.run(&mut DropsTheVictim::new(100, 8), |_| ()) > 100);
    }
}
