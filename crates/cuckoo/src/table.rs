//! Buckets of fingerprints: what a filter is, apart from keys and hashers.

use pds_core::AllocError;
use pds_core::internal::{WordSource, Words};
use pds_params::CuckooParams;

use crate::Full;
use crate::address::{Address, partner};
use crate::lanes::{self, Matches, SLOTS, Slot, by_width};
use crate::search::make_room;

/// How many lookups of a batch are under way at once; each reads two lines.
const BATCH: usize = 32;

/// All places of a key. Half as large as with buckets in 64 bits, which they need not be.
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
    const fn new(Address { bucket, fingerprint }: Address, other: u64) -> Self {
        Self { bucket: bucket as u32, other: other as u32, fingerprint }
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

impl<W> Table<W> {
    /// Takes words as they are: a table of these parameters with `len` fingerprints.
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

    pub(crate) fn words(&self) -> &W {
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
}

impl<W: WordSource> Table<W> {
    /// Whether either bucket of the hash holds its fingerprint.
    #[inline]
    pub(crate) fn contains(&self, hash: u64) -> bool {
        self.holds(self.place(hash))
    }

    /// [`contains`](Self::contains) for many keys, some of whose buckets are always on their way.
    pub(crate) fn contains_each<K>(
        &self,
        keys: &[K],
        hash: impl Fn(&K) -> u64,
        answers: &mut [bool],
    ) {
        debug_assert_eq!(keys.len(), answers.len());
        let mut places = [Place::default(); BATCH];
        for (keys, answers) in keys.chunks(BATCH).zip(answers.chunks_mut(BATCH)) {
            for (place, key) in places.iter_mut().zip(keys) {
                *place = self.place(hash(key));
                self.prefetch(*place);
            }
            self.holds_each(&places[..keys.len()], answers);
        }
    }

    #[inline(always)]
    fn place(&self, hash: u64) -> Place {
        let address = self.address(hash);
        Place::new(address, self.partner(address))
    }

    #[inline(always)]
    fn prefetch(&self, place: Place) {
        self.prefetch_bucket(place.bucket, self.width);
        self.prefetch_bucket(place.other, self.width);
    }

    #[inline(always)]
    pub(crate) fn prefetch_bucket(&self, bucket: u32, width: u32) {
        self.words.prefetch(lanes::word_of(u64::from(bucket) * u64::from(SLOTS * width)));
    }

    #[inline(never)]
    fn holds_each(&self, places: &[Place], answers: &mut [bool]) {
        by_width!(self.width, |WIDTH| {
            for (answer, &place) in answers.iter_mut().zip(places) {
                *answer = self.holds_of(place, WIDTH);
            }
        });
    }

    /// The widths that usual rates ask for (3 %, 1 %, 0.2 %, 0.1 % and 0.01 %) are inlined where a key is asked for:
    /// a call takes a fifth of the time. With all of them what is inlined would not fit the registers.
    #[inline(always)]
    fn holds(&self, place: Place) -> bool {
        match self.width {
            8 => self.holds_of(place, 8),
            10 => self.holds_of(place, 10),
            12 => self.holds_of(place, 12),
            13 => self.holds_of(place, 13),
            16 => self.holds_of(place, 16),
            _ => self.holds_uncommon(place.bucket, place.other, place.fingerprint),
        }
    }

    /// Takes a [`Place`] in parts, which are passed in registers.
    #[inline(never)]
    fn holds_uncommon(&self, bucket: u32, other: u32, fingerprint: u32) -> bool {
        let place = Place { bucket, other, fingerprint };
        by_width!(self.width, |WIDTH| self.holds_of(place, WIDTH))
    }

    /// Both buckets are read always: which of them it is cannot be predicted, and a misprediction costs
    /// more than a read.
    #[inline(always)]
    fn holds_of(&self, Place { bucket, other, fingerprint }: Place, width: u32) -> bool {
        let first = self.matches_in(bucket.into(), fingerprint, width);
        first.any(self.matches_in(other.into(), fingerprint, width))
    }

    /// The first empty slot of a bucket.
    #[inline(always)]
    pub(crate) fn free_in(&self, bucket: u64, width: u32) -> Option<Slot> {
        self.matches_in(bucket, 0, width).first(width)
    }

    /// The slots of a bucket that hold the fingerprint.
    #[inline(always)]
    fn matches_in(&self, bucket: u64, fingerprint: u32, width: u32) -> Matches {
        if lanes::lanes(width) == SLOTS {
            return Matches::new(&self.words, bucket, fingerprint, width);
        }
        let low = Matches::new(&self.words, 2 * bucket, fingerprint, width);
        low.or(Matches::new(&self.words, 2 * bucket + 1, fingerprint, width))
    }

    /// How many slots hold the fingerprint.
    pub(crate) fn copies(&self, address: Address) -> u32 {
        let (bucket, other) = (address.bucket, self.partner(address));
        let copies = |bucket| -> u32 {
            let fingerprints = self.fingerprints_in(bucket, self.width).into_iter();
            fingerprints.map(|fingerprint| u32::from(fingerprint == address.fingerprint)).sum()
        };
        copies(bucket) + if other == bucket { 0 } else { copies(other) }
    }

    /// The word that may have bits beyond the last slot.
    pub(crate) fn last_word(&self) -> u64 {
        let last_bit = self.num_slots() * u64::from(self.width) - 1;
        self.words.word(lanes::word_of(last_bit))
    }

    /// The fingerprints of a bucket.
    #[inline(always)]
    pub(crate) fn fingerprints_in(&self, bucket: u64, width: u32) -> [u32; SLOTS as usize] {
        lanes::bucket(&self.words, bucket, width)
    }

    /// All fingerprints, each with the bucket that it lies in.
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

    /// Stores the fingerprint of a hash in one of its buckets. Nothing is changed when there is no place.
    #[inline]
    pub(crate) fn insert(&mut self, hash: u64) -> Result<(), Full> {
        self.insert_at(self.place(hash))
    }

    /// [`insert`](Self::insert) for many keys, up to the first for which there is no place.
    pub(crate) fn insert_each<K>(
        &mut self,
        keys: &[K],
        hash: impl Fn(&K) -> u64,
    ) -> Result<(), Full> {
        let mut places = [Place::default(); BATCH];
        for keys in keys.chunks(BATCH) {
            for (place, key) in places.iter_mut().zip(keys) {
                *place = self.place(hash(key));
                self.prefetch(*place);
            }
            places[..keys.len()].iter().try_for_each(|&place| self.insert_at(place))?;
        }
        Ok(())
    }

    /// Stores all fingerprints of another table of this shape, up to the first without a place.
    pub(crate) fn insert_all(&mut self, other: &Self) -> Result<(), Full> {
        let place = |address| Place::new(address, other.partner(address));
        other.iter().try_for_each(|address| self.insert_at(place(address)))
    }

    #[inline]
    fn insert_at(&mut self, place: Place) -> Result<(), Full> {
        if !self.store(place) {
            return Err(Full { len: self.len, num_slots: self.num_slots() });
        }
        self.len += 1;
        Ok(())
    }

    /// Returns whether there is a place.
    #[inline(never)]
    fn store(&mut self, place: Place) -> bool {
        by_width!(self.width, |WIDTH| self.store_of::<WIDTH>(place))
    }

    /// The first bucket is looked at first: up to half load it nearly always has room, and waiting for the other would be
    /// for nothing. Not inlined, as the compiler would join the ends of all widths and choose by width again.
    #[inline(never)]
    fn store_of<const WIDTH: u32>(&mut self, place: Place) -> bool {
        let free = self.free_in(place.bucket.into(), WIDTH);
        let free = free.or_else(|| self.free_in(place.other.into(), WIDTH));
        let Some(slot) = free.or_else(|| make_room::<WIDTH>(self, place)) else { return false };
        self.flip(slot, place.fingerprint, WIDTH);
        true
    }

    /// Removes one copy of the fingerprint of a hash. Which one makes no difference: copies of a
    /// fingerprint in its two buckets cannot be told apart.
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
        let first = self.matches_in(place.bucket.into(), place.fingerprint, WIDTH);
        let other = self.matches_in(place.other.into(), place.fingerprint, WIDTH);
        let slot = first.or(other).first(WIDTH);
        if let Some(slot) = slot {
            self.flip(slot, place.fingerprint, WIDTH);
        }
        slot.is_some()
    }

    /// Fills an empty slot, or empties a slot of this fingerprint.
    #[inline(always)]
    pub(crate) fn flip(&mut self, slot: Slot, fingerprint: u32, width: u32) {
        lanes::flip(&mut self.words, slot, fingerprint, width);
    }
}
