//! The methods that only read, for a sketch in any storage.

use core::fmt;
use core::hash::{Hash, Hasher};
use core::ops::RangeInclusive;

use pds_core::error::ParamError;
use pds_core::hash::KeyHasher;
use pds_core::traits::Cardinality;
use pds_params::hll::CardinalityEstimator::Improved;
use pds_params::hll::{SPARSE_PRECISION, Sketch, relative_standard_error};
use pds_params::{Estimate, HllParams};

use super::HyperLogLog;
use crate::estimator::{
    FINITE_SIZE, Likelihood, improved, interval, linear_counting, maximum_likelihood,
};
use crate::storage::RegisterSource;

impl<S: KeyHasher, W: RegisterSource> HyperLogLog<S, W> {
    /// Returns the hasher.
    #[must_use]
    pub const fn hasher(&self) -> &S {
        &self.hasher
    }

    /// Estimates the number of distinct keys: by Ertl's improved raw estimator if dense, by linear counting of 26-bit
    /// prefixes while sparse.
    ///
    /// It is a function of the state: equal sketches give equal estimates.
    ///
    /// # Complexity
    /// O(m) if dense, O(1) while sparse.
    #[must_use]
    pub fn estimate(&self) -> f64 {
        self.estimate_by(|counts| improved(counts, self.params(), FINITE_SIZE))
    }

    /// Estimates the number of distinct keys by maximum likelihood. The error is 0.2 to 2 % lower than that of
    /// [`estimate`](Self::estimate), for several times the work.
    #[must_use]
    pub fn estimate_by_likelihood(&self) -> f64 {
        self.estimate_by(|counts| maximum_likelihood(counts, self.params()))
    }

    fn estimate_by(&self, by_ranks: impl Fn(&[u32; 64]) -> f64) -> f64 {
        match self.registers.entries() {
            Some(entries) => estimate_sparse(entries),
            None => by_ranks(&self.registers.counts()),
        }
    }

    /// Returns [`estimate`](Self::estimate) with its standard error.
    #[must_use]
    pub fn estimate_with_error(&self) -> Estimate {
        let value = self.estimate();
        if self.is_dense() {
            return self.params().estimate(Improved, value);
        }
        let relative = relative_standard_error(Sketch::HyperLogLog, 1 << SPARSE_PRECISION, value);
        Estimate { value, standard_error: value * relative }
    }

    /// Returns an interval that holds the true number with probability `confidence`.
    ///
    /// One interval serves all estimates of a state. The likelihood of the state given n keys, weighted by 1 / n, is cut by
    /// equal tails on both sides. The interval is as wide as that of the best possible estimator, also for few keys and few
    /// registers.
    ///
    /// - The ends are whole numbers, unless the interval was widened to hold [`estimate`](Self::estimate).
    /// - An estimate can be below the number of keys that the registers prove. The interval then begins at that number,
    ///   and does not hold the estimate.
    /// - The lower end is at least the number of occupied registers, or of entries while sparse. An empty sketch gives 0 to 0.
    /// - If all registers are full, as only forged bytes can have them, the upper end is infinite. The lower end is then the
    ///   number of keys that fills them with probability (1 - `confidence`) / 2.
    ///
    /// # Errors
    /// If `confidence` is not above 0 and below 1.
    ///
    /// # Complexity
    /// O(m) if dense, O(1) while sparse, and some tens of microseconds for the likelihoods.
    ///
    /// # Examples
    /// ```
    /// use hll::HyperLogLog;
    ///
    /// let mut seen = HyperLogLog::new(12)?;
    /// seen.extend(0..100_000u32);
    /// assert!(seen.estimate_interval(0.999)?.contains(&1e5));
    /// assert!(!seen.estimate_interval(0.999)?.contains(&1.1e5));
    /// # Ok::<(), pds_core::error::ParamError>(())
    /// ```
    pub fn estimate_interval(&self, confidence: f64) -> Result<RangeInclusive<f64>, ParamError> {
        if let Some(entries) = self.registers.entries() {
            let likelihood = Likelihood::of_occupied(entries, SPARSE_PRECISION);
            return interval(&likelihood, estimate_sparse(entries), confidence);
        }
        let counts = self.registers.counts();
        let likelihood = Likelihood::of_ranks(&counts, self.precision());
        interval(&likelihood, improved(&counts, self.params(), FINITE_SIZE), confidence)
    }

    /// Returns whether the sketch has a rank for every register, and not some bytes per key.
    #[must_use]
    pub fn is_dense(&self) -> bool {
        self.registers.entries().is_none()
    }

    /// Returns whether no key was inserted.
    ///
    /// # Complexity
    /// O(m) if dense, O(1) while sparse.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self.registers.entries() {
            Some(entries) => entries == 0,
            None => u64::from(self.registers.counts()[0]) == self.params().num_registers(),
        }
    }

    /// Returns the precision p, the binary logarithm of the number of registers.
    #[must_use]
    pub fn precision(&self) -> u32 {
        self.params().precision()
    }

    /// Returns the parameters.
    #[must_use]
    pub fn params(&self) -> HllParams {
        self.registers.params()
    }

    /// Returns the size of the state in bytes.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.registers.size_in_bytes()
    }
}

/// Returns the estimate of a sparse sketch with so many entries.
pub(super) fn estimate_sparse(entries: u64) -> f64 {
    linear_counting(entries, 1 << SPARSE_PRECISION)
}

impl<S: KeyHasher, W> KeyHasher for HyperLogLog<S, W> {
    #[inline]
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.hasher.hash_key(key)
    }

    #[inline]
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        self.hasher.hash_key_dyn(feed)
    }
}

impl<S: KeyHasher, W: RegisterSource> Cardinality for HyperLogLog<S, W> {
    fn estimate(&self) -> f64 {
        self.estimate()
    }
}

impl<S: KeyHasher, W: RegisterSource> fmt::Debug for HyperLogLog<S, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = ["HyperLogLog", "AtomicHyperLogLog", "HyperLogLogView"];
        f.debug_struct(W::name_of(names))
            .field("precision", &self.precision())
            .field("is_dense", &self.is_dense())
            .field("estimate", &self.estimate())
            .finish_non_exhaustive()
    }
}
