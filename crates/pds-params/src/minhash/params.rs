//! Validated sizes of sketches and signatures.

use libm::{ceil, sqrt};

use super::{MAX_BITS, MAX_VALUES, MIN_VALUES, check_power, error_in_units};
use crate::ParamError;
use crate::check::check_probability;
use crate::internal::ParamFault;

/// Validated parameters of a MinHash sketch: the number of its values.
///
/// # Examples
/// ```
/// use pds_params::MinHashParams;
///
/// let params = MinHashParams::for_standard_error(0.05)?;
/// assert_eq!((params.num_values(), params.size_in_bytes()), (128, 1_024));
/// assert_eq!(format!("{:.3}", params.standard_error(0.9)), "0.027");
/// # Ok::<(), pds_params::ParamError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MinHashParams {
    num_values: u32,
}

impl MinHashParams {
    /// Checks a number of values.
    ///
    /// # Errors
    /// If it is not a power of two from 16 to 4,096.
    pub fn new(num_values: u32) -> Result<Self, ParamError> {
        check_power("num_values", num_values, MIN_VALUES, MAX_VALUES)?;
        Ok(Self { num_values })
    }

    /// Computes the least number of values with a standard error of at most `error` for every Jaccard index and all sets.
    ///
    /// The error is greatest at 0.5. There it is 0.5 / sqrt(K).
    ///
    /// # Errors
    /// If the error is not above 0 and below 1. If more than 4,096 values are needed: the least error is 0.0078125.
    pub fn for_standard_error(error: f64) -> Result<Self, ParamError> {
        check_probability("standard_error", error)?;
        let values = ceil(0.25 / (error * error));
        (MIN_VALUES.ilog2()..=MAX_VALUES.ilog2())
            .map(|power| 1 << power)
            .find(|&values_allowed| f64::from(values_allowed) >= values)
            .map(|num_values| Self { num_values })
            .ok_or_else(|| {
                let max = MAX_VALUES.into();
                ParamError(ParamFault::TooLarge { parameter: "num_values", value: values, max })
            })
    }

    /// Returns the number of values K.
    #[must_use]
    pub const fn num_values(&self) -> u32 {
        self.num_values
    }

    /// Returns the size of a sketch in bytes: eight per value.
    #[must_use]
    pub const fn size_in_bytes(&self) -> u64 {
        8 * self.num_values as u64
    }

    /// Returns an upper bound on the standard error of an estimated Jaccard index: sqrt(J (1 - J) / K), for sets of any size.
    #[must_use]
    pub fn standard_error(&self, jaccard: f64) -> f64 {
        sqrt(jaccard * (1.0 - jaccard) / f64::from(self.num_values))
    }

    /// Returns the standard error of an estimated Jaccard index if `union` keys are in one of the sets or in both.
    #[must_use]
    pub fn standard_error_at(&self, jaccard: f64, union: f64) -> f64 {
        self.standard_error(jaccard) * error_in_units(self.num_values, union)
    }
}

/// Validated parameters of a signature: the number of its values, and the bits per value.
///
/// # Examples
/// ```
/// use pds_params::SignatureParams;
///
/// let params = SignatureParams::new(128, 8)?;
/// assert_eq!(params.size_in_bytes(), 128);
/// assert_eq!(format!("{:.4}", params.standard_error(0.5)), "0.0444");
/// # Ok::<(), pds_params::ParamError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignatureParams {
    values: MinHashParams,
    bits: u32,
}

impl SignatureParams {
    /// Checks a number of values and the bits per value.
    ///
    /// # Errors
    /// If the number of values is not a power of two from 16 to 4,096. If the bits are not 1, 2, 4, 8, 16 or 32.
    pub fn new(num_values: u32, bits: u32) -> Result<Self, ParamError> {
        let values = MinHashParams::new(num_values)?;
        check_power("bits", bits, 1, MAX_BITS)?;
        Ok(Self { values, bits })
    }

    /// Returns the number of values K.
    #[must_use]
    pub const fn num_values(&self) -> u32 {
        self.values.num_values()
    }

    /// Returns the number of bits per value.
    #[must_use]
    pub const fn bits(&self) -> u32 {
        self.bits
    }

    /// Returns the size of a signature in bytes, a multiple of 8.
    #[must_use]
    pub const fn size_in_bytes(&self) -> u64 {
        8 * (self.num_values() as u64 * self.bits as u64).div_ceil(64)
    }

    /// Returns the probability that values of different keys agree by chance: 2^-bits.
    #[must_use]
    pub fn chance(&self) -> f64 {
        libm::exp2(-f64::from(self.bits))
    }

    /// Returns the estimated Jaccard index if `matches` values agree, without the bias of values that agree by chance.
    ///
    /// It is (P - C) / (1 - C), with the share P of values that agree and the share C that agrees by [chance](Self::chance).
    /// It is below 0 if fewer values agree than chance would make: Ping Li and Arnd Christian König, "b-Bit Minwise Hashing",
    /// WWW 2010, section 3.
    #[must_use]
    pub fn jaccard(&self, matches: u32) -> f64 {
        self.without_chance(f64::from(matches) / f64::from(self.num_values()))
    }

    /// Removes the values that agree by chance from a share of values that agree.
    #[must_use]
    #[doc(hidden)]
    pub fn without_chance(&self, share: f64) -> f64 {
        let chance = self.chance();
        (share - chance) / (1.0 - chance)
    }

    /// Returns an upper bound on the standard error of an estimated Jaccard index, for sets of any size.
    // The variance of P is P (1 - P) / K, and 1 - P = (1 - C) (1 - J).
    #[must_use]
    pub fn standard_error(&self, jaccard: f64) -> f64 {
        let chance = self.chance();
        let share = chance + (1.0 - chance) * jaccard;
        self.values.standard_error(share) / (1.0 - chance)
    }
}
