//! The methods that only read, for a filter in any storage.

use core::fmt;
use core::hash::{Hash, Hasher};

use pds_core::hash::KeyHasher;
use pds_core::internal::{AHEAD, answer_keys, check_lengths};
use pds_core::storage::WordSource;
use pds_core::traits::Membership;
use pds_params::fuse::rate;

use super::FuseFilter;
use crate::with_collisions;

impl<S, W> FuseFilter<S, W> {
    /// Returns the hasher.
    #[must_use]
    pub const fn hasher(&self) -> &S {
        &self.hasher
    }

    /// Returns the number of distinct keys.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.table.params().keys
    }

    /// Returns whether the filter has no key. It answers `false` to every query then.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the width of a fingerprint in bits.
    #[must_use]
    pub const fn fingerprint_bits(&self) -> u32 {
        self.table.params().width
    }

    /// Returns the number of fingerprints.
    #[must_use]
    pub const fn num_slots(&self) -> u64 {
        self.table.num_slots()
    }

    /// Returns the mean false-positive rate of a filter with a key: 2^-b for fingerprints of b bits, and 2^-64 for each key,
    /// whose whole hash an absent key may have.
    #[must_use]
    pub fn promised_rate(&self) -> f64 {
        with_collisions(rate(self.fingerprint_bits()), self.len().max(1))
    }

    /// Returns the mean false-positive rate, from 0 to 1: the fraction of absent keys that are answered `true`.
    ///
    /// It is the promised one, and 0 without keys.
    #[must_use]
    pub fn false_positive_rate(&self) -> f64 {
        if self.is_empty() { 0.0 } else { self.promised_rate() }
    }

    /// Returns the number of keys in the exact list. It is 0 in almost every filter.
    #[must_use]
    pub const fn num_exact(&self) -> u64 {
        self.table.params().rest
    }

    /// Returns the size of the contents in bytes, a multiple of 8.
    #[must_use]
    pub const fn size_in_bytes(&self) -> u64 {
        self.table.len() * 8
    }

    /// Returns the number of bits per key. Not a number if there is no key.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "a ratio needs no more than the 53 bits of both"
    )]
    pub fn bits_per_key(&self) -> f64 {
        self.size_in_bytes() as f64 * 8.0 / self.len() as f64
    }
}

impl<S, W: WordSource> FuseFilter<S, W> {
    /// Tests by its hash whether a key may be in the set. `false` is certain.
    ///
    /// `hash` must be the [`hash_key`](KeyHasher::hash_key) of this filter, or 64 uniform bits. Pass any other hash
    /// through [`finalize`](pds_core::hash::finalize).
    #[inline]
    #[must_use]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.table.contains(self.table.words(), hash)
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
        self.table.contains_each(hashes, out);
    }
}

impl<S: KeyHasher, W: WordSource> FuseFilter<S, W> {
    /// Tests whether `key` may be in the set. `false` is certain.
    ///
    /// # Complexity
    /// O(1): reads three places. Does not allocate.
    #[inline]
    #[must_use]
    pub fn contains<K: Hash + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hasher.hash_key(key))
    }

    /// Tests many keys: `out[i]` is the answer for `keys[i]`.
    ///
    /// This is faster than single calls if the filter exceeds the cache.
    ///
    /// # Panics
    /// If the slices differ in length.
    ///
    /// # Examples
    /// ```
    /// use fuse::FuseFilter;
    ///
    /// let filter = FuseFilter::new([2u64], 0.001)?;
    /// let mut answers = [false; 3];
    /// filter.contains_batch(&[1u64, 2, 3], &mut answers);
    /// assert_eq!(answers, [false, true, false]);
    /// # Ok::<(), fuse::ConstructionError>(())
    /// ```
    #[track_caller]
    pub fn contains_batch<K: Hash>(&self, keys: &[K], out: &mut [bool]) {
        answer_keys::<{ 8 * AHEAD }, _, _>(&self.hasher, keys, out, |hashes, answers| {
            self.table.contains_each(hashes, answers);
        });
    }
}

impl<S: KeyHasher, W> KeyHasher for FuseFilter<S, W> {
    #[inline]
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.hasher.hash_key(key)
    }

    #[inline]
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        self.hasher.hash_key_dyn(feed)
    }
}

impl<S: KeyHasher, W: WordSource> Membership for FuseFilter<S, W> {
    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.contains_hash(hash)
    }

    fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
        self.contains_hash_batch(hashes, out);
    }
}

impl<S, W: WordSource> fmt::Debug for FuseFilter<S, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(W::name_of(["FuseFilter", "AtomicFuseFilter", "FuseFilterView"]))
            .field("len", &self.len())
            .field("fingerprint_bits", &self.fingerprint_bits())
            .finish_non_exhaustive()
    }
}
