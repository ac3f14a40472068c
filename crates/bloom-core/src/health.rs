//! Health reports: whether a filter still keeps its promise.

use core::fmt;

use pds_params::{BloomParams, Estimate, bloom};

/// Number of standard deviations by which the rate of a healthy filter may exceed its promise.
const TOLERATED_DEVIATIONS: f64 = 3.0;
/// The critical rate, in multiples of the limit.
const CRITICAL_FACTOR: f64 = 10.0;

/// The current state of a filter compared with its design.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Health {
    /// The verdict.
    pub status: HealthStatus,
    /// The estimated number of distinct items.
    pub items: Estimate,
    /// The number of distinct items that the filter was designed for. `None` if it was sized by hand.
    pub expected_items: Option<u64>,
    /// The fraction of absent keys that are answered `true` now.
    pub false_positive_rate: f64,
    /// The rate promised at the expected items. `None` if the filter was sized by hand.
    pub promised_rate: Option<f64>,
}

/// The verdict of a [`Health`] report.
///
/// The limit is the promised rate plus three standard deviations of the rate over filters that hold exactly the
/// expected items. At 1 % that is 3.8 % above the promise for 10,000 items, and 0.4 % for a million. Without a promise
/// it is the rate at which half of the bits are set. Beyond that, more bits would help more than more hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HealthStatus {
    /// The current rate is within the limit.
    Ok,
    /// The current rate is above the limit: the filter holds more items than it was built for.
    Warning,
    /// The current rate is above ten times the limit, or nearer to 1 than to the limit. Build a larger filter.
    Critical,
}

impl Health {
    pub(crate) fn from_ones(params: &BloomParams, ones: u64) -> Self {
        let (items, rate) = (params.cardinality(ones), rate_from_ones(params, ones));
        let design = (params.expected_items(), params.promised_rate());
        Self::judge(items, rate, design, limit(params))
    }

    /// Classifies a filter whose highest healthy rate is `limit`. The other filters of the family call it.
    #[doc(hidden)]
    #[must_use]
    pub fn judge(
        items: Estimate,
        false_positive_rate: f64,
        (expected_items, promised_rate): (Option<u64>, Option<f64>),
        limit: f64,
    ) -> Self {
        let status = HealthStatus::judge(false_positive_rate, limit);
        Self { status, items, expected_items, false_positive_rate, promised_rate }
    }
}

impl HealthStatus {
    fn judge(rate: f64, limit: f64) -> Self {
        if rate <= limit {
            Self::Ok
        } else if rate <= (CRITICAL_FACTOR * limit).min(f64::midpoint(limit, 1.0)) {
            Self::Warning
        } else {
            Self::Critical
        }
    }
}

/// Returns the rate of a filter with this number of set bits.
#[expect(clippy::cast_precision_loss, reason = "a ratio needs no more than the 53 bits of both")]
pub(crate) fn rate_from_ones(params: &BloomParams, ones: u64) -> f64 {
    bloom::rate_from_fill(ones as f64 / params.num_bits() as f64, params.num_hashes())
}

/// Returns the highest rate of a healthy filter.
fn limit(params: &BloomParams) -> f64 {
    let (num_bits, num_hashes) = (params.num_bits(), params.num_hashes());
    let (Some(items), Some(promised)) = (params.expected_items(), params.promised_rate()) else {
        return bloom::rate_from_fill(0.5, num_hashes);
    };
    let spread = bloom::instance_rate_relative_spread(num_bits, items, num_hashes);
    promised * (1.0 + TOLERATED_DEVIATIONS * spread)
}

impl fmt::Display for HealthStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Critical => "critical",
        })
    }
}

impl fmt::Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:.0} items", self.status, self.items)?;
        if let Some(expected) = self.expected_items {
            write!(f, " of {expected}")?;
        }
        write!(f, ", false-positive rate {:.3e}", self.false_positive_rate)?;
        if let Some(promised) = self.promised_rate {
            write!(f, " (promised {promised:.3e})")?;
        }
        Ok(())
    }
}
