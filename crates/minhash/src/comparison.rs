//! Estimates of how alike two sets are, from their sketches or signatures.

use core::ops::RangeInclusive;

use pds_core::error::ParamError;
use pds_params::Estimate;
use pds_params::minhash::binomial_interval;

/// Estimates of how alike two sets are, with intervals, from two sketches or two signatures.
///
/// # Examples
/// ```
/// use minhash::MinHash;
///
/// let (mut left, mut right) = (MinHash::new(256)?, MinHash::new(256)?);
/// left.extend(0..1_000_u32);
/// right.extend(200..5_000_u32);
///
/// // 800 of 5,000 keys are in both.
/// let comparison = left.compare(&right)?;
/// assert!(comparison.jaccard_interval(0.999)?.contains(&0.16));
/// // 80 % of the left keys are in the right set.
/// assert!(comparison.containment_interval(1_000, 4_800, 0.999)?.contains(&0.8));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Number of values that agree.
    pub(crate) matches: u32,
    pub(crate) num_values: u32,
    /// Probability that values of different keys agree.
    pub(crate) chance: f64,
    /// The standard error of the share of equal minima, in units of that of independent ones.
    pub(crate) units: f64,
    /// Whether one of the sets is empty.
    pub(crate) with_empty: bool,
}

impl Comparison {
    /// Returns the number of values that agree.
    #[must_use]
    pub const fn matches(&self) -> u32 {
        self.matches
    }

    /// Estimates the Jaccard index: the share of the union that is in both sets. 0 if one of them is empty, or both.
    ///
    /// The estimate is unbiased. For signatures of few bits it may therefore be below 0, by about its standard error. The
    /// standard error is above 0 unless one of the sets is empty.
    #[must_use]
    pub fn jaccard(&self) -> Estimate {
        if self.with_empty {
            return Estimate { value: 0.0, standard_error: 0.0 };
        }
        let (matches, values) = (f64::from(self.matches), f64::from(self.num_values));
        let value = self.without_chance(matches / values);
        // If all values or none agree, the truth need not be 0 or 1. Half a value more or less keeps the error above 0.
        let near = self.without_chance((matches + 0.5) / (values + 1.0)).clamp(0.5 / values, 1.0);
        let by_keys = near * self.units * self.units;
        let by_chance = self.chance / (1.0 - self.chance);
        let standard_error = libm::sqrt((1.0 - near) * (by_keys + by_chance) / values);
        Estimate { value, standard_error }
    }

    /// Returns an interval that holds the Jaccard index with at least this probability.
    ///
    /// It is the interval of Clopper and Pearson for independent values. Sketches of small sets vary less, so their interval is
    /// wider than needed. Both ends are limited to 0 to 1, also where the estimate of a signature is below 0. 0 to 0 if one of the
    /// sets is empty.
    ///
    /// # Errors
    /// If `confidence` is not above 0 and below 1.
    pub fn jaccard_interval(&self, confidence: f64) -> Result<RangeInclusive<f64>, ParamError> {
        let shares = binomial_interval(self.matches, self.num_values, confidence)?;
        if self.with_empty {
            return Ok(0.0..=0.0);
        }
        let end = |share: f64| self.without_chance(share).clamp(0.0, 1.0);
        Ok(end(*shares.start())..=end(*shares.end()))
    }

    /// Estimates the share of the left set that is in the right one too, from the numbers of their keys. 0 if a set is empty.
    ///
    /// The estimate is limited to 0 and to what the sizes allow. So the sizes must be those of these sets: sizes that contradict
    /// the Jaccard index give one of the limits, and an error that says nothing. If the right set is much larger than the left one, the Jaccard index is
    /// small and its relative error great, and so is the error here.
    #[must_use]
    pub fn containment(&self, left_len: u64, right_len: u64) -> Estimate {
        let sizes = Sizes::new(left_len, right_len);
        let jaccard = self.jaccard();
        let value = sizes.containment(jaccard.value);
        let standard_error = (sizes.slope(jaccard.value) * jaccard.standard_error).min(1.0);
        Estimate { value, standard_error }
    }

    /// Returns an interval that holds the share of the left set that is in the right one, with at least this probability.
    ///
    /// This holds if the sizes are those of these sets. If they contradict the Jaccard index, the interval may be one point.
    ///
    /// # Errors
    /// If `confidence` is not above 0 and below 1.
    pub fn containment_interval(
        &self,
        left_len: u64,
        right_len: u64,
        confidence: f64,
    ) -> Result<RangeInclusive<f64>, ParamError> {
        let sizes = Sizes::new(left_len, right_len);
        let jaccard = self.jaccard_interval(confidence)?;
        Ok(sizes.containment(*jaccard.start())..=sizes.containment(*jaccard.end()))
    }

    fn without_chance(&self, share: f64) -> f64 {
        (share - self.chance) / (1.0 - self.chance)
    }
}

/// The numbers of keys of two sets.
struct Sizes {
    /// The keys of both together, per key of the left set.
    sum: f64,
    /// The greatest share of the left set that can be in the right one.
    most: f64,
}

impl Sizes {
    fn new(left: u64, right: u64) -> Self {
        if left == 0 || right == 0 {
            return Self { sum: 0.0, most: 0.0 };
        }
        let (left, right) = (left as f64, right as f64);
        Self { sum: (left + right) / left, most: (right / left).min(1.0) }
    }

    /// The number of common keys is J / (1 + J) times that of both sets together.
    // The estimate of a signature may be below 0, down to -1 with one bit per value, where the formula has a pole.
    fn containment(&self, jaccard: f64) -> f64 {
        let jaccard = jaccard.max(0.0);
        (self.sum * jaccard / (1.0 + jaccard)).clamp(0.0, self.most)
    }

    /// The derivative of `containment`.
    fn slope(&self, jaccard: f64) -> f64 {
        let jaccard = jaccard.max(0.0);
        self.sum / ((1.0 + jaccard) * (1.0 + jaccard))
    }
}
