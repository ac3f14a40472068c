//! The methods that only read, for a sketch in any storage.

use core::fmt;
use core::hash::{Hash, Hasher};
use core::ops::RangeInclusive;

use pds_core::error::ParamError;
use pds_core::hash::KeyHasher;
use pds_core::traits::Cardinality;
use pds_params::hll::CardinalityEstimator::UltraFgra;
use pds_params::{Estimate, HllParams};

use super::UltraLogLog;
use super::payload::Payload;
use crate::estimator::{interval, ultra_fgra, ultra_likelihood, ultra_maximum_likelihood};
use crate::storage::RegisterBytes;

impl<S: KeyHasher, W: RegisterBytes> UltraLogLog<S, W> {
    /// Returns the precision p, the binary logarithm of the number of registers.
    #[must_use]
    pub const fn precision(&self) -> u32 {
        self.params.precision()
    }

    /// Returns the parameters.
    #[must_use]
    pub const fn params(&self) -> HllParams {
        self.params
    }

    /// Returns the hasher.
    #[must_use]
    pub const fn hasher(&self) -> &S {
        &self.hasher
    }

    /// Returns the size of the registers in bytes, 2^p. In a view it is that of the payload, which may be a list.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.registers.bytes().len() as u64
    }

    /// Estimates the number of distinct keys by the fast generalised remaining area, with an error of about 0.782 / sqrt(m).
    ///
    /// # Complexity
    /// O(m).
    #[must_use]
    pub fn estimate(&self) -> f64 {
        ultra_fgra(&self.counts(), self.params)
    }

    /// Estimates the number of distinct keys by maximum likelihood, with an error of about 0.761 / sqrt(m), for several
    /// times the work.
    #[must_use]
    pub fn estimate_by_likelihood(&self) -> f64 {
        ultra_maximum_likelihood(&self.counts(), self.params)
    }

    /// Returns [`estimate`](Self::estimate) with its standard error.
    #[must_use]
    pub fn estimate_with_error(&self) -> Estimate {
        self.params.estimate(UltraFgra, self.estimate())
    }

    /// Returns an interval that holds the true number with probability `confidence`; see
    /// [`HyperLogLog::estimate_interval`](crate::HyperLogLog::estimate_interval).
    ///
    /// The lower bound is at least the number of ranks that are known to have occurred, over all registers. If
    /// [`estimate`](Self::estimate) is below that number, the interval does not hold it.
    ///
    /// # Errors
    /// [`ParamError`] if `confidence` is not above 0 and below 1.
    pub fn estimate_interval(&self, confidence: f64) -> Result<RangeInclusive<f64>, ParamError> {
        let counts = self.counts();
        let likelihood = ultra_likelihood(&counts, self.precision());
        interval(&likelihood, ultra_fgra(&counts, self.params), confidence)
    }

    /// Returns whether no key was inserted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.registers.bytes().iter().all(|&byte| byte == 0)
    }

    /// Counts the registers of each value.
    fn counts(&self) -> [u32; 256] {
        Payload::new(self.registers.bytes(), self.params).counts(self.params)
    }
}

impl<S: KeyHasher, W> KeyHasher for UltraLogLog<S, W> {
    #[inline]
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.hasher.hash_key(key)
    }

    #[inline]
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        self.hasher.hash_key_dyn(feed)
    }
}

impl<S: KeyHasher, W: RegisterBytes> Cardinality for UltraLogLog<S, W> {
    fn estimate(&self) -> f64 {
        self.estimate()
    }
}

impl<S: KeyHasher, W: RegisterBytes> fmt::Debug for UltraLogLog<S, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(W::name_of(["UltraLogLog", "UltraLogLogView"]))
            .field("precision", &self.precision())
            .field("estimate", &self.estimate())
            .finish_non_exhaustive()
    }
}
