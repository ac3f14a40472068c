//! The methods that only read: one definition for the filter that is owned, shared or borrowed.

/// Gives the methods that only read to a filter type with the fields `blocks` (a
/// [`BlockSource`](crate::blocks::BlockSource)), `params` and `hasher`.
///
/// A macro and no generic type, so that each filter's documentation shows its methods as its own.
macro_rules! reading_methods {
    ([$($generics:tt)*] $filter:ty, $name:literal) => {
        ::pds_core::internal::membership_methods!(
            [$($generics)*] $filter,
            "O(1): one cache line, without a branch on its bits and without allocation."
        );

        ::bloom_core::bloom_methods!(
            [$($generics)*] $filter, ::pds_params::BlockedBloomParams, "bloom_blocked", "BlockedBloomFilter"
        );

        impl<$($generics)*> $filter {
            /// Tests whether a key with this hash is possibly contained; `false` is certain.
            /// The hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
            /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
            #[inline]
            #[must_use]
            pub fn contains_hash(&self, hash: u64) -> bool {
                use $crate::blocks::BlockSource;
                self.blocks.contains(hash)
            }

            /// Tests many hashes: `out[i]` is the answer for `hashes[i]`.
            /// Each hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
            /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
            ///
            /// # Panics
            /// When the slices differ in length.
            pub fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
                let answers = $crate::batch::Flags::new(out, hashes.len());
                self.contains_many(hashes, |&hash| hash, answers);
            }

            /// Tests many hashes: bit `i % 64` of `out[i / 64]` is the answer for `hashes[i]`.
            /// Each hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
            /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
            ///
            /// Bits beyond the last answer are zero.
            ///
            /// # Panics
            /// When `out` has not exactly one word for every 64 hashes or part of them.
            pub fn contains_hash_batch_bitmap(&self, hashes: &[u64], out: &mut [u64]) {
                let answers = $crate::batch::Bitmap::new(out, hashes.len());
                self.contains_many(hashes, |&hash| hash, answers);
            }

            fn contains_many<K>(
                &self,
                keys: &[K],
                hash: impl Fn(&K) -> u64,
                answers: impl $crate::batch::Answers,
            ) {
                use $crate::blocks::BlockSource;
                let blocks = &self.blocks;
                let (backend, positions) = blocks.dispatch();
                backend.run(positions, $crate::batch::ContainsMany { blocks, keys, hash, answers });
            }

            /// Returns the number of blocks of 512 bits.
            #[must_use]
            pub fn num_blocks(&self) -> u64 {
                self.params.num_blocks()
            }

            /// Counts the set bits, in O(m).
            #[must_use]
            pub fn count_ones(&self) -> u64 {
                $crate::estimates::count_ones(&self.blocks)
            }

            fn count_union_ones(&self, other: &Self) -> u64 {
                $crate::estimates::count_union_ones(&self.blocks, &other.blocks)
            }

            /// Returns the fraction of absent keys that are answered `true` now, in [0, 1].
            ///
            /// It is computed from the bits of every block, and so the rate of this very filter and not a
            /// mean: 0 for an empty one, 1 when every bit is set.
            ///
            /// # Complexity
            /// O(m) for m bits.
            #[must_use]
            pub fn false_positive_rate(&self) -> f64 {
                $crate::estimates::rate(&self.params, &self.blocks)
            }

            /// Reports the items against the expected ones and the present rate against the promised one.
            ///
            /// # Complexity
            /// O(m) for m bits.
            #[must_use]
            pub fn health(&self) -> $crate::Health {
                $crate::estimates::health(&self.params, &self.blocks)
            }
        }

        impl<$($generics)*> $filter
        where
            S: ::pds_core::KeyHasher,
        {
            /// Tests many keys: `out[i]` is the answer for `keys[i]`.
            ///
            /// Several times as fast as one by one where the filter exceeds the cache: the blocks of later
            /// keys are on their way while earlier ones are tested.
            ///
            /// # Panics
            /// When the slices differ in length.
            ///
            /// # Examples
            /// ```
            /// use bloom_blocked::BlockedBloomFilter;
            ///
            /// let mut filter = BlockedBloomFilter::new(1_000, 0.001)?;
            /// filter.insert(&2u64);
            /// let mut answers = [false; 3];
            /// filter.contains_batch(&[1u64, 2, 3], &mut answers);
            /// assert_eq!(answers, [false, true, false]);
            /// # Ok::<(), bloom_blocked::BuildError>(())
            /// ```
            pub fn contains_batch<K: ::core::hash::Hash>(&self, keys: &[K], out: &mut [bool]) {
                let answers = $crate::batch::Flags::new(out, keys.len());
                self.contains_many(keys, |key| self.hasher.hash_key(key), answers);
            }

            /// Tests many keys: bit `i % 64` of `out[i / 64]` is the answer for `keys[i]`.
            ///
            /// Bits beyond the last answer are zero.
            ///
            /// # Panics
            /// When `out` has not exactly one word for every 64 keys or part of them.
            ///
            /// # Examples
            /// ```
            /// use bloom_blocked::BlockedBloomFilter;
            ///
            /// let mut filter = BlockedBloomFilter::new(1_000, 0.001)?;
            /// filter.insert_batch(&[2u64, 3]);
            /// let mut answers = [u64::MAX];
            /// filter.contains_batch_bitmap(&[1u64, 2, 3, 4], &mut answers);
            /// assert_eq!(answers, [0b0110]);
            /// # Ok::<(), bloom_blocked::BuildError>(())
            /// ```
            pub fn contains_batch_bitmap<K: ::core::hash::Hash>(&self, keys: &[K], out: &mut [u64]) {
                let answers = $crate::batch::Bitmap::new(out, keys.len());
                self.contains_many(keys, |key| self.hasher.hash_key(key), answers);
            }

            fn check_compatible(&self, other: &Self) -> Result<(), ::pds_core::Incompatible> {
                let (left, right) = (&self.params, &other.params);
                $crate::estimates::check_compatible((left, &self.hasher), (right, &other.hasher))
            }
        }

        impl<$($generics)*> ::core::fmt::Debug for $filter {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.debug_struct($name)
                    .field("num_blocks", &self.num_blocks())
                    .field("num_hashes", &self.num_hashes())
                    .field("fill_ratio", &self.fill_ratio())
                    .finish_non_exhaustive()
            }
        }
    };
}

pub(crate) use reading_methods;
