//! The keys that count most, in a fixed number of counters: SpaceSaving.

mod table;

use alloc::borrow::ToOwned;
use alloc::collections::TryReserveError;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::cmp::Reverse;
use core::hash::{BuildHasher, Hash};

use pds_core::AllocError;
use pds_core::hash::finalize;

use crate::CountMinSketch;
use table::Table;

/// A tracked key. Its count is in the heap.
#[derive(Clone)]
pub(crate) struct Slot<K> {
    pub(crate) key: K,
    /// The finalised hash.
    pub(crate) hash: u64,
    /// What the count may exceed the truth by: the count that was taken over when the key came in.
    pub(crate) error: u64,
}

/// A count in the heap, and whose it is.
#[derive(Clone, Copy)]
struct Node {
    count: u64,
    slot: u32,
}

/// At most `capacity` keys with counts that are never below the truth.
///
/// A key that comes while all counters are taken gets the one with the least count, and that count as its
/// error. So no count errs by more than total / capacity, and a key that is not tracked came at most as often
/// as the least count says (Ahmed Metwally, Divyakant Agrawal and Amr El Abbadi, "Efficient Computation of
/// Frequent and Top-k Elements in Data Streams", ICDT 2005, lemma 3.3 and theorem 1).
///
/// A binary heap finds the least count in place of the paper's list of buckets, so that counts
/// may grow by any amount.
pub(crate) struct Summary<K> {
    slots: Vec<Slot<K>>,
    /// Where each slot's node is in the heap. Apart from the slots, since a sift writes many of these.
    nodes: Vec<u32>,
    /// A binary heap, the least count first.
    heap: Vec<Node>,
    /// Finds the slot of a key.
    table: Table,
    capacity: u32,
    total: u64,
}

impl<K> Summary<K> {
    const BYTES_OF_A_KEY: u64 =
        (size_of::<Slot<K>>() + size_of::<u32>() + size_of::<Node>()) as u64;

    /// Gets the memory for all counters at once.
    pub(crate) fn new(capacity: u32) -> Result<Self, AllocError> {
        Self::with_room_for(capacity, capacity)
    }

    /// Gets the memory for some of the counters; that for others follows as keys come.
    ///
    /// For decoding: bytes that claim a great capacity have cost nothing yet.
    pub(crate) fn with_room_for(keys: u32, capacity: u32) -> Result<Self, AllocError> {
        let bytes = u64::from(keys) * Self::BYTES_OF_A_KEY;
        let refused = |_: TryReserveError| AllocError { bytes };
        let (mut slots, mut nodes, mut heap) = (Vec::new(), Vec::new(), Vec::new());
        slots.try_reserve_exact(keys as usize).map_err(refused)?;
        nodes.try_reserve_exact(keys as usize).map_err(refused)?;
        heap.try_reserve_exact(keys as usize).map_err(refused)?;
        Ok(Self { slots, nodes, heap, table: Table::new(keys)?, capacity, total: 0 })
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(crate) const fn capacity(&self) -> u32 {
        self.capacity
    }

    pub(crate) const fn total(&self) -> u64 {
        self.total
    }

    pub(crate) fn size_in_bytes(&self) -> u64 {
        let slots = self.slots.capacity() * size_of::<Slot<K>>();
        let nodes = self.nodes.capacity() * size_of::<u32>();
        let heap = self.heap.capacity() * size_of::<Node>();
        (slots + nodes + heap) as u64 + self.table.size_in_bytes()
    }

    /// How often a key that is not tracked can have come at most.
    pub(crate) fn least(&self) -> u64 {
        match self.heap.first() {
            Some(node) if self.heap.len() == self.capacity as usize => node.count,
            _ => 0,
        }
    }

    /// The least count that can stand behind the last of the heap: its parent's there.
    pub(crate) fn least_at_end(&self) -> u64 {
        let parent = self.heap.get(self.heap.len().saturating_sub(1) / 2);
        parent.map_or(0, |node| node.count)
    }

    /// The tracked keys with their counts, in the order of the heap.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Slot<K>, u64)> {
        self.heap.iter().map(|node| (&self.slots[node.slot as usize], node.count))
    }

    pub(crate) fn clear(&mut self) {
        self.slots.clear();
        self.nodes.clear();
        self.heap.clear();
        self.table.clear();
        self.total = 0;
    }

    /// Finds a key by its finalised hash and returns its count and error.
    pub(crate) fn get<Q: Eq + ?Sized>(&self, hash: u64, key: &Q) -> Option<(u64, u64)>
    where
        K: Borrow<Q>,
    {
        let slot = self.find(hash, key)? as usize;
        Some((self.count_at(self.nodes[slot]), self.slots[slot].error))
    }

    fn find<Q: Eq + ?Sized>(&self, hash: u64, key: &Q) -> Option<u32>
    where
        K: Borrow<Q>,
    {
        self.table.find(hash, |slot| {
            let slot = &self.slots[slot as usize];
            slot.hash == hash && slot.key.borrow() == key
        })
    }

    /// Counts `count` more of a key. Returns its count, which is never below the truth.
    ///
    /// `hash` is the hash before the finaliser.
    pub(crate) fn insert<Q>(&mut self, hash: u64, key: &Q, count: u64) -> u64
    where
        K: Borrow<Q>,
        Q: Eq + ToOwned<Owned = K> + ?Sized,
    {
        let hash = finalize(hash);
        self.total = self.total.saturating_add(count);
        if let Some(slot) = self.find(hash, key) {
            return self.raise(self.nodes[slot as usize], count);
        }
        if self.heap.len() < self.capacity as usize {
            self.push(key.to_owned(), hash, count, 0);
            return count;
        }
        self.replace_least(key.to_owned(), hash);
        self.raise(0, count)
    }

    /// Gives a key that is not tracked a counter of its own.
    pub(crate) fn push(&mut self, key: K, hash: u64, count: u64, error: u64) {
        debug_assert!(self.heap.len() < self.capacity as usize);
        let place = narrow(self.heap.len());
        if self.table.is_full_with(place) {
            self.table.grow(self.slots.iter().map(|slot| slot.hash));
        }
        self.table.insert(hash, place);
        self.slots.push(Slot { key, hash, error });
        self.nodes.push(place);
        self.heap.push(Node { count, slot: place });
        self.sift_up(place);
    }

    /// Gives the counter of the least count to another key.
    fn replace_least(&mut self, key: K, hash: u64) {
        let Node { count, slot } = self.heap[0];
        let hash_of = |slot: u32| self.slots[slot as usize].hash;
        self.table.remove(hash_of(slot), slot, hash_of);
        self.table.insert(hash, slot);
        self.slots[slot as usize] = Slot { key, hash, error: count };
    }

    fn raise(&mut self, node: u32, count: u64) -> u64 {
        let raised = &mut self.heap[node as usize].count;
        *raised = raised.saturating_add(count);
        let raised = *raised;
        self.sift_down(node);
        raised
    }

    fn sift_up(&mut self, mut node: u32) {
        let risen = self.heap[node as usize];
        while node > 0 && risen.count < self.count_at((node - 1) / 2) {
            self.put(node, self.heap[(node - 1) as usize / 2]);
            node = (node - 1) / 2;
        }
        self.put(node, risen);
    }

    fn sift_down(&mut self, mut node: u32) {
        let sunk = self.heap[node as usize];
        while let Some(child) = self.lesser_child(node)
            && self.count_at(child) < sunk.count
        {
            self.put(node, self.heap[child as usize]);
            node = child;
        }
        self.put(node, sunk);
    }

    #[inline]
    fn lesser_child(&self, node: u32) -> Option<u32> {
        let first = 2 * node as usize + 1;
        match self.heap.get(first..)? {
            [left, right, ..] => Some(narrow(first) + u32::from(right.count < left.count)),
            children => (!children.is_empty()).then_some(narrow(first)),
        }
    }

    /// Puts a count where it stands in the heap from now on.
    #[inline]
    fn put(&mut self, node: u32, entry: Node) {
        self.heap[node as usize] = entry;
        self.nodes[entry.slot as usize] = node;
    }

    fn count_at(&self, node: u32) -> u64 {
        self.heap[node as usize].count
    }

    /// Takes up what another summary of the same capacity has counted.
    ///
    /// A key of one side may have come at the other's least count there, which is added to its count and its
    /// error; of all keys those of the greatest counts stay (Massimo Cafaro, Marco Pulimeno and Piergiulio
    /// Tempesta, "A parallel space saving algorithm for frequent items and the Hurwitz zeta
    /// distribution", Information Sciences 329, 2016, section 4). The error stays below total / capacity.
    pub(crate) fn merge(&mut self, other: &Self)
    where
        K: Clone + Eq,
    {
        let total = self.total.saturating_add(other.total);
        let entries = self.merged(other);
        self.clear();
        self.total = total;
        for (count, slot) in entries.into_iter().rev() {
            self.push(slot.key, slot.hash, count, slot.error);
        }
    }

    /// The keys of both, by falling counts, as many as are kept.
    fn merged(&self, other: &Self) -> Vec<(u64, Slot<K>)>
    where
        K: Clone + Eq,
    {
        let with = |(slot, count): (&Slot<K>, u64), (more, error): (u64, u64)| {
            let error = slot.error.saturating_add(error);
            (count.saturating_add(more), Slot { error, ..slot.clone() })
        };
        let elsewhere = |there: &Self, slot: &Slot<K>| there.get(slot.hash, &slot.key);
        let (least_here, least_there) = (self.least(), other.least());
        let ours = self.iter().map(|(slot, count)| {
            let found = elsewhere(other, slot).unwrap_or((least_there, least_there));
            with((slot, count), found)
        });
        let theirs = other.iter().filter(|(slot, _)| elsewhere(self, slot).is_none());
        let theirs = theirs.map(|entry| with(entry, (least_here, least_here)));
        let mut entries: Vec<_> = ours.chain(theirs).collect();
        entries.sort_by_key(|&(count, _)| Reverse(count));
        entries.truncate(self.capacity as usize);
        entries
    }

    /// Whether both have the same counts of the same keys.
    pub(crate) fn same_counts(&self, other: &Self) -> bool
    where
        K: Eq,
    {
        let same = |(slot, count): (&Slot<K>, u64)| {
            other.get(slot.hash, &slot.key) == Some((count, slot.error))
        };
        (self.total, self.len()) == (other.total, other.len()) && self.iter().all(same)
    }

    /// Restores the total of a summary whose keys were pushed one by one.
    pub(crate) fn set_total(&mut self, total: u64) {
        self.total = total;
    }

    /// Sets the count of a key that is tracked, or tracks it; a full summary forgets the least for it.
    pub(crate) fn track<Q>(&mut self, hash: u64, key: &Q, count: u64)
    where
        K: Borrow<Q>,
        Q: Eq + ToOwned<Owned = K> + ?Sized,
    {
        let hash = finalize(hash);
        if let Some(slot) = self.find(hash, key) {
            let node = self.nodes[slot as usize];
            let grown = count.saturating_sub(self.count_at(node));
            self.raise(node, grown);
        } else if self.heap.len() < self.capacity as usize {
            self.push(key.to_owned(), hash, count, 0);
        } else if count > self.least() {
            let least = self.least();
            self.replace_least(key.to_owned(), hash);
            self.raise(0, count - least);
        }
    }

    /// Divides all counts and errors by two, rounding down; the order of counts stays.
    pub(crate) fn halve(&mut self) {
        self.heap.iter_mut().for_each(|node| node.count /= 2);
        self.slots.iter_mut().for_each(|slot| slot.error /= 2);
        self.total = self.total.div_ceil(2);
    }

    /// Tracks those keys of both that a merged sketch gives the greatest counts.
    pub(crate) fn list_both<S: BuildHasher>(&mut self, other: &Self, sketch: &CountMinSketch<S>)
    where
        K: Hash + Clone + Eq,
    {
        let both = self.iter().chain(other.iter());
        let keys: Vec<K> = both.map(|(slot, _)| slot.key.clone()).collect();
        self.clear();
        for key in &keys {
            let hash = sketch.hasher().hash_one(key);
            self.track(hash, key, sketch.estimate_hash(hash).value());
        }
    }

    /// Forgets all keys whose counts are `limit` at most.
    pub(crate) fn forget_up_to(&mut self, limit: u64) {
        while self.heap.first().is_some_and(|node| node.count <= limit) {
            self.forget_least();
        }
    }

    fn forget_least(&mut self) {
        let freed = self.heap[0].slot;
        let last = self.heap.pop();
        if let Some(last) = last.filter(|_| !self.heap.is_empty()) {
            self.put(0, last);
            self.sift_down(0);
        }
        let hash_of = |slot: u32| self.slots[slot as usize].hash;
        self.table.remove(hash_of(freed), freed, hash_of);
        self.fill_gap(freed);
    }

    /// Moves the last slot to one that was freed, so that the slots stay dense.
    fn fill_gap(&mut self, freed: u32) {
        let last = narrow(self.slots.len() - 1);
        if freed != last {
            self.table.renumber(self.slots[last as usize].hash, last, freed);
            self.heap[self.nodes[last as usize] as usize].slot = freed;
        }
        self.slots.swap_remove(freed as usize);
        self.nodes.swap_remove(freed as usize);
    }
}

impl<K: Clone> Clone for Summary<K> {
    fn clone(&self) -> Self {
        Self {
            slots: copied(&self.slots),
            nodes: copied(&self.nodes),
            heap: copied(&self.heap),
            table: self.table.clone(),
            ..*self
        }
    }
}

/// A copy with as much room as the original has.
fn copied<T: Clone>(items: &Vec<T>) -> Vec<T> {
    let mut copy = Vec::with_capacity(items.capacity());
    copy.extend_from_slice(items);
    copy
}

/// Numbers of slots and nodes are below the capacity, which is a `u32`.
#[expect(clippy::cast_possible_truncation, reason = "below the capacity")]
const fn narrow(place: usize) -> u32 {
    place as u32
}
