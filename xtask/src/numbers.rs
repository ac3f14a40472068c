//! Conversions between kinds of numbers, and sums over many.

/// A count as a real number; counts here stay below 2^53.
#[expect(clippy::cast_precision_loss, reason = "counts of a run stay below 2^53")]
pub(crate) const fn real(count: u64) -> f64 {
    count as f64
}

/// A real number without its fraction.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
pub(crate) const fn whole(number: f64) -> u64 {
    number as u64
}

/// The mean of some numbers, and the variance that they show.
pub(crate) fn mean_and_variance(numbers: &[f64]) -> (f64, f64) {
    let count = real(numbers.len() as u64);
    let mean = numbers.iter().sum::<f64>() / count;
    let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
    (mean, squares / (count - 1.0))
}

/// A number of things in memory.
pub(crate) fn index(number: u64) -> usize {
    usize::try_from(number).expect("as many as fit in memory")
}
