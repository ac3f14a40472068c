//! What the blocked filters tell of their shape.

/// Gives a Bloom filter, standard or blocked, owned, shared or borrowed, what it tells of its shape and of the
/// number of its items.
///
/// It has the field `params`, the methods `count_ones`, `count_union_ones`, `false_positive_rate` and
/// `check_compatible`. The examples are those of the filter `$owner` of the crate `$home`.
#[doc(hidden)]
#[macro_export]
macro_rules! bloom_methods {
    ([$($generics:tt)*] $filter:ty, $params:ty, $home:literal, $owner:literal) => {
        impl<$($generics)*> $filter {
            /// Returns the number of bits.
            #[must_use]
            pub fn num_bits(&self) -> u64 {
                self.params.num_bits()
            }

            /// Returns the number of positions a key.
            #[must_use]
            pub fn num_hashes(&self) -> u32 {
                self.params.num_hashes()
            }

            /// Returns the size of the bits in bytes, in whole 64-bit words.
            #[must_use]
            pub fn size_in_bytes(&self) -> u64 {
                self.params.size_in_bytes()
            }

            /// Returns the parameters.
            #[must_use]
            pub fn params(&self) -> $params {
                self.params
            }

            /// Estimates the number of distinct items, with its standard error.
            ///
            /// Both are infinite when every bit is set: the bits then tell nothing of the number.
            ///
            /// # Complexity
            /// O(m) for m bits.
            ///
            /// # Examples
            /// ```
            #[doc = concat!("use ", $home, "::", $owner, ";")]
            ///
            #[doc = concat!("let mut filter = ", $owner, "::new(10_000, 0.01)?;")]
            /// filter.extend(0..5_000u32);
            /// let items = filter.approx_len();
            /// assert!((items.value - 5_000.0).abs() < 5.0 * items.standard_error);
            /// assert!(items.standard_error < 50.0);
            #[doc = concat!("# Ok::<(), ", $home, "::BuildError>(())")]
            /// ```
            #[must_use]
            pub fn approx_len(&self) -> ::pds_core::Estimate {
                self.params.cardinality(self.count_ones())
            }

            /// Returns the fraction of set bits, in O(m).
            #[must_use]
            #[expect(
                clippy::cast_precision_loss,
                reason = "a ratio needs no more than the 53 bits of both"
            )]
            pub fn fill_ratio(&self) -> f64 {
                self.count_ones() as f64 / self.num_bits() as f64
            }

            /// Returns whether at least half of all absent keys are answered `true` now.
            ///
            /// Such a filter is wrong about an absent key at least as often as right. For most filters
            /// this comes long before every bit is set: at 7 hashes, with some 91 % of the bits set.
            ///
            /// # Complexity
            /// O(m) for m bits.
            #[must_use]
            pub fn is_saturated(&self) -> bool {
                self.false_positive_rate() >= 0.5
            }
        }

        impl<$($generics)*> $filter
        where
            S: ::pds_core::KeyHasher,
        {
            /// Estimates the number of distinct items that are in one of the filters or both.
            ///
            /// # Errors
            /// [`Incompatible`](::pds_core::Incompatible) when shapes or hashers differ.
            ///
            /// # Complexity
            /// O(m) for m bits, without allocation.
            pub fn approx_union_len(
                &self,
                other: &Self,
            ) -> Result<::pds_core::Estimate, ::pds_core::Incompatible> {
                self.check_compatible(other)?;
                Ok(self.params.cardinality(self.count_union_ones(other)))
            }

            /// Estimates the number of distinct items that both filters have in common.
            ///
            /// The standard error is that of the difference of large numbers: it hardly falls with the
            /// result.
            ///
            /// # Errors
            /// [`Incompatible`](::pds_core::Incompatible) when shapes or hashers differ.
            ///
            /// # Complexity
            /// O(m) for m bits, without allocation.
            ///
            /// # Examples
            /// ```
            #[doc = concat!("use ", $home, "::", $owner, ";")]
            ///
            #[doc = concat!("let mut left = ", $owner, "::new(9_000, 0.001)?;")]
            #[doc = concat!("let mut right = ", $owner, "::new(9_000, 0.001)?;")]
            /// left.extend(0..6_000u32);
            /// right.extend(4_000..9_000u32);
            /// let common = left.approx_intersection_len(&right)?;
            /// assert!((common.value - 2_000.0).abs() < 5.0 * common.standard_error);
            /// # Ok::<(), Box<dyn core::error::Error>>(())
            /// ```
            pub fn approx_intersection_len(
                &self,
                other: &Self,
            ) -> Result<::pds_core::Estimate, ::pds_core::Incompatible> {
                self.check_compatible(other)?;
                Ok(self.params.intersection_cardinality(::pds_params::bloom::SetBits {
                    left: self.count_ones(),
                    right: other.count_ones(),
                    union: self.count_union_ones(other),
                }))
            }
        }
    };
}
