use alloc::alloc::handle_alloc_error;
use cms::internal::{index, words_for};
use core::alloc::Layout;
use pds_core::error::AllocError;
use pds_core::hash::reduce;
use pds_core::internal::{GOLDEN_RATIO, Words};

/// Finds slots by the hash of their key: linear probing, a quarter full at most.
///
/// A place holds the number of a slot plus one; 0 is free. Most searches end at the first place, which a
/// processor foresees.
///
/// Where searches start is no part of a summary's state: nothing that it answers or writes depends on it. So with the
/// standard library it is drawn for each table, and keys that somebody chose, or wrote into bytes that are read, to
/// start all at one place start anywhere.
#[derive(Clone)]
pub(super) struct Table {
    /// The places, two a word.
    words: Words,
    secret: u64,
}

/// Places for each slot.
const PLACES: u64 = 4;

impl Table {
    /// Gets memory for this number of slots; a table for none has room for two.
    pub(super) fn new(slots: u64) -> Result<Self, AllocError> {
        Ok(Self {
            words: Words::zeroed(words_for::<u32>(PLACES * slots.max(2)))?,
            secret: secret(),
        })
    }

    /// Whether one more slot than `slots` would fill more than a quarter.
    #[inline]
    pub(super) fn is_full_with(&self, slots: usize) -> bool {
        slots as u64 >= self.places().len() as u64 / PLACES
    }

    /// Enters all slots anew, whose hashes are given in order, and has room for `slots` then.
    ///
    /// Aborts when memory is refused, as collections do that grow.
    pub(super) fn renew(&mut self, slots: usize, hashes: impl Iterator<Item = u64>) {
        let words = words_for::<u32>(PLACES * slots as u64);
        if words > self.words.len() as u64 {
            self.words = Words::zeroed(words).unwrap_or_else(|_| refuse(words));
        } else {
            self.clear();
        }
        for (slot, hash) in hashes.enumerate() {
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
    pub(super) fn find(&self, hash: u64, is_it: impl Fn(usize) -> bool) -> Option<usize> {
        let places = self.places();
        let mut place = home(hash ^ self.secret, places);
        while places[place] != 0 {
            let slot = places[place] as usize - 1;
            if is_it(slot) {
                return Some(slot);
            }
            place = after(place, places);
        }
        None
    }

    /// Enters a slot that is not there.
    #[expect(clippy::cast_possible_truncation, reason = "slots are counted by a `u32`")]
    pub(super) fn insert(&mut self, hash: u64, slot: usize) {
        let places = self.words.lanes_mut();
        let mut place = home(hash ^ self.secret, places);
        while places[place] != 0 {
            place = after(place, places);
        }
        places[place] = slot as u32 + 1;
    }
}

/// A number that nobody knows before.
#[cfg(feature = "std")]
fn secret() -> u64 {
    use core::hash::BuildHasher;

    std::hash::RandomState::new().hash_one(0)
}

#[cfg(not(feature = "std"))]
const fn secret() -> u64 {
    0
}

/// Where the search for a hash starts: both halves of a product depend on all bits of the secret.
#[inline]
fn home(hidden: u64, places: &[u32]) -> usize {
    let product = u128::from(hidden) * u128::from(GOLDEN_RATIO);
    let folded = (product >> 64) as u64 ^ low(product);
    index(reduce(folded, places.len() as u64))
}

/// The lower half.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the lower half is what is wanted")]
const fn low(product: u128) -> u64 {
    product as u64
}

#[inline]
const fn after(place: usize, places: &[u32]) -> usize {
    if place + 1 == places.len() { 0 } else { place + 1 }
}

/// Ends as a `Vec` does that cannot grow.
fn refuse(words: u64) -> ! {
    handle_alloc_error(Layout::array::<u64>(index(words)).unwrap_or(Layout::new::<u64>()))
}
