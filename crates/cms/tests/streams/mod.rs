//! Streams of skewed keys with their true counts.

use pds_testkit::keys;

/// Draws ranks below a number of items, each in proportion to a power of its rank, in constant time.
///
/// A. J. Walker, "An Efficient Method for Generating Discrete Random Variables with General
/// Distributions", ACM TOMS 3(3), 1977: each column holds one rank up to a threshold and another above.
pub(crate) struct Zipf {
    columns: Vec<(f64, usize)>,
}

impl Zipf {
    /// Rank r (from 0) is drawn in proportion to `(r + 1)^-exponent`; exponent 0 is uniform.
    pub(crate) fn new(items: usize, exponent: f64) -> Self {
        let weights: Vec<f64> = (1..=items).map(|rank| real(rank).powf(-exponent)).collect();
        let mean = weights.iter().sum::<f64>() / real(items);
        let mut columns: Vec<_> = weights.iter().map(|weight| weight / mean).zip(0..).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..items).partition(|&rank| columns[rank].0 < 1.0);
        while let (Some(&poor), Some(&rich)) = (small.last(), large.last()) {
            small.pop();
            columns[poor].1 = rich;
            columns[rich].0 -= 1.0 - columns[poor].0;
            if columns[rich].0 < 1.0 {
                large.pop();
                small.push(rich);
            }
        }
        // What is left differs from 1 by rounding only.
        small.iter().chain(&large).for_each(|&rank| columns[rank].0 = 1.0);
        Self { columns }
    }

    /// An endless stream of ranks.
    #[expect(clippy::cast_possible_truncation, reason = "halves of a product")]
    pub(crate) fn stream(&self, seed: u64) -> impl Iterator<Item = usize> + '_ {
        keys::random(seed).map(|random| {
            let product = u128::from(random) * self.columns.len() as u128;
            let (column, rest) = ((product >> 64) as usize, real((product as u64 >> 11) as usize));
            let (threshold, other) = self.columns[column];
            if rest / real(1 << 53) < threshold { column } else { other }
        })
    }
}

/// How often each rank below `items` comes in a stream.
pub(crate) fn counts(items: usize, stream: &[usize]) -> Vec<u64> {
    let mut counts = vec![0; items];
    stream.iter().for_each(|&rank| counts[rank] += 1);
    counts
}

/// The key of a rank in one of many trials: fresh keys are fresh hash functions.
pub(crate) fn key(trial: u64, rank: usize) -> u64 {
    trial << 40 | rank as u64
}

#[expect(clippy::cast_precision_loss, reason = "counts of a test are far below 2^53")]
pub(crate) fn real(count: usize) -> f64 {
    count as f64
}
