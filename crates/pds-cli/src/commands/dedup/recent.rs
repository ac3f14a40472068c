//! The keys of the last time, by their hashes.

use std::collections::HashMap;

/// When each key came last, for the keys that came within a time of the record that is read.
///
/// Keys are taken for one another only if all 64 bits of their hashes agree. A filter would take a third of the memory, but its
/// rate holds only while keys come evenly, and those of logs come in bursts.
#[derive(Debug)]
pub(super) struct Recent {
    /// By the hash of a key.
    last: HashMap<u64, u64>,
    window: u64,
    most: usize,
    /// At so many keys the old ones are removed.
    sweep_at: usize,
    latest: u64,
    /// Records that came behind those of a later time, by more than the window.
    late: u64,
}

/// There are more keys within the window than there may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooMany;

const FIRST_SWEEP: usize = 1 << 10;

impl Recent {
    pub(super) fn new(window: u64, most: u64) -> Self {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let sweep_at = FIRST_SWEEP.min(most);
        Self { last: HashMap::new(), window, most, sweep_at, latest: 0, late: 0 }
    }

    /// Inserts a key. Returns whether it is new: none like it came before, less than the window from `time`.
    ///
    /// # Errors
    /// If there are too many keys. Nothing is inserted then.
    pub(super) fn insert(&mut self, hash: u64, time: u64) -> Result<bool, TooMany> {
        self.latest = self.latest.max(time);
        self.late += u64::from(self.latest - time >= self.window);
        if let Some(last) = self.last.get_mut(&hash) {
            let is_near = last.abs_diff(time) < self.window;
            *last = if is_near { time.max(*last) } else { time };
            return Ok(!is_near);
        }
        if self.last.len() >= self.sweep_at {
            self.sweep(time)?;
        }
        self.last.insert(hash, time);
        Ok(true)
    }

    /// Removes the keys that are not near a time.
    #[cold]
    fn sweep(&mut self, time: u64) -> Result<(), TooMany> {
        self.last.retain(|_, last| last.abs_diff(time) < self.window);
        let kept = self.last.len();
        if kept >= self.most {
            return Err(TooMany);
        }
        // At least a quarter more, so that a sweep costs each key little.
        self.sweep_at = FIRST_SWEEP.max(2 * kept).min(self.most.max(kept + kept / 4 + 1));
        Ok(())
    }

    /// Records that came behind those of a later time, by the window or more.
    pub(super) const fn late(&self) -> u64 {
        self.late
    }

    /// Bytes of memory: a hash, a time and a byte in each place of a table of which at most 7 of 8 are used.
    pub(super) fn size_in_bytes(&self) -> u64 {
        (self.last.capacity() as u64).div_ceil(7) * 8 * 17
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against a search through all records that came before.
    #[test]
    fn keys_are_new_if_none_was_near() {
        let mut recent = Recent::new(1_000, 100_000);
        let mut before = HashMap::<u64, Vec<u64>>::new();
        let mut repeated = 0;
        for number in 0..30_000_u64 {
            // Bursts: nothing for 900, then all at once.
            let (time, key) = (number / 500 * 900, number * 7_919 % 601);
            let times = before.entry(key).or_default();
            let is_new = times.iter().all(|&other| time - other >= 1_000);
            repeated += u64::from(!is_new);
            times.push(time);
            assert_eq!(recent.insert(key, time), Ok(is_new), "{number}");
        }
        assert!(repeated > 1_000 && recent.late() == 0);
    }

    #[test]
    fn old_keys_leave_and_too_many_new_ones_are_an_error() {
        let mut recent = Recent::new(10, 3_000);
        for key in 0..1_000_000 {
            // 1,000 keys in each unit of time that has some, every five units.
            assert_eq!(recent.insert(key, key / 1_000 * 5), Ok(true));
        }
        assert!(recent.last.len() <= 3_000 && recent.size_in_bytes() < 1 << 18);
        let mut recent = Recent::new(10, 3_000);
        assert!((0..3_000).all(|key| recent.insert(key, 7) == Ok(true)));
        assert_eq!(recent.insert(3_000, 7), Err(TooMany));
        assert_eq!(recent.insert(0, 7), Ok(false), "a key that is there takes no memory");
        assert_eq!(recent.insert(3_000, 17), Ok(true), "the others are old");
    }

    #[test]
    fn a_time_in_the_future_stops_nothing() {
        let mut recent = Recent::new(10, 100);
        let insert = |recent: &mut Recent, time| recent.insert(1, time).unwrap();
        assert!(insert(&mut recent, 1_000_000));
        let found: Vec<_> = [20, 25, 40, 41, 60].map(|time| insert(&mut recent, time)).into();
        assert_eq!(found, [true, false, true, false, true]);
        assert_eq!(recent.late(), 5);
    }
}
