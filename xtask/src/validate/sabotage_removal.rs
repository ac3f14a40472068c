//! Filters that lose keys, as such filters do elsewhere.

use super::Run;
use super::removal::{self, History, Removing, history_job, steps};
use super::sabotage::Fault;
use super::schedule::Job;
use pds::bloom::DoubleHash;
use pds::{CuckooFilter, DefaultHashBuilder, KeyHasher};

/// A long history of the filter with this fault.
pub(crate) fn jobs(fault: Fault, run: &Run) -> Vec<Job<'_>> {
    let history = History { seed: run.seed, steps: steps(run.effort), keys: 400 };
    let job = match fault {
        Fault::DropsVictim => {
            history_job("sabotaged cuckoo", "100 buckets of 8 bits".to_owned(), history, || {
                DropsTheVictim::new(100, 8)
            })
        }
        _ => history_job("sabotaged counting", "m = 100, k = 3".to_owned(), history, || {
            LowersSaturated::new(100)
        }),
    };
    vec![job]
}

/// Loses a resident key to every insert that fails, as filters do that forget whom they moved last.
#[derive(Debug)]
pub(crate) struct DropsTheVictim {
    filter: CuckooFilter,
    last: u64,
}

impl DropsTheVictim {
    pub(crate) fn new(buckets: u64, bits: u32) -> Self {
        Self { filter: removal::cuckoo(buckets, bits), last: 0 }
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

/// Counters of 4 bits that are lowered although they stick.
#[derive(Debug)]
pub(crate) struct LowersSaturated(Vec<u8>);

impl LowersSaturated {
    pub(crate) fn new(counters: usize) -> Self {
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
