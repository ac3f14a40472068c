//! Filters that forget keys: long histories of inserts and removals.
//!
//! A history is random, and the keys that are in are known. One of them is asked for after every step, and all of
//! them now and then. None may ever be denied, whatever failed, saturated or was removed before.

use super::effort::Effort;
use super::judge::Case;
use super::measure::LOST_KEYS;
use super::schedule::{Job, Progress};
use core::fmt::Debug;
use pds::traits::{Insert, Membership, Remove};
use pds_testkit::keys;

/// One step in so many inserts a key that is in already.
const COPIES: u64 = 8;
/// All keys are asked for after as many steps as this multiple of their number.
const ROUND: u64 = 16;

/// A filter under a history.
pub(crate) trait Removing: Debug {
    /// Whether the key was taken.
    fn insert(&mut self, key: u64) -> bool;

    /// Removes a copy of a key that is in. Whether the filter agreed.
    fn remove(&mut self, key: u64) -> bool;

    fn contains(&self, key: u64) -> bool;
}

impl<F: Insert + Remove + Membership + Debug> Removing for F {
    fn insert(&mut self, key: u64) -> bool {
        Insert::insert(self, &key).is_ok()
    }

    fn remove(&mut self, key: u64) -> bool {
        Remove::remove(self, &key)
    }

    fn contains(&self, key: u64) -> bool {
        Membership::contains(self, &key)
    }
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
    pub(crate) fn run(&self, filter: &mut impl Removing, mut advance: impl FnMut(u64)) -> u64 {
        let mut random = keys::random(self.seed);
        let mut present = Vec::new();
        let (mut lost, mut growing) = (0, true);
        for step in 0..self.steps {
            let number = random.next().expect("the stream is endless");
            let inserts = (number >> 60) < if growing { 11 } else { 5 };
            if inserts || present.is_empty() {
                let copy = number.is_multiple_of(COPIES) && !present.is_empty();
                let key = if copy { present[index(number >> 8, &present)] } else { number };
                let taken = filter.insert(key);
                growing &= taken && present.len() as u64 * 4 < 5 * self.keys;
                present.extend(taken.then_some(key));
            } else {
                let key = present.swap_remove(index(number >> 8, &present));
                lost += u64::from(!filter.remove(key));
                growing |= (present.len() as u64) < self.keys / 2;
            }
            if !present.is_empty() {
                lost += u64::from(!filter.contains(present[index(number >> 16, &present)]));
            }
            if step % (ROUND * self.keys) == 0 {
                lost += denied(filter, &present);
                advance(ROUND * self.keys);
            }
        }
        lost + denied(filter, &present)
    }

    /// Returns the job that runs it on a filter, in a row of this structure and shape.
    pub(crate) fn job<'a, F: Removing>(
        self,
        structure: &'static str,
        shape: String,
        build: impl FnOnce() -> F + Send + 'a,
    ) -> Job<'a> {
        let run = move |progress: &Progress| {
            let lost = self.run(&mut build(), |steps| progress.advance(steps));
            vec![Case::random(structure, self.keys, 0.0, shape).none(LOST_KEYS, lost)]
        };
        Job { cost: self.steps, run: Box::new(run) }
    }
}

fn denied(filter: &impl Removing, present: &[u64]) -> u64 {
    present.iter().filter(|&&key| !filter.contains(key)).count() as u64
}

/// An index of a slice that is not empty.
fn index(number: u64, present: &[u64]) -> usize {
    usize::try_from(number % present.len() as u64).expect("less than the length")
}

/// The steps of a history: all of a run's together are 10^8 and more at full effort.
pub(crate) fn steps(effort: Effort) -> u64 {
    effort.choose([200_000, 1_000_000, 20_000_000])
}
