//! Buckets of fingerprints: what a filter is, apart from keys and hashers.

use pds_core::AllocError;
use pds_core::memory::{WordSource, Words};
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
        by_width!(self.width, |width| {
            let address = Address::new(hash, self.num_buckets, width);
            self.either_holds(address, self.partner(address), width)
        })
    }

    /// [`contains`](Self::contains) for many hashes, some of whose buckets are always on their way.
    pub(crate) fn contains_each(&self, hashes: &[u64], answers: &mut [bool]) {
        by_width!(self.width, |width| self.contains_each_of(hashes, answers, width));
    }

    #[inline(always)]
    fn contains_each_of(&self, hashes: &[u64], answers: &mut [bool], width: u32) {
        debug_assert_eq!(hashes.len(), answers.len());
        for (hashes, answers) in hashes.chunks(BATCH).zip(answers.chunks_mut(BATCH)) {
            let mut places = [(Address { bucket: 0, fingerprint: 0 }, 0); BATCH];
            for (place, &hash) in places.iter_mut().zip(hashes) {
                let address = Address::new(hash, self.num_buckets, width);
                *place = (address, self.partner(address));
                self.prefetch(place.0.bucket, width);
                self.prefetch(place.1, width);
            }
            for (answer, &(address, other)) in answers.iter_mut().zip(&places) {
                *answer = self.either_holds(address, other, width);
            }
        }
    }

    #[inline(always)]
    fn prefetch(&self, bucket: u64, width: u32) {
        self.words.prefetch(lanes::word_of(bucket * u64::from(SLOTS * width)));
    }

    /// Both buckets are read always: which of them it is cannot be predicted, and a misprediction costs
    /// more than a read.
    #[inline(always)]
    fn either_holds(&self, address: Address, other: u64, width: u32) -> bool {
        let Address { bucket, fingerprint } = address;
        let found = self.matches(bucket, fingerprint, width);
        found | self.matches(other, fingerprint, width) != 0
    }

    /// Not zero when the bucket holds the fingerprint.
    #[inline(always)]
    fn matches(&self, bucket: u64, fingerprint: u32, width: u32) -> u64 {
        if lanes::lanes(width) == SLOTS {
            return self.matches_in(bucket, fingerprint, width);
        }
        self.matches_in(2 * bucket, fingerprint, width)
            | self.matches_in(2 * bucket + 1, fingerprint, width)
    }

    #[inline(always)]
    fn matches_in(&self, group: u64, fingerprint: u32, width: u32) -> u64 {
        lanes::matches(lanes::group(&self.words, group, width), fingerprint, width)
    }

    /// The first slot of the bucket with this fingerprint; an empty one for 0.
    #[inline]
    fn find(&self, bucket: u64, fingerprint: u32) -> Option<u64> {
        by_width!(self.width, |width| self.find_of(bucket, fingerprint, width))
    }

    #[inline(always)]
    fn find_of(&self, bucket: u64, fingerprint: u32, width: u32) -> Option<u64> {
        let lanes = u64::from(lanes::lanes(width));
        let groups = u64::from(SLOTS) / lanes;
        for group in bucket * groups..(bucket + 1) * groups {
            let matches = self.matches_in(group, fingerprint, width);
            if matches != 0 {
                return Some(group * lanes + u64::from(lanes::first_lane(matches, width)));
            }
        }
        None
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

    /// Stores the fingerprint in one of its buckets. Nothing is changed when there is no place.
    #[inline]
    pub(crate) fn insert(&mut self, address: Address) -> Result<(), Full> {
        let Address { bucket, fingerprint } = address;
        let other = self.partner(address);
        if let Some(slot) = self.find(bucket, 0).or_else(|| self.find(other, 0)) {
            self.set(slot, fingerprint);
        } else if self.is_all(bucket, fingerprint) && self.is_all(other, fingerprint)
            || !self.make_room(address)
        {
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
            if let Some(free) = self.find(homeless.bucket, 0) {
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

    /// Whether all slots of the bucket hold the fingerprint: moving copies of it makes no room.
    fn is_all(&self, bucket: u64, fingerprint: u32) -> bool {
        slots_of(bucket).all(|slot| self.get(slot) == fingerprint)
    }

    /// Removes one copy. Which one makes no difference: copies of a fingerprint in its two buckets
    /// cannot be told apart.
    #[inline]
    pub(crate) fn remove(&mut self, address: Address) -> bool {
        let Address { bucket, fingerprint } = address;
        let other = self.partner(address);
        let found = self.find(bucket, fingerprint).or_else(|| self.find(other, fingerprint));
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
