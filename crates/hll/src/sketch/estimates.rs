use core::ops::RangeInclusive;

use pds_core::{Estimate, ParamError};
use pds_params::HllParams;
use pds_params::hll::CardinalityEstimator::Improved;
use pds_params::hll::{SPARSE_PRECISION, Sketch, relative_standard_error};

use super::{Form, HyperLogLog};
use crate::dense::histogram;
use crate::estimator::{
    FINITE_SIZE, Likelihood, improved, interval, linear_counting, maximum_likelihood,
};

impl<S> HyperLogLog<S> {
    /// Estimates the number of distinct keys: Ertl's improved raw estimator once dense, linear counting of the
    /// 26-bit prefixes while sparse.
    ///
    /// A function of the state: equal sketches give equal estimates.
    ///
    /// # Complexity
    /// O(m) once dense, O(1) while sparse.
    #[must_use]
    pub fn estimate(&self) -> f64 {
        let by_ranks = |counts: &_| improved(counts, self.params(), FINITE_SIZE);
        self.estimate_by(by_ranks)
    }

    /// Estimates the number of distinct keys by maximum likelihood: an error lower by 0.2 to 2 %, for several
    /// times the work.
    #[must_use]
    pub fn estimate_by_likelihood(&self) -> f64 {
        self.estimate_by(|counts| maximum_likelihood(counts, self.params()))
    }

    fn estimate_by(&self, by_ranks: impl Fn(&[u32; 64]) -> f64) -> f64 {
        match &self.form {
            Form::Sparse(table) => estimate_sparse(table.len() as u64),
            Form::Dense(dense) => by_ranks(&histogram(dense.registers())),
        }
    }

    /// Returns the martingale (HIP) estimate: error about 0.833 / sqrt(m) instead of 1.04, in constant time.
    ///
    /// `None` when a dense state came about by something else than inserts: a merge, or reading from bytes. While
    /// sparse it is [`estimate`](Self::estimate), which errs less than either.
    ///
    /// It depends on the order of inserts, so that it takes no part in equality and is never written: equal sets have equal
    /// bytes. Where its answer is needed after a journey, this number travels beside the bytes.
    ///
    /// # Examples
    /// ```
    /// use hll::HyperLogLog;
    ///
    /// let mut seen = HyperLogLog::new(12)?;
    /// seen.extend(0..100_000u32);
    /// assert!((seen.martingale_estimate().unwrap() / 1e5 - 1.0).abs() < 0.05);
    ///
    /// let mut others = HyperLogLog::new(12)?;
    /// others.insert("another");
    /// seen.merge(&others)?;
    /// assert_eq!(seen.martingale_estimate(), None);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn martingale_estimate(&self) -> Option<f64> {
        match &self.form {
            Form::Sparse(_) => Some(self.estimate()),
            Form::Dense(dense) => dense.martingale_estimate(),
        }
    }

    /// Returns [`estimate`](Self::estimate) with its standard error.
    #[must_use]
    pub fn estimate_with_error(&self) -> Estimate {
        with_error(self.params(), self.is_dense(), self.estimate())
    }

    /// Returns an interval that holds the true number with probability `confidence`.
    ///
    /// One interval serves all estimates of a state. Its ends are whole numbers, except where it was widened to hold
    /// [`estimate`](Self::estimate). It leaves out equal tails of the likelihood of the state, given exactly n keys and
    /// weighted by 1 / n. As wide as an interval of the best possible estimator, for few keys and few registers too.
    ///
    /// - The lower end is at least the number of occupied registers, or of entries while sparse. An empty sketch gives 0 to 0.
    /// - Where all registers are full, as only forged bytes can have them, the upper end is infinite. The lower end is then the
    ///   number of keys that fills them with probability (1 - `confidence`) / 2.
    ///
    /// # Errors
    /// [`ParamError::NotAProbability`] when `confidence` is not above 0 and below 1.
    ///
    /// # Complexity
    /// O(m) once dense, O(1) while sparse, and some tens of microseconds for the likelihoods.
    ///
    /// # Examples
    /// ```
    /// use hll::HyperLogLog;
    ///
    /// let mut seen = HyperLogLog::new(12)?;
    /// seen.extend(0..100_000u32);
    /// assert!(seen.estimate_interval(0.999)?.contains(&1e5));
    /// assert!(!seen.estimate_interval(0.999)?.contains(&1.1e5));
    /// # Ok::<(), pds_core::ParamError>(())
    /// ```
    pub fn estimate_interval(&self, confidence: f64) -> Result<RangeInclusive<f64>, ParamError> {
        match &self.form {
            Form::Sparse(table) => sparse_interval(table.len() as u64, confidence),
            Form::Dense(dense) => {
                dense_interval(&histogram(dense.registers()), self.params(), confidence)
            }
        }
    }
}

/// The estimate of a sparse sketch with so many entries.
pub(crate) fn estimate_sparse(entries: u64) -> f64 {
    linear_counting(entries, 1 << SPARSE_PRECISION)
}

/// The interval of a sparse sketch with so many entries.
pub(crate) fn sparse_interval(
    entries: u64,
    confidence: f64,
) -> Result<RangeInclusive<f64>, ParamError> {
    let likelihood = Likelihood::of_occupied(entries, SPARSE_PRECISION);
    interval(&likelihood, estimate_sparse(entries), confidence)
}

/// The interval of a dense sketch, of whose registers `counts[r]` have rank `r`.
pub(crate) fn dense_interval(
    counts: &[u32; 64],
    params: HllParams,
    confidence: f64,
) -> Result<RangeInclusive<f64>, ParamError> {
    let likelihood = Likelihood::of_ranks(counts, params.precision());
    interval(&likelihood, improved(counts, params, FINITE_SIZE), confidence)
}

/// Attaches the standard error that an estimate has in its form.
pub(crate) fn with_error(params: HllParams, is_dense: bool, value: f64) -> Estimate {
    if is_dense {
        return params.estimate(Improved, value);
    }
    let relative = relative_standard_error(Sketch::HyperLogLog, 1 << SPARSE_PRECISION, value);
    Estimate { value, standard_error: value * relative }
}
