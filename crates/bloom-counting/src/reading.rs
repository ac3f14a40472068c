//! The methods that only read, for a counting Bloom filter in any storage.

use core::fmt;
use core::hash::{Hash, Hasher};

use pds_core::error::Incompatible;
use pds_core::hash::KeyHasher;
use pds_core::internal::check_lengths;
use pds_core::storage::WordSource;
use pds_core::traits::{Frequency, Membership};
use pds_params::{BloomParams, Estimate, bloom};

use crate::{Counter, CountingBloomFilter};

impl<S: KeyHasher, C: Counter, W: WordSource> CountingBloomFilter<S, C, W> {
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

    /// Returns the parameters: those of the Bloom filter with one bit per counter.
    #[must_use]
    pub const fn params(&self) -> BloomParams {
        self.params
    }

    /// Returns the number of counters.
    #[must_use]
    pub fn num_counters(&self) -> u64 {
        self.params.num_bits()
    }

    /// Returns the number of hash functions, which is the number of positions per key.
    #[must_use]
    pub fn num_hashes(&self) -> u32 {
        self.params.num_hashes()
    }

    /// Checks that two filters have equal shapes and hashers.
    pub(crate) fn check_compatible<V: WordSource>(
        &self,
        other: &CountingBloomFilter<S, C, V>,
    ) -> Result<(), Incompatible>
    where
        S: KeyHasher,
    {
        let (left, right) = (u64::from(self.num_hashes()), u64::from(other.num_hashes()));
        let counters = (self.num_counters(), other.num_counters());
        Incompatible::check_shape("number of counters", counters.0, counters.1)?;
        Incompatible::check_shape("number of hashes", left, right)?;
        Incompatible::check_hasher(&self.hasher, &other.hasher)
    }

    /// Returns the width of a counter in bits.
    #[must_use]
    pub const fn counter_bits(&self) -> u32 {
        C::BITS
    }

    /// Tests by [its hash](KeyHasher#hashes-of-your-own) whether a key may be contained. `false` is certain.
    #[inline]
    #[must_use]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.counters.reader(self.num_hashes()).contains(hash)
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
        self.counters.reader(self.num_hashes()).contains_each(hashes, |&hash| hash, out);
    }

    /// Estimates how often a key is contained by [its hash](KeyHasher#hashes-of-your-own); see
    /// [`estimate`](Self::estimate).
    #[inline]
    #[must_use]
    pub fn estimate_hash(&self, hash: u64) -> u64 {
        self.counters.reader(self.num_hashes()).least(hash)
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
    /// # Complexity
    /// O(m) for m counters.
    #[must_use]
    pub fn false_positive_rate(&self) -> f64 {
        bloom::rate_from_fill(self.fill_ratio(), self.num_hashes())
    }

    /// Estimates the number of *distinct* items, with its standard error.
    ///
    /// Both are infinite if no counter is zero. Saturated counters whose keys are gone make the estimate too high.
    ///
    /// # Complexity
    /// O(m) for m counters.
    #[must_use]
    pub fn approx_len(&self) -> Estimate {
        let raised = self.counters.count_raised();
        bloom::cardinality(self.num_counters(), self.num_hashes(), raised)
    }

    /// Tests whether `key` may be contained. `false` is certain.
    ///
    /// # Complexity
    /// O(k) for k hash functions, and no allocation.
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
        let hash = |key: &K| self.hasher.hash_key(key);
        self.counters.reader(self.num_hashes()).contains_each(keys, hash, out);
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

impl<S: KeyHasher, C, W> KeyHasher for CountingBloomFilter<S, C, W> {
    #[inline]
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.hasher.hash_key(key)
    }

    #[inline]
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        self.hasher.hash_key_dyn(feed)
    }
}

impl<S: KeyHasher, C: Counter, W: WordSource> Membership for CountingBloomFilter<S, C, W> {
    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.contains_hash(hash)
    }

    fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
        self.contains_hash_batch(hashes, out);
    }
}

impl<S: KeyHasher, C: Counter, W: WordSource> Frequency for CountingBloomFilter<S, C, W> {
    #[inline]
    fn estimate_hash(&self, hash: u64) -> u64 {
        self.estimate_hash(hash)
    }
}

impl<S: KeyHasher, C: Counter, W: WordSource> fmt::Debug for CountingBloomFilter<S, C, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = ["CountingBloomFilter", "AtomicCountingBloomFilter", "CountingBloomFilterView"];
        f.debug_struct(W::name_of(names))
            .field("num_counters", &self.num_counters())
            .field("counter_bits", &C::BITS)
            .field("num_hashes", &self.num_hashes())
            .field("fill_ratio", &self.fill_ratio())
            .finish_non_exhaustive()
    }
}
