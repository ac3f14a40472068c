//! Buckets of fingerprints: the contents of a filter, without keys and hashers.

use pds_core::error::{AllocError, InsertError};
use pds_core::internal::{StoredWord, prefetch};
use pds_core::storage::{WordSource, Words};
use pds_params::CuckooParams;

use crate::address::{Address, partner};
use crate::lanes::{self, Matches, SLOTS, Slot, by_width};
use crate::search::make_room;

/// Number of lookups of a batch that are prefetched together. Each reads two cache lines.
const BATCH: usize = 32;

/// Least number of keys of a batch that are prefetched. For fewer, single calls are faster.
// In a filter of 8 MiB, single calls take 12 ns per key, batches of 1, 4, 8 and 16 keys 32, 16, 12.5 and 11.7 ns.
const LEAST_BATCH: usize = 8;

/// The two buckets of a key, and its fingerprint.
// Buckets have 32 bits, which halves the size of a batch's places.
#[derive(Clone, Copy, Default)]
pub(crate) struct Place {
    pub(crate) bucket: u32,
    pub(crate) other: u32,
    fingerprint: u32,
}

const _: () = assert!(pds_params::cuckoo::MAX_BUCKETS <= 1 << 32);

impl Place {
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "buckets are numbered up to 2^32 - 1")]
    const fn of(Address { bucket, fingerprint }: Address, other: u64) -> Self {
        Self { bucket: bucket as u32, other: other as u32, fingerprint }
    }

    #[inline(always)]
    fn new(hash: u64, num_buckets: u64, width: u32) -> Self {
        let address = Address::new(hash, num_buckets, width);
        Self::of(address, partner(address.bucket, address.fingerprint, num_buckets))
    }
}

/// Fingerprints in buckets of four slots; a slot of zero is empty.
// Invariant: `len` slots are not zero, every fingerprint lies in one of its two buckets, and the bits
// of the last word beyond the last slot are zero.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Table<W = Words> {
    words: W,
    num_buckets: u64,
    width: u32,
    len: u64,
}

impl<W: WordSource> Table<W> {
    /// Returns the table of these parameters whose words hold `len` fingerprints.
    pub(crate) fn from_words(words: W, params: &CuckooParams, len: u64) -> Self {
        let (num_buckets, width) = (params.num_buckets(), params.fingerprint_bits());
        Self { words, num_buckets, width, len }
    }

    #[inline(always)]
    pub(crate) fn address(&self, hash: u64) -> Address {
        Address::new(hash, self.num_buckets, self.width)
    }

    #[inline(always)]
    pub(crate) fn partner(&self, Address { bucket, fingerprint }: Address) -> u64 {
        partner(bucket, fingerprint, self.num_buckets)
    }

    pub(crate) const fn words(&self) -> &W {
        &self.words
    }

    pub(crate) fn num_slots(&self) -> u64 {
        self.num_buckets * u64::from(SLOTS)
    }

    pub(crate) fn width(&self) -> u32 {
        self.width
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    fn contains_each_in<K, V: StoredWord>(
        &self,
        words: &[V],
        keys: &[K],
        hash: impl Fn(&K) -> u64,
        answers: &mut [bool],
    ) {
        debug_assert_eq!(keys.len(), answers.len());
        if keys.len() < LEAST_BATCH {
            for (answer, key) in answers.iter_mut().zip(keys) {
                *answer = self.holds(words, hash(key));
            }
            return;
        }
        let mut places = [Place::default(); BATCH];
        for (keys, answers) in keys.chunks(BATCH).zip(answers.chunks_mut(BATCH)) {
            for (place, key) in places.iter_mut().zip(keys) {
                *place = self.place(hash(key));
                self.prefetch(words, *place);
            }
            holds_each(words, self.width, &places[..keys.len()], answers);
        }
    }

    #[inline(always)]
    fn place(&self, hash: u64) -> Place {
        Place::new(hash, self.num_buckets, self.width)
    }

    #[inline(always)]
    fn prefetch<V>(&self, words: &[V], place: Place) {
        prefetch(words, first_word(place.bucket, self.width));
        prefetch(words, first_word(place.other, self.width));
    }

    // The widths for common rates (3 %, 1 %, 0.2 %, 0.1 % and 0.01 %) are inlined into the caller, since a call would take a
    // fifth of the time of a lookup. All widths together would need more registers than there are. Each has its place
    // computed anew: a constant width saves a multiplication. The compiler finds the others by a jump through a table,
    // which would take a tenth of the time of the shortest lookup, eight bits. The comparison with 8 keeps them out of it.
    #[inline(always)]
    fn holds<V: StoredWord>(&self, words: &[V], hash: u64) -> bool {
        let buckets = self.num_buckets;
        if self.width <= 8 {
            return match self.width {
                8 => holds_of(words, buckets, 8, hash),
                width => holds_uncommon(words, buckets, width, hash),
            };
        }
        match self.width {
            10 => holds_of(words, buckets, 10, hash),
            12 => holds_of(words, buckets, 12, hash),
            13 => holds_of(words, buckets, 13, hash),
            16 => holds_of(words, buckets, 16, hash),
            width => holds_uncommon(words, buckets, width, hash),
        }
    }

    /// Returns whether either bucket of the hash holds its fingerprint.
    #[inline]
    pub(crate) fn contains(&self, hash: u64) -> bool {
        self.holds(self.words.as_words(), hash)
    }

    /// Tests many keys as [`contains`](Self::contains) does, and prefetches the buckets of a whole batch.
    pub(crate) fn contains_each<K>(
        &self,
        keys: &[K],
        hash: impl Fn(&K) -> u64,
        answers: &mut [bool],
    ) {
        self.contains_each_in(self.words.as_words(), keys, hash, answers);
    }

    #[inline(always)]
    pub(crate) fn prefetch_bucket(&self, bucket: u32, width: u32) {
        prefetch(self.words.as_words(), first_word(bucket, width));
    }

    /// Returns the first empty slot of a bucket.
    #[inline(always)]
    pub(crate) fn free_in(&self, bucket: u64, width: u32) -> Option<Slot> {
        matches_in(self.words.as_words(), bucket, 0, width).first(width)
    }

    /// Counts the slots that hold the fingerprint.
    pub(crate) fn copies(&self, address: Address) -> u32 {
        let (bucket, other) = (address.bucket, self.partner(address));
        let copies = |bucket| -> u32 {
            let fingerprints = self.fingerprints_in(bucket, self.width).into_iter();
            fingerprints.map(|fingerprint| u32::from(fingerprint == address.fingerprint)).sum()
        };
        copies(bucket) + if other == bucket { 0 } else { copies(other) }
    }

    /// Returns the last word, which may have bits beyond the last slot.
    pub(crate) fn last_word(&self) -> u64 {
        let last_bit = self.num_slots() * u64::from(self.width) - 1;
        self.words.as_words()[lanes::word_of(last_bit)].value()
    }

    /// Returns the fingerprints of a bucket, 0 for an empty slot.
    #[inline(always)]
    pub(crate) fn fingerprints_in(&self, bucket: u64, width: u32) -> [u32; SLOTS as usize] {
        lanes::bucket(self.words.as_words(), bucket, width)
    }

    /// Lists all fingerprints, each with the bucket that holds it.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Address> {
        (0..self.num_buckets)
            .flat_map(|bucket| self.fingerprints_in(bucket, self.width).map(|f| (bucket, f)))
            .map(|(bucket, fingerprint)| Address { bucket, fingerprint })
            .filter(|address| address.fingerprint != 0)
    }
}

impl Table {
    pub(crate) fn zeroed(params: &CuckooParams) -> Result<Self, AllocError> {
        Ok(Self::from_words(Words::zeroed(params.size_in_bytes() / 8)?, params, 0))
    }

    pub(crate) fn try_clone(&self) -> Result<Self, AllocError> {
        let words = self.words.try_clone()?;
        Ok(Self { words, num_buckets: self.num_buckets, width: self.width, len: self.len })
    }

    pub(crate) fn clear(&mut self) {
        self.words.fill(0);
        self.len = 0;
    }

    /// Stores the fingerprint of a hash in one of its buckets. Changes nothing if there is no free slot.
    #[inline]
    pub(crate) fn insert(&mut self, hash: u64) -> Result<(), InsertError> {
        self.insert_at(self.place(hash))
    }

    /// Inserts many keys as [`insert`](Self::insert) does, up to the first that finds no slot.
    pub(crate) fn insert_each<K>(
        &mut self,
        keys: &[K],
        hash: impl Fn(&K) -> u64,
    ) -> Result<(), InsertError> {
        if keys.len() < LEAST_BATCH {
            return keys.iter().try_for_each(|key| self.insert(hash(key)));
        }
        let mut places = [Place::default(); BATCH];
        for keys in keys.chunks(BATCH) {
            for (place, key) in places.iter_mut().zip(keys) {
                *place = self.place(hash(key));
                self.prefetch::<u64>(&self.words, *place);
            }
            places[..keys.len()].iter().try_for_each(|&place| self.insert_at(place))?;
        }
        Ok(())
    }

    /// Stores all fingerprints of another table of this shape, up to the first that finds no slot.
    pub(crate) fn insert_all(&mut self, other: &Self) -> Result<(), InsertError> {
        let place = |address| Place::of(address, other.partner(address));
        other.iter().try_for_each(|address| self.insert_at(place(address)))
    }

    #[inline]
    fn insert_at(&mut self, place: Place) -> Result<(), InsertError> {
        if !self.store(place) {
            return Err(InsertError::Full { len: self.len, capacity: self.num_slots() });
        }
        self.len += 1;
        Ok(())
    }

    /// Stores a fingerprint. Returns `false` if there is no slot for it.
    #[inline(never)]
    fn store(&mut self, place: Place) -> bool {
        by_width!(self.width, |WIDTH| self.store_of::<WIDTH>(place))
    }

    // Tests the first bucket first: up to half load it nearly always has a free slot, so waiting for the other is a waste.
    // Not inlined, because the compiler would join the tails of all widths and branch on the width again.
    #[inline(never)]
    fn store_of<const WIDTH: u32>(&mut self, place: Place) -> bool {
        let free = self.free_in(place.bucket.into(), WIDTH);
        let free = free.or_else(|| self.free_in(place.other.into(), WIDTH));
        let Some(slot) = free.or_else(|| make_room::<WIDTH>(self, place)) else { return false };
        self.flip(slot, place.fingerprint, WIDTH);
        true
    }

    /// Removes one copy of the fingerprint of a hash.
    // Any copy will do: copies of a fingerprint in its two buckets are interchangeable.
    #[inline]
    pub(crate) fn remove(&mut self, hash: u64) -> bool {
        self.remove_at(self.place(hash))
    }

    #[inline(never)]
    fn remove_at(&mut self, place: Place) -> bool {
        let removed = by_width!(self.width, |WIDTH| self.remove_of::<WIDTH>(place));
        self.len -= u64::from(removed);
        removed
    }

    #[inline(never)]
    fn remove_of<const WIDTH: u32>(&mut self, place: Place) -> bool {
        let first = matches_in(&self.words, place.bucket.into(), place.fingerprint, WIDTH);
        let other = matches_in(&self.words, place.other.into(), place.fingerprint, WIDTH);
        let slot = first.or(other).first(WIDTH);
        if let Some(slot) = slot {
            self.flip(slot, place.fingerprint, WIDTH);
        }
        slot.is_some()
    }

    /// Writes a fingerprint into an empty slot, or clears a slot that holds it.
    #[inline(always)]
    pub(crate) fn flip(&mut self, slot: Slot, fingerprint: u32, width: u32) {
        lanes::flip(&mut self.words, slot, fingerprint, width);
    }
}

#[inline(never)]
fn holds_each<W: StoredWord>(words: &[W], width: u32, places: &[Place], answers: &mut [bool]) {
    by_width!(width, |WIDTH| {
        for (answer, &place) in answers.iter_mut().zip(places) {
            *answer = holds_at(words, place, WIDTH);
        }
    });
}

#[inline(never)]
fn holds_uncommon<W: StoredWord>(words: &[W], num_buckets: u64, width: u32, hash: u64) -> bool {
    by_width!(width, |WIDTH| holds_at(words, Place::new(hash, num_buckets, WIDTH), WIDTH))
}

#[inline(always)]
fn holds_of<W: StoredWord>(words: &[W], num_buckets: u64, width: u32, hash: u64) -> bool {
    let Place { bucket, other, fingerprint } = Place::new(hash, num_buckets, width);
    let found = lanes::either_at_once(words, [bucket.into(), other.into()], fingerprint, width);
    // One call for the whole lookup, because around a call for a part of it every lookup would have to save registers.
    found.unwrap_or_else(|| holds_uncommon(words, num_buckets, width, hash))
}

// Always reads both buckets: which of them holds a key cannot be predicted, and a misprediction costs more than a read.
#[inline(always)]
fn holds_at<W: StoredWord>(
    words: &[W],
    Place { bucket, other, fingerprint }: Place,
    width: u32,
) -> bool {
    let first = matches_in(words, bucket.into(), fingerprint, width);
    first.any(matches_in(words, other.into(), fingerprint, width))
}

/// Returns the slots of a bucket that hold the fingerprint.
#[inline(always)]
fn matches_in<W: StoredWord>(words: &[W], bucket: u64, fingerprint: u32, width: u32) -> Matches {
    if lanes::lanes(width) == SLOTS {
        return Matches::new(words, bucket, fingerprint, width);
    }
    let low = Matches::new(words, 2 * bucket, fingerprint, width);
    low.or(Matches::new(words, 2 * bucket + 1, fingerprint, width))
}

/// Returns the index of the word in which a bucket begins.
#[inline(always)]
fn first_word(bucket: u32, width: u32) -> usize {
    lanes::word_of(u64::from(bucket) * u64::from(SLOTS * width))
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;
    use pds_core::hash::finalize;
    use pds_testkit::words::{Counted, are_asked_one_by_one};

    /// A batch of few keys does what single calls do. A larger one hashes all keys first.
    #[test]
    fn case_46_few_keys_are_asked_one_by_one() {
        let params = CuckooParams::new(1_000, 0.01).unwrap();
        let table = Table::zeroed(&params).unwrap();
        let words: Vec<Counted> = table.words.iter().map(|&word| Counted(word)).collect();
        for len in [1, 2, LEAST_BATCH - 1, LEAST_BATCH, BATCH] {
            let keys: Vec<u64> = (0..len as u64).map(finalize).collect();
            let mut answers = vec![true; len];
            let one_by_one = are_asked_one_by_one(&keys, |hash| {
                table.contains_each_in(&words, &keys, hash, &mut answers);
            });
            assert_eq!(one_by_one, len < LEAST_BATCH, "{len} keys");
            assert_eq!(answers, vec![false; len]);
        }
    }
}
