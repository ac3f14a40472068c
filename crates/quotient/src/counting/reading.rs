//! The methods that only read, for a counting filter in any storage.

use core::fmt;
use core::hash::{Hash, Hasher};

use pds_core::hash::KeyHasher;
use pds_core::internal::{answer_keys, check_lengths};
use pds_core::storage::WordSource;
use pds_core::traits::Membership;
use pds_params::QuotientParams;
use pds_params::quotient::size_in_bytes;

use super::CountingQuotientFilter;
use super::code::find;
use crate::fingerprint::{self, Fingerprint};
use crate::reading::{BATCH, sizes_and_design};

impl<S: KeyHasher, W: WordSource> CountingQuotientFilter<S, W> {
    sizes_and_design!();

    /// Returns the number of distinct keys, as the filter tells them apart: keys with equal fingerprints are one.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns the number of slots that remainders and counts take.
    #[must_use]
    pub fn used_slots(&self) -> u64 {
        self.table.len()
    }

    /// Returns the load: used slots per slot, from 0 to 0.95.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "a ratio needs no more than the 53 bits of both"
    )]
    pub fn load_factor(&self) -> f64 {
        self.used_slots() as f64 / self.num_slots() as f64
    }

    /// Returns the current false-positive rate, from 0 to 1: the fraction of absent keys with a count above 0, and of
    /// present keys with a count that is too high.
    ///
    /// The rate follows from the number of distinct keys, the number of slots and the width of remainders. It is the mean
    /// over all sets of as many keys. Growth does not change it.
    ///
    /// # Complexity
    /// Constant.
    #[must_use]
    pub fn false_positive_rate(&self) -> f64 {
        self.params.rate_at(self.len)
    }

    /// Returns the number of slots that can be used at the present size: 95 % of them.
    ///
    /// At the greatest size of a filter that grows it is `params().grown().capacity()`.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.params.capacity()
    }

    /// Returns the size of the slots in the portable bytes.
    ///
    /// It includes the slots for runs that overflow the last one, nine on average at capacity. In memory the last 64 slots
    /// have the room of all of them.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        size_in_bytes(self.table.slots() as u64, self.remainder_bits() + 1)
    }

    /// Tests by its hash whether a key may be in the multiset. `false` is certain.
    ///
    /// `hash` must be the [`hash_key`](KeyHasher::hash_key) of this filter, or 64 uniform bits. Pass any other hash
    /// through [`finalize`](pds_core::hash::finalize).
    #[inline]
    #[must_use]
    pub fn contains_hash(&self, hash: u64) -> bool {
        let (quotient, remainder) = self.fingerprint(hash);
        self.table.contains(quotient, remainder)
    }

    /// Tests many hashes: `out[i]` is the answer for `hashes[i]`.
    ///
    /// This is faster than single calls if the filter exceeds the cache. For the hashes see
    /// [`contains_hash`](Self::contains_hash).
    ///
    /// # Panics
    /// If the slices differ in length.
    #[track_caller]
    pub fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
        check_lengths(hashes, out);
        for (hashes, out) in hashes.chunks(BATCH).zip(out.chunks_mut(BATCH)) {
            hashes.iter().for_each(|&hash| self.table.prefetch(self.fingerprint(hash).0));
            for (answer, &hash) in out.iter_mut().zip(hashes) {
                *answer = self.contains_hash(hash);
            }
        }
    }

    /// Returns the count of a key by its hash; see [`count`](Self::count), and
    /// [`contains_hash`](Self::contains_hash) for the hash.
    #[must_use]
    pub fn count_hash(&self, hash: u64) -> u64 {
        find(&self.table, self.fingerprint(hash), self.remainder_bits()).count
    }

    /// Lists the counts by ascending fingerprint, each with its quotient and its remainder.
    ///
    /// A key cannot be recovered from its fingerprint. The sum of all counts may exceed a `u64`.
    ///
    /// # Examples
    /// ```
    /// use quotient::CountingQuotientFilter;
    ///
    /// let mut filter = CountingQuotientFilter::new(100, 0.001)?;
    /// filter.insert_many("a", 3)?;
    /// filter.insert_many("b", 4)?;
    /// assert_eq!(filter.counts().map(|(_, _, count)| u128::from(count)).sum::<u128>(), 7);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn counts(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.counts_of().map(|((quotient, remainder), count)| (quotient as u64, remainder, count))
    }

    /// Tests whether `key` may be in the multiset. `false` is certain.
    ///
    /// # Complexity
    /// O(1) on average, and no allocation.
    #[inline]
    #[must_use]
    pub fn contains<K: Hash + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hasher.hash_key(key))
    }

    /// Tests many keys: `out[i]` is the answer for `keys[i]`.
    ///
    /// # Panics
    /// If the slices differ in length.
    #[track_caller]
    pub fn contains_batch<K: Hash>(&self, keys: &[K], out: &mut [bool]) {
        let answer = |hashes: &[u64], out: &mut [bool]| self.contains_hash_batch(hashes, out);
        answer_keys::<BATCH, K, bool>(&self.hasher, keys, out, answer);
    }

    /// Returns how often `key` was inserted and not removed. Copies of other keys with the same fingerprint count too.
    ///
    /// # Complexity
    /// O(1) on average, and no allocation.
    #[must_use]
    pub fn count<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.count_hash(self.hasher.hash_key(key))
    }

    #[inline(always)]
    pub(super) fn fingerprint(&self, hash: u64) -> Fingerprint {
        fingerprint::of_hash(hash, self.params.num_slots(), self.params.remainder_bits())
    }
}

impl<S: KeyHasher, W> KeyHasher for CountingQuotientFilter<S, W> {
    #[inline]
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.hasher.hash_key(key)
    }

    #[inline]
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        self.hasher.hash_key_dyn(feed)
    }
}

impl<S: KeyHasher, W: WordSource> Membership for CountingQuotientFilter<S, W> {
    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.contains_hash(hash)
    }

    fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
        self.contains_hash_batch(hashes, out);
    }
}

impl<S: KeyHasher, W: WordSource> fmt::Debug for CountingQuotientFilter<S, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(W::name_of([
            "CountingQuotientFilter",
            "AtomicCountingQuotientFilter",
            "CountingQuotientFilterView",
        ]))
        .field("num_slots", &self.num_slots())
        .field("remainder_bits", &self.remainder_bits())
        .field("len", &self.len)
        .finish_non_exhaustive()
    }
}
