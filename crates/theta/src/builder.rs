//! The builder of sketches.

use pds_core::error::{BuildError, ParamError};
use pds_params::ThetaParams;
use pds_params::internal::ParamFault;

use crate::{ThetaHasher, ThetaSketch};

/// The nominal size if neither it nor an error is given, as in DataSketches.
const DEFAULT_NOMINAL_SIZE: u32 = 4_096;

/// Builder for [`ThetaSketch`]; start with [`ThetaSketch::builder`].
///
/// [`build`](Self::build) checks all values. It adjusts none of them. Without a size the sketch has the nominal size 4,096.
///
/// # Examples
/// ```
/// use theta::ThetaSketch;
///
/// let sketch = ThetaSketch::builder().relative_error(0.01).seed(123).build()?;
/// assert_eq!(sketch.params().nominal_size(), 16_384);
/// assert!(ThetaSketch::builder().nominal_size(1_000).build().is_err(), "not a power of two");
/// # Ok::<(), theta::error::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct ThetaSketchBuilder {
    nominal_size: Option<u32>,
    relative_error: Option<f64>,
    sampling: f32,
    seed: Option<u64>,
}

impl ThetaSketchBuilder {
    pub(crate) const fn new() -> Self {
        Self { nominal_size: None, relative_error: None, sampling: 1.0, seed: None }
    }

    /// Sets the nominal size, a power of two from 16 to 2^26.
    pub const fn nominal_size(mut self, size: u32) -> Self {
        self.nominal_size = Some(size);
        self
    }

    /// Sets the greatest relative standard error of the number of keys, in place of the nominal size.
    ///
    /// It holds for any number of keys. [`build`](Self::build) refuses a sampling probability with which few keys would have a
    /// greater one.
    pub const fn relative_error(mut self, error: f64) -> Self {
        self.relative_error = Some(error);
        self
    }

    /// Sets the probability p with which keys are kept from the first one on, 1 unless it is set. It saves memory of small
    /// sketches.
    ///
    /// Then small numbers of keys have an error, too: n keys have the relative standard error sqrt((1 - p) / (p n)) as long as no
    /// more than K / p keys come. Beyond that it is at most 1 / sqrt(K - 1), as without p.
    pub const fn sampling(mut self, probability: f32) -> Self {
        self.sampling = probability;
        self
    }

    /// Sets the seed, 9001 unless it is set. Only sketches of equal seeds can be combined.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    fn params(self) -> Result<ThetaParams, ParamError> {
        let params = match (self.nominal_size, self.relative_error) {
            (size, None) => ThetaParams::new(size.unwrap_or(DEFAULT_NOMINAL_SIZE))?,
            (None, Some(error)) => ThetaParams::for_relative_error(error)?,
            (Some(_), Some(_)) => {
                return Err(ParamError(ParamFault::Conflict { parameter: "relative_error" }));
            }
        };
        let params = params.with_sampling(self.sampling)?;
        match self.relative_error {
            Some(error) if params.relative_error() > error => {
                let (value, min) = (params.sampling(), ThetaParams::least_sampling(error));
                let [value, min] = [value, min].map(f64::from);
                Err(ParamError(ParamFault::TooLow { parameter: "sampling", value, min }))
            }
            _ => Ok(params),
        }
    }

    /// Builds the sketch.
    ///
    /// # Errors
    /// [`BuildError::Param`] names a value that is out of range, or a sampling probability that breaks the relative error.
    pub fn build(self) -> Result<ThetaSketch, BuildError> {
        let hasher =
            self.seed.map_or_else(|| Ok(ThetaHasher::default()), ThetaHasher::with_seed)?;
        Ok(ThetaSketch::from_params(self.params()?, hasher))
    }
}
