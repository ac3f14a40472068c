//! Arithmetic shared by the estimators.

use pds_params::CountMinParams;
use pds_params::cms::floor_product;

/// The middle of an unordered list, or the mean of the two in the middle.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2])
}

#[expect(clippy::cast_precision_loss, reason = "an estimate has fewer digits than that")]
pub(crate) const fn real(count: u64) -> f64 {
    count as f64
}

/// Returns epsilon N, which an estimate exceeds the truth by with probability 1 - delta at most.
///
/// Nothing is known of it where the total is saturated: `u64::MAX` then, so that lower bounds are 0.
#[must_use]
pub fn error_of(params: &CountMinParams, total: u64) -> u64 {
    if total == u64::MAX { u64::MAX } else { floor_product(params.epsilon(), total) }
}
