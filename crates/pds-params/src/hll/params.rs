use libm::sqrt;

use super::{MAX_PRECISION, MIN_PRECISION, Sketch, relative_standard_error};
use crate::check::check_range;
use crate::internal::ParamFault;
use crate::{Estimate, ParamError};

/// The estimator of the number of distinct keys from the registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CardinalityEstimator {
    /// Ertl's improved raw estimator: one pass, a closed form.
    Improved,
    /// Maximum likelihood.
    MaximumLikelihood,
    /// The martingale estimator (HIP). It follows every insert, and does not survive a merge.
    Martingale,
    /// UltraLogLog's generalised remaining area (FGRA): one pass, a closed form.
    UltraFgra,
    /// UltraLogLog's maximum likelihood.
    UltraMaximumLikelihood,
}

impl CardinalityEstimator {
    /// Returns the limit of the relative standard error times the square root of the number of registers.
    ///
    /// The limit is for many items and many registers. It is not a bound: sketches with few registers exceed it.
    /// [`HllParams::standard_error`] is a bound.
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

    /// Returns the factor, at least 1, by which `registers` registers exceed the limit for many items.
    ///
    /// It tends to 1 + c / m. For the closed forms and the martingale, c was computed from the moments of their sums
    /// (Flajolet et al. 2007, theorem 1, as an integral over the Laplace transform) for 16 registers, where it is
    /// greatest. For maximum likelihood, c was measured in 500,000 simulated sketches of 16 registers, plus two
    /// standard errors.
    fn finite_size(self, registers: f64) -> f64 {
        let c = match self {
            Self::Improved => 1.106,
            Self::MaximumLikelihood => 1.17,
            Self::Martingale => 0.564,
            Self::UltraFgra => 0.530,
            Self::UltraMaximumLikelihood => 0.49,
        };
        1.0 + c / registers
    }

    /// Returns the information in the sketch, and the error constant of the best state-based estimator.
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

/// The precision of a sketch, and the sizes and errors that follow from it.
///
/// # Examples
/// ```
/// use pds_params::HllParams;
/// use pds_params::hll::CardinalityEstimator::{Improved, UltraFgra};
///
/// let params = HllParams::for_standard_error(Improved, 0.01)?;
/// assert_eq!((params.precision(), params.dense_bytes()), (14, 16_384));
/// // UltraLogLog needs half of the registers for it.
/// assert_eq!(HllParams::for_standard_error(UltraFgra, 0.01)?.precision(), 13);
/// # Ok::<(), pds_params::ParamError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HllParams {
    precision: u32,
}

impl HllParams {
    /// Accepts the precision p, the binary logarithm of the number of registers.
    ///
    /// # Errors
    /// If the precision is below 4 or above 18.
    pub const fn new(precision: u32) -> Result<Self, ParamError> {
        if precision < MIN_PRECISION || precision > MAX_PRECISION {
            return Err(ParamError(ParamFault::OutOfRange {
                parameter: "precision",
                value: precision as u64,
                min: MIN_PRECISION as u64,
                max: MAX_PRECISION as u64,
            }));
        }
        Ok(Self { precision })
    }

    /// Computes the least precision whose relative standard error, at any number of items, is at most `standard_error`.
    ///
    /// # Errors
    /// If `standard_error` is not above 0 and below 1. If even the greatest precision does not reach it.
    pub fn for_standard_error(
        estimator: CardinalityEstimator,
        standard_error: f64,
    ) -> Result<Self, ParamError> {
        if !(standard_error > 0.0 && standard_error < 1.0) {
            return Err(ParamError(ParamFault::NotAProbability {
                parameter: "standard_error",
                value: standard_error,
            }));
        }
        let root = estimator.error_constant() / standard_error;
        let least_registers = root * root;
        let reaches = |params: &Self| params.standard_error(estimator) <= standard_error;
        (MIN_PRECISION..=MAX_PRECISION).map(|precision| Self { precision }).find(reaches).ok_or(
            ParamError(ParamFault::TooLarge {
                parameter: "number of registers",
                value: least_registers,
                max: f64::from(1 << MAX_PRECISION),
            }),
        )
    }

    /// Computes the greatest precision whose registers take at most `bytes` bytes of memory.
    ///
    /// Both sketches have one byte per register in memory, in the dense form. A small `HyperLogLog` takes less
    /// ([`memory_bytes_at`](Self::memory_bytes_at)). The portable bytes of its dense form are three quarters of the
    /// memory ([`packed_bytes`](Self::packed_bytes)).
    ///
    /// # Errors
    /// If `bytes` is below 16.
    pub fn for_memory(bytes: u64) -> Result<Self, ParamError> {
        check_range("bytes", bytes, 1 << MIN_PRECISION, u64::MAX)?;
        Self::new(bytes.ilog2().min(MAX_PRECISION))
    }

    /// Returns the precision p.
    #[must_use]
    pub const fn precision(self) -> u32 {
        self.precision
    }

    #[expect(clippy::cast_precision_loss, reason = "registers are far below 2^53")]
    fn registers(self) -> f64 {
        self.num_registers() as f64
    }

    /// Returns the number of registers, m = 2^p.
    #[must_use]
    pub const fn num_registers(self) -> u64 {
        1 << self.precision
    }

    /// Returns an upper bound of the relative standard error at any number of items. The error reaches it for many
    /// items.
    ///
    /// It is slightly above [`error_constant`](CardinalityEstimator::error_constant) / sqrt(m): by 3 to 7 % at 16
    /// registers, and less than 0.5 % from 256 on.
    ///
    /// # Examples
    /// ```
    /// use pds_params::HllParams;
    /// use pds_params::hll::CardinalityEstimator::Improved;
    ///
    /// let percent = |precision| {
    ///     let error = HllParams::new(precision)?.standard_error(Improved);
    ///     Ok::<_, pds_params::ParamError>(format!("{:.2} %", 100.0 * error))
    /// };
    /// assert_eq!([percent(4)?, percent(14)?], ["27.77 %", "0.81 %"]);
    /// # Ok::<(), pds_params::ParamError>(())
    /// ```
    #[must_use]
    pub fn standard_error(self, estimator: CardinalityEstimator) -> f64 {
        let registers = self.registers();
        // Errors oscillate with the logarithm of the number of items, relatively by at most this.
        let wobble = if estimator == CardinalityEstimator::Improved { 9e-5 } else { 3e-5 };
        estimator.error_constant() / sqrt(registers) * (estimator.finite_size(registers) + wobble)
    }

    /// Returns the relative standard error in the dense form at `items` distinct items, or 0 if `items` is not above 0
    /// or NaN.
    ///
    /// This is the error of the best estimator at `items` times the ratio of the two limits. For the generalised
    /// remaining area, the ratio was measured, because its error exceeds that product by a fifth while items are few.
    /// The result is within 4 % from 64 registers on, and up to 8 % too high below.
    #[must_use]
    pub fn standard_error_at(self, estimator: CardinalityEstimator, items: f64) -> f64 {
        let (sketch, limit) = estimator.reference();
        let registers = self.registers();
        let best = relative_standard_error(sketch, self.num_registers(), items);
        let many = estimator.error_constant() / limit * estimator.finite_size(registers);
        let load = items.max(0.0) / registers;
        let few = match estimator {
            CardinalityEstimator::UltraFgra => 1.0 + 0.2 / (1.0 + load * load / 2.0),
            _ => 1.0,
        };
        best * many * few
    }

    /// Returns the greatest number of distinct 26-bit hash prefixes that the sparse form holds: m / 8.
    ///
    /// One more makes the sketch dense. The number depends only on the precision and increases with it. A sketch of
    /// lower precision is therefore dense whenever one of higher precision is.
    // A sparse entry takes 4.6 to 6.9 bytes of memory once there are forty, so the sparse form never exceeds the dense
    // one.
    #[must_use]
    pub const fn max_sparse_entries(self) -> u64 {
        self.num_registers() / 8
    }

    /// Returns the size of the dense form in memory: one byte per register.
    #[must_use]
    pub const fn dense_bytes(self) -> u64 {
        self.num_registers()
    }

    /// Returns the size of `HyperLogLog`'s dense form in portable bytes: six bits per register.
    #[must_use]
    pub const fn packed_bytes(self) -> u64 {
        self.num_registers() / 4 * 3
    }

    /// Returns the size of a `HyperLogLog` of `items` distinct keys in memory, in bytes on the heap.
    ///
    /// This is the size of its table while it is sparse, then one byte per register.
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

    /// Returns the size of a `HyperLogLog` of `items` distinct keys in portable bytes, without the envelope.
    ///
    /// This is four bytes per key while it is sparse, then six bits per register.
    #[must_use]
    pub const fn packed_bytes_at(self, items: u64) -> u64 {
        if items <= self.max_sparse_entries() { 4 * items } else { self.packed_bytes() }
    }

    /// Returns the greatest size of an `UltraLogLog` of `items` distinct keys in portable bytes, without the envelope.
    ///
    /// This is four bytes per key, or a byte per register if that is less.
    #[must_use]
    pub const fn ultra_bytes_at(self, items: u64) -> u64 {
        let (listed, all) = (items.saturating_mul(4), self.dense_bytes());
        if listed < all { listed } else { all }
    }

    /// Returns `value` as an estimate, with the standard error that it has in the dense form.
    ///
    /// A value that is not above 0, or NaN, gives an estimate of 0 with a standard error of 0.
    #[must_use]
    pub fn estimate(self, estimator: CardinalityEstimator, value: f64) -> Estimate {
        // `max` of NaN and another number returns the other one.
        let value = value.max(0.0);
        Estimate { value, standard_error: value * self.standard_error_at(estimator, value) }
    }
}
