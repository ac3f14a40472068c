//! Keys of the ranks of skewed streams.

/// Returns the key of a rank in one of many trials. Fresh keys replace fresh hash functions.
pub(crate) fn key(trial: u64, rank: usize) -> u64 {
    trial << 40 | rank as u64
}

#[expect(clippy::cast_precision_loss, reason = "counts of a test are far below 2^53")]
pub(crate) fn real(count: usize) -> f64 {
    count as f64
}
