//! The keys that count most, in a bounded number of counters: a summary of Misra and Gries, cut when it is full.

mod table;

use alloc::collections::TryReserveError;
use alloc::vec::Vec;
use core::hash::Hash;
use core::slice;

use cms::CountMinSketch;
use cms::internal::{half, index};
use pds_core::error::{AllocError, Incompatible};
use pds_core::hash::KeyHasher;

use table::Table;

/// Returns how many keys are tracked at most.
///
/// Half as many again as must stay. Measured with room for twice as many, inserts take the same time, and in the same
/// memory the capacity would be less.
pub(crate) const fn room_for(capacity: u32) -> u64 {
    capacity as u64 + capacity.div_ceil(2) as u64
}

/// A tracked key.
#[derive(Clone)]
pub(crate) struct Slot<K> {
    pub(crate) key: K,
    /// The hash.
    pub(crate) hash: u64,
    /// How often the key came at most; at least, where it is the greatest of its type.
    pub(crate) count: u64,
    /// By how much that may exceed the truth: the floor when the key came in, and perhaps one more once it was halved.
    pub(crate) error: u64,
}

/// The fate of keys whose count equals the floor when it is raised.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ties {
    /// They are evicted: most keys of a long stream are such, and it makes room for as many.
    Evict,
    /// The first of them are kept, as many as make `capacity` keys.
    Keep,
}

/// Half as many keys again as `capacity`, at most, with counts that are never below the truth.
///
/// The floor is how often a key that is not tracked came at most. A key that comes in takes it over into its
/// count, and as its error. When there is no room, the floor is raised to the greatest count behind those of `capacity`
/// keys, and what is not above it goes. What counts are above the floor are the counters of Misra and Gries:
/// raising it takes as much off more than `capacity` of them, and all that they are given is the total. So the floor
/// stays below total / capacity, and a key that came more often is tracked (while the floor is not saturated, for which
/// it takes a total of 2^64 times the capacity) (J. Misra and David Gries, "Finding Repeated
/// Elements", Science of Computer Programming 2(2), 1982; that a part of the keys goes at a time, so that an insert is O(1)
/// on average: Daniel Anderson et al., "A High-Performance Algorithm for Identifying Frequent Items in Data
/// Streams", IMC 2017).
///
/// Counts that include the floor need no subtraction when it rises, and an error of its own for each key is less than
/// the floor for all.
pub(crate) struct Summary<K> {
    /// In the order in which the keys came in.
    slots: Vec<Slot<K>>,
    /// Finds the slot of a key.
    table: Table,
    capacity: u32,
    floor: u64,
    total: u64,
}

impl<K> Summary<K> {
    /// Gets the memory for all counters at once.
    pub(crate) fn new(capacity: u32) -> Result<Self, AllocError> {
        let room = room_for(capacity);
        let bytes = room.saturating_mul(size_of::<Slot<K>>() as u64);
        let refused = |_: TryReserveError| AllocError { bytes };
        let mut slots = Vec::new();
        slots.try_reserve_exact(index(room)).map_err(refused)?;
        Ok(Self { slots, table: Table::new(room)?, capacity, floor: 0, total: 0 })
    }

    /// Gets no memory for counters; it follows as keys are pushed.
    ///
    /// For decoding: bytes that claim a great capacity have cost nothing yet.
    pub(crate) fn restored(capacity: u32, floor: u64) -> Result<Self, AllocError> {
        Ok(Self { slots: Vec::new(), table: Table::new(0)?, capacity, floor, total: 0 })
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(crate) const fn capacity(&self) -> u32 {
        self.capacity
    }

    fn room(&self) -> usize {
        index(room_for(self.capacity))
    }

    pub(crate) const fn total(&self) -> u64 {
        self.total
    }

    /// How often a key that is not tracked came at most.
    pub(crate) const fn floor(&self) -> u64 {
        self.floor
    }

    pub(crate) fn size_in_bytes(&self) -> u64 {
        let slots = self.slots.capacity() * size_of::<Slot<K>>();
        slots as u64 + self.table.size_in_bytes()
    }

    /// The tracked keys, in the order in which they came in.
    pub(crate) fn iter(&self) -> slice::Iter<'_, Slot<K>> {
        self.slots.iter()
    }

    pub(crate) fn clear(&mut self) {
        self.slots.clear();
        self.table.clear();
        (self.floor, self.total) = (0, 0);
    }

    /// Finds a key by its hash.
    pub(crate) fn get(&self, hash: u64, is_equal: impl Fn(&K) -> bool) -> Option<&Slot<K>> {
        self.find(hash, is_equal).map(|place| &self.slots[place])
    }

    #[inline]
    fn find(&self, hash: u64, is_equal: impl Fn(&K) -> bool) -> Option<usize> {
        self.table.find(hash, |place| {
            let slot = &self.slots[place];
            slot.hash == hash && is_equal(&slot.key)
        })
    }

    /// Counts `count` more of a key. Returns its count, which is never below the truth.
    #[inline]
    pub(crate) fn insert(
        &mut self,
        hash: u64,
        count: u64,
        is_equal: impl Fn(&K) -> bool,
        to_key: impl FnOnce() -> K,
    ) -> u64 {
        self.total = self.total.saturating_add(count);
        if let Some(place) = self.find(hash, is_equal) {
            let raised = &mut self.slots[place].count;
            *raised = raised.saturating_add(count);
            return *raised;
        }
        if count == 0 {
            return self.floor;
        }
        self.make_room(Ties::Evict);
        let (error, count) = (self.floor, self.floor.saturating_add(count));
        self.push(Slot { key: to_key(), hash, count, error });
        count
    }

    /// Tracks a key that is not tracked, where there is room.
    pub(crate) fn push(&mut self, slot: Slot<K>) {
        let place = self.slots.len();
        if self.table.is_full_with(place) {
            self.table.renew(2 * place, hashes(&self.slots));
        }
        self.table.insert(slot.hash, place);
        self.slots.push(slot);
    }

    #[inline]
    fn make_room(&mut self, ties: Ties) {
        if self.slots.len() >= self.room() {
            self.cut(ties);
        }
    }

    /// Raises the floor to the greatest count behind those of `capacity` keys, and forgets what is not above it.
    #[cold]
    fn cut(&mut self, ties: Ties) {
        let mut counts: Vec<u64> = self.slots.iter().map(|slot| slot.count).collect();
        let behind = counts.len() - 1 - self.capacity as usize;
        let (_, &mut floor, others) = counts.select_nth_unstable(behind);
        let mut tied = match ties {
            // Saturated counts differ in truth, so that they are no ties.
            Ties::Evict if floor < u64::MAX => 0,
            _ => others.iter().filter(|&&count| count == floor).count(),
        };
        self.slots.retain(|slot| {
            let stays = slot.count == floor && tied > 0;
            tied -= usize::from(stays);
            stays || slot.count > floor
        });
        self.floor = floor;
        self.table.renew(self.slots.len(), hashes(&self.slots));
    }

    /// Takes up what another summary of the same capacity has counted.
    ///
    /// A key of one side may have come as often as the other's floor there, which is added to its count and its error.
    /// Floors, totals and what is above the floors add up, so that the sum of the floors is as far below the sum
    /// of the totals as each is (Pankaj Agarwal et al., "Mergeable Summaries", ACM Transactions on Database
    /// Systems 38(4), 2013).
    pub(crate) fn merge(&mut self, other: &Self)
    where
        K: Clone + Eq,
    {
        let come =
            other.iter().filter(|slot| self.get(slot.hash, |key| *key == slot.key).is_none());
        let come: Vec<_> = come.map(|slot| slot.raised(self.floor, self.floor)).collect();
        for slot in &mut self.slots {
            let there = other.get(slot.hash, |key| *key == slot.key);
            let (count, error) =
                there.map_or((other.floor, other.floor), |slot| (slot.count, slot.error));
            *slot = slot.raised(count, error);
        }
        self.slots.extend(come);
        self.floor = self.floor.saturating_add(other.floor);
        self.total = self.total.saturating_add(other.total);
        if self.slots.len() > self.room() {
            self.cut(Ties::Evict);
            self.slots.shrink_to(self.room());
        }
        self.table.renew(self.slots.len(), hashes(&self.slots));
    }

    /// Whether both have the same counts of the same keys.
    pub(crate) fn same_counts(&self, other: &Self) -> bool
    where
        K: Eq,
    {
        let same = |slot: &Slot<K>| {
            let there = other.get(slot.hash, |key| *key == slot.key);
            there.is_some_and(|there| (there.count, there.error) == (slot.count, slot.error))
        };
        (self.total, self.floor, self.len()) == (other.total, other.floor, other.len())
            && self.iter().all(same)
    }

    /// Restores the total of a summary whose keys were pushed one by one.
    pub(crate) fn set_total(&mut self, total: u64) {
        self.total = total;
    }

    /// Raises the count of a key that is tracked, or tracks it, unless it is one of those that `capacity` others exceed.
    pub(crate) fn track(
        &mut self,
        hash: u64,
        count: u64,
        is_equal: impl Fn(&K) -> bool,
        to_key: impl FnOnce() -> K,
    ) {
        if let Some(place) = self.find(hash, is_equal) {
            let kept = &mut self.slots[place].count;
            *kept = count.max(*kept);
        } else if count > self.floor {
            self.make_room(Ties::Keep);
            // Making room may have raised the floor above the key.
            if count > self.floor {
                self.push(Slot { key: to_key(), hash, count, error: 0 });
            }
        }
    }

    /// Returns how many counts are saturated, the floor among them.
    pub(crate) fn saturated(&self) -> u64 {
        let counts = self.slots.iter().map(|slot| slot.count).chain([self.floor]);
        counts.filter(|&count| count == u64::MAX).count() as u64
    }

    /// Divides all counts by two, rounding down, and the total, rounding up.
    ///
    /// Errors may exceed the floor by one from now on, and by one for each such summary after a merge.
    // The counters of Misra and Gries are what counts are above the floor: together with `capacity + 1` times the floor they
    // must not exceed the total. If an odd floor is rounded down, `capacity + 1` halves are taken off, and a counter above 0
    // gains a half at most. If it is rounded up, as many halves are added, and each counter above 0 loses one or more. So
    // their number decides.
    pub(crate) fn halve(&mut self) {
        let above = self.slots.iter().filter(|slot| slot.count > self.floor).count();
        let rounds_up = above > self.capacity as usize;
        self.floor = if rounds_up { self.floor.div_ceil(2) } else { self.floor / 2 };
        for slot in &mut self.slots {
            // Both ends are those of half of the count, rounded down, but for what the floor says of all keys.
            let (least, most) = ((slot.count - slot.error) / 2, self.floor.max(slot.count / 2));
            (slot.count, slot.error) = (most, most - least);
        }
        // Nothing is known of a saturated total, nor of its half.
        if self.total < u64::MAX {
            self.total = self.total.div_ceil(2);
        }
    }

    /// Divides all counts of a list beside a sketch by two, as the sketch does; the order of counts stays.
    pub(crate) fn halve_beside<S: KeyHasher>(&mut self, sketch: &CountMinSketch<S, u64>) {
        for slot in &mut self.slots {
            slot.count = half(sketch, slot.count);
        }
        self.floor = half(sketch, self.floor);
    }

    /// Merges the sketches, and tracks those keys of both lists that the merged one gives the greatest counts.
    ///
    /// A list beside an empty sketch is empty, and the other one stays as it is.
    pub(crate) fn list_both<S: KeyHasher>(
        &mut self,
        other: &Self,
        sketch: &mut CountMinSketch<S, u64>,
        other_sketch: &CountMinSketch<S, u64>,
    ) -> Result<(), Incompatible>
    where
        K: Hash + Clone + Eq,
    {
        let was_empty = sketch.total() == 0;
        sketch.merge(other_sketch)?;
        if other_sketch.total() == 0 {
            return Ok(());
        }
        if was_empty {
            *self = other.clone();
            return Ok(());
        }
        let keys: Vec<K> = self.iter().chain(other.iter()).map(|slot| slot.key.clone()).collect();
        self.clear();
        for key in &keys {
            let hash = sketch.hasher().hash_key(key);
            let estimate = sketch.estimate_hash(hash).value();
            self.track(hash, estimate, |listed| listed == key, || key.clone());
        }
        Ok(())
    }
}

impl<K: Clone> Slot<K> {
    /// The slot of a key that came more often, with the error of that.
    fn raised(&self, count: u64, error: u64) -> Self {
        let (count, error) = (self.count.saturating_add(count), self.error.saturating_add(error));
        Self { count, error, ..self.clone() }
    }
}

impl<K: Clone> Clone for Summary<K> {
    fn clone(&self) -> Self {
        // A copy with as much room as the original has.
        let mut slots = Vec::with_capacity(self.slots.capacity());
        slots.extend_from_slice(&self.slots);
        Self { slots, table: self.table.clone(), ..*self }
    }
}

fn hashes<K>(slots: &[Slot<K>]) -> impl Iterator<Item = u64> {
    slots.iter().map(|slot| slot.hash)
}
