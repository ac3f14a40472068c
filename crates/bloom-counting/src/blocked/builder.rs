//! The builder of blocked counting Bloom filters.

use pds_core::error::{BuildError, ParamError};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::internal::DEFAULT_RATE;
use pds_params::BlockedCountingParams;
use pds_params::internal::ParamFault;

use crate::BlockedCountingBloomFilter;

/// Builder for [`BlockedCountingBloomFilter`]; start with [`BlockedCountingBloomFilter::builder`].
///
/// Set [`expected_items`](Self::expected_items), with or without a rate, or [`lines`](Self::lines).
/// [`build`](Self::build) checks all values. It adjusts none of them.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct BlockedCountingBloomFilterBuilder<S = DefaultHashBuilder> {
    given: Given,
    #[cfg(feature = "huge-pages")]
    huge_pages: bool,
    hasher: S,
}

/// Sizes that the caller has set.
#[derive(Clone, Copy, Debug)]
struct Given {
    expected_items: Option<u64>,
    false_positive_rate: Option<f64>,
    lines: Option<u64>,
}

impl BlockedCountingBloomFilterBuilder {
    pub(super) const fn new() -> Self {
        Self {
            given: Given { expected_items: None, false_positive_rate: None, lines: None },
            #[cfg(feature = "huge-pages")]
            huge_pages: false,
            hasher: DefaultHashBuilder::with_seed(0),
        }
    }

    /// Sets the seed of the default hasher, 0 unless it is set. Only filters with equal seeds can be merged.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.hasher = DefaultHashBuilder::with_seed(seed);
        self
    }
}

impl<S> BlockedCountingBloomFilterBuilder<S> {
    /// Sets the number of distinct items up to which the filter keeps its rate.
    pub const fn expected_items(mut self, items: u64) -> Self {
        self.given.expected_items = Some(items);
        self
    }

    /// Sets the false-positive rate at the expected items, above 0 and below 1. Without it the rate is 0.01.
    pub const fn false_positive_rate(mut self, rate: f64) -> Self {
        self.given.false_positive_rate = Some(rate);
        self
    }

    /// Sets the number of lines, from 1 to 2^54. A line has 128 counters.
    pub const fn lines(mut self, lines: u64) -> Self {
        self.given.lines = Some(lines);
        self
    }

    /// Sets whether to ask the system for huge pages, which pays for filters of many megabytes.
    ///
    /// Small filters ignore it. Copies of a filter, and filters read from bytes, do not ask.
    #[cfg(feature = "huge-pages")]
    pub const fn huge_pages(mut self, huge_pages: bool) -> Self {
        self.huge_pages = huge_pages;
        self
    }

    /// Sets the hasher, such as a [`SipHashBuilder`](pds_core::hash::SipHashBuilder) for keys that strangers choose.
    pub fn hasher<T: KeyHasher>(self, hasher: T) -> BlockedCountingBloomFilterBuilder<T> {
        BlockedCountingBloomFilterBuilder {
            given: self.given,
            #[cfg(feature = "huge-pages")]
            huge_pages: self.huge_pages,
            hasher,
        }
    }

    /// Builds the filter.
    ///
    /// # Errors
    /// [`BuildError::Param`] names a value that is out of range, missing, or in conflict with another.
    /// [`BuildError::Alloc`] if the allocator refuses the memory.
    pub fn build(self) -> Result<BlockedCountingBloomFilter<S>, BuildError>
    where
        S: KeyHasher,
    {
        let filter = BlockedCountingBloomFilter::from_params(self.given.params()?, self.hasher)?;
        #[cfg(feature = "huge-pages")]
        if self.huge_pages {
            filter.counters.words().advise_huge_pages();
        }
        Ok(filter)
    }
}

impl Given {
    /// Returns the parameters that the given values determine.
    fn params(self) -> Result<BlockedCountingParams, ParamError> {
        match (self.expected_items, self.false_positive_rate, self.lines) {
            (Some(items), rate, None) => {
                BlockedCountingParams::new(items, rate.unwrap_or(DEFAULT_RATE))
            }
            (None, None, Some(lines)) => BlockedCountingParams::from_lines(lines),
            (None, _, None) => Err(ParamError(ParamFault::Missing { parameter: "expected_items" })),
            (_, Some(_), Some(_)) => {
                Err(ParamError(ParamFault::Conflict { parameter: "false_positive_rate" }))
            }
            (Some(_), None, Some(_)) => {
                Err(ParamError(ParamFault::Conflict { parameter: "lines" }))
            }
        }
    }
}
