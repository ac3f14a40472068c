//! Sizes of filters of the last N keys.

use super::{Grid, MAX_WINDOW, generations_within, least, longest_stay};
use crate::ParamError;
use crate::check::{check_range, check_rate};

/// Validated parameters of a filter of the last N keys.
///
/// # Guarantees
/// - The mean false-positive rate is at most the promised one at every moment.
/// - No other numbers of generations and hashes that keep slack and rate need less than 15/16 of the bits. Of the numbers of
///   hashes within that limit it is the least, which saves time.
/// - The same arguments give the same numbers on every machine.
///
/// # Examples
/// ```
/// use pds_params::WindowParams;
///
/// let params = WindowParams::new(1_000_000, 0.01, 0.1)?;
/// assert_eq!((params.generations(), params.num_hashes()), (14, 7));
/// assert!(params.worst_rate() <= 0.01);
/// // A key is gone once a tenth more than the window was inserted after it.
/// assert!(params.longest_stay() <= 1_100_000);
/// # Ok::<(), pds_params::ParamError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindowParams {
    /// Number of keys in the window, from 1 to [`MAX_WINDOW`].
    window: u64,
    /// Number of generations, from 1 to [`WindowParams::MAX_GENERATIONS`].
    generations: u32,
    grid: Grid,
    promised_rate: Option<f64>,
}

impl WindowParams {
    /// The greatest number of generations of a window, 62.
    // The window, the generation that is being inserted and the one that is being cleared have a column each.
    pub const MAX_GENERATIONS: u32 = Grid::MAX_COLUMNS - 2;

    /// Computes a small filter that contains the last `window` keys, and forgets a key after at most
    /// `window * (1 + slack)` inserts, rounded up. The mean rate is at most `rate` at every moment.
    ///
    /// # Errors
    /// If the window is empty or exceeds 2^62. If rate or slack are not between 0 and 1. If no number of generations keeps
    /// the slack: it must be at least 1/62 for long windows, and more for some short ones. If more than 2^63 bits are
    /// needed, or the rate is below that of colliding hashes.
    ///
    /// # Complexity
    /// At most 62 times that of [`BloomParams::new`](crate::BloomParams::new).
    pub fn new(window: u64, rate: f64, slack: f64) -> Result<Self, ParamError> {
        check_range("window", window, 1, MAX_WINDOW)?;
        check_rate(rate)?;
        let generations = generations_within(window, slack, Self::MAX_GENERATIONS)?;
        let (generations, grid) = least(generations, |generations| {
            let items = window.div_ceil(generations.into());
            Grid::least(generations + 2, generations + 1, items, rate)
        })?;
        Ok(Self { window, generations, grid, promised_rate: Some(rate) })
    }

    /// Accepts the shape as given, without a promised rate.
    ///
    /// # Errors
    /// If a number is out of range.
    pub fn from_shape(
        window: u64,
        generations: u32,
        words: u64,
        hashes: u32,
    ) -> Result<Self, ParamError> {
        check_range("window", window, 1, MAX_WINDOW)?;
        check_range("generations", generations.into(), 1, Self::MAX_GENERATIONS.into())?;
        let grid = Grid::new(generations + 2, words, hashes)?;
        Ok(Self { window, generations, grid, promised_rate: None })
    }

    /// Replaces the promised rate. Stored filters state theirs in this way.
    ///
    /// # Errors
    /// If the rate is not between 0 and 1.
    pub fn with_promised_rate(self, promised_rate: Option<f64>) -> Result<Self, ParamError> {
        promised_rate.map_or(Ok(()), check_rate)?;
        Ok(Self { promised_rate, ..self })
    }

    /// Returns the number of keys in the window.
    #[must_use]
    pub const fn window(&self) -> u64 {
        self.window
    }

    /// Returns the number of generations that the window is cut into.
    #[must_use]
    pub const fn generations(&self) -> u32 {
        self.generations
    }

    /// Returns the number of keys in a generation.
    #[must_use]
    pub const fn generation_items(&self) -> u64 {
        self.window.div_ceil(self.generations as u64)
    }

    /// Returns the number of hashes, which is the number of rows per key.
    #[must_use]
    pub const fn num_hashes(&self) -> u32 {
        self.grid.num_hashes()
    }

    /// Returns the false-positive rate promised at every moment, a fraction, if any.
    #[must_use]
    pub const fn promised_rate(&self) -> Option<f64> {
        self.promised_rate
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

    /// Returns the number of bits per key of the window.
    #[must_use]
    pub fn bits_per_item(&self) -> f64 {
        self.grid.num_words() as f64 * 64.0 / self.window as f64
    }

    /// Returns the number of inserts after which a key is gone at the latest, unless it is a false positive.
    #[must_use]
    pub fn longest_stay(&self) -> u64 {
        longest_stay(self.window, self.generations) - 1
    }

    /// Predicts the mean false-positive rate after this number of inserts of distinct keys.
    #[must_use]
    pub fn rate_after(&self, inserts: u64) -> f64 {
        let items = self.generation_items();
        let full = (inserts / items).min(self.generations.into());
        self.grid.rate_at((0..full).map(|_| items).chain([inserts % items]))
    }

    /// Returns the highest mean rate of all moments, which is that before the oldest generation is forgotten.
    #[must_use]
    pub fn worst_rate(&self) -> f64 {
        self.rate_after(self.longest_stay())
    }
}
