//! A filter from whatever is known of it.

use pds_core::{BuildError, DefaultHashBuilder, ParamError};
use pds_params::{BlockedBloomParams, Preference};

use crate::BlockedBloomFilter;

/// The rate where none is asked for: one absent key in a hundred.
const DEFAULT_RATE: f64 = 0.01;

/// Sets up a [`BlockedBloomFilter`]; [`BlockedBloomFilter::builder`] starts it.
///
/// Two of items, rate and blocks fix the third; the rate is 1 % where it is neither given nor fixed.
/// Blocks and hashes can be given outright. Everything is checked in [`build`](Self::build), and nothing
/// is adjusted silently.
///
/// | given | size |
/// |---|---|
/// | `expected_items`, or that and `false_positive_rate` | the fewest blocks that keep the promised rate |
/// | `blocks`, or that and `false_positive_rate` | these blocks, for as many items as keep the rate |
/// | `blocks` and `expected_items` | these blocks, with the best number of hashes |
/// | `blocks` and `hashes` | exactly these, without a promise |
///
/// In the first two cases [`prefer`](Self::prefer) has a say in the number of hashes.
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
/// # Ok::<(), bloom_blocked::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct BlockedBloomFilterBuilder<S = DefaultHashBuilder> {
    expected_items: Option<u64>,
    false_positive_rate: Option<f64>,
    blocks: Option<u64>,
    hashes: Option<u32>,
    preference: Preference,
    #[cfg(feature = "huge-pages")]
    huge_pages: bool,
    hasher: S,
}

impl BlockedBloomFilterBuilder {
    pub(crate) const fn new() -> Self {
        Self {
            expected_items: None,
            false_positive_rate: None,
            blocks: None,
            hashes: None,
            preference: Preference::Fastest,
            #[cfg(feature = "huge-pages")]
            huge_pages: false,
            hasher: DefaultHashBuilder::with_seed(0),
        }
    }

    /// Seeds the default hasher. Filters can be combined when their seeds are equal.
    pub const fn seed(mut self, seed: u64) -> Self {
        self.hasher = DefaultHashBuilder::with_seed(seed);
        self
    }
}

impl<S> BlockedBloomFilterBuilder<S> {
    /// Sets the number of distinct items at which the promised rate is reached.
    pub const fn expected_items(mut self, items: u64) -> Self {
        self.expected_items = Some(items);
        self
    }

    /// Sets the fraction of absent keys, in (0, 1), that may be answered `true` at the expected items.
    pub const fn false_positive_rate(mut self, rate: f64) -> Self {
        self.false_positive_rate = Some(rate);
        self
    }

    /// Sets the number of blocks, of 512 bits each.
    pub const fn blocks(mut self, blocks: u64) -> Self {
        self.blocks = Some(blocks);
        self
    }

    /// Sets the number of positions a key, 2, 4, ... or 16; needs [`blocks`](Self::blocks).
    pub const fn hashes(mut self, hashes: u32) -> Self {
        self.hashes = Some(hashes);
        self
    }

    /// Sets what to choose the number of hashes for: speed unless said otherwise.
    pub const fn prefer(mut self, preference: Preference) -> Self {
        self.preference = preference;
        self
    }

    /// Asks the system for huge pages, which large filters gain from and small ones ignore.
    #[cfg(feature = "huge-pages")]
    pub const fn huge_pages(mut self, huge_pages: bool) -> Self {
        self.huge_pages = huge_pages;
        self
    }

    /// Hashes keys with `hasher`, such as a [`SipHashBuilder`](pds_core::SipHashBuilder) for keys that
    /// strangers choose.
    pub fn hasher<T>(self, hasher: T) -> BlockedBloomFilterBuilder<T> {
        BlockedBloomFilterBuilder {
            expected_items: self.expected_items,
            false_positive_rate: self.false_positive_rate,
            blocks: self.blocks,
            hashes: self.hashes,
            preference: self.preference,
            #[cfg(feature = "huge-pages")]
            huge_pages: self.huge_pages,
            hasher,
        }
    }

    /// Builds the filter.
    ///
    /// # Errors
    /// [`BuildError::Param`] names a parameter that is out of range, missing, or fixed by the others
    /// already; [`BuildError::Alloc`] reports that memory was refused.
    pub fn build(self) -> Result<BlockedBloomFilter<S>, BuildError> {
        let filter = BlockedBloomFilter::from_params(self.params()?, self.hasher)?;
        #[cfg(feature = "huge-pages")]
        if self.huge_pages {
            filter.advise_huge_pages();
        }
        Ok(filter)
    }

    /// The one way in which what was given fixes the size.
    fn params(&self) -> Result<BlockedBloomParams, ParamError> {
        let conflict = |parameter| Err(ParamError::Conflict { parameter });
        let rate = self.false_positive_rate.unwrap_or(DEFAULT_RATE);
        match (self.blocks, self.hashes, self.expected_items, self.false_positive_rate) {
            (None, None, Some(items), _) => BlockedBloomParams::new(items, rate, self.preference),
            (None, None, None, _) => Err(ParamError::Missing { parameter: "expected_items" }),
            (None, Some(_), ..) => Err(ParamError::Missing { parameter: "blocks" }),
            (Some(blocks), None, None, _) => {
                BlockedBloomParams::from_blocks_and_rate(blocks, rate, self.preference)
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
