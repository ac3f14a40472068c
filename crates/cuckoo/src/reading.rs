//! The methods that only read: one definition for the filter that is owned or borrowed.

use core::fmt;

use pds_params::CuckooParams;

/// Gives the methods that only read to a filter type with the fields `table`, `params` and `hasher`.
///
/// A macro and no generic type, so that each filter's documentation shows its methods as its own.
macro_rules! reading_methods {
    ([$($generics:tt)*] $filter:ty) => {
        ::pds_core::internal::membership_methods!(
            [$($generics)*] $filter,
            "Two buckets are read, always; no allocation."
        );

        impl<$($generics)*> $filter {
            /// Tests whether a key with this hash is possibly contained; `false` is certain.
            /// The hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
            /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
            #[inline]
            #[must_use]
            pub fn contains_hash(&self, hash: u64) -> bool {
                self.table.contains(hash)
            }

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
                self.table.contains_each(hashes, |&hash| hash, out);
            }

            /// Counts the copies of a key by its hash; see [`count`](Self::count).
            /// The hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
            /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
            #[must_use]
            pub fn count_hash(&self, hash: u64) -> u32 {
                self.table.copies(self.table.address(hash))
            }

            /// Returns how many keys are in, copies included: inserts that succeeded less removals.
            #[must_use]
            pub fn len(&self) -> u64 {
                self.table.len()
            }

            /// Returns whether no key is in.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Returns the fraction of slots that are taken, in [0, 1].
            #[must_use]
            #[expect(clippy::cast_precision_loss, reason = "a ratio needs no more than the 53 bits of both")]
            pub fn load_factor(&self) -> f64 {
                self.len() as f64 / self.num_slots() as f64
            }

            /// Returns the fraction of absent keys that are answered `true` now, in [0, 1].
            ///
            /// It follows from the number of keys and the width of the fingerprints: the mean over all
            /// sets of so many distinct keys. Copies of a key do not raise it, but are counted here.
            ///
            /// # Complexity
            /// Constant.
            #[must_use]
            pub fn false_positive_rate(&self) -> f64 {
                self.params.rate_at(self.len())
            }

            /// Returns the number of distinct keys that surely fit: all but one filter in a million, at
            /// the least, take them.
            ///
            /// More may fit; [`num_slots`](Self::num_slots) never do, except in a single bucket.
            ///
            /// # Complexity
            /// O(log n) steps for n slots; below some hundred keys each sums over the buckets.
            #[must_use]
            pub fn capacity(&self) -> u64 {
                self.params.capacity()
            }

            /// Returns the number of slots, four a bucket.
            #[must_use]
            pub fn num_slots(&self) -> u64 {
                self.params.num_slots()
            }

            /// Returns the number of buckets.
            #[must_use]
            pub fn num_buckets(&self) -> u64 {
                self.params.num_buckets()
            }

            /// Returns the width of a fingerprint in bits.
            #[must_use]
            pub fn fingerprint_bits(&self) -> u32 {
                self.params.fingerprint_bits()
            }

            /// Returns the size of the slots in bytes, in whole 64-bit words.
            #[must_use]
            pub fn size_in_bytes(&self) -> u64 {
                self.params.size_in_bytes()
            }

            /// Returns the parameters.
            #[must_use]
            pub const fn params(&self) -> ::pds_params::CuckooParams {
                self.params
            }

            /// Lists the fingerprints, each with the number of the bucket in which it lies.
            ///
            /// In order of buckets and slots. Keys cannot be had from them.
            pub fn fingerprints(&self) -> impl Iterator<Item = (u64, u32)> {
                self.table.iter().map(|address| (address.bucket, address.fingerprint))
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
            ///
            /// # Examples
            /// ```
            /// use cuckoo::CuckooFilter;
            ///
            /// let mut filter = CuckooFilter::new(1_000, 0.001)?;
            /// filter.insert(&2u64)?;
            /// let mut answers = [false; 3];
            /// filter.contains_batch(&[1u64, 2, 3], &mut answers);
            /// assert_eq!(answers, [false, true, false]);
            /// # Ok::<(), Box<dyn core::error::Error>>(())
            /// ```
            pub fn contains_batch<K: ::core::hash::Hash>(&self, keys: &[K], out: &mut [bool]) {
                ::pds_core::internal::check_lengths(keys, out);
                self.table.contains_each(keys, |key| self.hasher.hash_key(key), out);
            }

            /// Counts the copies of `key`, from 0 to 8; copies of keys that agree with it are counted too.
            #[must_use]
            pub fn count<K: ::core::hash::Hash + ?Sized>(&self, key: &K) -> u32 {
                self.count_hash(self.hasher.hash_key(key))
            }
        }

        impl<$($generics)*> ::core::fmt::Debug for $filter {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                $crate::reading::debug(f, stringify!($filter), &self.params, self.len())
            }
        }
    };
}

pub(crate) use reading_methods;

pub(crate) fn debug(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    params: &CuckooParams,
    len: u64,
) -> fmt::Result {
    let name = name.split('<').next().unwrap_or(name);
    f.debug_struct(name)
        .field("num_buckets", &params.num_buckets())
        .field("fingerprint_bits", &params.fingerprint_bits())
        .field("len", &len)
        .finish_non_exhaustive()
}
