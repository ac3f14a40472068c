//! The methods that only read, for a sketch in any storage.

use core::fmt;
use core::hash::{Hash, Hasher};

use pds_core::error::Incompatible;
use pds_core::hash::KeyHasher;
use pds_core::internal::StoredWord;
use pds_core::storage::WordSource;
use pds_core::traits::Similarity;
use pds_params::minhash::error_in_units;
use pds_params::{Estimate, MinHashParams};

use crate::minima::{EMPTY, NUMBER_BITS};
use crate::{Comparison, MinHash};

impl<S: KeyHasher, W: WordSource> MinHash<S, W> {
    /// Returns the hasher.
    #[must_use]
    pub const fn hasher(&self) -> &S {
        &self.hasher
    }

    /// Returns the parameters.
    #[must_use]
    pub const fn params(&self) -> MinHashParams {
        self.params
    }

    /// Returns the number of values K.
    #[must_use]
    pub const fn num_values(&self) -> u32 {
        self.params.num_values()
    }

    /// Returns the size of the values in bytes.
    #[must_use]
    pub const fn size_in_bytes(&self) -> u64 {
        self.params.size_in_bytes()
    }

    /// Returns whether no key was inserted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.minima.as_words()[0].value() == EMPTY
    }

    /// Compares two sketches, in the same storage or in two. The result gives estimates and intervals.
    ///
    /// # Errors
    /// [`Incompatible`] if the numbers of values or the hashers differ.
    ///
    /// # Complexity
    /// O(K), without allocation.
    pub fn compare<V: WordSource>(
        &self,
        other: &MinHash<S, V>,
    ) -> Result<Comparison, Incompatible> {
        self.check_compatible(other)?;
        let (mut matches, mut time) = (0, 0.0);
        for (left, right) in self.minima.values().zip(other.minima.values()) {
            matches += u32::from(left == right);
            time += left.min(right) as f64;
        }
        Ok(Comparison {
            matches,
            num_values: self.num_values(),
            chance: 0.0,
            units: error_in_units(self.num_values(), self.keys_by_time(time)),
            with_empty: self.is_empty() || other.is_empty(),
        })
    }

    /// Estimates the Jaccard index: the share of the union that is in both sets. 0 if one of them is empty, or both.
    ///
    /// [`compare`](Self::compare) gives an interval, too.
    ///
    /// # Errors
    /// [`Incompatible`] if the numbers of values or the hashers differ.
    ///
    /// # Complexity
    /// O(K), without allocation.
    pub fn jaccard<V: WordSource>(&self, other: &MinHash<S, V>) -> Result<Estimate, Incompatible> {
        Ok(self.compare(other)?.jaccard())
    }

    /// Estimates the share of this set that is in `other` too, from the numbers of their keys: `len` keys here and `other_len`
    /// there.
    ///
    /// [`Comparison::containment`] says more.
    ///
    /// # Errors
    /// [`Incompatible`] if the numbers of values or the hashers differ.
    pub fn containment<V: WordSource>(
        &self,
        other: &MinHash<S, V>,
        len: u64,
        other_len: u64,
    ) -> Result<Estimate, Incompatible> {
        Ok(self.compare(other)?.containment(len, other_len))
    }

    /// Checks that two sketches have the same number of values and hash alike.
    pub(crate) fn check_compatible<V>(&self, other: &MinHash<S, V>) -> Result<(), Incompatible> {
        let (values, others) = (self.params.num_values(), other.params.num_values());
        Incompatible::check_shape("number of values", values.into(), others.into())?;
        Incompatible::check_hasher(&self.hasher, &other.hasher)
    }

    /// Estimates the number of keys from the sum of their minima. A minimum is a time, 2^50 per round.
    // A bin is hit by each key once per K rounds on average, so the first hit comes after about K / n rounds.
    fn keys_by_time(&self, sum: f64) -> f64 {
        let values = f64::from(self.num_values());
        let rounds = sum / (1_u64 << NUMBER_BITS) as f64;
        // Two keys at least: that there is one, so that nothing can err, is not known.
        if rounds > 0.0 { (values * (values - 1.0) / rounds).max(2.0) } else { f64::MAX }
    }
}

impl<S: KeyHasher, W> KeyHasher for MinHash<S, W> {
    #[inline]
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.hasher.hash_key(key)
    }

    #[inline]
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        self.hasher.hash_key_dyn(feed)
    }
}

impl<S: KeyHasher, W: WordSource> Similarity for MinHash<S, W> {
    type Error = Incompatible;

    fn jaccard(&self, other: &Self) -> Result<f64, Incompatible> {
        Ok(self.jaccard(other)?.value)
    }
}

impl<S: KeyHasher, W: WordSource> fmt::Debug for MinHash<S, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(W::name_of(["MinHash", "", "MinHashView"]))
            .field("num_values", &self.num_values())
            .field("is_empty", &self.is_empty())
            .finish_non_exhaustive()
    }
}
