//! What both filters do with keys, batches and traits: one definition on top of their `..._hash` methods.

use core::array;
use core::hash::{BuildHasher, Hash};

/// How many keys of a batch are under way at once.
pub(crate) const BATCH: usize = 32;

/// Gives the methods on keys to a filter type with `insert_hash`, `contains_hash`, `remove_hash`,
/// `estimate_hash`, `prefetch_hash`, `merge` and the field `hasher`.
macro_rules! key_methods {
    ([$($bound:tt)*] $filter:ty) => {
        impl<$($bound)*> $filter {
            /// Inserts many hashes. Returns how many were not contained before.
            ///
            /// The counters are the same as after one by one, and so is the number.
            pub fn insert_hash_batch(&mut self, hashes: &[u64]) -> usize {
                let mut new = 0;
                for hashes in hashes.chunks($crate::methods::BATCH) {
                    hashes.iter().for_each(|&hash| self.prefetch_hash(hash));
                    new += hashes.iter().filter(|&&hash| self.insert_hash(hash)).count();
                }
                new
            }

            /// Tests many hashes: `out[i]` is the answer for `hashes[i]`.
            ///
            /// Faster than one by one where the filter exceeds the cache.
            ///
            /// # Panics
            /// When the slices differ in length.
            pub fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
                assert_eq!(hashes.len(), out.len(), "one answer a key");
                let chunks = hashes.chunks($crate::methods::BATCH);
                for (hashes, answers) in chunks.zip(out.chunks_mut($crate::methods::BATCH)) {
                    hashes.iter().for_each(|&hash| self.prefetch_hash(hash));
                    for (answer, &hash) in answers.iter_mut().zip(hashes) {
                        *answer = self.contains_hash(hash);
                    }
                }
            }

            /// Returns the hasher.
            #[must_use]
            pub const fn hasher(&self) -> &S {
                &self.hasher
            }

            /// Returns the number of items that the filter was designed for, if it was.
            #[must_use]
            pub fn expected_items(&self) -> Option<u64> {
                self.params.expected_items()
            }

            /// Returns the false-positive rate promised at the expected items, if one was.
            #[must_use]
            pub fn promised_rate(&self) -> Option<f64> {
                self.params.promised_rate()
            }
        }

        impl<$($bound)*> $filter
        where
            S: ::core::hash::BuildHasher,
        {
            /// Inserts `key`. Returns `true` when it was not contained before.
            ///
            /// Every counter of the key is raised by one, however many of its positions coincide, except
            /// those that stick at their greatest value. The order of inserts makes no difference.
            ///
            /// # Complexity
            /// O(k) for k hash functions, without allocation.
            #[inline]
            pub fn insert<K: ::core::hash::Hash + ?Sized>(&mut self, key: &K) -> bool {
                self.insert_hash(self.hasher.hash_one(key))
            }

            /// Tests whether `key` is possibly contained; `false` is certain.
            ///
            /// # Complexity
            /// O(k) for k hash functions, without allocation.
            #[inline]
            #[must_use]
            pub fn contains<K: ::core::hash::Hash + ?Sized>(&self, key: &K) -> bool {
                self.contains_hash(self.hasher.hash_one(key))
            }

            /// Removes one copy of `key`. Returns `false`, and changes nothing, when it is certainly absent.
            ///
            /// Only for keys that were inserted, and not removed as often since. To remove another may
            /// answer `true`, at the false-positive rate, and take from counters that other keys count on:
            /// those are then answered `false`.
            ///
            /// # Complexity
            /// O(k) for k hash functions, without allocation.
            #[inline]
            pub fn remove<K: ::core::hash::Hash + ?Sized>(&mut self, key: &K) -> bool {
                self.remove_hash(self.hasher.hash_one(key))
            }

            /// Estimates how often `key` is in: the least of its counters.
            ///
            /// Never too low, except that the greatest value of a counter stands for that many copies *or
            /// more*. Too high when other keys share all of its counters.
            #[inline]
            #[must_use]
            pub fn estimate<K: ::core::hash::Hash + ?Sized>(&self, key: &K) -> u64 {
                self.estimate_hash(self.hasher.hash_one(key))
            }

            /// Inserts many keys. Returns how many were not contained before.
            ///
            /// The counters are the same as after one by one, and so is the number.
            pub fn insert_batch<K: ::core::hash::Hash>(&mut self, keys: &[K]) -> usize {
                let mut new = 0;
                for keys in keys.chunks($crate::methods::BATCH) {
                    let hashes = $crate::methods::hash_chunk(&self.hasher, keys);
                    new += self.insert_hash_batch(&hashes[..keys.len()]);
                }
                new
            }

            /// Tests many keys: `out[i]` is the answer for `keys[i]`.
            ///
            /// Faster than one by one where the filter exceeds the cache.
            ///
            /// # Panics
            /// When the slices differ in length.
            pub fn contains_batch<K: ::core::hash::Hash>(&self, keys: &[K], out: &mut [bool]) {
                assert_eq!(keys.len(), out.len(), "one answer a key");
                let chunks = keys.chunks($crate::methods::BATCH);
                for (keys, answers) in chunks.zip(out.chunks_mut($crate::methods::BATCH)) {
                    let hashes = $crate::methods::hash_chunk(&self.hasher, keys);
                    self.contains_hash_batch(&hashes[..keys.len()], answers);
                }
            }
        }

        impl<$($bound)*> ::pds_core::HashKey for $filter
        where
            S: ::core::hash::BuildHasher,
        {
            #[inline]
            fn hash_key<K: ::core::hash::Hash + ?Sized>(&self, key: &K) -> u64 {
                self.hasher.hash_one(key)
            }
        }

        impl<$($bound)*> ::pds_core::Membership for $filter
        where
            S: ::core::hash::BuildHasher,
        {
            #[inline]
            fn contains_hash(&self, hash: u64) -> bool {
                self.contains_hash(hash)
            }

            fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
                self.contains_hash_batch(hashes, out);
            }
        }

        impl<$($bound)*> ::pds_core::Insert for $filter
        where
            S: ::core::hash::BuildHasher,
        {
            type Error = ::core::convert::Infallible;

            #[inline]
            fn insert_hash(&mut self, hash: u64) -> Result<bool, Self::Error> {
                Ok(self.insert_hash(hash))
            }
        }

        impl<$($bound)*> ::pds_core::Remove for $filter
        where
            S: ::core::hash::BuildHasher,
        {
            #[inline]
            fn remove_hash(&mut self, hash: u64) -> bool {
                self.remove_hash(hash)
            }
        }

        impl<$($bound)*> ::pds_core::Frequency for $filter
        where
            S: ::core::hash::BuildHasher,
        {
            #[inline]
            fn estimate_hash(&self, hash: u64) -> u64 {
                self.estimate_hash(hash)
            }
        }

        impl<$($bound)*> ::pds_core::Merge for $filter
        where
            S: ::core::hash::BuildHasher,
        {
            type Error = ::pds_core::Incompatible;

            fn merge(&mut self, other: &Self) -> Result<(), ::pds_core::Incompatible> {
                self.merge(other)
            }
        }

        /// Takes keys and references to keys: both hash alike.
        impl<K: ::core::hash::Hash, $($bound)*> Extend<K> for $filter
        where
            S: ::core::hash::BuildHasher,
        {
            fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
                keys.into_iter().for_each(|key| {
                    self.insert(&key);
                });
            }
        }
    };
}

pub(crate) use key_methods;

/// The hashes of up to [`BATCH`] keys; those beyond are 0.
pub(crate) fn hash_chunk<K: Hash>(hasher: &impl BuildHasher, keys: &[K]) -> [u64; BATCH] {
    array::from_fn(|i| keys.get(i).map_or(0, |key| hasher.hash_one(key)))
}
