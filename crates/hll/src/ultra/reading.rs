//! What is asked of an UltraLogLog and of a view of one alike.

/// Gives a type with the fields `params` and `hasher`, and a method `registers`, everything that reads them.
///
/// A macro and no generic type, so that each type's documentation shows its methods as its own.
macro_rules! reading_methods {
    ([$($generics:tt)*] $name:ident $($arguments:tt)*) => {
        impl<$($generics)*> $name $($arguments)* {
            /// Estimates the number of distinct keys by the fast generalised remaining area, error about 0.782 / sqrt(m).
            ///
            /// # Complexity
            /// O(m).
            #[must_use]
            pub fn estimate(&self) -> f64 {
                $crate::estimator::ultra_fgra(&$crate::ultra::histogram(self.registers()), self.params)
            }

            /// Estimates the number of distinct keys by maximum likelihood, error about 0.761 / sqrt(m), for several times
            /// the work.
            #[must_use]
            pub fn estimate_by_likelihood(&self) -> f64 {
                let counts = $crate::ultra::histogram(self.registers());
                $crate::estimator::ultra_maximum_likelihood(&counts, self.params)
            }

            /// Returns [`estimate`](Self::estimate) with its standard error.
            #[must_use]
            pub fn estimate_with_error(&self) -> ::pds_core::Estimate {
                let estimator = ::pds_params::hll::CardinalityEstimator::UltraFgra;
                self.params.estimate(estimator, self.estimate())
            }

            /// Returns an interval that holds the true number with probability `confidence`; see
            /// [`HyperLogLog::estimate_interval`](crate::HyperLogLog::estimate_interval).
            ///
            /// Its lower end is at least the number of ranks that are known to have occurred, over all registers.
            ///
            /// # Errors
            /// [`ParamError`](crate::ParamError) when `confidence` is not above 0 and below 1.
            pub fn estimate_interval(
                &self,
                confidence: f64,
            ) -> Result<::core::ops::RangeInclusive<f64>, ::pds_core::ParamError> {
                let counts = $crate::ultra::histogram(self.registers());
                let likelihood = $crate::estimator::ultra_likelihood(&counts, self.params.precision());
                let estimate = $crate::estimator::ultra_fgra(&counts, self.params);
                $crate::estimator::interval(&likelihood, estimate, confidence)
            }

            /// Returns whether no key was inserted.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.registers().iter().all(|&register| register == 0)
            }

            /// Returns the precision p, the binary logarithm of the number of registers.
            #[must_use]
            pub const fn precision(&self) -> u32 {
                self.params.precision()
            }

            /// Returns the parameters.
            #[must_use]
            pub const fn params(&self) -> ::pds_params::HllParams {
                self.params
            }

            /// Returns the hasher.
            #[must_use]
            pub const fn hasher(&self) -> &S {
                &self.hasher
            }
        }

        impl<$($generics)*> ::pds_core::KeyHasher for $name $($arguments)*
        where
            S: ::pds_core::KeyHasher,
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

        impl<$($generics)*> ::pds_core::Cardinality for $name $($arguments)*
        where
            S: ::pds_core::KeyHasher,
        {
            fn estimate(&self) -> f64 {
                self.estimate()
            }
        }

        impl<$($generics)*> ::core::fmt::Debug for $name $($arguments)* {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.debug_struct(stringify!($name))
                    .field("precision", &self.precision())
                    .field("estimate", &self.estimate())
                    .finish_non_exhaustive()
            }
        }
    };
}

pub(crate) use reading_methods;
