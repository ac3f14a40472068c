//! Timing of lookups in turn, so that any load on the machine slows all structures.

use core::hint::black_box;
use pds_testkit::stats::Median;
use std::time::Instant;

/// Rounds of a contest: the least number for a ratio.
pub(super) const ROUNDS: usize = 15;

/// Keys per round.
pub(super) const BLOCK: usize = 1 << 16;

/// A loop of lookups over a block of keys. Returns how many were answered `true`.
pub(super) type Lookups<'a, K> = &'a dyn Fn(&[K]) -> usize;

/// Returns the loop over single lookups, compiled for its structure.
pub(super) fn each<K>(contains: impl Fn(&K) -> bool) -> impl Fn(&[K]) -> usize {
    move |keys| keys.iter().filter(|key| contains(key)).count()
}

/// The times of several structures by round, in nanoseconds per key.
pub(super) struct Times<const N: usize>([Vec<f64>; N]);

impl<const N: usize> Times<N> {
    /// Returns the median time of a structure.
    pub(super) fn median(&self, index: usize) -> Median {
        Median::of(self.0[index].clone())
    }

    /// Returns the speed of `fast` in multiples of the speed of `slow`, by the median over the rounds.
    pub(super) fn ratio(&self, fast: usize, slow: usize) -> Median {
        let pairs = self.0[fast].iter().zip(&self.0[slow]);
        Median::of(pairs.map(|(fast, slow)| slow / fast).collect())
    }
}

/// Queries every structure for each block of `keys` in turn. The order is always the same, so that each finds the
/// caches as the others leave them. The first block does not count. Returns the times, and for each structure the share
/// of all keys that were answered `true`.
pub(super) fn contest<K, const N: usize>(
    keys: &[K],
    structures: [Lookups<'_, K>; N],
) -> (Times<N>, [f64; N]) {
    let mut times = [const { Vec::new() }; N];
    let mut found = [0; N];
    for (round, block) in keys.chunks_exact(BLOCK).enumerate() {
        for ((structure, times), found) in structures.iter().zip(&mut times).zip(&mut found) {
            let start = Instant::now();
            *found += black_box(structure(black_box(block)));
            if round > 0 {
                times.push(start.elapsed().as_secs_f64() * 1e9 / block.len() as f64);
            }
        }
    }
    let asked = keys.chunks_exact(BLOCK).len() * BLOCK;
    (Times(times), found.map(|found| found as f64 / asked as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_structure_is_asked_about_every_key() {
        let keys: Vec<u64> = (0..(ROUNDS + 1) * BLOCK).map(|key| key as u64).collect();
        let (all, half) = (each(|_: &u64| true), each(|key: &u64| key.is_multiple_of(2)));
        let (times, found) = contest(&keys, [&all, &half]);
        assert_eq!(found, [1.0, 0.5]);
        assert_eq!(times.0.map(|times| times.len()), [ROUNDS, ROUNDS]);
    }
}
