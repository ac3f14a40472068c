//! The methods that only read, for a blocked counting Bloom filter in any storage.

use core::fmt;
use core::hash::{Hash, Hasher};

use pds_core::error::Incompatible;
use pds_core::hash::KeyHasher;
use pds_core::internal::check_lengths;
use pds_core::storage::WordSource;
use pds_core::traits::{Frequency, Membership};
use pds_params::BlockedCountingParams;

use crate::BlockedCountingBloomFilter;

impl<S: KeyHasher, W: WordSource> BlockedCountingBloomFilter<S, W> {
    /// Returns the hasher.
    #[must_use]
    pub const fn hasher(&self) -> &S {
        &self.hasher
    }

    /// Returns the number of distinct items that the filter was designed for. `None` if it was sized by hand.
    #[must_use]
    pub fn expected_items(&self) -> Option<u64> {
        self.params.expected_items()
    }

    /// Returns the false-positive rate promised at the expected items. `None` if the filter was sized by hand.
    #[must_use]
    pub fn promised_rate(&self) -> Option<f64> {
        self.params.promised_rate()
    }

    /// Returns the parameters.
    #[must_use]
    pub const fn params(&self) -> BlockedCountingParams {
        self.params
    }

    /// Returns the number of lines. A line has 128 counters.
    #[must_use]
    pub fn num_lines(&self) -> u64 {
        self.params.num_lines()
    }

    /// Checks that two filters have equal shapes and hashers.
    pub(crate) fn check_compatible<V: WordSource>(
        &self,
        other: &BlockedCountingBloomFilter<S, V>,
    ) -> Result<(), Incompatible>
    where
        S: KeyHasher,
    {
        Incompatible::check_shape("number of lines", self.num_lines(), other.num_lines())?;
        Incompatible::check_hasher(&self.hasher, &other.hasher)
    }

    /// Tests by [its hash](KeyHasher#hashes-of-your-own) whether a key may be contained. `false` is certain.
    #[inline]
    #[must_use]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.counters.contains(hash)
    }

    /// Tests many [hashes](KeyHasher#hashes-of-your-own): `out[i]` is the answer for `hashes[i]`.
    ///
    /// This is faster than single calls if the filter exceeds the cache.
    ///
    /// # Panics
    /// If the slices differ in length.
    #[track_caller]
    pub fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
        check_lengths(hashes, out);
        self.counters.contains_each(hashes, |&hash| hash, out);
    }

    /// Estimates how often a key is contained by [its hash](KeyHasher#hashes-of-your-own); see
    /// [`estimate`](Self::estimate).
    #[inline]
    #[must_use]
    pub fn estimate_hash(&self, hash: u64) -> u64 {
        self.counters.estimate(hash)
    }

    /// Returns the size of the counters in bytes, a multiple of 8.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.counters.size_in_bytes()
    }

    /// Counts the counters that are saturated, in O(size).
    ///
    /// They are never decremented, so they stay when their keys are gone. To get rid of them, build the filter anew.
    #[must_use]
    pub fn saturated_counters(&self) -> u64 {
        self.counters.count_saturated()
    }

    /// Returns the fraction of counters that are not zero, in O(size).
    #[must_use]
    pub fn fill_ratio(&self) -> f64 {
        self.counters.fill_ratio()
    }

    /// Returns the current false-positive rate, from 0 to 1: the fraction of absent keys that are answered `true`.
    ///
    /// It is the mean over the lines of the product of the fills of their lanes, so it is exact for this filter.
    ///
    /// # Complexity
    /// O(lines).
    #[must_use]
    pub fn false_positive_rate(&self) -> f64 {
        self.counters.rate()
    }

    /// Tests whether `key` may be contained. `false` is certain.
    ///
    /// # Complexity
    /// O(1): reads one cache line. Does not allocate.
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
    #[track_caller]
    pub fn contains_batch<K: Hash>(&self, keys: &[K], out: &mut [bool]) {
        check_lengths(keys, out);
        self.counters.contains_each(keys, |key| self.hasher.hash_key(key), out);
    }

    /// Estimates how often `key` is contained: the least of its counters.
    ///
    /// The estimate is never too low, except that the greatest value of a counter stands for that many copies *or more*. It
    /// is too high if other keys share all counters of the key.
    #[inline]
    #[must_use]
    pub fn estimate<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.estimate_hash(self.hasher.hash_key(key))
    }
}

impl<S: KeyHasher, W> KeyHasher for BlockedCountingBloomFilter<S, W> {
    #[inline]
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.hasher.hash_key(key)
    }

    #[inline]
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        self.hasher.hash_key_dyn(feed)
    }
}

impl<S: KeyHasher, W: WordSource> Membership for BlockedCountingBloomFilter<S, W> {
    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.contains_hash(hash)
    }

    fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
        self.contains_hash_batch(hashes, out);
    }
}

impl<S: KeyHasher, W: WordSource> Frequency for BlockedCountingBloomFilter<S, W> {
    #[inline]
    fn estimate_hash(&self, hash: u64) -> u64 {
        self.estimate_hash(hash)
    }
}

impl<S: KeyHasher, W: WordSource> fmt::Debug for BlockedCountingBloomFilter<S, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(W::name_of([
            "BlockedCountingBloomFilter",
            "AtomicBlockedCountingBloomFilter",
            "BlockedCountingBloomFilterView",
        ]))
        .field("num_lines", &self.num_lines())
        .field("fill_ratio", &self.fill_ratio())
        .finish_non_exhaustive()
    }
}
