//! What more than one estimator reckons with.

/// The middle of an unordered list, or the mean of the two in the middle.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2])
}

#[expect(clippy::cast_precision_loss, reason = "an estimate has fewer digits than that")]
pub(crate) const fn real(count: u64) -> f64 {
    count as f64
}
