//! The builder of blocked Bloom filters.

use pds_core::error::{BuildError, ParamError};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::internal::DEFAULT_RATE;
use pds_params::internal::ParamFault;
use pds_params::{BlockedBloomParams, Preference};

#[cfg(target_has_atomic = "64")]
use crate::AtomicBlockedBloomFilter;
use crate::BlockedBloomFilter;

/// Builder for [`BlockedBloomFilter`]; start with [`BlockedBloomFilter::builder`].
///
/// [`build`](Self::build) checks all values. It adjusts none of them. Without a rate, the rate is 0.01.
///
/// | given | size |
/// |---|---|
/// | `expected_items`, with or without `false_positive_rate` | the fewest blocks that keep the rate |
/// | `blocks`, with or without `false_positive_rate` | these blocks, for as many items as keep the rate |
/// | `blocks` and `expected_items` | these blocks, with the best number of hashes |
/// | `blocks` and `hashes` | exactly these, without a promise |
///
/// In the first two cases [`prefer`](Self::prefer) affects the number of hashes. In the others it is an error.
///
/// # Examples
/// ```
/// use bloom_blocked::{BlockedBloomFilter, Preference};
///
/// let filter = BlockedBloomFilter::builder()
///     .expected_items(1_000_000)
///     .prefer(Preference::Smallest)
///     .seed(7)
///     .build()?;
/// assert_eq!((filter.num_blocks(), filter.num_hashes()), (19_397, 6));
/// assert!(BlockedBloomFilter::builder().build().is_err(), "neither items nor blocks");
/// # Ok::<(), bloom_blocked::error::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct BlockedBloomFilterBuilder<S = DefaultHashBuilder> {
    given: Given,
    #[cfg(feature = "huge-pages")]
    huge_pages: bool,
    hasher: S,
}

/// The size as the caller gave it.
#[derive(Clone, Copy, Debug)]
struct Given {
    expected_items: Option<u64>,
    false_positive_rate: Option<f64>,
    blocks: Option<u64>,
    hashes: Option<u32>,
    prefer: Option<Preference>,
}

impl BlockedBloomFilterBuilder {
    pub(crate) const fn new() -> Self {
        Self {
            given: Given {
                expected_items: None,
                false_positive_rate: None,
                blocks: None,
                hashes: None,
                prefer: None,
            },
            #[cfg(feature = "huge-pages")]
            huge_pages: false,
            hasher: DefaultHashBuilder::with_seed(0),
        }
    }

    /// Sets the seed of the default hasher, 0 unless it is set. Only filters with equal seeds can be combined.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.hasher = DefaultHashBuilder::with_seed(seed);
        self
    }
}

impl<S> BlockedBloomFilterBuilder<S> {
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

    /// Sets the number of blocks of 512 bits.
    pub const fn blocks(mut self, blocks: u64) -> Self {
        self.given.blocks = Some(blocks);
        self
    }

    /// Sets the number of positions per key: 2, 4, ... or 16. Set [`blocks`](Self::blocks) too.
    pub const fn hashes(mut self, hashes: u32) -> Self {
        self.given.hashes = Some(hashes);
        self
    }

    /// Sets whether the number of hashes is chosen for speed or for size. Without it that is speed.
    pub const fn prefer(mut self, prefer: Preference) -> Self {
        self.given.prefer = Some(prefer);
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
    pub fn hasher<T: KeyHasher>(self, hasher: T) -> BlockedBloomFilterBuilder<T> {
        BlockedBloomFilterBuilder {
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
    pub fn build(self) -> Result<BlockedBloomFilter<S>, BuildError>
    where
        S: KeyHasher,
    {
        let filter = BlockedBloomFilter::from_params(self.given.params()?, self.hasher)?;
        #[cfg(feature = "huge-pages")]
        if self.huge_pages {
            filter.advise_huge_pages();
        }
        Ok(filter)
    }

    /// Builds a filter that threads share.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    #[cfg(target_has_atomic = "64")]
    pub fn build_atomic(self) -> Result<AtomicBlockedBloomFilter<S>, BuildError>
    where
        S: KeyHasher,
    {
        self.build().map(Into::into)
    }
}

impl Given {
    /// Returns the parameters that the given values determine.
    fn params(self) -> Result<BlockedBloomParams, ParamError> {
        let conflict = |parameter| Err(ParamError(ParamFault::Conflict { parameter }));
        let rate = self.false_positive_rate.unwrap_or(DEFAULT_RATE);
        let preference = self.prefer.unwrap_or_default();
        let given = (self.blocks, self.hashes, self.expected_items, self.false_positive_rate);
        match given {
            (None, None, Some(items), _) => BlockedBloomParams::new(items, rate, preference),
            (None, None, None, _) => {
                Err(ParamError(ParamFault::Missing { parameter: "expected_items" }))
            }
            (None, Some(_), ..) => Err(ParamError(ParamFault::Missing { parameter: "blocks" })),
            (Some(blocks), None, None, _) => {
                BlockedBloomParams::from_blocks_and_rate(blocks, rate, preference)
            }
            (Some(_), Some(_), None, None) | (Some(_), None, Some(_), None)
                if self.prefer.is_some() =>
            {
                conflict("prefer")
            }
            (Some(blocks), None, Some(items), None) => {
                BlockedBloomParams::from_blocks_and_items(blocks, items)
            }
            (Some(blocks), Some(hashes), None, None) => {
                BlockedBloomParams::from_blocks_and_hashes(blocks, hashes)
            }
            (Some(_), None, Some(_), Some(_)) | (Some(_), Some(_), None, Some(_)) => {
                conflict("false_positive_rate")
            }
            (Some(_), Some(_), Some(_), _) => conflict("expected_items"),
        }
    }
}
