//! How alike two sets are.

use core::ops::RangeInclusive;

use pds_core::error::ParamError;
use pds_params::Estimate;
use pds_params::minhash::binomial_interval;

use crate::set::Side;

/// How alike two sets are: the share of their union that is in both, the Jaccard index.
///
/// # Examples
/// ```
/// use theta::{ThetaSet, ThetaSketch};
///
/// let (mut left, mut right) = (ThetaSketch::new(1_024)?, ThetaSketch::new(1_024)?);
/// left.extend(0..60_000_i64);
/// right.extend(40_000..100_000_i64);
/// assert!(left.compare(&right)?.jaccard_interval(0.999)?.contains(&0.2));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    common: u32,
    union: u32,
    theta: f64,
}

impl Comparison {
    pub(crate) const fn new(theta: f64) -> Self {
        Self { common: 0, union: 0, theta }
    }

    // Two sketches have fewer than 2^28 hashes. Hashes of bytes may be more, up to what memory holds.
    pub(crate) fn count(&mut self, side: Side) {
        self.common = self.common.saturating_add(u32::from(side == Side::Both));
        self.union = self.union.saturating_add(1);
    }

    /// Estimates the Jaccard index. 0 if one of the sets is empty, or both, as all structures of this family have it.
    ///
    /// The standard error is 0 if both sketches are exact. Otherwise it is above 0, also if the sketches have all hashes in common
    /// or none. It is infinite if no hash is below theta, which tells nothing.
    #[must_use]
    pub fn jaccard(&self) -> Estimate {
        let (common, union) = (f64::from(self.common), f64::from(self.union));
        if self.union == 0 {
            let standard_error = if self.theta < 1.0 { f64::INFINITY } else { 0.0 };
            return Estimate { value: 0.0, standard_error };
        }
        // If all or none are common, the truth need not be 1 or 0. Half a hash more or less keeps the error above 0.
        let near = (common + 0.5) / (union + 1.0);
        let standard_error = libm::sqrt(near * (1.0 - near) * (1.0 - self.theta).max(0.0) / union);
        Estimate { value: common / union, standard_error }
    }

    /// Returns an interval that holds the Jaccard index with at least this probability.
    ///
    /// It is the interval of Clopper and Pearson for a share. The hashes are drawn from the union without replacement, so it is
    /// wider than needed where theta is close to 1. It is one point if both sketches are exact, and 0 to 1 if no hash is below theta.
    ///
    /// # Errors
    /// If `confidence` is not above 0 and below 1.
    pub fn jaccard_interval(&self, confidence: f64) -> Result<RangeInclusive<f64>, ParamError> {
        let interval = binomial_interval(self.common, self.union, confidence)?;
        let value = self.jaccard().value;
        Ok(if self.theta < 1.0 { interval } else { value..=value })
    }

    /// Returns the number of hashes below theta that both sketches have.
    #[must_use]
    pub const fn common(&self) -> u32 {
        self.common
    }

    /// Returns the number of hashes below theta that one of the sketches has, or both.
    #[must_use]
    pub const fn union(&self) -> u32 {
        self.union
    }
}
