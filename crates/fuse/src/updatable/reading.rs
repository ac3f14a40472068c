//! The methods that only read, for a map in any storage.

use core::fmt;
use core::hash::{Hash, Hasher};

use pds_core::hash::KeyHasher;
use pds_core::internal::{AHEAD, answer_keys, check_lengths};
use pds_core::storage::WordSource;

use super::{OWN_BITS, UpdatableMap};
use crate::with_collisions;

impl<S, W> UpdatableMap<S, W> {
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

    /// Returns whether the map has no key. It answers `None` to every query then.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of bits of a value.
    #[must_use]
    pub const fn value_bits(&self) -> u32 {
        self.value_bits
    }

    /// Returns the number of bits by which other keys are told from those of the set.
    #[must_use]
    pub const fn check_bits(&self) -> u32 {
        self.table.params().width - OWN_BITS
    }

    /// Returns the fraction of absent keys that are taken for keys of the set: 3/4 · 2^-c for c check bits, and 2^-64 for each
    /// key, whose whole hash an absent key may have. 0 without keys.
    // A stranger's sum of two bits names a slot in three cases of four.
    #[must_use]
    pub fn false_positive_rate(&self) -> f64 {
        if self.is_empty() {
            return 0.0;
        }
        with_collisions(0.75 * pds_params::fuse::rate(self.check_bits()), self.len())
    }

    /// Returns the number of keys in the exact list. It is 0 in almost every map.
    #[must_use]
    pub const fn num_exact(&self) -> u64 {
        self.table.params().rest
    }

    /// Returns the size of the contents in bytes, a multiple of 8.
    #[must_use]
    pub const fn size_in_bytes(&self) -> u64 {
        (self.table.len() + self.num_value_words()) * 8
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

impl<S, W: WordSource> UpdatableMap<S, W> {
    /// Returns the value of a key by its hash. `None` is certain: the key is absent.
    ///
    /// `hash` must be the [`hash_key`](KeyHasher::hash_key) of this map, or 64 uniform bits. Pass any other hash through
    /// [`finalize`](pds_core::hash::finalize).
    #[inline]
    #[must_use]
    pub fn get_hash(&self, hash: u64) -> Option<u64> {
        let words = self.table.words();
        self.home(words, hash).map(|home| self.value(words, &home))
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
        let words = self.table.words();
        self.table.answer_each(hashes, out, |hash, place| {
            self.home_at(words, hash, place).map(|home| self.value(words, &home))
        });
    }
}

impl<S: KeyHasher, W: WordSource> UpdatableMap<S, W> {
    /// Returns the value of `key`. `None` is certain: the key is absent.
    ///
    /// # Complexity
    /// O(1): reads four places. Does not allocate.
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
    /// use fuse::UpdatableMap;
    ///
    /// let map = UpdatableMap::new([(2u64, 7)], 16)?;
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

impl<S: KeyHasher, W> KeyHasher for UpdatableMap<S, W> {
    #[inline]
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.hasher.hash_key(key)
    }

    #[inline]
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        self.hasher.hash_key_dyn(feed)
    }
}

impl<S, W: WordSource> fmt::Debug for UpdatableMap<S, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(W::name_of(["UpdatableMap", "AtomicUpdatableMap", "UpdatableMapView"]))
            .field("len", &self.len())
            .field("value_bits", &self.value_bits())
            .field("check_bits", &self.check_bits())
            .finish_non_exhaustive()
    }
}
