//! Buckets of fingerprints: what a filter is, apart from keys and hashers.

use pds_core::AllocError;
use pds_core::internal::{WordSource, Words};
use pds_params::CuckooParams;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::Full;
use crate::address::{Address, partner};
use crate::lanes::{self, SLOTS, by_width};

/// How many fingerprints an insert moves before it gives up.
///
/// Enough for a mean load of 0.972 at the first failure with a million keys; simulations of the usual scheme
/// with 500 moves end at 0.964 with a quarter of them.
const MAX_MOVES: usize = 2000;

/// How many lookups of a batch are under way at once; each reads two lines.
const BATCH: usize = 32;

/// All places of a key. Half as large as with buckets in 64 bits, which they need not be.
#[derive(Clone, Copy, Default)]
struct Place {
    bucket: u32,
    other: u32,
    fingerprint: u32,
}

const _: () = assert!(pds_params::cuckoo::MAX_BUCKETS <= 1 << 32);

impl Place {
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "buckets are numbered up to 2^32 - 1")]
    const fn new(Address { bucket, fingerprint }: Address, other: u64) -> Self {
        Self { bucket: bucket as u32, other: other as u32, fingerprint }
    }

    const fn address(self) -> Address {
        Address { bucket: self.bucket as u64, fingerprint: self.fingerprint }
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
    fn partner(&self, Address { bucket, fingerprint }: Address) -> u64 {
        partner(bucket, fingerprint, self.num_buckets)
    }

    pub(crate) fn words(&self) -> &W {
        &self.words
    }

    pub(crate) fn num_slots(&self) -> u64 {
        self.num_buckets * u64::from(SLOTS)
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
        for bucket in [place.bucket, place.other] {
            self.words.prefetch(lanes::word_of(u64::from(bucket) * u64::from(SLOTS * self.width)));
        }
    }

    #[inline(never)]
    fn holds_each(&self, places: &[Place], answers: &mut [bool]) {
        by_width!(self.width, |width| {
            for (answer, &place) in answers.iter_mut().zip(places) {
                *answer = self.holds_of(place, width);
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
            _ => self.holds_uncommon(place),
        }
    }

    #[inline(never)]
    fn holds_uncommon(&self, place: Place) -> bool {
        by_width!(self.width, |width| self.holds_of(place, width))
    }

    /// Both buckets are read always: which of them it is cannot be predicted, and a misprediction costs
    /// more than a read.
    #[inline(always)]
    fn holds_of(&self, Place { bucket, other, fingerprint }: Place, width: u32) -> bool {
        let found = self.first_in(bucket.into(), fingerprint, width).0;
        found | self.first_in(other.into(), fingerprint, width).0 != 0
    }

    /// The first slot of both buckets with this fingerprint; an empty one for 0.
    #[inline(never)]
    fn find(&self, place: Place, fingerprint: u32) -> Option<u64> {
        by_width!(self.width, |width| self.first_of(place, fingerprint, width))
    }

    /// The first empty slot of a bucket.
    fn free_in(&self, bucket: u64) -> Option<u64> {
        let (matches, slot) = by_width!(self.width, |width| self.first_in(bucket, 0, width));
        (matches != 0).then_some(slot)
    }

    #[inline(always)]
    fn first_of(&self, place: Place, fingerprint: u32, width: u32) -> Option<u64> {
        let first = self.first_in(place.bucket.into(), fingerprint, width);
        let other = self.first_in(place.other.into(), fingerprint, width);
        let (matches, slot) = if first.0 != 0 { first } else { other };
        (matches != 0).then_some(slot)
    }

    /// Not zero when the bucket holds the fingerprint, and the first slot that does.
    #[inline(always)]
    fn first_in(&self, bucket: u64, fingerprint: u32, width: u32) -> (u64, u64) {
        if lanes::lanes(width) == SLOTS {
            return self.first_in_group(bucket, fingerprint, width);
        }
        let first = self.first_in_group(2 * bucket, fingerprint, width);
        let second = self.first_in_group(2 * bucket + 1, fingerprint, width);
        if first.0 != 0 { first } else { second }
    }

    #[inline(always)]
    fn first_in_group(&self, group: u64, fingerprint: u32, width: u32) -> (u64, u64) {
        let matches = lanes::matches(lanes::group(&self.words, group, width), fingerprint, width);
        let lane = lanes::first_lane(matches, width);
        (matches, group * u64::from(lanes::lanes(width)) + u64::from(lane))
    }

    /// How many slots hold the fingerprint.
    pub(crate) fn copies(&self, address: Address) -> u32 {
        let (bucket, other) = (address.bucket, self.partner(address));
        let copies = |bucket| {
            slots_of(bucket).map(|slot| u32::from(self.get(slot) == address.fingerprint)).sum()
        };
        copies(bucket) + if other == bucket { 0 } else { copies(other) }
    }

    /// The word that may have bits beyond the last slot.
    pub(crate) fn last_word(&self) -> u64 {
        let last_bit = self.num_slots() * u64::from(self.width) - 1;
        self.words.word(lanes::word_of(last_bit))
    }

    #[inline]
    fn get(&self, slot: u64) -> u32 {
        lanes::slot(&self.words, slot, self.width)
    }

    /// All fingerprints, each with the bucket that it lies in.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Address> {
        (0..self.num_buckets)
            .flat_map(|bucket| slots_of(bucket).map(move |slot| (bucket, slot)))
            .map(|(bucket, slot)| Address { bucket, fingerprint: self.get(slot) })
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

    fn insert_at(&mut self, place: Place) -> Result<(), Full> {
        if let Some(slot) = self.find(place, 0) {
            self.set(slot, place.fingerprint);
        } else if self.is_all(place) || !self.make_room(place.address()) {
            return Err(Full { len: self.len, num_slots: self.num_slots() });
        }
        self.len += 1;
        Ok(())
    }

    /// Puts the fingerprint into its full bucket by moving others to their partners, at random.
    ///
    /// When no way is found in [`MAX_MOVES`] moves, all of them are taken back in reverse order. The
    /// walk depends on nothing but the table and the fingerprint: equal histories give equal tables.
    #[cold]
    fn make_room(&mut self, address: Address) -> bool {
        let seed = address.bucket << 32 | u64::from(address.fingerprint);
        let mut generator = SplitMix64::seed_from_u64(seed);
        let mut chosen = [0; MAX_MOVES];
        let mut homeless = address;
        for lane in &mut chosen {
            *lane = (generator.next_u64() >> 62) as u8;
            self.swap(&mut homeless, *lane);
            homeless.bucket = self.partner(homeless);
            if let Some(free) = self.free_in(homeless.bucket) {
                self.set(free, homeless.fingerprint);
                return true;
            }
        }
        for &lane in chosen.iter().rev() {
            homeless.bucket = self.partner(homeless);
            self.swap(&mut homeless, lane);
        }
        debug_assert_eq!(homeless, address);
        false
    }

    /// Exchanges the fingerprint with the one in this slot of its bucket.
    fn swap(&mut self, homeless: &mut Address, lane: u8) {
        let slot = homeless.bucket * u64::from(SLOTS) + u64::from(lane);
        let resident = self.get(slot);
        self.set(slot, homeless.fingerprint);
        homeless.fingerprint = resident;
    }

    /// Whether all slots of both buckets hold the fingerprint: moving copies of it makes no room.
    fn is_all(&self, Place { bucket, other, fingerprint }: Place) -> bool {
        let mut slots = [bucket, other].into_iter().flat_map(|bucket| slots_of(bucket.into()));
        slots.all(|slot| self.get(slot) == fingerprint)
    }

    /// Removes one copy of the fingerprint of a hash. Which one makes no difference: copies of a
    /// fingerprint in its two buckets cannot be told apart.
    #[inline]
    pub(crate) fn remove(&mut self, hash: u64) -> bool {
        self.remove_at(self.place(hash))
    }

    fn remove_at(&mut self, place: Place) -> bool {
        let found = self.find(place, place.fingerprint);
        if let Some(slot) = found {
            self.set(slot, 0);
            self.len -= 1;
        }
        found.is_some()
    }

    #[inline]
    fn set(&mut self, slot: u64, fingerprint: u32) {
        lanes::set_slot(&mut self.words, slot, fingerprint, self.width);
    }
}

/// The numbers of a bucket's slots.
#[inline(always)]
fn slots_of(bucket: u64) -> core::ops::Range<u64> {
    bucket * u64::from(SLOTS)..(bucket + 1) * u64::from(SLOTS)
}
