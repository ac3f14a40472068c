//! The builders of sketches.

use pds_core::error::ParamError;
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_params::HllParams;
use pds_params::hll::CardinalityEstimator::{self, Improved, UltraFgra};
use pds_params::internal::ParamFault;

#[cfg(target_has_atomic = "8")]
use crate::AtomicHyperLogLog;
use crate::{HyperLogLog, UltraLogLog};

/// The precision without any other value: for a HyperLogLog an error of 0.81 % in 16 KiB.
pub(crate) const DEFAULT_PRECISION: u32 = 14;

/// The size as the caller gave it.
#[derive(Clone, Copy, Debug)]
struct Given {
    precision: Option<u32>,
    standard_error: Option<f64>,
    memory_bytes: Option<u64>,
}

impl Given {
    const NOTHING: Self = Self { precision: None, standard_error: None, memory_bytes: None };

    /// Returns the parameters that the given values determine.
    fn params(self, estimator: CardinalityEstimator) -> Result<HllParams, ParamError> {
        match (self.precision, self.standard_error, self.memory_bytes) {
            (precision, None, None) => HllParams::new(precision.unwrap_or(DEFAULT_PRECISION)),
            (None, Some(error), None) => HllParams::for_standard_error(estimator, error),
            (None, None, Some(bytes)) => HllParams::for_memory(bytes),
            (Some(_), ..) => Err(ParamError(ParamFault::Conflict { parameter: "precision" })),
            (None, Some(_), Some(_)) => {
                Err(ParamError(ParamFault::Conflict { parameter: "standard_error" }))
            }
        }
    }
}

/// Builder for [`HyperLogLog`]; start with [`HyperLogLog::builder`].
///
/// Precision, standard error or memory determines the size. Only one of them may be given. Without any, the precision
/// is 14.
///
/// # Examples
/// ```
/// use hll::HyperLogLog;
///
/// assert_eq!(HyperLogLog::builder().standard_error(0.02).build()?.precision(), 12);
/// assert_eq!(HyperLogLog::builder().memory_bytes(100_000).seed(7).build()?.precision(), 16);
/// assert!(HyperLogLog::builder().precision(3).build().is_err());
/// # Ok::<(), pds_core::error::ParamError>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct HyperLogLogBuilder<S = DefaultHashBuilder> {
    given: Given,
    hasher: S,
}

impl HyperLogLogBuilder {
    pub(crate) const fn new() -> Self {
        Self { given: Given::NOTHING, hasher: DefaultHashBuilder::with_seed(0) }
    }

    /// Sets the seed of the default hasher, 0 unless it is set. Only sketches with equal seeds can be merged.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.hasher = DefaultHashBuilder::with_seed(seed);
        self
    }
}

impl<S> HyperLogLogBuilder<S> {
    /// Sets the precision, from 4 to 18: the binary logarithm of the number of registers.
    pub const fn precision(mut self, precision: u32) -> Self {
        self.given.precision = Some(precision);
        self
    }

    /// Sets the greatest relative standard error, such as 0.01. The precision is the lowest that keeps it.
    pub const fn standard_error(mut self, standard_error: f64) -> Self {
        self.given.standard_error = Some(standard_error);
        self
    }

    /// Sets the most bytes that the registers may take. The precision is the highest that keeps this limit.
    pub const fn memory_bytes(mut self, bytes: u64) -> Self {
        self.given.memory_bytes = Some(bytes);
        self
    }

    /// Sets the hasher, such as a [`SipHashBuilder`](pds_core::hash::SipHashBuilder) for keys that strangers choose.
    pub fn hasher<T: KeyHasher>(self, hasher: T) -> HyperLogLogBuilder<T> {
        HyperLogLogBuilder { given: self.given, hasher }
    }

    /// Builds the sketch. Allocates nothing.
    ///
    /// # Errors
    /// [`ParamError`] names a value that is out of range, or in conflict with another.
    pub fn build(self) -> Result<HyperLogLog<S>, ParamError>
    where
        S: KeyHasher,
    {
        self.given.params(Improved).map(|params| HyperLogLog::from_params(params, self.hasher))
    }

    /// Builds a sketch that threads share.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    #[cfg(target_has_atomic = "8")]
    pub fn build_atomic(self) -> Result<AtomicHyperLogLog<S>, ParamError>
    where
        S: KeyHasher,
    {
        self.build().map(Into::into)
    }
}

/// Builder for [`UltraLogLog`]; start with [`UltraLogLog::builder`].
///
/// Precision, standard error or memory determines the size. Only one of them may be given. Without any, the precision
/// is 14.
///
/// # Examples
/// ```
/// use hll::UltraLogLog;
///
/// assert_eq!(UltraLogLog::builder().standard_error(0.01).seed(7).build()?.precision(), 13);
/// assert_eq!(UltraLogLog::builder().memory_bytes(100_000).build()?.precision(), 16);
/// # Ok::<(), pds_core::error::ParamError>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct UltraLogLogBuilder<S = DefaultHashBuilder> {
    given: Given,
    hasher: S,
}

impl UltraLogLogBuilder {
    pub(crate) const fn new() -> Self {
        Self { given: Given::NOTHING, hasher: DefaultHashBuilder::with_seed(0) }
    }

    /// Sets the seed of the default hasher, 0 unless it is set. Only sketches with equal seeds can be merged.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.hasher = DefaultHashBuilder::with_seed(seed);
        self
    }
}

impl<S> UltraLogLogBuilder<S> {
    /// Sets the precision, from 4 to 18: the binary logarithm of the number of registers.
    pub const fn precision(mut self, precision: u32) -> Self {
        self.given.precision = Some(precision);
        self
    }

    /// Sets the greatest relative standard error of `estimate`, such as 0.01. The precision is the lowest that keeps
    /// it.
    pub const fn standard_error(mut self, standard_error: f64) -> Self {
        self.given.standard_error = Some(standard_error);
        self
    }

    /// Sets the most bytes that the registers may take. The precision is the highest that keeps this limit.
    pub const fn memory_bytes(mut self, bytes: u64) -> Self {
        self.given.memory_bytes = Some(bytes);
        self
    }

    /// Sets the hasher, such as a [`SipHashBuilder`](pds_core::hash::SipHashBuilder) for keys that strangers choose.
    pub fn hasher<T: KeyHasher>(self, hasher: T) -> UltraLogLogBuilder<T> {
        UltraLogLogBuilder { given: self.given, hasher }
    }

    /// Builds the sketch.
    ///
    /// # Errors
    /// [`ParamError`] names a value that is out of range, or in conflict with another.
    pub fn build(self) -> Result<UltraLogLog<S>, ParamError>
    where
        S: KeyHasher,
    {
        self.given.params(UltraFgra).map(|params| UltraLogLog::from_params(params, self.hasher))
    }
}
