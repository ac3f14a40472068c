//! Many filters asked as one: [`AnyOf`] and [`AllOf`].
//!
//! The filters can differ in kind, shape and hasher: put them in a vector of one type, or box them as `dyn Membership`. If they have
//! one shape and one hasher, a bank of filters (`FilterBank` of the crate `bloom-core`) tells faster which of them contain a key.

mod filters;

use core::hash::Hash;

use crate::traits::Membership;
use filters::Filters;
pub use pds_params::many::{all_of_rate, any_of_rate};

/// Defines one of the two adaptors.
macro_rules! adaptor {
    ($(#[$doc:meta])* $name:ident, $first:expr, $rate:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name<F> {
            filters: Filters<F>,
        }

        impl<F: Membership> $name<F> {
            /// Combines filters.
            pub fn new(filters: impl IntoIterator<Item = F>) -> Self {
                Self { filters: Filters::new(filters) }
            }

            /// Returns the filters.
            #[must_use]
            pub fn filters(&self) -> &[F] {
                self.filters.as_slice()
            }

            /// Returns the filters.
            #[must_use]
            pub fn into_filters(self) -> alloc::vec::Vec<F> {
                self.filters.into_vec()
            }

            /// Tests whether `key` may be in the set. `false` is certain.
            ///
            /// Asks the filters in their order until the answer is known. The key is hashed once for neighbours with equal hashers.
            pub fn contains<K: Hash + ?Sized>(&self, key: &K) -> bool {
                self.filters.contains(key, $first)
            }

            /// Tests many keys: `out[i]` is the answer for `keys[i]`.
            ///
            /// # Panics
            /// If the slices differ in length.
            #[track_caller]
            pub fn contains_batch<K: Hash>(&self, keys: &[K], out: &mut [bool]) {
                self.filters.contains_batch(keys, out, $first);
            }

            /// Tests many keys as [`contains_batch`](Self::contains_batch) does, on all threads of rayon's pool.
            ///
            /// A thread takes 256 keys at a time, and handing them out takes time. So use it for large batches, and if cores are idle.
            ///
            /// # Panics
            /// If the slices differ in length.
            #[cfg(feature = "parallel")]
            #[track_caller]
            pub fn par_contains_batch<K: Hash + Sync>(&self, keys: &[K], out: &mut [bool])
            where
                F: Sync,
            {
                self.filters.par_contains_batch(keys, out, $first);
            }

            /// Returns the false-positive rate, given the rate of each filter, for independent answers.
            pub fn false_positive_rate(&self, rate: impl FnMut(&F) -> f64) -> f64 {
                $rate(self.filters().iter().map(rate))
            }
        }
    };
}

adaptor! {
    /// The union of the sets of some filters: a key is contained if any filter contains it.
    ///
    /// Without filters, nothing is contained.
    ///
    /// # Guarantees
    /// - False negatives: never, if the filters have none.
    /// - False positives: 1 - prod(1 - p) for filters of rates p whose answers are independent. They are if the hashers have different
    ///   seeds. Otherwise the rate is lower, but hardly so for disjoint sets of some hundred keys and more. It is at least the greatest
    ///   of the rates and at most their sum, in any case.
    ///
    /// # Examples
    /// ```
    /// use pds_core::many::any_of_rate;
    ///
    /// // Seven daily filters of 1 %.
    /// assert_eq!(format!("{:.4}", any_of_rate([0.01; 7])), "0.0679");
    /// ```
    AnyOf, true, any_of_rate
}

adaptor! {
    /// The intersection of the sets of some filters: a key is contained if all filters contain it.
    ///
    /// Without filters, every key is contained.
    ///
    /// An *ensemble* is several smaller filters of one set that must all agree, so that they can be in different places or be
    /// asked one after another. [`BloomParams::for_ensemble`](pds_params::BloomParams::for_ensemble) sizes them. They need different seeds.
    ///
    /// # Guarantees
    /// - False negatives: never, if the filters have none.
    /// - False positives, for keys in none of the sets: prod(p) for filters of rates p whose answers are independent. They are if the
    ///   hashers have different seeds. Otherwise the rate is higher, up to the least of the rates: filters of one set with equal
    ///   hashers and shapes are copies. So give filters different seeds if they have to agree.
    /// - The same, for disjoint sets with equal hashers: nearly prod(p) for Bloom filters of 100 keys and more. Measured for small ones:
    ///   2.6 times that for two filters of one key at 1 %, 14 times for three of them; 2.1 times for three filters of three keys at
    ///   10 %. Fuse filters have cells without a key in common: 4.2 times for two of 3 keys and 6 bits, 1.5 times for two of 10 keys and
    ///   8 bits.
    /// - A key in some sets, but not in all, is contained at the rate of the others.
    ///
    /// # Examples
    /// ```
    /// use pds_core::many::all_of_rate;
    ///
    /// // Three filters of one set, each of 10 %, with different seeds.
    /// assert_eq!(format!("{:.4}", all_of_rate([0.1; 3])), "0.0010");
    /// ```
    AllOf, false, all_of_rate
}
