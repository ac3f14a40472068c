use alloc::alloc::handle_alloc_error;
use core::alloc::Layout;
use pds_core::AllocError;
use pds_core::hash::reduce;
use pds_core::internal::Words;

use crate::cells::{index, words_for};

/// Finds slots by the finalised hash of their key: linear probing, a quarter full at most.
///
/// A place holds the number of a slot plus one; 0 is free. Most searches end at the first place, which a
/// processor foresees; in a table of half as many places with a part of the hash in each, an insert of a
/// new key took a third longer.
#[derive(Clone)]
pub(super) struct Table {
    /// The places, two a word.
    words: Words,
}

/// Places for each slot.
const PLACES: u64 = 4;

impl Table {
    /// Gets memory for this number of slots; a table for none has room for two.
    pub(super) fn new(slots: u32) -> Result<Self, AllocError> {
        Ok(Self { words: Words::zeroed(words_for::<u32>(PLACES * u64::from(slots).max(2)))? })
    }

    /// Whether one more slot than `slots` would fill more than a quarter.
    pub(super) fn is_full_with(&self, slots: u32) -> bool {
        u64::from(slots) >= self.places().len() as u64 / PLACES
    }

    /// Doubles the memory and enters all slots anew, whose hashes are given in order.
    ///
    /// Aborts when memory is refused, as collections do that grow.
    pub(super) fn grow(&mut self, hashes: impl Iterator<Item = u64>) {
        let doubled = self.words.len().saturating_mul(2);
        self.words = Words::zeroed(doubled as u64).unwrap_or_else(|_| refuse(doubled));
        for (slot, hash) in (0..).zip(hashes) {
            self.insert(hash, slot);
        }
    }

    pub(super) fn size_in_bytes(&self) -> u64 {
        self.words.size_in_bytes()
    }

    pub(super) fn clear(&mut self) {
        self.words.fill(0);
    }

    #[inline]
    fn places(&self) -> &[u32] {
        self.words.lanes()
    }

    /// Finds the slot that `is_it`, among those whose search starts near that of this hash.
    #[inline]
    pub(super) fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let places = self.places();
        let mut place = home(hash, places);
        while places[place] != 0 {
            let slot = places[place] - 1;
            if is_it(slot) {
                return Some(slot);
            }
            place = after(place, places);
        }
        None
    }

    /// Enters a slot that is not there.
    pub(super) fn insert(&mut self, hash: u64, slot: u32) {
        let places = self.words.lanes_mut();
        let mut place = home(hash, places);
        while places[place] != 0 {
            place = after(place, places);
        }
        places[place] = slot + 1;
    }

    /// Takes out a slot, and moves those behind it up so that no search ends too early.
    pub(super) fn remove(&mut self, hash: u64, slot: u32, hash_of: impl Fn(u32) -> u64) {
        let mut gap = self.place_of(hash, slot);
        let places = self.words.lanes_mut();
        let mut next = after(gap, places);
        while places[next] != 0 {
            let home = home(hash_of(places[next] - 1), places);
            if distance(home, next, places) >= distance(gap, next, places) {
                places[gap] = places[next];
                gap = next;
            }
            next = after(next, places);
        }
        places[gap] = 0;
    }

    /// Gives a slot another number.
    pub(super) fn renumber(&mut self, hash: u64, from: u32, to: u32) {
        let place = self.place_of(hash, from);
        self.words.lanes_mut()[place] = to + 1;
    }

    /// Where a slot that is there stands.
    fn place_of(&self, hash: u64, slot: u32) -> usize {
        let places = self.places();
        let mut place = home(hash, places);
        while places[place] != slot + 1 {
            debug_assert_ne!(places[place], 0, "the slot is in the table");
            place = after(place, places);
        }
        place
    }
}

/// Where the search for a hash starts.
#[inline]
fn home(hash: u64, places: &[u32]) -> usize {
    index(reduce(hash, places.len() as u64))
}

#[inline]
const fn after(place: usize, places: &[u32]) -> usize {
    if place + 1 == places.len() { 0 } else { place + 1 }
}

/// How many steps a search takes from one place to another.
#[inline]
const fn distance(from: usize, to: usize, places: &[u32]) -> usize {
    if from <= to { to - from } else { to + places.len() - from }
}

/// Ends as a `Vec` does that cannot grow.
fn refuse(words: usize) -> ! {
    handle_alloc_error(Layout::array::<u64>(words).unwrap_or(Layout::new::<u64>()))
}
