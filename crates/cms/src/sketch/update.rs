use core::hash::Hash;
use pds_core::hash::KeyHasher;

use super::CountMinSketch;
use crate::cells::Cells;
use crate::counters::{Counted, CounterStorage};
use crate::{Count, Counter};

/// Number of cells that a conservative insert keeps between its two passes.
// More rows are rare. Finding their cells twice costs less than clearing an array for the greatest depth.
const CELLS_KEPT: usize = 8;

/// Which counters of a key an insert raises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Update {
    /// One in each row, as published.
    #[default]
    Plain,
    /// Only those that are below the new estimate (Cristian Estan and George Varghese, "New Directions in
    /// Traffic Measurement and Accounting", SIGCOMM 2002, section 3.2).
    ///
    /// The error is smaller, about half on skewed streams, and an insert takes two passes over the rows. The counters
    /// depend on the order of inserts. A merge adds them: its estimates stay upper bounds within the same error, but
    /// differ from those of one sketch of both streams.
    Conservative,
}

impl Update {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Conservative => "conservative",
        }
    }
}

impl<S: KeyHasher, C: Counter> CountMinSketch<S, C> {
    /// Counts one more of a key, by its [hash](KeyHasher#hashes-of-your-own). Returns the new estimate.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> Count {
        self.insert_many_hash(hash, 1)
    }

    /// Counts `count` more of a key, by its [hash](KeyHasher#hashes-of-your-own). Returns the new estimate.
    #[inline]
    pub fn insert_many_hash(&mut self, hash: u64, count: u64) -> Count {
        self.tally.total = self.tally.total.saturating_add(count);
        match self.update {
            Update::Plain => self.raise_all(hash, C::saturating_from(count)),
            Update::Conservative => self.raise_lowest(hash, C::saturating_from(count)),
        }
    }

    #[inline]
    pub(super) fn raise_all(&mut self, hash: u64, count: C) -> Count {
        let raise = |least: C, counter: &mut C| {
            *counter = counter.saturating_add(count);
            least.min(*counter)
        };
        let least = self.fold_mut(hash, C::MAX, raise);
        self.count_of(least)
    }

    // Not inlined, so that plain inserts are.
    #[inline(never)]
    pub(super) fn raise_lowest(&mut self, hash: u64, count: C) -> Count {
        if self.params.depth() as usize > CELLS_KEPT {
            return self.raise_lowest_of_many(hash, count);
        }
        let cells = Cells::new(self.params.width(), self.params.counters(), hash);
        let counters = self.counters.lanes_mut::<C>();
        let (mut kept, mut depth, mut least) = ([0; CELLS_KEPT], 0, C::MAX);
        for (kept, cell) in kept.iter_mut().zip(cells) {
            *kept = cell;
            least = least.min(counters[cell]);
            depth += 1;
        }
        let target = least.saturating_add(count);
        for &cell in &kept[..depth] {
            counters[cell] = counters[cell].max(target);
        }
        self.count_of(target)
    }

    /// Does the same for more rows than [`CELLS_KEPT`].
    fn raise_lowest_of_many(&mut self, hash: u64, count: C) -> Count {
        let target = self.least(self.rows(), hash).saturating_add(count);
        self.fold_mut(hash, (), |(), counter| *counter = (*counter).max(target));
        self.count_of(target)
    }

    /// Halves all counts, rounding down, and the total, rounding up. With saturated counters the total stays at least the sum
    /// of each row.
    ///
    /// Call it from time to time to let old counts fade, as cache policies do. An estimate stays an upper bound of a
    /// count that is halved and rounded down at the same times. Rounding may increase the error by one.
    ///
    /// Returns how many counters were saturated. They are rounded up. The counts that they lost are unknown, but fewer than
    /// the total, and each call halves what is left of them. Until nothing is left, high estimates are saturated: from half
    /// of the limit on after one call, from a quarter on after two, and at last from 1 on. An estimate of 0 is never
    /// saturated. So the sketch recovers from a saturated counter after at most as many calls as the total has bits. A
    /// saturated total stays saturated and bounds nothing. Call [`clear`](Self::clear) then.
    ///
    /// # Complexity
    /// O(width · depth), without allocation.
    ///
    /// # Examples
    /// ```
    /// use cms::CountMinSketch;
    ///
    /// let mut packets = CountMinSketch::new(0.001, 0.01)?;
    /// packets.insert_many("198.18.0.3", 9);
    /// packets.halve();
    /// assert_eq!(packets.estimate("198.18.0.3"), 4);
    /// assert_eq!(packets.total(), 5);
    /// # Ok::<(), cms::error::BuildError>(())
    /// ```
    pub fn halve(&mut self) -> u64 {
        let full_from = C::saturating_from(self.tally.full_from);
        let full = self.counters().iter().filter(|&&counter| counter >= full_from).count() as u64;
        let at_limit = full > 0 && self.counters().contains(&C::MAX);
        let counters = self.counters.lanes_mut::<C>().iter_mut();
        counters.for_each(|counter| *counter = counter.half(full_from));
        self.tally = self.tally.halved::<C>(full, at_limit);
        if full > 0 {
            // Each full counter was rounded up, the total only once.
            let sum = self.counters.rows::<C>(&self.params).greatest_sum::<C>();
            self.tally.total = self.tally.total.max(u64::try_from(sum).unwrap_or(u64::MAX));
        }
        full
    }

    /// Forgets all counts.
    pub fn clear(&mut self) {
        self.counters.fill(0);
        self.tally = Counted::nothing::<C>();
    }

    /// Counts one more of `key`. Returns the new estimate.
    ///
    /// # Complexity
    /// O(depth), without allocation.
    #[inline]
    pub fn insert<K: Hash + ?Sized>(&mut self, key: &K) -> Count {
        self.insert_hash(self.hasher.hash_key(key))
    }

    /// Counts `count` more of `key`. Returns the new estimate.
    #[inline]
    pub fn insert_many<K: Hash + ?Sized>(&mut self, key: &K, count: u64) -> Count {
        self.insert_many_hash(self.hasher.hash_key(key), count)
    }
}
