//! What a filter can tell of itself, from its count of set bits.

use core::hash::BuildHasher;

use pds_core::{Estimate, Incompatible};
use pds_params::BloomParams;
use pds_params::bloom::{self, SetBits};

use super::{BloomFilter, Health};

/// The rate from which a filter counts as saturated.
pub(crate) const SATURATION_RATE: f64 = 0.5;

impl<S> BloomFilter<S> {
    /// Estimates the number of distinct items, with its standard error.
    ///
    /// Both are infinite when every bit is set: the bits then tell nothing of the number.
    ///
    /// # Complexity
    /// O(m) for m bits.
    ///
    /// # Examples
    /// ```
    /// use bloom_core::BloomFilter;
    ///
    /// let mut filter = BloomFilter::new(10_000, 0.01)?;
    /// filter.extend(0..5_000u32);
    /// let items = filter.approx_len();
    /// assert!((items.value - 5_000.0).abs() < 5.0 * items.standard_error);
    /// assert!(items.standard_error < 50.0);
    /// # Ok::<(), pds_core::BuildError>(())
    /// ```
    #[must_use]
    pub fn approx_len(&self) -> Estimate {
        approx_len(&self.params(), self.count_ones())
    }

    /// Returns the fraction of set bits, in O(m).
    #[must_use]
    pub fn fill_ratio(&self) -> f64 {
        fill_ratio(&self.params(), self.count_ones())
    }

    /// Returns the fraction of absent keys that are answered `true` now, in [0, 1].
    ///
    /// It is the fill to the power of the number of hashes: 0 for an empty filter, 1 when every bit is
    /// set.
    ///
    /// # Complexity
    /// O(m) for m bits.
    #[must_use]
    pub fn false_positive_rate(&self) -> f64 {
        rate_from_ones(&self.params(), self.count_ones())
    }

    /// Returns whether at least half of all absent keys are answered `true` now.
    ///
    /// Such a filter is wrong about an absent key at least as often as right. For most filters this
    /// comes long before every bit is set: at 7 hashes, with 91 % of the bits set.
    ///
    /// # Complexity
    /// O(m) for m bits.
    #[must_use]
    pub fn is_saturated(&self) -> bool {
        self.false_positive_rate() >= SATURATION_RATE
    }

    /// Reports the items against the expected ones and the present rate against the promised one.
    ///
    /// # Complexity
    /// O(m) for m bits.
    #[must_use]
    pub fn health(&self) -> Health {
        Health::from_ones(&self.params(), self.count_ones())
    }
}

impl<S: BuildHasher> BloomFilter<S> {
    /// Estimates the number of distinct items that are in one of the filters or both.
    ///
    /// # Errors
    /// [`Incompatible`] when bits, hashes or hashers differ.
    ///
    /// # Complexity
    /// O(m) for m bits, without allocation.
    pub fn approx_union_len(&self, other: &Self) -> Result<Estimate, Incompatible> {
        self.check_compatible(other)?;
        Ok(approx_len(&self.params(), self.bits().count_union_ones(other.bits())?))
    }

    /// Estimates the number of distinct items that both filters have in common.
    ///
    /// The standard error is that of the difference of large numbers: it hardly falls with the result.
    ///
    /// # Errors
    /// [`Incompatible`] when bits, hashes or hashers differ.
    ///
    /// # Complexity
    /// O(m) for m bits, without allocation.
    ///
    /// # Examples
    /// ```
    /// use bloom_core::BloomFilter;
    ///
    /// let (mut left, mut right) = (BloomFilter::new(9_000, 0.001)?, BloomFilter::new(9_000, 0.001)?);
    /// left.extend(0..6_000u32);
    /// right.extend(4_000..9_000u32);
    /// let common = left.approx_intersection_len(&right)?;
    /// assert!((common.value - 2_000.0).abs() < 5.0 * common.standard_error);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn approx_intersection_len(&self, other: &Self) -> Result<Estimate, Incompatible> {
        self.check_compatible(other)?;
        let union = self.bits().count_union_ones(other.bits())?;
        let ones = SetBits { left: self.count_ones(), right: other.count_ones(), union };
        Ok(approx_intersection_len(&self.params(), ones))
    }
}

pub(crate) fn approx_len(params: &BloomParams, ones: u64) -> Estimate {
    bloom::cardinality(params.num_bits(), params.num_hashes(), ones)
}

pub(crate) fn approx_intersection_len(params: &BloomParams, ones: SetBits) -> Estimate {
    bloom::intersection_cardinality(params.num_bits(), params.num_hashes(), ones)
}

#[expect(clippy::cast_precision_loss, reason = "a ratio needs no more than the 53 bits of both")]
pub(crate) fn fill_ratio(params: &BloomParams, ones: u64) -> f64 {
    ones as f64 / params.num_bits() as f64
}

pub(crate) fn rate_from_ones(params: &BloomParams, ones: u64) -> f64 {
    bloom::rate_from_fill(fill_ratio(params, ones), params.num_hashes())
}
