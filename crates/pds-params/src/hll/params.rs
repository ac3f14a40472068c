use core::ops::RangeInclusive;

use libm::{expm1, log, sqrt};

use super::{MAX_PRECISION, MIN_PRECISION, Sketch, normal_quantile, relative_standard_error};
use crate::{Estimate, ParamError};

/// How the number of distinct keys is computed from the registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CardinalityEstimator {
    /// Ertl's improved raw estimator: one pass, a closed form.
    Improved,
    /// Maximum likelihood.
    MaximumLikelihood,
    /// The martingale estimator (HIP), which follows every insert and does not survive a merge.
    Martingale,
    /// UltraLogLog's generalised remaining area (FGRA): one pass, a closed form.
    UltraFgra,
    /// UltraLogLog's maximum likelihood.
    UltraMaximumLikelihood,
}

impl CardinalityEstimator {
    /// Returns the limit, for many items, of the relative standard error times the square root of the
    /// number of registers.
    ///
    /// Sources: Flajolet et al. 2007 (sqrt(3 ln 2 - 1)); Ertl 2017 (sqrt(ln 2 / (π²/6 - 1))); Cohen
    /// 2015 and Ting 2014 (sqrt(ln 2)); Ertl 2023, table 2 (0.782, 0.761).
    #[must_use]
    pub const fn error_constant(self) -> f64 {
        match self {
            Self::Improved => 1.038_961_761_413_689,
            Self::MaximumLikelihood => 1.036_704_709_778_501,
            Self::Martingale => 0.832_554_611_157_698,
            Self::UltraFgra => 0.782_235_993_609_245,
            Self::UltraMaximumLikelihood => 0.760_862_100_272_518,
        }
    }

    /// The error constant of the best state-based estimator, and what the sketch remembers.
    const fn reference(self) -> (Sketch, f64) {
        match self {
            Self::Improved | Self::MaximumLikelihood | Self::Martingale => {
                (Sketch::HyperLogLog, Self::MaximumLikelihood.error_constant())
            }
            Self::UltraFgra | Self::UltraMaximumLikelihood => {
                (Sketch::UltraLogLog, Self::UltraMaximumLikelihood.error_constant())
            }
        }
    }
}

/// The precision of a sketch, and what follows from it.
///
/// # Examples
/// ```
/// use pds_params::HllParams;
/// use pds_params::hll::CardinalityEstimator::{Improved, UltraFgra};
///
/// let params = HllParams::for_standard_error(Improved, 0.01)?;
/// assert_eq!((params.precision(), params.dense_bytes()), (14, 16_384));
/// // The other sketch needs half of the registers for it.
/// assert_eq!(HllParams::for_standard_error(UltraFgra, 0.01)?.precision(), 13);
/// # Ok::<(), pds_params::ParamError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HllParams {
    precision: u32,
}

impl HllParams {
    /// Takes the precision p, the binary logarithm of the number of registers.
    ///
    /// # Errors
    /// [`ParamError::OutOfRange`] outside of 4 to 18.
    pub const fn new(precision: u32) -> Result<Self, ParamError> {
        if precision < MIN_PRECISION || precision > MAX_PRECISION {
            return Err(ParamError::OutOfRange {
                parameter: "precision",
                value: precision as u64,
                min: MIN_PRECISION as u64,
                max: MAX_PRECISION as u64,
            });
        }
        Ok(Self { precision })
    }

    /// Chooses the least precision whose relative standard error, at any number of items, is at most
    /// `standard_error`.
    ///
    /// # Errors
    /// [`ParamError::NotAProbability`] when it is not above 0 and below 1, [`ParamError::TooLarge`] when
    /// not even the greatest precision reaches it.
    pub fn for_standard_error(
        estimator: CardinalityEstimator,
        standard_error: f64,
    ) -> Result<Self, ParamError> {
        if !(standard_error > 0.0 && standard_error < 1.0) {
            return Err(ParamError::NotAProbability {
                parameter: "standard_error",
                value: standard_error,
            });
        }
        let registers = (estimator.error_constant() / standard_error)
            * (estimator.error_constant() / standard_error);
        let reaches = |params: &Self| params.standard_error(estimator) <= standard_error;
        (MIN_PRECISION..=MAX_PRECISION).map(|precision| Self { precision }).find(reaches).ok_or(
            ParamError::TooLarge {
                parameter: "number of registers",
                value: registers,
                max: f64::from(1 << MAX_PRECISION),
            },
        )
    }

    /// Chooses the greatest precision whose registers take at most `bytes` bytes of memory: one byte each, as both sketches have
    /// them there, dense.
    ///
    /// A small `HyperLogLog` takes less ([`memory_bytes_at`](Self::memory_bytes_at)), and its portable bytes are three quarters of
    /// that ([`packed_bytes`](Self::packed_bytes)).
    ///
    /// # Errors
    /// [`ParamError::OutOfRange`] below 16 bytes.
    pub fn for_memory(bytes: u64) -> Result<Self, ParamError> {
        let (min, max) = (1 << MIN_PRECISION, 1 << MAX_PRECISION);
        match bytes.checked_ilog2() {
            Some(precision) if bytes >= min => Self::new(precision.min(MAX_PRECISION)),
            _ => Err(ParamError::OutOfRange { parameter: "bytes", value: bytes, min, max }),
        }
    }

    /// Returns the precision p.
    #[must_use]
    pub const fn precision(self) -> u32 {
        self.precision
    }

    /// Returns the number of registers, m = 2^p.
    #[must_use]
    pub const fn num_registers(self) -> u64 {
        1 << self.precision
    }

    /// Returns the limit of the relative standard error for many items, which is also its greatest value.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "registers are far below 2^53")]
    pub fn standard_error(self, estimator: CardinalityEstimator) -> f64 {
        estimator.error_constant() / sqrt(self.num_registers() as f64)
    }

    /// Returns the relative standard error in the dense form at `items` distinct items.
    ///
    /// For an estimator that is not the best one, the best one's error at `items` times the ratio of their
    /// limits. While there are fewer items than registers the martingale estimator's is lower than that, and
    /// that of the generalised remaining area up to a fifth higher.
    #[must_use]
    pub fn standard_error_at(self, estimator: CardinalityEstimator, items: f64) -> f64 {
        let (sketch, limit) = estimator.reference();
        let best = relative_standard_error(sketch, self.num_registers(), items);
        best * (estimator.error_constant() / limit)
    }

    /// Returns the greatest number of distinct 26-bit hash prefixes that the sparse form holds: m / 8.
    ///
    /// One more makes the sketch dense. It depends on the precision alone and falls with it, so that a sketch of
    /// lower precision is dense whenever one of higher precision is. A sparse entry takes 4.6 to 6.9
    /// bytes of memory once there are forty, so that the sparse form never takes more than the dense one.
    #[must_use]
    pub const fn max_sparse_entries(self) -> u64 {
        self.num_registers() / 8
    }

    /// Returns the size of the dense form in memory: one byte a register.
    #[must_use]
    pub const fn dense_bytes(self) -> u64 {
        self.num_registers()
    }

    /// Returns the size of `HyperLogLog`'s dense form in portable bytes: six bits a register.
    #[must_use]
    pub const fn packed_bytes(self) -> u64 {
        self.num_registers() / 4 * 3
    }

    /// Returns the size in memory of a `HyperLogLog` of so many distinct keys, in bytes on the heap: its table while it is
    /// sparse, then one byte a register.
    ///
    /// # Examples
    /// ```
    /// let params = pds_params::HllParams::new(14)?;
    /// let sizes = [0, 10, 1_000, 100_000].map(|keys| params.memory_bytes_at(keys));
    /// assert_eq!(sizes, [0, 40, 5_216, 16_384]);
    /// # Ok::<(), pds_params::ParamError>(())
    /// ```
    #[must_use]
    pub fn memory_bytes_at(self, items: u64) -> u64 {
        match usize::try_from(items) {
            Ok(entries) if items <= self.max_sparse_entries() => {
                4 * self.sparse_slots(entries) as u64
            }
            _ => self.dense_bytes(),
        }
    }

    /// Returns the size in portable bytes of a `HyperLogLog` of so many distinct keys, without the envelope: four bytes a key
    /// while it is sparse, then six bits a register.
    #[must_use]
    pub const fn packed_bytes_at(self, items: u64) -> u64 {
        if items <= self.max_sparse_entries() { 4 * items } else { self.packed_bytes() }
    }

    /// Attaches the standard error at the estimate, as it is in the dense form.
    #[must_use]
    pub fn estimate(self, estimator: CardinalityEstimator, value: f64) -> Estimate {
        Estimate { value, standard_error: value * self.standard_error_at(estimator, value) }
    }

    /// Returns an interval that holds the true number with probability `confidence`: all numbers whose estimates are as close to
    /// them, in standard errors, as the one at hand.
    ///
    /// By the normal approximation, so that it is too narrow in the far tails below precision 8. The upper end may be infinite. An
    /// infinite estimate means that all registers are full; the lower end is then the number of keys that fills them with
    /// probability (1 - `confidence`) / 2. Of an estimate that is not a number, it is 0 to infinity.
    ///
    /// # Errors
    /// [`ParamError::NotAProbability`] when `confidence` is not above 0 and below 1.
    ///
    /// # Examples
    /// ```
    /// use pds_params::HllParams;
    /// use pds_params::hll::CardinalityEstimator::Improved;
    ///
    /// let params = HllParams::new(14)?;
    /// let interval = params.interval(params.estimate(Improved, 1e6), 0.95)?;
    /// assert!((interval.start() / 984_458.0 - 1.0).abs() < 1e-4);
    /// assert!((interval.end() / 1_016_040.0 - 1.0).abs() < 1e-4);
    /// # Ok::<(), pds_params::ParamError>(())
    /// ```
    pub fn interval(
        self,
        estimate: Estimate,
        confidence: f64,
    ) -> Result<RangeInclusive<f64>, ParamError> {
        if !(confidence > 0.0 && confidence < 1.0) {
            return Err(ParamError::NotAProbability { parameter: "confidence", value: confidence });
        }
        let Estimate { value, standard_error } = estimate;
        if value <= 0.0 {
            return Ok(0.0..=0.0);
        }
        if value == f64::INFINITY {
            return Ok(self.items_that_fill((1.0 - confidence) / 2.0)..=f64::INFINITY);
        }
        let spread = normal_quantile(confidence) * standard_error / value;
        if spread.is_nan() {
            return Ok(0.0..=f64::INFINITY);
        }
        let high = if spread < 1.0 { value / (1.0 - spread) } else { f64::INFINITY };
        Ok(value / (1.0 + spread)..=high)
    }

    /// The number n of keys that brings all registers to their last rank with this probability: (1 - e^(-n / 2^64))^m.
    #[expect(clippy::cast_precision_loss, reason = "registers are far below 2^53")]
    fn items_that_fill(self, probability: f64) -> f64 {
        /// 2^64.
        const HASHES: f64 = 18_446_744_073_709_551_616.0;
        let below = -expm1(log(probability) / self.num_registers() as f64);
        -HASHES * log(below)
    }
}
