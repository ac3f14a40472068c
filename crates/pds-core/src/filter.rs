//! What all filters have in common, on top of the few methods in which they differ.
//!
//! Macros and no generic type or trait with provided methods, so that a filter's documentation shows its
//! methods as its own and no trait need be imported to call them.

/// Gives a filter, owned, shared or borrowed, the methods and traits of membership.
///
/// It has the methods `contains_hash` and `contains_hash_batch` and the fields `params` and `hasher`.
/// `membership_methods!([S] Filter<S>, "O(k)")` states what [`contains`](crate::Membership::contains) costs.
#[doc(hidden)]
#[macro_export]
macro_rules! membership_methods {
    ([$($generics:tt)*] $filter:ty, $complexity:literal) => {
        impl<$($generics)*> $filter {
            /// Returns the hasher.
            #[must_use]
            pub const fn hasher(&self) -> &S {
                &self.hasher
            }

            /// Returns the number of distinct items that the filter was designed for, if it was.
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

        impl<$($generics)*> $filter
        where
            S: $crate::KeyHasher,
        {
            /// Tests whether `key` is possibly contained; `false` is certain.
            ///
            /// # Complexity
            #[doc = $complexity]
            #[inline]
            #[must_use]
            pub fn contains<K: ::core::hash::Hash + ?Sized>(&self, key: &K) -> bool {
                self.contains_hash(self.hasher.hash_key(key))
            }
        }

        impl<$($generics)*> $crate::KeyHasher for $filter
        where
            S: $crate::KeyHasher,
        {
            #[inline]
            fn hash_key<K: ::core::hash::Hash + ?Sized>(&self, key: &K) -> u64 {
                self.hasher.hash_key(key)
            }

            #[inline]
            fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn ::core::hash::Hasher)) -> u64 {
                self.hasher.hash_key_dyn(feed)
            }
        }

        impl<$($generics)*> $crate::Membership for $filter
        where
            S: $crate::KeyHasher,
        {
            #[inline]
            fn contains_hash(&self, hash: u64) -> bool {
                self.contains_hash(hash)
            }

            fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
                self.contains_hash_batch(hashes, out);
            }
        }
    };
}

/// Gives a filter that is never full the traits [`Insert`](crate::Insert), [`Merge`](crate::Merge) and
/// [`Extend`], on top of its methods `insert`, `insert_hash` and the one that merges.
///
/// `insert_traits!([S] Filter<S>, merge by union_with)`
#[doc(hidden)]
#[macro_export]
macro_rules! insert_traits {
    ([$($generics:tt)*] $filter:ty, merge by $merge:ident) => {
        impl<$($generics)*> $crate::Insert for $filter
        where
            S: $crate::KeyHasher,
        {
            type Error = ::core::convert::Infallible;

            #[inline]
            fn insert_hash(&mut self, hash: u64) -> Result<bool, Self::Error> {
                Ok(<$filter>::insert_hash(self, hash))
            }
        }

        impl<$($generics)*> $crate::Merge for $filter
        where
            S: $crate::KeyHasher,
        {
            type Error = $crate::Incompatible;

            fn merge(&mut self, other: &Self) -> Result<(), Self::Error> {
                <$filter>::$merge(self, other)
            }
        }

        /// Takes keys and references to keys: both hash alike.
        impl<K: ::core::hash::Hash, $($generics)*> Extend<K> for $filter
        where
            S: $crate::KeyHasher,
        {
            fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
                keys.into_iter().for_each(|key| {
                    <$filter>::insert(self, &key);
                });
            }
        }
    };
}

/// Gives a filter that owns its memory copies and equality.
///
/// `value_traits!([S] Filter<S>, bits)` names the field with its contents, which has `try_clone`, `Clone` and
/// `Eq`. The others are `params` and `hasher`, and there is a method `check_compatible`.
#[doc(hidden)]
#[macro_export]
macro_rules! value_traits {
    ([$($generics:tt)*] $filter:ty, $contents:ident) => {
        impl<$($generics)*> $filter
        where
            S: Clone,
        {
            /// Copies the filter, or reports that there is no memory for a second one.
            ///
            /// # Errors
            /// [`AllocError`]($crate::AllocError) when memory is refused.
            pub fn try_clone(&self) -> Result<Self, $crate::AllocError> {
                let (params, hasher) = (self.params, self.hasher.clone());
                Ok(Self { $contents: self.$contents.try_clone()?, params, hasher })
            }
        }

        impl<$($generics)*> Clone for $filter
        where
            S: Clone,
        {
            /// Copies the filter. Aborts when memory is refused; see [`try_clone`](Self::try_clone).
            fn clone(&self) -> Self {
                let (params, hasher) = (self.params, self.hasher.clone());
                Self { $contents: self.$contents.clone(), params, hasher }
            }
        }

        /// Equal when shape, hasher and contents are; what it was designed for takes no part.
        impl<$($generics)*> PartialEq for $filter
        where
            S: $crate::KeyHasher,
        {
            fn eq(&self, other: &Self) -> bool {
                self.check_compatible(other).is_ok() && self.$contents == other.$contents
            }
        }

        impl<$($generics)*> Eq for $filter where S: $crate::KeyHasher {}
    };
}

/// Gives the atomic twin of a filter what follows from the plain one.
///
/// `atomic_twin!(AtomicFilter of Filter, FilterParams)`; both convert into each other, by `From` the plain one
/// and by `into_plain` and `to_plain` of the atomic one, which has `insert(&self, &key)`.
#[doc(hidden)]
#[macro_export]
macro_rules! atomic_twin {
    ($atomic:ident of $plain:ident, $params:ty) => {
        impl $atomic {
            /// Creates a filter that keeps a false-positive rate of `rate` up to `expected_items` distinct
            /// items.
            ///
            /// For other parameters and hashers convert a plain filter that its builder has built.
            ///
            /// # Errors
            /// Those of the plain filter's `new`.
            pub fn new(expected_items: u64, rate: f64) -> Result<Self, $crate::BuildError> {
                $plain::new(expected_items, rate).map(Self::from)
            }
        }

        impl<S> $atomic<S> {
            /// Creates an empty filter of exactly these parameters.
            ///
            /// # Errors
            /// [`AllocError`]($crate::AllocError) when the memory is refused.
            pub fn from_params(params: $params, hasher: S) -> Result<Self, $crate::AllocError>
    where
        S: $crate::KeyHasher,
    {
                $plain::from_params(params, hasher).map(Self::from)
            }
        }

        impl<S: Clone> $atomic<S> {
            /// Copies the filter; see [`to_plain`](Self::to_plain).
            ///
            /// # Errors
            /// [`AllocError`]($crate::AllocError) when memory is refused.
            pub fn try_clone(&self) -> Result<Self, $crate::AllocError> {
                self.to_plain().map(Self::from)
            }
        }

        impl<S> From<$atomic<S>> for $plain<S> {
            fn from(shared: $atomic<S>) -> Self {
                shared.into_plain()
            }
        }

        $crate::insert_traits!([S] $atomic<S>, merge by union_with);

        /// Also for a shared reference, as `std::io` has it for files.
        impl<K: ::core::hash::Hash, S: $crate::KeyHasher> Extend<K> for &$atomic<S> {
            fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
                keys.into_iter().for_each(|key| {
                    self.insert(&key);
                });
            }
        }
    };
}
