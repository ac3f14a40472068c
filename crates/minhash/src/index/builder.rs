//! The builder of indexes.

use pds_core::error::ParamError;
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_params::LshParams;
use pds_params::internal::ParamFault;

use super::LshIndex;

/// Builder for [`LshIndex`]; start with [`LshIndex::builder`].
///
/// Either the threshold, with or without the recall, or bands and rows must be set. [`build`](Self::build) checks all values. It
/// adjusts none of them.
///
/// # Examples
/// ```
/// use minhash::LshIndex;
///
/// let index = LshIndex::builder().threshold(0.5).build()?;
/// assert_eq!((index.params().bands(), index.params().rows()), (23, 3));
/// let index = LshIndex::builder().num_values(64).bands(16).rows(4).seed(7).build()?;
/// assert!(index.params().recall(0.5) > 0.64);
/// # Ok::<(), minhash::error::ParamError>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct LshIndexBuilder<S = DefaultHashBuilder> {
    given: Given,
    hasher: S,
}

/// The settings of the caller.
#[derive(Clone, Copy, Debug)]
struct Given {
    num_values: u32,
    threshold: Option<f64>,
    recall: Option<f64>,
    bands: Option<u32>,
    rows: Option<u32>,
}

impl Given {
    const DEFAULT_RECALL: f64 = 0.95;

    fn params(self) -> Result<LshParams, ParamError> {
        let Self { num_values, threshold, recall, bands, rows } = self;
        let missing = |parameter| Err(ParamError(ParamFault::Missing { parameter }));
        let conflict = |parameter| Err(ParamError(ParamFault::Conflict { parameter }));
        match (threshold, recall, bands, rows) {
            (Some(threshold), recall, None, None) => {
                LshParams::new(num_values, threshold, recall.unwrap_or(Self::DEFAULT_RECALL))
            }
            (None, None, Some(bands), Some(rows)) => LshParams::from_shape(num_values, bands, rows),
            (Some(_), ..) => conflict("threshold"),
            (None, Some(_), Some(_), _) | (None, Some(_), _, Some(_)) => conflict("recall"),
            (None, None, Some(_), None) => missing("rows"),
            (None, None, None, Some(_)) => missing("bands"),
            (None, _, None, None) => missing("threshold"),
        }
    }
}

impl LshIndexBuilder {
    pub(super) const fn new() -> Self {
        let (threshold, recall, bands, rows) = (None, None, None, None);
        Self {
            given: Given { num_values: 128, threshold, recall, bands, rows },
            hasher: DefaultHashBuilder::with_seed(0),
        }
    }

    /// Sets the seed of the default hasher, 0 unless it is set. It must be that of the sketches.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.hasher = DefaultHashBuilder::with_seed(seed);
        self
    }
}

impl<S> LshIndexBuilder<S> {
    /// Sets the number of values of the sketches, 128 unless it is set.
    pub const fn num_values(mut self, values: u32) -> Self {
        self.given.num_values = values;
        self
    }

    /// Sets the least Jaccard index of pairs that are to be found, above 0 and below 1.
    pub const fn threshold(mut self, jaccard: f64) -> Self {
        self.given.threshold = Some(jaccard);
        self
    }

    /// Sets the probability with which pairs at the threshold are found, above 0 and below 1. Without it, it is 0.95.
    pub const fn recall(mut self, probability: f64) -> Self {
        self.given.recall = Some(probability);
        self
    }

    /// Sets the number of bands, together with [`rows`](Self::rows) and in place of the threshold.
    pub const fn bands(mut self, bands: u32) -> Self {
        self.given.bands = Some(bands);
        self
    }

    /// Sets the number of rows per band.
    pub const fn rows(mut self, rows: u32) -> Self {
        self.given.rows = Some(rows);
        self
    }

    /// Sets the hasher, which must be that of the sketches.
    pub fn hasher<T: KeyHasher>(self, hasher: T) -> LshIndexBuilder<T> {
        LshIndexBuilder { given: self.given, hasher }
    }

    /// Builds the index, without documents.
    ///
    /// # Errors
    /// [`ParamError`] names a value that is out of range, missing or in conflict with another.
    pub fn build(self) -> Result<LshIndex<S>, ParamError>
    where
        S: KeyHasher,
    {
        Ok(LshIndex::from_params(self.given.params()?, self.hasher))
    }
}
