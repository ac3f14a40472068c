use core::f64::consts::LN_2;

#[cfg(feature = "alloc")]
use libm::log1p;
use libm::sqrt;
use pds_params::HllParams;

/// The relative bias of m registers for large numbers, times m.
///
/// The limit 1 / (2 ln 2) of the raw estimator's constant belongs to infinitely many registers. 1.079 is from
/// Flajolet et al., "HyperLogLog: the analysis of a near-optimal cardinality estimation algorithm", AofA
/// 2007, figure 3.
pub const FINITE_SIZE: f64 = 1.079;

/// Estimates the number of distinct keys by Ertl's improved raw estimator.
///
/// `counts[r]` is the number of registers of rank `r`, 0 to 65 - p. `finite_size` is [`FINITE_SIZE`] for an estimate
/// without the bias of about 1.1 / m, or 0 for the estimator as published and as in Redis. One formula serves all
/// sizes, without a bias table or a switch to linear counting. The result is infinite if all registers have the
/// greatest rank.
///
/// # References
/// Otmar Ertl, "New cardinality estimation algorithms for HyperLogLog sketches", arXiv:1702.01284, 2017,
/// section 4, algorithm 6.
#[must_use]
pub fn improved(counts: &[u32; 64], params: HllParams, finite_size: f64) -> f64 {
    improved_to(counts, 64 - params.precision() as usize, finite_size)
}

/// Estimates as [`improved`], for registers of ranks from 0 to `last + 1`, of any number.
///
/// The registers are all that `counts` counts.
#[must_use]
pub fn improved_to(counts: &[u32; 64], last: usize, finite_size: f64) -> f64 {
    let registers = f64::from(counts.iter().sum::<u32>());
    let share = |rank: usize| f64::from(counts[rank]) / registers;
    let top = tau(1.0 - share(last + 1));
    let harmonic = (1..=last).rev().fold(top, |z, rank| 0.5 * (z + share(rank)));
    let alpha = 0.5 / LN_2 / (1.0 + finite_size / registers);
    alpha * registers / (harmonic + sigma(share(0)))
}

/// Returns x + Σ x^(2^k) 2^(k-1), the contribution of the registers of rank 0.
fn sigma(mut x: f64) -> f64 {
    if x >= 1.0 {
        return f64::INFINITY;
    }
    let mut sum = x;
    let mut weight = 1.0;
    loop {
        x *= x;
        let before = sum;
        sum += x * weight;
        weight += weight;
        if sum == before {
            return sum;
        }
    }
}

/// Returns (1 - x - Σ (1 - x^(2^-k))² 2^-k) / 3, the contribution of the registers of the greatest rank.
fn tau(mut x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return 0.0;
    }
    let mut sum = 1.0 - x;
    let mut weight = 1.0;
    loop {
        x = sqrt(x);
        let before = sum;
        weight *= 0.5;
        sum -= (1.0 - x) * (1.0 - x) * weight;
        if sum == before {
            return sum / 3.0;
        }
    }
}

/// Estimates the number of distinct keys from the number of places that they occupy, out of `places`.
///
/// The sparse form uses it. It has many places, and the error comes from keys that share a place.
///
/// # References
/// Kyu-Young Whang, Brad T. Vander-Zanden and Howard M. Taylor, "A Linear-Time Probabilistic Counting
/// Algorithm for Database Applications", ACM TODS 15(2), 1990, section 2.
#[cfg(feature = "alloc")]
pub(crate) fn linear_counting(occupied: u64, places: u64) -> f64 {
    debug_assert!(occupied <= places);
    let (occupied, places) = (occupied as f64, places as f64);
    log1p(-occupied / places) / log1p(-1.0 / places)
}
