use alloc::alloc::handle_alloc_error;
use core::alloc::Layout;
use pds_core::AllocError;

use pds_core::hash::reduce;
use pds_core::memory::Words;

/// Finds slots by the finalised hash of their key: linear probing, half full at most.
///
/// A word holds the high half of the hash above the number of the slot plus one; 0 is free. Where a search
/// starts follows from this half alone, so that words are moved without a look at their slots.
#[derive(Clone)]
pub(super) struct Table {
    words: Words,
}

impl Table {
    /// Gets memory for this number of slots; a table for none has room for two.
    pub(super) fn new(slots: u32) -> Result<Self, AllocError> {
        Ok(Self { words: Words::zeroed(2 * u64::from(slots).max(2))? })
    }

    /// Whether one more slot than `slots` would fill more than half.
    pub(super) fn is_full_with(&self, slots: u32) -> bool {
        slots as usize >= self.words.len() / 2
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

    /// Finds the slot that `is_it`, among those whose hashes look alike.
    #[inline]
    pub(super) fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let mut place = self.home(hash);
        loop {
            let word = self.words[place];
            if word == 0 {
                return None;
            }
            if word >> 32 == hash >> 32 && is_it(slot_of(word)) {
                return Some(slot_of(word));
            }
            place = self.after(place);
        }
    }

    /// Enters a slot that is not there.
    pub(super) fn insert(&mut self, hash: u64, slot: u32) {
        let mut place = self.home(hash);
        while self.words[place] != 0 {
            place = self.after(place);
        }
        self.words[place] = word_of(hash, slot);
    }

    /// Takes out a slot, and moves those behind it up so that no search ends too early.
    pub(super) fn remove(&mut self, hash: u64, slot: u32) {
        let mut gap = self.place_of(hash, slot);
        let mut next = self.after(gap);
        while self.words[next] != 0 {
            let home = self.home(self.words[next]);
            if self.distance(home, next) >= self.distance(gap, next) {
                self.words[gap] = self.words[next];
                gap = next;
            }
            next = self.after(next);
        }
        self.words[gap] = 0;
    }

    /// Gives a slot another number.
    pub(super) fn renumber(&mut self, hash: u64, from: u32, to: u32) {
        let place = self.place_of(hash, from);
        self.words[place] = word_of(hash, to);
    }

    /// Where a slot that is there stands.
    fn place_of(&self, hash: u64, slot: u32) -> usize {
        let mut place = self.home(hash);
        while slot_of(self.words[place]) != slot {
            debug_assert_ne!(self.words[place], 0, "the slot is in the table");
            place = self.after(place);
        }
        place
    }

    /// Where the search for a hash starts, or for that of a word, which has the same high half.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "below the length of the table")]
    fn home(&self, hash: u64) -> usize {
        reduce(hash >> 32 << 32, self.words.len() as u64) as usize
    }

    #[inline]
    fn after(&self, place: usize) -> usize {
        if place + 1 == self.words.len() { 0 } else { place + 1 }
    }

    /// How many steps a search takes from one place to another.
    fn distance(&self, from: usize, to: usize) -> usize {
        if from <= to { to - from } else { to + self.words.len() - from }
    }
}

/// Ends as a `Vec` does that cannot grow.
fn refuse(words: usize) -> ! {
    handle_alloc_error(Layout::array::<u64>(words).unwrap_or(Layout::new::<u64>()))
}

#[inline]
const fn word_of(hash: u64, slot: u32) -> u64 {
    hash >> 32 << 32 | (slot as u64 + 1)
}

/// The slot of a word that is not free.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the low half of the word")]
const fn slot_of(word: u64) -> u32 {
    (word as u32).wrapping_sub(1)
}
