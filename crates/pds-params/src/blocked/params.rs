//! Validated shapes of blocked Bloom filters.

use super::fill::{
    cardinality, expected_fill, expected_set_bits, intersection_cardinality,
    set_bits_standard_deviation,
};
use super::rate::{instance_rate_relative_spread, rate};
use super::sizing::{best_hashes, least_blocks, most_items};
use super::{BLOCK_BITS, MAX_BLOCKS, MAX_HASHES};
use crate::bloom::{HASH_COLLISION, SetBits};
use crate::check::{check_collisions, check_items, check_range, check_rate};
use crate::design::{Design, design_methods};
use crate::internal::ParamFault;
use crate::{Estimate, ParamError};

/// The objective for the choice of the number of hashes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Preference {
    /// Eight hashes for rates from 0.05 % to 2 %, otherwise the number that needs the fewest bits.
    ///
    /// One bit in each of eight lanes is the least work. It costs at most 4 % of memory: 10.10 bits per item instead of
    /// 9.93 at 1 %.
    #[default]
    Fastest,
    /// The number of hashes that needs the fewest bits, at all rates.
    Smallest,
}

/// Validated parameters of a blocked Bloom filter.
///
/// Any two of items, rate and blocks determine the third, and the number of hashes: [`new`](Self::new),
/// [`from_blocks_and_items`](Self::from_blocks_and_items) and [`from_blocks_and_rate`](Self::from_blocks_and_rate).
///
/// # Guarantees
/// - The mean false-positive rate at the designed number of items is at most the promised one. This includes the share
///   of absent keys whose whole 64-bit hash equals a stored one.
/// - The size is the least number of blocks that keeps the promise with this number of hashes.
/// - The same arguments give the same numbers on every machine.
///
/// # Examples
/// ```
/// use pds_params::{BlockedBloomParams, Preference};
///
/// let params = BlockedBloomParams::new(1_000_000, 0.01, Preference::Fastest)?;
/// assert_eq!((params.num_blocks(), params.num_hashes()), (19_726, 8));
/// assert!(params.rate_at(1_000_000) <= 0.01);
/// let smaller = BlockedBloomParams::new(1_000_000, 0.01, Preference::Smallest)?;
/// assert_eq!((smaller.num_blocks(), smaller.num_hashes()), (19_397, 6));
/// # Ok::<(), pds_params::ParamError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockedBloomParams {
    /// Number of blocks, from 1 to [`MAX_BLOCKS`].
    num_blocks: u64,
    /// Number of positions per key, an even number from 2 to [`MAX_HASHES`].
    num_hashes: u32,
    /// The design of the shape, if any.
    design: Design,
}

impl BlockedBloomParams {
    /// The greatest number of blocks of a filter, 2^54.
    pub const MAX_BLOCKS: u64 = MAX_BLOCKS;

    /// The greatest number of hashes of a filter, 16.
    pub const MAX_HASHES: u32 = MAX_HASHES;

    /// Computes the least filter whose mean rate for `expected_items` is at most `rate`.
    ///
    /// # Errors
    /// If there are no items. If the rate is not between 0 and 1. If the rate is at or below the share of 64-bit hashes
    /// that collide. If more than [`MAX_BLOCKS`] are needed.
    ///
    /// # Complexity
    /// Some dozens of evaluations of [`rate`] per number of hashes considered.
    pub fn new(expected_items: u64, rate: f64, preference: Preference) -> Result<Self, ParamError> {
        check_items(expected_items)?;
        check_rate(rate)?;
        check_collisions(expected_items, rate)?;
        let (num_blocks, num_hashes) = least_blocks(expected_items, rate, preference)
            .ok_or_else(|| too_large(expected_items, rate))?;
        Ok(Self { num_blocks, num_hashes, design: Design::new(expected_items, rate) })
    }

    /// Computes the number of hashes with the lowest rate for `items` in `blocks`, and promises that rate.
    ///
    /// # Errors
    /// If there are no items, no blocks, or more than [`MAX_BLOCKS`].
    pub fn from_blocks_and_items(blocks: u64, items: u64) -> Result<Self, ParamError> {
        check_blocks(blocks)?;
        check_items(items)?;
        let num_hashes = best_hashes(blocks, items);
        let promised = rate(blocks, items, num_hashes) + items as f64 * HASH_COLLISION;
        Ok(Self { num_blocks: blocks, num_hashes, design: Design::new(items, promised) })
    }

    /// Computes the most items that `blocks` can hold at the false-positive rate `rate`.
    ///
    /// # Errors
    /// If there are no blocks or more than [`MAX_BLOCKS`]. If if the rate is not between 0 and 1. If the rate is at or
    /// below the share of 64-bit hashes that collide with a single one.
    ///
    /// # Examples
    /// ```
    /// use pds_params::{BlockedBloomParams, Preference};
    /// let params = BlockedBloomParams::from_blocks_and_rate(1 << 20, 0.01, Preference::Fastest)?;
    /// assert_eq!(params.expected_items(), Some(53_159_181));
    /// # Ok::<(), pds_params::ParamError>(())
    /// ```
    pub fn from_blocks_and_rate(
        blocks: u64,
        rate: f64,
        preference: Preference,
    ) -> Result<Self, ParamError> {
        check_blocks(blocks)?;
        check_rate(rate)?;
        check_collisions(1, rate)?;
        // Even a single block holds one item at any rate above the collision rate.
        let (items, num_hashes) =
            most_items(blocks, rate, preference).ok_or_else(|| too_large(1, rate))?;
        Ok(Self { num_blocks: blocks, num_hashes, design: Design::new(items, rate) })
    }

    /// Accepts the shape as given, without a design.
    ///
    /// # Errors
    /// If there are no blocks, more than [`MAX_BLOCKS`], or the number of hashes is below 2 or above [`MAX_HASHES`]. If
    /// the number of hashes is odd.
    pub fn from_blocks_and_hashes(blocks: u64, hashes: u32) -> Result<Self, ParamError> {
        check_blocks(blocks)?;
        check_range("hashes", hashes.into(), 2, MAX_HASHES.into())?;
        if !hashes.is_multiple_of(2) {
            return Err(ParamError(ParamFault::NotEven {
                parameter: "hashes",
                value: hashes.into(),
            }));
        }
        Ok(Self { num_blocks: blocks, num_hashes: hashes, design: Design::NONE })
    }

    /// Returns the number of blocks of 512 bits.
    #[must_use]
    pub fn num_blocks(&self) -> u64 {
        self.num_blocks
    }

    /// Returns the number of bits.
    #[must_use]
    pub fn num_bits(&self) -> u64 {
        self.num_blocks * BLOCK_BITS
    }

    /// Returns the number of positions per key, k.
    #[must_use]
    pub fn num_hashes(&self) -> u32 {
        self.num_hashes
    }

    design_methods!();

    /// Returns the size of the blocks in bytes.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.num_bits() / 8
    }

    /// Returns the number of bits per expected item, if the filter is designed for a number of items.
    #[must_use]
    pub fn bits_per_item(&self) -> Option<f64> {
        self.expected_items().map(|items| self.num_bits() as f64 / items as f64)
    }

    /// Predicts the mean false-positive rate at `items` items, by [`rate`].
    #[must_use]
    pub fn rate_at(&self, items: u64) -> f64 {
        rate(self.num_blocks, items, self.num_hashes)
    }

    /// Predicts the relative spread of the rates of single filters: standard deviation over mean.
    #[must_use]
    pub fn relative_spread_at(&self, items: u64) -> f64 {
        instance_rate_relative_spread(self.num_blocks, items, self.num_hashes)
    }

    /// Predicts the fraction of set bits at `items` items.
    #[must_use]
    pub fn fill_at(&self, items: u64) -> f64 {
        expected_fill(self.num_blocks, items, self.num_hashes)
    }

    /// Predicts the number of set bits at `items` items, with the standard deviation over filters.
    #[must_use]
    pub fn set_bits_at(&self, items: u64) -> Estimate {
        let (blocks, hashes) = (self.num_blocks, self.num_hashes);
        Estimate {
            value: expected_set_bits(blocks, items, hashes),
            standard_error: set_bits_standard_deviation(blocks, items, hashes),
        }
    }

    /// Estimates the number of distinct items in a filter with `ones` set bits, by [`cardinality`].
    #[must_use]
    pub fn cardinality(&self, ones: u64) -> Estimate {
        cardinality(self.num_blocks, self.num_hashes, ones)
    }

    /// Estimates the number of distinct items that two filters have in common, by
    /// [`intersection_cardinality`].
    #[must_use]
    pub fn intersection_cardinality(&self, ones: SetBits) -> Estimate {
        intersection_cardinality(self.num_blocks, self.num_hashes, ones)
    }
}

/// Returns the error for a filter beyond all limits, with the number of blocks by the information bound.
fn too_large(items: u64, rate: f64) -> ParamError {
    let value = crate::bloom::information_bound(items, rate) / BLOCK_BITS as f64;
    let max = MAX_BLOCKS as f64;
    ParamError(ParamFault::TooLarge { parameter: "blocks", value: value.max(max), max })
}

fn check_blocks(blocks: u64) -> Result<(), ParamError> {
    check_range("blocks", blocks, 1, MAX_BLOCKS)
}
