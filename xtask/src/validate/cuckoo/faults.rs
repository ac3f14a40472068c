//! A fault of cuckoo filters.

use super::build;
use crate::validate::prelude::*;
use crate::validate::removal::{Removals, Ways, steps};
use pds::CuckooFilter;

pub(super) const FAULTS: [Fault; 1] =
    [fault("drops-victim", "an insert that fails loses another key", &[LOST_KEYS], |run| {
        let removals = Removals { seed: run.seed, steps: steps(run.effort), keys: 400 };
        let build = || (build(100, 8), 0);
        vec![removals.job_by("faulty cuckoo", "100 buckets of 8 bits", build, DROPS_VICTIM)]
    })];

/// Loses a resident key, the last one, to every insert that fails. Filters do so that forget the key that they moved last.
const DROPS_VICTIM: Ways<(CuckooFilter, u64)> = Ways {
    insert: |(filter, last), key| {
        if filter.insert(&key).is_err() {
            filter.remove(last);
        }
        *last = key;
        true
    },
    remove: |(filter, _), key| filter.remove(&key),
    contains: |(filter, _), key| filter.contains(&key),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_history_without_the_fault_loses_no_key() {
        let removals = Removals { seed: 1, steps: 100_000, keys: 400 };
        assert_eq!(removals.run(build(100, 8), &Ways::OWN), 0);
        assert!(removals.run((build(100, 8), 0), &DROPS_VICTIM) > 100);
    }
}
