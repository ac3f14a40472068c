//! What both filters do with keys and batches: one definition on top of their `..._hash` methods.

/// How many keys of a batch are under way at once.
pub(crate) const BATCH: usize = 32;

/// The hashes of up to [`BATCH`] keys; those beyond are 0.
#[inline]
pub(crate) fn hashes<K>(keys: &[K], hash: impl Fn(&K) -> u64) -> [u64; BATCH] {
    let mut hashes = [0; BATCH];
    hashes.iter_mut().zip(keys).for_each(|(slot, key)| *slot = hash(key));
    hashes
}

/// Gives the methods that only read to a filter, owned or borrowed, with `contains_hash`, `estimate_hash`,
/// `contains_each` and the fields `counters`, `params` and `hasher`.
///
/// A macro and no generic type, so that each filter's documentation shows its methods as its own.
macro_rules! reading_methods {
    ([$($generics:tt)*] $filter:ty) => {
        ::pds_core::internal::membership_methods!(
            [$($generics)*] $filter,
            "O(k) for k hash functions, without allocation."
        );

        impl<$($generics)*> $filter {
            /// Tests many hashes: `out[i]` is the answer for `hashes[i]`.
            /// Each hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
            /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
            ///
            /// Faster than one by one where the filter exceeds the cache.
            ///
            /// # Panics
            /// When the slices differ in length.
            pub fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
                ::pds_core::internal::check_lengths(hashes, out);
                self.contains_each(hashes, |&hash| hash, out);
            }

            /// Returns the size of the counters in bytes, in whole 64-bit words.
            #[must_use]
            pub fn size_in_bytes(&self) -> u64 {
                self.counters.size_in_bytes()
            }

            /// Counts the counters that stick at their greatest value, in O(size).
            ///
            /// They are never lowered, so that they stay raised when their keys are gone. To be rid of
            /// them the filter has to be built anew.
            #[must_use]
            pub fn saturated_counters(&self) -> u64 {
                self.counters.count_stuck()
            }

            /// Returns the fraction of counters that are not zero, in O(size).
            #[must_use]
            pub fn fill_ratio(&self) -> f64 {
                self.counters.fill_ratio()
            }
        }

        impl<$($generics)*> $filter
        where
            S: ::pds_core::KeyHasher,
        {
            /// Tests many keys: `out[i]` is the answer for `keys[i]`.
            ///
            /// Faster than one by one where the filter exceeds the cache.
            ///
            /// # Panics
            /// When the slices differ in length.
            pub fn contains_batch<K: ::core::hash::Hash>(&self, keys: &[K], out: &mut [bool]) {
                ::pds_core::internal::check_lengths(keys, out);
                self.contains_each(keys, |key| self.hasher.hash_key(key), out);
            }

            /// Estimates how often `key` is in: the least of its counters.
            ///
            /// Never too low, except that the greatest value of a counter stands for that many copies *or
            /// more*. Too high when other keys share all of its counters.
            #[inline]
            #[must_use]
            pub fn estimate<K: ::core::hash::Hash + ?Sized>(&self, key: &K) -> u64 {
                self.estimate_hash(self.hasher.hash_key(key))
            }
        }

        impl<$($generics)*> ::pds_core::Frequency for $filter
        where
            S: ::pds_core::KeyHasher,
        {
            #[inline]
            fn estimate_hash(&self, hash: u64) -> u64 {
                self.estimate_hash(hash)
            }
        }
    };
}
pub(crate) use reading_methods;

/// Gives the methods that change to a filter with `insert_hash`, `insert_each`, `remove_hash`, `merge`,
/// `check_compatible` and the fields `counters`, `params` and `hasher`.
macro_rules! changing_methods {
    ([$($generics:tt)*] $filter:ty) => {
        ::pds_core::internal::insert_traits!([$($generics)*] $filter, merge by merge);
        ::pds_core::internal::value_traits!([$($generics)*] $filter, counters);

        impl<$($generics)*> $filter {
            /// Inserts many hashes. Returns how many were not contained before.
            /// Each hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
            /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
            ///
            /// The counters are the same as after one by one, and so is the number.
            pub fn insert_hash_batch(&mut self, hashes: &[u64]) -> usize {
                self.insert_each(hashes, |_, &hash| hash)
            }

            /// Forgets all items.
            pub fn clear(&mut self) {
                self.counters.clear();
            }

            pub(crate) fn words(&self) -> &::pds_core::internal::Words {
                self.counters.words()
            }

            #[cfg(feature = "huge-pages")]
            pub(crate) fn advise_huge_pages(&self) -> bool {
                self.words().advise_huge_pages()
            }
        }

        impl<$($generics)*> $filter
        where
            S: ::pds_core::KeyHasher,
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
                self.insert_hash(self.hasher.hash_key(key))
            }

            /// Inserts many keys. Returns how many were not contained before.
            ///
            /// The counters are the same as after one by one, and so is the number.
            pub fn insert_batch<K: ::core::hash::Hash>(&mut self, keys: &[K]) -> usize {
                self.insert_each(keys, |hasher, key| hasher.hash_key(key))
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
                self.remove_hash(self.hasher.hash_key(key))
            }
        }

        impl<$($generics)*> ::pds_core::Remove for $filter
        where
            S: ::pds_core::KeyHasher,
        {
            #[inline]
            fn remove_hash(&mut self, hash: u64) -> bool {
                self.remove_hash(hash)
            }
        }
    };
}
pub(crate) use changing_methods;
