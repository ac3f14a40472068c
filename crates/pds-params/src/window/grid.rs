//! Grids: rows of bits with one bit per column, packed into words.

use crate::bloom::{
    MAX_BITS, MAX_HASHES, cardinality, instance_rate_relative_spread, rate_from_fill,
};
use crate::bloom::{params::BloomParams, rate_exact, scheme_excess};
use crate::check::check_range;
use crate::{Estimate, ParamError};

/// The greatest number of words.
const MAX_WORDS: u64 = MAX_BITS / 64;

/// Rows of bits, with one bit per column. A word holds as many rows as fit, rounded down to a power of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    /// Number of columns, from 1 to 64.
    columns: u32,
    /// Number of words, from 1 to [`MAX_WORDS`].
    num_words: u64,
    /// Number of rows per key, from 1 to [`MAX_HASHES`].
    num_hashes: u32,
}

impl Grid {
    /// The greatest number of columns.
    pub const MAX_COLUMNS: u32 = 64;

    /// Computes a grid in which `full` columns of `items` keys each keep the mean rate `rate`: the fewest hashes with at most
    /// 1/15 more bits than necessary.
    ///
    /// # Errors
    /// If one column of such a grid would be a Bloom filter with wrong parameters.
    pub(super) fn least(
        columns: u32,
        full: u32,
        items: u64,
        rate: f64,
    ) -> Result<Self, ParamError> {
        // Around the optimum the size hardly depends on the number of hashes, but the time does: at 1 % and a slack of 10 %, 11
        // hashes save 6 % of the bits that 7 need.
        // All columns answer `false` with a probability of 1 - rate.
        let of_column = -libm::expm1(libm::log1p(-rate) / f64::from(full));
        let column = BloomParams::for_few_hashes(items, of_column)?;
        let num_words = column.num_bits().div_ceil(rows_per_word(columns));
        Self::new(columns, num_words, column.num_hashes())
    }

    /// Accepts numbers as given.
    ///
    /// # Errors
    /// If one is out of range.
    pub(super) fn new(columns: u32, num_words: u64, num_hashes: u32) -> Result<Self, ParamError> {
        debug_assert!((1..=Self::MAX_COLUMNS).contains(&columns));
        check_range("words", num_words, 1, MAX_WORDS)?;
        check_range("hashes", num_hashes.into(), 1, MAX_HASHES.into())?;
        Ok(Self { columns, num_words, num_hashes })
    }

    /// Returns the number of columns.
    #[must_use]
    pub const fn columns(&self) -> u32 {
        self.columns
    }

    /// Returns the number of words.
    #[must_use]
    pub const fn num_words(&self) -> u64 {
        self.num_words
    }

    /// Returns the number of rows per key.
    #[must_use]
    pub const fn num_hashes(&self) -> u32 {
        self.num_hashes
    }

    /// Returns the number of rows in a word.
    #[must_use]
    pub const fn rows_per_word(&self) -> u64 {
        rows_per_word(self.columns)
    }

    /// Returns the number of rows.
    #[must_use]
    pub const fn num_rows(&self) -> u64 {
        self.num_words * self.rows_per_word()
    }

    /// Predicts the mean rate of columns that hold these numbers of keys.
    #[must_use]
    pub fn rate_at(&self, items: impl IntoIterator<Item = u64>) -> f64 {
        let (rows, hashes) = (self.num_rows(), self.num_hashes);
        let column = |items| rate_exact(rows, items, hashes) + scheme_excess(rows, items, hashes);
        any_of(items.into_iter().map(column))
    }

    /// Returns the rate of columns with these numbers of set bits.
    #[must_use]
    pub fn rate_from_ones(&self, ones: impl IntoIterator<Item = u64>) -> f64 {
        let rows = self.num_rows() as f64;
        any_of(ones.into_iter().map(|ones| rate_from_fill(ones as f64 / rows, self.num_hashes)))
    }

    /// Estimates the number of keys in columns with these numbers of set bits. A key counts in each of its columns.
    #[must_use]
    pub fn items_from_ones(&self, ones: impl IntoIterator<Item = u64>) -> Estimate {
        let columns =
            ones.into_iter().map(|ones| cardinality(self.num_rows(), self.num_hashes, ones));
        let (value, variance) = columns.fold((0.0, 0.0), |(value, variance), column| {
            (value + column.value, variance + column.standard_error * column.standard_error)
        });
        Estimate { value, standard_error: libm::sqrt(variance) }
    }

    /// Returns the standard deviation of the rate over grids with `full` columns of `items` keys each, divided by their mean.
    #[must_use]
    pub fn relative_spread(&self, full: u32, items: u64) -> f64 {
        instance_rate_relative_spread(self.num_rows(), items, self.num_hashes)
            / libm::sqrt(f64::from(full))
    }
}

// Other numbers would need a division or a multiplication to find the row of a position. The sizes that they would save are
// not worth it: the search over numbers of generations finds powers of two.
const fn rows_per_word(columns: u32) -> u64 {
    1 << (64 / columns).ilog2()
}

/// Returns the probability that at least one of independent events happens.
fn any_of(probabilities: impl Iterator<Item = f64>) -> f64 {
    -libm::expm1(probabilities.map(|p| libm::log1p(-p.min(1.0))).sum())
}
