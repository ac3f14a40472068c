//! The martingale estimator, which is updated by every insert.

/// The sum, over all changes of the state, of the inverse probability that a new key would have made one.
///
/// The state determines the probability with which a new key changes it. A known key never changes it. Therefore the
/// sum grows by one per new key on average. It depends on the order of inserts, and omits keys that came by a merge. It
/// starts when a sketch becomes dense, from the nearly exact estimate of the sparse form.
///
/// # References
/// Edith Cohen, "All-Distances Sketches, Revisited: HIP Estimators for Massive Graphs Analysis", IEEE
/// TKDE 27(9), 2015; Daniel Ting, "Streamed approximate counting of distinct elements", KDD 2014.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Martingale {
    estimate: f64,
    /// Number of the 2^64 hashes that would not change the state. It is a whole number, so that nothing is rounded,
    /// however many changes there are. It is independent of the precision.
    settled: u64,
}

/// 2^64.
const HASHES: f64 = 18_446_744_073_709_551_616.0;

impl Martingale {
    /// Continues from an estimate, with these registers.
    pub(crate) fn resume(estimate: f64, registers: &[u8]) -> Self {
        let precision = registers.len().ilog2();
        let settled = registers.iter().map(|&rank| settled_hashes(precision, rank));
        Self { estimate, settled: settled.fold(0, u64::wrapping_add) }
    }

    pub(crate) const fn estimate(&self) -> f64 {
        self.estimate
    }

    /// Records that a register is about to change from one rank to a greater one.
    #[inline]
    pub(crate) fn observe(&mut self, precision: u32, from: u8, to: u8) {
        // `settled` never reaches 2^64, because the present change was possible.
        self.estimate += HASHES / (HASHES - self.settled as f64);
        self.settled = self.settled.wrapping_add(
            settled_hashes(precision, to).wrapping_sub(settled_hashes(precision, from)),
        );
    }
}

/// Returns how many hashes of a register have at most this rank.
#[inline]
fn settled_hashes(precision: u32, rank: u8) -> u64 {
    let all = 1u64 << (64 - precision);
    all - (all >> rank)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settled_hashes_are_those_of_a_rank_at_most() {
        assert_eq!(settled_hashes(14, 0), 0);
        assert_eq!(settled_hashes(14, 1), 1 << 49);
        assert_eq!(settled_hashes(14, 50), (1 << 50) - 1);
        assert_eq!(settled_hashes(14, 51), 1 << 50);
    }

    #[test]
    fn the_first_key_counts_as_one_and_two_registers_as_their_share() {
        let mut martingale = Martingale::resume(0.0, &[0; 16]);
        martingale.observe(4, 0, 61);
        assert_eq!(martingale.estimate(), 1.0);
        martingale.observe(4, 0, 1);
        assert_eq!(martingale.estimate(), 1.0 + 16.0 / 15.0);
        martingale.observe(4, 1, 2);
        assert!((martingale.estimate() - (1.0 + 16.0 / 15.0 + 16.0 / 14.5)).abs() < 1e-12);
    }
}
