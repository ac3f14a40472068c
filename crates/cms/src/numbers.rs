//! Arithmetic shared by the estimators.

use pds_params::CountMinParams;
use pds_params::cms::floor_product;

/// Returns the median of an unordered list. For an even length it is the mean of the two middle values.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2])
}

#[expect(clippy::cast_precision_loss, reason = "an estimate has fewer digits than that")]
pub(crate) const fn real(count: u64) -> f64 {
    count as f64
}

/// Returns epsilon N: an estimate exceeds the truth by more than that with probability at most delta.
///
/// A saturated total gives no bound. The result is `u64::MAX` then, so that lower bounds are 0.
#[must_use]
pub fn error_of(params: &CountMinParams, total: u64) -> u64 {
    if total == u64::MAX { u64::MAX } else { floor_product(params.epsilon(), total) }
}
