//! Skewed streams: a few keys are frequent, most are rare.

use crate::keys;

/// A generator of ranks below a number of items, each with a probability proportional to a power of its rank.
///
/// It takes constant time per rank. Each column contains one rank up to a threshold and another above (A. J. Walker,
/// "An Efficient Method for Generating Discrete Random Variables with General Distributions", ACM TOMS 3(3), 1977).
#[derive(Clone, Debug)]
pub struct Zipf {
    columns: Vec<(f64, usize)>,
}

impl Zipf {
    /// Creates a generator of ranks r, from 0, with probability proportional to `(r + 1)^-exponent`. Exponent 0 is
    /// uniform.
    #[must_use]
    pub fn new(items: usize, exponent: f64) -> Self {
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
        // The rest differs from 1 only by rounding.
        small.iter().chain(&large).for_each(|&rank| columns[rank].0 = 1.0);
        Self { columns }
    }

    /// Returns an endless stream of ranks, the same for the same seed.
    pub fn stream(&self, seed: u64) -> impl Iterator<Item = usize> + Clone + '_ {
        keys::random(seed).map(|random| self.rank(random))
    }

    #[expect(clippy::cast_possible_truncation, reason = "halves of a product")]
    fn rank(&self, random: u64) -> usize {
        let product = u128::from(random) * self.columns.len() as u128;
        let (column, rest) = ((product >> 64) as usize, product as u64 >> 11);
        let (threshold, other) = self.columns[column];
        if rest as f64 / (1u64 << 53) as f64 >= threshold { other } else { column }
    }
}

/// Counts how often each rank below `items` occurs in a stream.
#[must_use]
pub fn counts(items: usize, stream: &[usize]) -> Vec<u64> {
    let mut counts = vec![0; items];
    stream.iter().for_each(|&rank| counts[rank] += 1);
    counts
}

fn real(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_come_in_proportion_to_their_powers() {
        const EVENTS: usize = 2_000_000;
        for exponent in [0.0, 1.0, 1.5] {
            let zipf = Zipf::new(50, exponent);
            let stream: Vec<_> = zipf.stream(3).take(EVENTS).collect();
            let sum: f64 = (1..=50).map(|rank| real(rank).powf(-exponent)).sum();
            for (rank, count) in counts(50, &stream).into_iter().enumerate() {
                let expected = real(EVENTS) * real(rank + 1).powf(-exponent) / sum;
                let z = (count as f64 - expected) / expected.sqrt();
                assert!(z.abs() < 5.0, "exponent {exponent}, rank {rank}: {count}, not {expected}");
            }
        }
    }
}
