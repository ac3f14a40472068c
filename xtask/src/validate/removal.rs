//! Filters that forget keys: long histories of inserts and removals.
//!
//! A history is random, and the keys that are in are known. One of them is asked for after every step, and all of
//! them now and then. None may ever be denied, whatever failed, saturated or was removed before.

use super::effort::Effort;
use super::judge::Case;
use super::measure::LOST_KEYS;
use super::random::next;
use super::schedule::Job;
use crate::numbers::index;
use pds::traits::{Insert, Membership, Remove};
use pds_testkit::keys;

/// One step in so many inserts a key that is in already.
const COPIES: u64 = 8;
/// All keys are asked for after as many steps as this multiple of their number.
const ROUND: u64 = 16;

/// The ways of a filter under test. A stand-in with a fault has one that is wrong.
pub(crate) struct Ways<F> {
    /// Whether the key was taken.
    pub(crate) insert: fn(&mut F, u64) -> bool,
    /// Removes a copy of a key that is in. Whether the filter agreed.
    pub(crate) remove: fn(&mut F, u64) -> bool,
    pub(crate) contains: fn(&F, u64) -> bool,
}

impl<F: Insert + Remove + Membership> Ways<F> {
    /// Those of the filter itself, by keys.
    pub(crate) const OWN: Self = Self {
        insert: |filter, key| filter.insert(&key).is_ok(),
        remove: |filter, key| filter.remove(&key),
        contains: |filter, key| filter.contains(&key),
    };

    /// Those of the filter itself, by hashes.
    pub(crate) const BY_HASH: Self = Self {
        insert: |filter, hash| filter.insert_hash(hash).is_ok(),
        remove: |filter, hash| filter.remove_hash(hash),
        contains: |filter, hash| filter.contains_hash(hash),
    };
}

/// The parameters of a history.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Removals {
    pub(crate) seed: u64,
    pub(crate) steps: u64,
    /// Keys that the filter swings around.
    pub(crate) keys: u64,
}

impl Removals {
    /// Runs it. Returns how many times a key that was in was denied.
    ///
    /// Phases that mostly insert, to a quarter above the number of keys, alternate with phases that mostly remove, to
    /// half of it: a filter that can be full is so again and again.
    pub(crate) fn run<F>(&self, mut filter: F, ways: &Ways<F>) -> u64 {
        let denied = |filter: &F, present: &[u64]| {
            present.iter().filter(|&&key| !(ways.contains)(filter, key)).count() as u64
        };
        let mut random = keys::random(self.seed);
        let mut present = Vec::new();
        let (mut lost, mut growing) = (0, true);
        for step in 0..self.steps {
            let number = next(&mut random);
            let inserts = (number >> 60) < if growing { 11 } else { 5 };
            if inserts || present.is_empty() {
                let copy = number.is_multiple_of(COPIES) && !present.is_empty();
                let key = if copy { present[place(number >> 8, &present)] } else { number };
                let taken = (ways.insert)(&mut filter, key);
                growing &= taken && present.len() as u64 * 4 < 5 * self.keys;
                present.extend(taken.then_some(key));
            } else {
                let key = present.swap_remove(place(number >> 8, &present));
                lost += u64::from(!(ways.remove)(&mut filter, key));
                growing |= (present.len() as u64) < self.keys / 2;
            }
            if !present.is_empty() {
                let asked = present[place(number >> 16, &present)];
                lost += u64::from(!(ways.contains)(&filter, asked));
            }
            if step % (ROUND * self.keys) == 0 {
                lost += denied(&filter, &present);
            }
        }
        lost + denied(&filter, &present)
    }

    /// Returns the job that runs it on a filter, in a row of this structure and shape.
    pub(crate) fn job<'a, F: Insert + Remove + Membership + 'a>(
        self,
        structure: &'static str,
        shape: impl Into<String>,
        build: impl FnOnce() -> F + Send + 'a,
    ) -> Job<'a> {
        self.job_by(structure, shape, build, Ways::OWN)
    }

    /// The same for a filter with ways of its own.
    pub(crate) fn job_by<'a, F: 'a>(
        self,
        structure: &'static str,
        shape: impl Into<String>,
        build: impl FnOnce() -> F + Send + 'a,
        ways: Ways<F>,
    ) -> Job<'a> {
        let case = Case::random(structure, self.keys, 0.0, shape);
        Job::new(self.steps, move || vec![case.none(LOST_KEYS, self.run(build(), &ways))])
    }
}

/// A place in a slice that is not empty.
fn place(number: u64, present: &[u64]) -> usize {
    index(number % present.len() as u64)
}

/// The steps of a history: all of a run's together are 10^8 and more at full effort.
pub(crate) fn steps(effort: Effort) -> u64 {
    effort.choose([200_000, 1_000_000, 20_000_000])
}
