//! The methods that only read, for a filter in any storage.

use core::fmt;
use core::hash::{Hash, Hasher};

use bloom_core::Health;
use pds_core::hash::KeyHasher;
use pds_core::internal::check_lengths;
use pds_core::storage::WordSource;
use pds_core::traits::Membership;
use pds_params::Estimate;

use crate::{Age, AgingBloomFilter};

/// Number of standard deviations by which the rate of a healthy filter may exceed its promise.
const TOLERATED_DEVIATIONS: f64 = 3.0;

impl<A: Age, S: KeyHasher, W: WordSource> AgingBloomFilter<A, S, W> {
    /// Returns the hasher.
    #[must_use]
    pub const fn hasher(&self) -> &S {
        &self.hasher
    }

    /// Returns the promised false-positive rate. `None` if the filter was sized by hand.
    #[must_use]
    pub fn promised_rate(&self) -> Option<f64> {
        self.age.design().1
    }

    /// Returns the number of generations that the window is cut into.
    #[must_use]
    pub fn generations(&self) -> u32 {
        self.age.generations()
    }

    /// Returns the number of hash functions, which is the number of positions per key.
    #[must_use]
    pub fn num_hashes(&self) -> u32 {
        self.age.grid().num_hashes()
    }

    /// Returns the size of the bits in bytes, a multiple of 8.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        8 * self.age.grid().num_words()
    }

    /// Tests by its [hash](KeyHasher#hashes-of-your-own) whether a key may be in the window. `false` is certain.
    #[inline]
    #[must_use]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.columns.contains(hash)
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
        self.columns.contains_each(hashes, |&hash| hash, out);
    }

    /// Tests whether `key` may be in the window. `false` is certain.
    ///
    /// # Complexity
    /// O(k) for k hash functions, without allocation. An absent key reads about four words.
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
        self.columns.contains_each(keys, |key| self.hasher.hash_key(key), out);
    }

    /// Returns the current false-positive rate, from 0 to 1: the fraction of absent keys that are answered `true`.
    ///
    /// # Complexity
    /// O(size), once per generation.
    #[must_use]
    pub fn false_positive_rate(&self) -> f64 {
        self.age.grid().rate_from_ones(self.columns.ones())
    }

    /// Estimates the number of keys that are not yet forgotten, with its standard error.
    ///
    /// A key counts once in each generation in which it was inserted.
    ///
    /// # Complexity
    /// O(size), once per generation.
    #[must_use]
    pub fn approx_len(&self) -> Estimate {
        self.age.grid().items_from_ones(self.columns.ones())
    }

    /// Compares the estimated keys with the expected ones, and the current rate with the promised one.
    ///
    /// The expected items are those of the window and its slack.
    ///
    /// # Complexity
    /// O(size), once per generation.
    #[must_use]
    pub fn health(&self) -> Health {
        let (grid, full) = (self.age.grid(), self.age.generations() + 1);
        let design = self.age.design();
        let limit = match design {
            (Some(items), Some(promised)) => {
                let spread = grid.relative_spread(full, items.div_ceil(full.into()));
                promised * (1.0 + TOLERATED_DEVIATIONS * spread)
            }
            _ => grid.rate_from_ones((0..full).map(|_| grid.num_rows() / 2)),
        };
        Health::judge(self.approx_len(), self.false_positive_rate(), design, limit)
    }
}

impl<A, S: KeyHasher, W> KeyHasher for AgingBloomFilter<A, S, W> {
    #[inline]
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.hasher.hash_key(key)
    }

    #[inline]
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        self.hasher.hash_key_dyn(feed)
    }
}

impl<A: Age, S: KeyHasher, W: WordSource> Membership for AgingBloomFilter<A, S, W> {
    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.contains_hash(hash)
    }

    fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
        self.contains_hash_batch(hashes, out);
    }
}

impl<A: Age, S: KeyHasher, W: WordSource> fmt::Debug for AgingBloomFilter<A, S, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(W::name_of(A::NAMES))
            .field("generations", &self.generations())
            .field("num_hashes", &self.num_hashes())
            .field("size_in_bytes", &self.size_in_bytes())
            .field("age", &self.age.shape().as_slice()[4])
            .finish_non_exhaustive()
    }
}
