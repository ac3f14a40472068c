//! A sketch from whatever is known of it.

use pds_core::{DefaultHashBuilder, KeyHasher, ParamError};
use pds_params::HllParams;
use pds_params::hll::CardinalityEstimator;

use crate::HyperLogLog;

/// The precision where nothing is asked for: an error of 0.81 %, 16 KiB.
const DEFAULT_PRECISION: u32 = 14;

/// Sets up a [`HyperLogLog`]; [`HyperLogLog::builder`] starts it.
///
/// One of precision, standard error and memory says how large it is; without any, the precision is 14.
///
/// # Examples
/// ```
/// use hll::HyperLogLog;
///
/// assert_eq!(HyperLogLog::builder().standard_error(0.02).build()?.precision(), 12);
/// assert_eq!(HyperLogLog::builder().memory_bytes(100_000).seed(7).build()?.precision(), 16);
/// assert!(HyperLogLog::builder().precision(3).build().is_err());
/// # Ok::<(), pds_core::ParamError>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct HyperLogLogBuilder<S = DefaultHashBuilder> {
    precision: Option<u32>,
    standard_error: Option<f64>,
    memory_bytes: Option<u64>,
    hasher: S,
}

impl HyperLogLogBuilder {
    pub(crate) const fn new() -> Self {
        Self {
            precision: None,
            standard_error: None,
            memory_bytes: None,
            hasher: DefaultHashBuilder::with_seed(0),
        }
    }

    /// Seeds the default hasher. Sketches can be merged when their seeds are equal.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.hasher = DefaultHashBuilder::with_seed(seed);
        self
    }
}

impl<S> HyperLogLogBuilder<S> {
    /// Sets the precision, 4 to 18: the binary logarithm of the number of registers.
    pub const fn precision(mut self, precision: u32) -> Self {
        self.precision = Some(precision);
        self
    }

    /// Asks for the least precision whose relative standard error is at most this, such as 0.01.
    pub const fn standard_error(mut self, standard_error: f64) -> Self {
        self.standard_error = Some(standard_error);
        self
    }

    /// Asks for the greatest precision whose registers take at most this many bytes.
    pub const fn memory_bytes(mut self, bytes: u64) -> Self {
        self.memory_bytes = Some(bytes);
        self
    }

    /// Hashes keys with `hasher`, such as a [`SipHashBuilder`](pds_core::SipHashBuilder) for keys that
    /// strangers choose.
    pub fn hasher<T: KeyHasher>(self, hasher: T) -> HyperLogLogBuilder<T> {
        HyperLogLogBuilder {
            precision: self.precision,
            standard_error: self.standard_error,
            memory_bytes: self.memory_bytes,
            hasher,
        }
    }

    /// Builds the sketch, which allocates nothing.
    ///
    /// # Errors
    /// [`ParamError`] names a parameter that is out of range, or given although another one is.
    pub fn build(self) -> Result<HyperLogLog<S>, ParamError>
    where
        S: KeyHasher,
    {
        self.params().map(|params| HyperLogLog::from_params(params, self.hasher))
    }

    fn params(&self) -> Result<HllParams, ParamError> {
        match (self.precision, self.standard_error, self.memory_bytes) {
            (precision, None, None) => HllParams::new(precision.unwrap_or(DEFAULT_PRECISION)),
            (None, Some(error), None) => {
                HllParams::for_standard_error(CardinalityEstimator::Improved, error)
            }
            (None, None, Some(bytes)) => HllParams::for_memory(bytes),
            (Some(_), ..) => Err(ParamError::Conflict { parameter: "precision" }),
            (None, Some(_), Some(_)) => Err(ParamError::Conflict { parameter: "standard_error" }),
        }
    }
}
