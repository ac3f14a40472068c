//! The methods that only read, for a filter in any storage.

use core::fmt;
use core::hash::{Hash, Hasher};

use pds_core::hash::KeyHasher;
use pds_core::internal::{AHEAD, answer_keys, check_lengths};
use pds_core::storage::WordSource;
use pds_core::traits::Membership;
use pds_params::RibbonParams;
use pds_params::ribbon::Preset;

use super::RibbonFilter;
use crate::with_collisions;

impl<S, W> RibbonFilter<S, W> {
    /// Returns the hasher.
    #[must_use]
    pub const fn hasher(&self) -> &S {
        &self.hasher
    }

    /// Returns the number of distinct keys.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.system.params().keys
    }

    /// Returns whether the filter has no key. It answers `false` to every query then.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of columns: the bits per key that determine the rate.
    #[must_use]
    pub fn columns(&self) -> f64 {
        self.system.params().columns.as_f64()
    }

    /// Returns the preset that the filter was built with.
    #[must_use]
    pub const fn preset(&self) -> Preset {
        self.system.params().preset
    }

    /// Returns the greatest mean false-positive rate, which follows from the numbers of columns and keys.
    #[must_use]
    pub fn promised_rate(&self) -> f64 {
        RibbonParams::from_items_and_columns(self.len().max(1), self.system.params().columns)
            .map_or(1.0, |params| params.rate())
    }

    /// Returns the number of keys in the exact list. It is 0 in almost every filter.
    #[must_use]
    pub const fn num_exact(&self) -> u64 {
        self.system.params().rest
    }
}

impl<S, W: WordSource> RibbonFilter<S, W> {
    /// Returns the false-positive rate of this filter, from 0 to 1: the fraction of absent keys that are answered `true`.
    ///
    /// If the columns are a whole number, it is the promised one. Otherwise a filter is above it as often as below, by some
    /// tenths of a percent at 10,000 keys, and a small one has more columns than asked for. It is 0 without keys.
    ///
    /// # Complexity
    /// O(n / 128) for n keys.
    #[must_use]
    pub fn false_positive_rate(&self) -> f64 {
        with_collisions(self.system.rate(self.words.as_words()), self.len())
    }

    /// Returns the size of the contents in bytes, a multiple of 8.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.words.as_words().len() as u64 * 8
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

    /// Tests by its hash whether a key may be in the set. `false` is certain.
    ///
    /// `hash` must be the [`hash_key`](KeyHasher::hash_key) of this filter, or 64 uniform bits. Pass any other hash
    /// through [`finalize`](pds_core::hash::finalize).
    #[inline]
    #[must_use]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.system.has(self.words.as_words(), hash)
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
        self.system.has_each(self.words.as_words(), hashes, out);
    }
}

impl<S: KeyHasher, W: WordSource> RibbonFilter<S, W> {
    /// Tests whether `key` may be in the set. `false` is certain.
    ///
    /// # Complexity
    /// O(1). Does not allocate.
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
    /// use fuse::RibbonFilter;
    ///
    /// let filter = RibbonFilter::new([2u64], 0.001)?;
    /// let mut answers = [false; 3];
    /// filter.contains_batch(&[1u64, 2, 3], &mut answers);
    /// assert_eq!(answers, [false, true, false]);
    /// # Ok::<(), fuse::ConstructionError>(())
    /// ```
    #[track_caller]
    pub fn contains_batch<K: Hash>(&self, keys: &[K], out: &mut [bool]) {
        let words = self.words.as_words();
        answer_keys::<{ 8 * AHEAD }, _, _>(&self.hasher, keys, out, |hashes, answers| {
            self.system.has_each(words, hashes, answers);
        });
    }
}

impl<S: KeyHasher, W> KeyHasher for RibbonFilter<S, W> {
    #[inline]
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.hasher.hash_key(key)
    }

    #[inline]
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        self.hasher.hash_key_dyn(feed)
    }
}

impl<S: KeyHasher, W: WordSource> Membership for RibbonFilter<S, W> {
    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.contains_hash(hash)
    }

    fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
        self.contains_hash_batch(hashes, out);
    }
}

impl<S, W: WordSource> fmt::Debug for RibbonFilter<S, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(W::name_of(["RibbonFilter", "AtomicRibbonFilter", "RibbonFilterView"]))
            .field("len", &self.len())
            .field("columns", &self.columns())
            .finish_non_exhaustive()
    }
}
