use libm::{exp, exp2, pow, sqrt};
use pds_params::HllParams;

use super::likelihood::Likelihood;

/// The exponent with the least variance. The constants below belong to it.
const TAU: f64 = 0.819_491_185_037_638_7;

/// The contribution of a register with greatest rank u, relative to 2^(-τ u). The index is the state of the two ranks
/// below u: neither occurred, only u - 2, only u - 1, or both.
const ETA: [f64; 4] = [
    4.663_135_749_698_441,
    2.137_850_286_535_751,
    2.781_144_794_145_462_6,
    0.982_408_243_922_076_4,
];

/// The variance of the estimate relative to n², times the number of registers.
const VARIANCE: f64 = 0.611_893_149_697_842_6;

/// Estimates the number of distinct keys of an UltraLogLog sketch by the fast generalised remaining area.
///
/// `counts[r]` is the number of registers of value `r`. A register contributes 2^(-τ u) times a constant for each state
/// of its two lower ranks. If the range of hashes cuts off these ranks or the greatest one, it contributes the mean
/// over the ranks that may have been cut off. The error is about 0.782 / sqrt(m).
///
/// # References
/// Otmar Ertl, "UltraLogLog: A Practical and More Space-Efficient Alternative to HyperLogLog for
/// Approximate Distinct Counting", VLDB 2024, section 4 and algorithm 6; arXiv:2308.16862.
#[must_use]
pub fn ultra_fgra(counts: &[u32; 256], params: HllParams) -> f64 {
    let (precision, registers) = (params.precision(), params.num_registers() as f64);
    let sum = low_ranks(counts, registers)
        + middle_ranks(counts, precision)
        + top_rank(counts, precision);
    let bias = 1.0 + (1.0 + TAU) / 2.0 * VARIANCE / registers;
    registers * pow(sum / registers, -1.0 / TAU) / bias
}

/// Returns the contribution of the registers whose greatest rank and both ranks below it lie within the range.
fn middle_ranks(counts: &[u32; 256], precision: u32) -> f64 {
    let ranks = 3..=64 - precision;
    ranks.map(|rank| exp2(-TAU * f64::from(rank)) * known_contribution(counts, rank)).sum()
}

fn known_contribution(counts: &[u32; 256], rank: u32) -> f64 {
    let states = counts[4 * rank as usize..].iter().zip(ETA);
    states.map(|(&count, eta)| f64::from(count) * eta).sum()
}

/// Returns the mean of [`ETA`] if rank u - 1 has not occurred with probability `first`, and u - 2 with `second`.
fn mean_eta(first: f64, second: f64) -> f64 {
    let below = |eta: [f64; 2]| second * eta[0] + (1.0 - second) * eta[1];
    first * below([ETA[0], ETA[1]]) + (1.0 - first) * below([ETA[2], ETA[3]])
}

/// Returns the contribution of registers with a greatest rank of 0, 1 or 2. Their lower ranks would be 0 or negative.
///
/// Without the end of the range, the probability that rank v has not occurred is z^(2^-v), z = e^(-n/m), for every
/// integer v. z is estimated by maximum likelihood from the number of these registers.
fn low_ranks(counts: &[u32; 256], registers: f64) -> f64 {
    let [c0, c4, c8, c10] = [0, 4, 8, 10].map(|value: usize| f64::from(counts[value]));
    if c0 + c4 + c8 + c10 == 0.0 {
        return 0.0;
    }
    let alpha = registers + 3.0 * (c0 + c4 + c8 + c10);
    let beta = registers - c0 - c4;
    let gamma = 4.0 * c0 + 2.0 * c4 + 3.0 * c8 + c10;
    let fourth_root = (sqrt(beta * beta + 4.0 * alpha * gamma) - beta) / (2.0 * alpha);
    let z = pow(fourth_root, 4.0);
    let rank_1 = exp2(-TAU) * mean_eta(z, z * z);
    let rank_2 = |first: f64| exp2(-2.0 * TAU) * mean_eta(first, z);
    let empty = if c0 > 0.0 { c0 * empty_register(z) } else { 0.0 };
    empty + c4 * rank_1 + c8 * rank_2(1.0) + c10 * rank_2(0.0)
}

/// Returns the contribution of an empty register if ranks continued below 1. Infinite for z = 1.
fn empty_register(z: f64) -> f64 {
    if z >= 1.0 {
        return f64::INFINITY;
    }
    let mut sum = 0.0;
    // For u = 0, -1, -2, ...: z^(2^-u), the probability that no rank above u has occurred (given that
    // no rank from 1 on has), and 2^(-τ u).
    let (mut unseen, mut above, mut weight) = (z, 1.0, 1.0);
    loop {
        let [first, second] = [unseen * unseen, unseen * unseen * unseen * unseen];
        let before = sum;
        sum += above * (1.0 - unseen) * weight * mean_eta(first, second);
        if sum == before && unseen < 0.5 {
            return sum;
        }
        above *= unseen;
        unseen = first;
        weight *= exp2(TAU);
    }
}

/// Returns the contribution of registers of the last rank. It stands for all ranks that longer hashes would have.
fn top_rank(counts: &[u32; 256], precision: u32) -> f64 {
    let top = 65 - precision;
    let states = &counts[4 * top as usize..][..4];
    if states.iter().all(|&count| count == 0) {
        return 0.0;
    }
    // The rate of the last rank. Each following rank would halve it.
    let rate = ultra_likelihood(counts, precision).rate() * exp2(-f64::from(top));
    if rate == f64::INFINITY {
        // Every register is full: ranks would continue without end, and their contribution tends to 0.
        return 0.0;
    }
    let states = (0..).zip(states);
    let sum: f64 = states.map(|(state, &count)| f64::from(count) * mean_beyond(rate, state)).sum();
    exp2(-TAU * f64::from(top)) * sum
}

/// Returns the mean contribution of a register of the last rank in the given state, relative to 2^(-τ top).
fn mean_beyond(rate: f64, state: usize) -> f64 {
    let mut sum = 0.0;
    let mut total = 0.0;
    let (mut y, mut weight) = (rate, 1.0);
    for beyond in 0..64 {
        // This rank has occurred, and none above it.
        let probability = exp(-y) * -libm::expm1(-y);
        let second_unseen = if state & 2 == 0 { 1.0 } else { 0.0 };
        let eta = match beyond {
            0 => ETA[state],
            1 => mean_eta(exp(-2.0 * y), second_unseen),
            _ => mean_eta(exp(-2.0 * y), exp(-4.0 * y)),
        };
        sum += probability * weight * eta;
        total += probability;
        y /= 2.0;
        weight *= exp2(-TAU);
    }
    sum / total
}

/// Estimates the number of distinct keys of an UltraLogLog sketch by maximum likelihood.
///
/// `counts[r]` is the number of registers of value `r`. The error is about 0.761 / sqrt(m), the least possible. It
/// takes several times as long as [`ultra_fgra`].
///
/// # References
/// Otmar Ertl, "UltraLogLog", VLDB 2024, section 3; arXiv:2308.16862.
#[must_use]
pub fn ultra_maximum_likelihood(counts: &[u32; 256], params: HllParams) -> f64 {
    /// 3/2 ln 2 ζ(3, 5/4) / ζ(2, 5/4)².
    const BIAS: f64 = 0.481_473_765_277_200_66;
    ultra_likelihood(counts, params.precision()).estimate(BIAS)
}

/// Returns the likelihood of UltraLogLog registers: `counts[r]` of them have value `r`.
pub(crate) fn ultra_likelihood(counts: &[u32; 256], precision: u32) -> Likelihood {
    let mut likelihood = Likelihood::new(precision);
    for (value, &count) in (0u32..).zip(counts).filter(|&(_, &count)| count > 0) {
        let rank = value / 4;
        likelihood.observe_greatest(rank, count);
        for (below, bit) in [(1, 2), (2, 1)] {
            if rank > below {
                likelihood.observe_below(rank - below, count, value & bit != 0);
            }
        }
    }
    likelihood
}
