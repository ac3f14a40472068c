//! A filter from whatever is known of it.

use pds_core::ParamError;
use pds_core::internal::{DEFAULT_RATE, filter_builder};
use pds_params::{BlockedBloomParams, Preference};

use crate::BlockedBloomFilter;

filter_builder! {
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
    /// In the first two cases [`prefer`](Self::prefer) has a say in the number of hashes; in the others there is nothing
    /// to choose, and it is refused.
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
    BlockedBloomFilterBuilder builds BlockedBloomFilter {
        /// Sets the number of blocks, of 512 bits each.
        blocks: u64,
        /// Sets the number of positions a key, 2, 4, ... or 16; needs [`blocks`](Self::blocks).
        hashes: u32,
        /// Sets what to choose the number of hashes for: speed unless said otherwise.
        prefer: Preference,
    }
}

impl<S> BlockedBloomFilterBuilder<S> {
    /// The one way in which what was given fixes the size.
    fn params(&self) -> Result<BlockedBloomParams, ParamError> {
        let conflict = |parameter| Err(ParamError::Conflict { parameter });
        let rate = self.false_positive_rate.unwrap_or(DEFAULT_RATE);
        let preference = self.prefer.unwrap_or_default();
        let given = (self.blocks, self.hashes, self.expected_items, self.false_positive_rate);
        match given {
            (None, None, Some(items), _) => BlockedBloomParams::new(items, rate, preference),
            (None, None, None, _) => Err(ParamError::Missing { parameter: "expected_items" }),
            (None, Some(_), ..) => Err(ParamError::Missing { parameter: "blocks" }),
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
