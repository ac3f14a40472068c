//! The methods that only read, for a map in any storage.

use core::fmt;
use core::hash::{Hash, Hasher};

use pds_core::hash::KeyHasher;
use pds_core::internal::{AHEAD, StoredWord, answer_keys, check_lengths};
use pds_core::storage::WordSource;

use super::RetrievalMap;
use crate::equation::fingerprint;
use crate::system::ones;
use crate::with_collisions;

impl<S, W> RetrievalMap<S, W> {
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

    /// Returns whether the map has no key. It answers `None` to every query then.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of bits of a value, from 1 to 64.
    #[must_use]
    pub const fn value_bits(&self) -> u32 {
        self.value_bits
    }

    /// Returns the number of check bits, from 0 to 32.
    #[must_use]
    pub const fn check_bits(&self) -> u32 {
        self.system.params().columns.every() - self.value_bits
    }

    /// Returns the fraction of absent keys that have a value: 2^-c for c check bits, and 2^-64 for each key, whose whole hash
    /// an absent key may have. 0 without keys.
    #[must_use]
    pub fn false_positive_rate(&self) -> f64 {
        if self.is_empty() {
            return 0.0;
        }
        with_collisions(1.0 / (1_u64 << self.check_bits()) as f64, self.len())
    }

    /// Returns the number of keys in the exact list. It is 0 in almost every map.
    #[must_use]
    pub const fn num_exact(&self) -> u64 {
        self.system.params().rest
    }

    #[inline(always)]
    fn value<V: StoredWord>(&self, words: &[V], hash: u64) -> Option<u64> {
        let (bits, check_bits) = (self.system.bits(words, hash)?, self.check_bits());
        let is_key = (bits ^ fingerprint(hash)) & ones(check_bits.into()) == 0;
        is_key.then_some(bits >> check_bits)
    }
}

impl<S, W: WordSource> RetrievalMap<S, W> {
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

    /// Returns the value of a key by its hash. `None` is certain: the key is absent.
    ///
    /// `hash` must be the [`hash_key`](KeyHasher::hash_key) of this map, or 64 uniform bits. Pass any other hash through
    /// [`finalize`](pds_core::hash::finalize).
    #[inline]
    #[must_use]
    pub fn get_hash(&self, hash: u64) -> Option<u64> {
        self.value(self.words.as_words(), hash)
    }

    /// Looks up many hashes: `out[i]` is the answer for `hashes[i]`.
    ///
    /// This is faster than single calls if the map exceeds the cache. For the hashes see [`get_hash`](Self::get_hash).
    ///
    /// # Panics
    /// If the slices differ in length.
    #[track_caller]
    pub fn get_hash_batch(&self, hashes: &[u64], out: &mut [Option<u64>]) {
        check_lengths(hashes, out);
        let words = self.words.as_words();
        self.system.answer_each(words, hashes, out, |words, hash| self.value(words, hash));
    }
}

impl<S: KeyHasher, W: WordSource> RetrievalMap<S, W> {
    /// Returns the value of `key`. `None` is certain: the key is absent.
    ///
    /// # Complexity
    /// O(1). Does not allocate.
    #[inline]
    #[must_use]
    pub fn get<K: Hash + ?Sized>(&self, key: &K) -> Option<u64> {
        self.get_hash(self.hasher.hash_key(key))
    }

    /// Looks up many keys: `out[i]` is the answer for `keys[i]`.
    ///
    /// This is faster than single calls if the map exceeds the cache.
    ///
    /// # Panics
    /// If the slices differ in length.
    ///
    /// # Examples
    /// ```
    /// use fuse::RetrievalMap;
    ///
    /// let map = RetrievalMap::new([(2u64, 7)], 16)?;
    /// let mut answers = [None; 3];
    /// map.get_batch(&[1u64, 2, 3], &mut answers);
    /// assert_eq!(answers, [None, Some(7), None]);
    /// # Ok::<(), fuse::ConstructionError>(())
    /// ```
    #[track_caller]
    pub fn get_batch<K: Hash>(&self, keys: &[K], out: &mut [Option<u64>]) {
        answer_keys::<{ 8 * AHEAD }, _, _>(&self.hasher, keys, out, |hashes, answers| {
            self.get_hash_batch(hashes, answers);
        });
    }
}

impl<S: KeyHasher, W> KeyHasher for RetrievalMap<S, W> {
    #[inline]
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.hasher.hash_key(key)
    }

    #[inline]
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        self.hasher.hash_key_dyn(feed)
    }
}

impl<S, W: WordSource> fmt::Debug for RetrievalMap<S, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(W::name_of(["RetrievalMap", "AtomicRetrievalMap", "RetrievalMapView"]))
            .field("len", &self.len())
            .field("value_bits", &self.value_bits())
            .field("check_bits", &self.check_bits())
            .finish_non_exhaustive()
    }
}
