//! A cuckoo filter for a set without a bound: when the filter is full, rebuild it at twice the size.
//!
//! ```text
//! cargo run --release -p cuckoo --example rebuild
//! ```
//!
//! A filter cannot grow by itself, because it does not keep the keys; the exact store behind it does. A list of filters
//! does not help when keys are removed: a filter that answers *yes* by mistake then gives up a fingerprint of another key.

use core::error::Error;
use std::collections::HashSet;

use cuckoo::CuckooFilter;
use cuckoo::error::BuildError;
use pds_core::hash::reduce;
use pds_testkit::keys;

const RATE: f64 = 0.01;
const FIRST_SIZE: u64 = 1_000;
const INSERTS: usize = 400_000;
const MOST_LIVE: usize = 60_000;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    pds_testkit::pipe::end_quietly();
    let mut sessions = Sessions::new(FIRST_SIZE)?;
    let mut live = Vec::new();
    let mut random = keys::random(39);
    let mut one_of = |live: &[u64]| {
        let index = reduce(random.next().expect("endless"), live.len() as u64);
        usize::try_from(index).expect("below the length")
    };
    for (step, key) in (0..INSERTS).zip(keys::random(40)) {
        assert!(sessions.open(key)?, "the keys are distinct");
        live.push(key);
        // Four in five inserts are followed by a removal; once the set is large, all of them are.
        if step % 5 != 0 || live.len() > MOST_LIVE {
            let closed = live.swap_remove(one_of(&live));
            assert!(sessions.close(closed), "every open session can be closed");
        }
        if !live.is_empty() {
            assert!(sessions.is_open(live[one_of(&live)]), "an open session is never denied");
        }
    }
    assert_eq!(live.len(), MOST_LIVE);
    assert!(live.iter().all(|&key| sessions.is_open(key)), "no live key is lost");
    sessions.report()
}

/// Open sessions: an exact store, which is slow and far away, and a filter in front of it.
struct Sessions {
    store: HashSet<u64>,
    filter: CuckooFilter,
    rebuilds: u32,
}

impl Sessions {
    fn new(expected: u64) -> Result<Self, BuildError> {
        let filter = CuckooFilter::new(expected, RATE)?;
        Ok(Self { store: HashSet::new(), filter, rebuilds: 0 })
    }

    fn is_open(&self, key: u64) -> bool {
        self.filter.contains(&key) && self.store.contains(&key)
    }

    /// Opens a session. Returns `false` when it is open already: a key stands in the filter once.
    fn open(&mut self, key: u64) -> Result<bool, BuildError> {
        if self.is_open(key) {
            return Ok(false);
        }
        // The filter comes first: a key that only the filter has costs a question, one that only the store has is lost.
        if self.filter.insert(&key).is_err() {
            self.filter = self.rebuilt_with(key)?;
            self.rebuilds += 1;
        }
        Ok(self.store.insert(key))
    }

    /// Closes a session. Only a key that the store had is removed from the filter.
    fn close(&mut self, key: u64) -> bool {
        self.store.remove(&key) && self.filter.remove(&key)
    }

    /// Returns a filter for at least twice as many keys, with those of the store and a new one.
    fn rebuilt_with(&self, key: u64) -> Result<CuckooFilter, BuildError> {
        let mut expected = self.filter.expected_items().expect("built for a number of keys");
        loop {
            expected *= 2;
            let mut filter = CuckooFilter::new(expected, RATE)?;
            let mut keys = self.store.iter().chain([&key]);
            // One filter in a million is full although its keys are no more than expected: the next one is larger.
            if keys.all(|key| filter.insert(key).is_ok()) {
                return Ok(filter);
            }
        }
    }

    fn report(&self) -> Result<(), Box<dyn Error>> {
        let absent = keys::random(41).take(100_000);
        let wrong = absent.filter(|key| self.filter.contains(key)).count();
        println!(
            "{INSERTS} inserts, {} live keys, none lost; {} rebuilds from {FIRST_SIZE} keys up to {}.",
            self.store.len(),
            self.rebuilds,
            self.filter.expected_items().unwrap_or(0),
        );
        println!("{wrong} of 100000 absent keys pass: {:.2} %.", wrong as f64 / 1_000.0);
        assert!(self.rebuilds >= 6, "from 1,000 to 60,000 keys the filter was full six times");
        assert!(wrong < 1_100, "at most 1 %: three standard deviations are 95 keys");
        Ok(())
    }
}
