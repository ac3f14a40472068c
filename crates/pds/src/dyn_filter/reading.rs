//! What a filter of whatever kind tells: one definition for the owned and the borrowed.

/// Asks the filter inside, whatever it is.
macro_rules! each {
    ($self:expr, $filter:ident => $answer:expr) => {
        match $self {
            #[cfg(feature = "bloom")]
            Self::Bloom($filter) => $answer,
            #[cfg(feature = "blocked")]
            Self::BlockedBloom($filter) => $answer,
            #[cfg(feature = "counting")]
            Self::CountingBloom($filter) => $answer,
            #[cfg(feature = "counting")]
            Self::WideCountingBloom($filter) => $answer,
            #[cfg(feature = "counting")]
            Self::BlockedCountingBloom($filter) => $answer,
            #[cfg(feature = "cuckoo")]
            Self::Cuckoo($filter) => $answer,
        }
    };
}
pub(crate) use each;

/// Gives the methods and traits that only read to an enum of filters, owned or borrowed, of the hasher `S`.
macro_rules! reading_methods {
    ([$($generics:tt)*] $filter:ty) => {
        impl<$($generics)*> $filter {
            /// Returns the kind of the filter.
            #[must_use]
            pub const fn kind(&self) -> crate::Kind {
                match self {
                    #[cfg(feature = "bloom")]
                    Self::Bloom(_) => crate::Kind::BLOOM,
                    #[cfg(feature = "blocked")]
                    Self::BlockedBloom(_) => crate::Kind::BLOCKED_BLOOM,
                    #[cfg(feature = "counting")]
                    Self::CountingBloom(_) | Self::WideCountingBloom(_) => crate::Kind::COUNTING_BLOOM,
                    #[cfg(feature = "counting")]
                    Self::BlockedCountingBloom(_) => crate::Kind::BLOCKED_COUNTING_BLOOM,
                    #[cfg(feature = "cuckoo")]
                    Self::Cuckoo(_) => crate::Kind::CUCKOO,
                }
            }

            /// Tests whether a key with this hash is possibly contained; `false` is certain.
            /// The hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
            /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
            #[inline]
            #[must_use]
            pub fn contains_hash(&self, hash: u64) -> bool {
                each!(self, filter => filter.contains_hash(hash))
            }

            /// Tests many hashes: `out[i]` is the answer for `hashes[i]`.
            /// Each hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
            /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
            ///
            /// # Panics
            /// When the slices differ in length.
            pub fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
                each!(self, filter => filter.contains_hash_batch(hashes, out));
            }

            /// Returns the hasher.
            #[must_use]
            pub const fn hasher(&self) -> &S {
                each!(self, filter => filter.hasher())
            }

            /// Returns the number of items that the filter was designed for, if it was.
            #[must_use]
            pub fn expected_items(&self) -> Option<u64> {
                each!(self, filter => filter.expected_items())
            }

            /// Returns the false-positive rate promised at the expected items, if one was.
            #[must_use]
            pub fn promised_rate(&self) -> Option<f64> {
                each!(self, filter => filter.promised_rate())
            }

            /// Returns the size of the payload in bytes.
            #[must_use]
            pub fn size_in_bytes(&self) -> u64 {
                each!(self, filter => filter.size_in_bytes())
            }

            /// Returns the fraction of absent keys that are answered `true` now, in [0, 1].
            ///
            /// # Complexity
            /// O(size); constant for a cuckoo filter.
            #[must_use]
            pub fn false_positive_rate(&self) -> f64 {
                each!(self, filter => filter.false_positive_rate())
            }

            /// Estimates the number of items, with its standard error; none for a blocked counting filter, which cannot
            /// tell.
            ///
            /// A cuckoo filter counts its items, copies too, and has no error.
            ///
            /// # Complexity
            /// O(size); constant for a cuckoo filter.
            #[must_use]
            pub fn approx_len(&self) -> Option<crate::Estimate> {
                match self {
                    #[cfg(feature = "bloom")]
                    Self::Bloom(filter) => Some(filter.approx_len()),
                    #[cfg(feature = "blocked")]
                    Self::BlockedBloom(filter) => Some(filter.approx_len()),
                    #[cfg(feature = "counting")]
                    Self::CountingBloom(filter) => Some(filter.approx_len()),
                    #[cfg(feature = "counting")]
                    Self::WideCountingBloom(filter) => Some(filter.approx_len()),
                    #[cfg(feature = "counting")]
                    Self::BlockedCountingBloom(_) => None,
                    #[cfg(feature = "cuckoo")]
                    Self::Cuckoo(filter) => {
                        Some(crate::Estimate { value: filter.len() as f64, standard_error: 0.0 })
                    }
                }
            }

            /// Reports the items against the expected ones and the present rate against the promised one; none for the
            /// kinds that have no such report: counting and cuckoo filters.
            ///
            /// # Complexity
            /// O(size).
            #[cfg(any(feature = "bloom", feature = "blocked"))]
            #[must_use]
            pub fn health(&self) -> Option<crate::Health> {
                match self {
                    #[cfg(feature = "bloom")]
                    Self::Bloom(filter) => Some(filter.health()),
                    #[cfg(feature = "blocked")]
                    Self::BlockedBloom(filter) => Some(filter.health()),
                    #[cfg(any(feature = "counting", feature = "cuckoo"))]
                    _ => None,
                }
            }
        }

        impl<$($generics)*> $filter
        where
            S: crate::KeyHasher,
        {
            /// Tests whether `key` is possibly contained; `false` is certain.
            ///
            /// # Complexity
            /// That of the filter, and one branch.
            #[inline]
            #[must_use]
            pub fn contains<K: core::hash::Hash + ?Sized>(&self, key: &K) -> bool {
                self.contains_hash(self.hasher().hash_key(key))
            }

            /// Tests many keys: `out[i]` is the answer for `keys[i]`.
            ///
            /// # Panics
            /// When the slices differ in length.
            pub fn contains_batch<K: core::hash::Hash>(&self, keys: &[K], out: &mut [bool]) {
                each!(self, filter => filter.contains_batch(keys, out));
            }
        }

        impl<$($generics)*> crate::KeyHasher for $filter
        where
            S: crate::KeyHasher,
        {
            #[inline]
            fn hash_key<K: core::hash::Hash + ?Sized>(&self, key: &K) -> u64 {
                self.hasher().hash_key(key)
            }

            #[inline]
            fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn core::hash::Hasher)) -> u64 {
                self.hasher().hash_key_dyn(feed)
            }
        }

        impl<$($generics)*> crate::Membership for $filter
        where
            S: crate::KeyHasher,
        {
            #[inline]
            fn contains_hash(&self, hash: u64) -> bool {
                self.contains_hash(hash)
            }

            fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
                self.contains_hash_batch(hashes, out);
            }
        }

        impl<$($generics)*> core::fmt::Debug for $filter {
            /// Writes the filter inside, whose type tells the kind.
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                each!(self, filter => core::fmt::Debug::fmt(filter, f))
            }
        }
    };
}
pub(crate) use reading_methods;
