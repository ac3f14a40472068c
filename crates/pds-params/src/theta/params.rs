//! Parameters of theta sketches.

use super::{MAX_NOMINAL_SIZE, MIN_NOMINAL_SIZE};
use crate::ParamError;
use crate::check::{check_probability, check_real};
use crate::internal::ParamFault;
use crate::minhash::check_power;
use libm::sqrt;

/// Validated parameters of a theta sketch: its nominal size K, and the sampling probability.
///
/// # Examples
/// ```
/// use pds_params::ThetaParams;
///
/// let params = ThetaParams::new(4_096)?;
/// assert_eq!(format!("{:.4}", params.relative_error()), "0.0156");
/// assert_eq!(params.max_retained(), 7_680);
/// assert_eq!(ThetaParams::for_relative_error(0.01)?.nominal_size(), 16_384);
/// # Ok::<(), pds_params::ParamError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThetaParams {
    nominal_size: u32,
    sampling: f32,
}

impl ThetaParams {
    /// Checks a nominal size: a power of two from 16 to 2^26.
    ///
    /// # Errors
    /// If the number is not one of these.
    pub fn new(nominal_size: u32) -> Result<Self, ParamError> {
        check_power("nominal_size", nominal_size, MIN_NOMINAL_SIZE, MAX_NOMINAL_SIZE)?;
        Ok(Self { nominal_size, sampling: 1.0 })
    }

    /// Returns the least nominal size whose [relative error](Self::relative_error) is at most `error`.
    ///
    /// # Errors
    /// If `error` is not above 0 and below 1, or if it takes more than 2^26.
    pub fn for_relative_error(error: f64) -> Result<Self, ParamError> {
        check_probability("relative_error", error)?;
        let sizes = MIN_NOMINAL_SIZE.ilog2()..=MAX_NOMINAL_SIZE.ilog2();
        let mut all = sizes.map(|log| Self { nominal_size: 1 << log, sampling: 1.0 });
        all.find(|params| params.relative_error() <= error).ok_or_else(|| {
            let (value, max) = (1.0 / (error * error) + 1.0, MAX_NOMINAL_SIZE.into());
            ParamError(ParamFault::TooLarge { parameter: "nominal_size", value, max })
        })
    }

    /// Sets the sampling probability: above 0 and at most 1. Keys are kept with this probability from the first one on.
    ///
    /// # Errors
    /// If it is not in this range.
    pub fn with_sampling(self, sampling: f32) -> Result<Self, ParamError> {
        /// 2^-63: theta is at least one unit.
        const MIN_SAMPLING: f64 = 1.0 / (1_u64 << 63) as f64;
        check_real("sampling", sampling.into(), MIN_SAMPLING, 1.0)?;
        Ok(Self { sampling, ..self })
    }

    /// Returns the nominal size K: the number of hashes that are kept at least, once theta is below the sampling probability.
    #[must_use]
    pub const fn nominal_size(&self) -> u32 {
        self.nominal_size
    }

    /// Returns the sampling probability.
    #[must_use]
    pub const fn sampling(&self) -> f32 {
        self.sampling
    }

    /// Returns the greatest number of hashes that are kept: 15/8 K. One more lowers theta, and leaves K.
    #[must_use]
    pub const fn max_retained(&self) -> u64 {
        15 * self.nominal_size as u64 / 8
    }

    /// Returns an upper bound on the relative standard error of the number of distinct keys, whatever it is.
    ///
    /// Without a sampling probability it is 1 / sqrt(K - 1), which is the error right after theta was lowered. Up to
    /// [`max_retained`](Self::max_retained) keys are counted without an error.
    ///
    /// With a sampling probability p it is at least sqrt((1 - p) / p), the error of a single key. That of n keys is
    /// sqrt((1 - p) / (p n)) until theta is lowered. So 1 / sqrt(K - 1) holds from K / p keys on.
    ///
    /// # Examples
    /// ```
    /// use pds_params::ThetaParams;
    ///
    /// let params = ThetaParams::new(4_096)?;
    /// assert_eq!(format!("{:.4}", params.relative_error()), "0.0156");
    /// assert_eq!(params.with_sampling(0.5)?.relative_error(), 1.0);
    /// # Ok::<(), pds_params::ParamError>(())
    /// ```
    #[must_use]
    pub fn relative_error(&self) -> f64 {
        let lowered = 1.0 / sqrt(f64::from(self.nominal_size - 1));
        lowered.max(error_of_one_key(self.sampling))
    }

    /// Returns the least sampling probability with which one key has at most this relative standard error.
    #[doc(hidden)]
    #[must_use]
    pub fn least_sampling(error: f64) -> f32 {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the next number is taken if it is too low"
        )]
        let near = (1.0 / (1.0 + error * error)) as f32;
        if error_of_one_key(near) <= error { near } else { near.next_up() }
    }

    /// Returns the greatest length of the compact bytes, uncompressed.
    #[must_use]
    pub const fn max_compact_bytes(&self) -> u64 {
        24 + 8 * self.max_retained()
    }
}

/// Returns the relative standard error of the number of keys if there is one, which is kept with this probability.
fn error_of_one_key(sampling: f32) -> f64 {
    let kept = f64::from(sampling);
    sqrt((1.0 - kept) / kept)
}
