//! The builder of sketches.

use pds_core::error::{BuildError, ParamError};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_params::MinHashParams;
use pds_params::internal::ParamFault;

use crate::MinHash;

/// The number of values if neither it nor an error is given.
const DEFAULT_VALUES: u32 = 128;

/// Builder for [`MinHash`]; start with [`MinHash::builder`].
///
/// [`build`](Self::build) checks all values. It adjusts none of them. Without a size the sketch has 128 values.
///
/// # Examples
/// ```
/// use minhash::MinHash;
///
/// let sketch = MinHash::builder().standard_error(0.02).seed(7).build()?;
/// assert_eq!(sketch.num_values(), 1_024);
/// assert!(MinHash::builder().num_values(100).build().is_err(), "not a power of two");
/// # Ok::<(), minhash::error::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct MinHashBuilder<S = DefaultHashBuilder> {
    given: Given,
    hasher: S,
}

/// Sizes that the caller has set.
#[derive(Clone, Copy, Debug)]
struct Given {
    num_values: Option<u32>,
    standard_error: Option<f64>,
}

impl Given {
    fn params(self) -> Result<MinHashParams, ParamError> {
        match (self.num_values, self.standard_error) {
            (values, None) => MinHashParams::new(values.unwrap_or(DEFAULT_VALUES)),
            (None, Some(error)) => MinHashParams::for_standard_error(error),
            (Some(_), Some(_)) => {
                Err(ParamError(ParamFault::Conflict { parameter: "standard_error" }))
            }
        }
    }
}

impl MinHashBuilder {
    pub(crate) const fn new() -> Self {
        Self {
            given: Given { num_values: None, standard_error: None },
            hasher: DefaultHashBuilder::with_seed(0),
        }
    }

    /// Sets the seed of the default hasher, 0 unless it is set.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.hasher = DefaultHashBuilder::with_seed(seed);
        self
    }
}

impl<S> MinHashBuilder<S> {
    /// Sets the number of values, a power of two from 16 to 4,096.
    pub const fn num_values(mut self, values: u32) -> Self {
        self.given.num_values = Some(values);
        self
    }

    /// Sets the greatest standard error of [`jaccard`](MinHash::jaccard), for sets of any size and similarity, in place of the
    /// number of values.
    pub const fn standard_error(mut self, error: f64) -> Self {
        self.given.standard_error = Some(error);
        self
    }

    /// Sets the hasher, such as a [`SipHashBuilder`](pds_core::hash::SipHashBuilder) for keys that strangers choose.
    pub fn hasher<T: KeyHasher>(self, hasher: T) -> MinHashBuilder<T> {
        MinHashBuilder { given: self.given, hasher }
    }

    /// Builds the sketch.
    ///
    /// # Errors
    /// [`BuildError::Param`] names a value that is out of range. [`BuildError::Alloc`] if the allocator refuses the memory.
    pub fn build(self) -> Result<MinHash<S>, BuildError>
    where
        S: KeyHasher,
    {
        Ok(MinHash::from_params(self.given.params()?, self.hasher)?)
    }
}
