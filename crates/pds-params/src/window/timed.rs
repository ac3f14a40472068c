//! Sizes of filters of the keys of the last ticks of a clock.

use super::{Grid, MAX_WINDOW, generations_within, least, longest_stay};
use crate::ParamError;
use crate::check::{check_items, check_range, check_rate};
use crate::design::{Design, design_methods};

/// Validated parameters of a filter of the keys of the last ticks of a clock.
///
/// # Guarantees
/// - The mean false-positive rate is at most the promised one at every moment, if no generation receives more distinct keys than
///   its even share of the expected items, rounded up. A key that comes in several generations is one of each.
/// - No other numbers of generations and hashes that keep slack and rate need less than 15/16 of the bits. Of the numbers of
///   hashes within that limit it is the least, which saves time.
/// - The same arguments give the same numbers on every machine.
///
/// # Examples
/// ```
/// use pds_params::TimedParams;
///
/// // An hour in seconds, with 100,000 inserts.
/// let params = TimedParams::new(3_600, 100_000, 0.01, 0.1)?;
/// assert!(params.rate_at(100_000) <= 0.01);
/// // A key is gone after 66 minutes.
/// assert!(params.longest_stay() <= 3_960);
/// # Ok::<(), pds_params::ParamError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimedParams {
    /// Length of the window in ticks, from 1 to [`MAX_WINDOW`].
    ticks: u64,
    /// Number of generations, from 1 to [`TimedParams::MAX_GENERATIONS`].
    generations: u32,
    grid: Grid,
    design: Design,
}

impl TimedParams {
    /// The greatest number of generations of a window, 63.
    // The window and the current generation have a column each.
    pub const MAX_GENERATIONS: u32 = Grid::MAX_COLUMNS - 1;

    /// Computes a small filter that contains the keys of the last `ticks`, and has forgotten a key after
    /// `ticks * (1 + slack)`, rounded up. The mean rate is at most `rate` for `expected_items` inserts per window that come
    /// evenly.
    ///
    /// Equal keys within one generation count once. A key that is inserted again in a later generation counts again.
    ///
    /// # Errors
    /// If the window is empty or exceeds 2^62 ticks, or if there are no items. If rate or slack are not between 0 and 1. If
    /// no number of generations keeps the slack: it must be at least 1/63 for long windows, and more for some short ones. If
    /// more than 2^63 bits are needed, or the rate is below that of colliding hashes.
    ///
    /// # Complexity
    /// At most 63 times that of [`BloomParams::new`](crate::BloomParams::new).
    pub fn new(ticks: u64, expected_items: u64, rate: f64, slack: f64) -> Result<Self, ParamError> {
        check_range("ticks", ticks, 1, MAX_WINDOW)?;
        check_items(expected_items)?;
        check_rate(rate)?;
        let generations = generations_within(ticks, slack, Self::MAX_GENERATIONS)?;
        let (generations, grid) = least(generations, |generations| {
            let items = share(expected_items, ticks, generations);
            Grid::least(generations + 1, generations + 1, items, rate)
        })?;
        Ok(Self { ticks, generations, grid, design: Design::new(expected_items, rate) })
    }

    /// Accepts the shape as given, without a design.
    ///
    /// # Errors
    /// If a number is out of range.
    pub fn from_shape(
        ticks: u64,
        generations: u32,
        words: u64,
        hashes: u32,
    ) -> Result<Self, ParamError> {
        check_range("ticks", ticks, 1, MAX_WINDOW)?;
        check_range("generations", generations.into(), 1, Self::MAX_GENERATIONS.into())?;
        let grid = Grid::new(generations + 1, words, hashes)?;
        Ok(Self { ticks, generations, grid, design: Design::NONE })
    }

    design_methods!();

    /// Returns the length of the window in ticks.
    #[must_use]
    pub const fn ticks(&self) -> u64 {
        self.ticks
    }

    /// Returns the number of generations that the window is cut into.
    #[must_use]
    pub const fn generations(&self) -> u32 {
        self.generations
    }

    /// Returns the length of a generation in ticks.
    #[must_use]
    pub const fn generation_ticks(&self) -> u64 {
        self.ticks.div_ceil(self.generations as u64)
    }

    /// Returns the number of hashes, which is the number of rows per key.
    #[must_use]
    pub const fn num_hashes(&self) -> u32 {
        self.grid.num_hashes()
    }

    /// Returns the rows and columns.
    #[doc(hidden)]
    #[must_use]
    pub const fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Returns the size of the bits in bytes, in whole 64-bit words.
    #[must_use]
    pub const fn size_in_bytes(&self) -> u64 {
        self.grid.num_words() * 8
    }

    /// Returns the number of bits per expected insert, if the filter is designed for a number of inserts.
    #[must_use]
    pub fn bits_per_item(&self) -> Option<f64> {
        self.expected_items().map(|items| self.grid.num_words() as f64 * 64.0 / items as f64)
    }

    /// Returns the number of ticks after which a key is gone at the latest, unless it is a false positive.
    #[must_use]
    pub fn longest_stay(&self) -> u64 {
        longest_stay(self.ticks, self.generations)
    }

    /// Predicts the highest mean rate of all moments, for `items` inserts per window that come evenly.
    ///
    /// The rate is lower if some of them are of equal keys: generations that share keys are not independent.
    #[must_use]
    pub fn rate_at(&self, items: u64) -> f64 {
        let items = self.share_of(items);
        self.grid.rate_at((0..=self.generations).map(|_| items))
    }

    /// Returns how many of `items` keys per window come in a generation, if they come evenly.
    #[doc(hidden)]
    #[must_use]
    pub fn share_of(&self, items: u64) -> u64 {
        share(items, self.ticks, self.generations)
    }
}

/// Returns how many of `items` keys per window come in one of its generations, rounded up.
// A generation is a whole number of ticks, so it may be longer than the window divided by their number.
fn share(items: u64, ticks: u64, generations: u32) -> u64 {
    let length = ticks.div_ceil(generations.into());
    let share = (u128::from(items) * u128::from(length)).div_ceil(ticks.into());
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a generation is no longer than the window"
    )]
    let share = share as u64;
    share
}
