//! Two sketches together: how many keys are in one, in the other, in both.

use libm::{exp, expm1, ldexp, log, sqrt};
use pds_core::Estimate;

/// What two sets have in common and what they have not, in distinct keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overlap {
    /// Keys of the left set that are not in the right one.
    pub only_left: Estimate,
    /// Keys of the right set that are not in the left one.
    pub only_right: Estimate,
    /// Keys that are in both.
    pub both: Estimate,
}

impl Overlap {
    /// Returns the estimated number of keys in one set or both.
    #[must_use]
    pub fn union(&self) -> f64 {
        self.only_left.value + self.only_right.value + self.both.value
    }

    /// Returns the estimated Jaccard index: the share of the union that is in both sets, 0 for two empty
    /// ones.
    #[must_use]
    pub fn jaccard(&self) -> f64 {
        if self.both.value == 0.0 {
            return 0.0;
        }
        // A share of what is infinite, too.
        1.0 / (1.0 + (self.only_left.value + self.only_right.value) / self.both.value)
    }

    /// What is known of two sets whose registers are all full, and so equal.
    pub(crate) fn of_full() -> Self {
        let part = |value| Estimate { value, standard_error: f64::INFINITY };
        Self { only_left: part(0.0), only_right: part(0.0), both: part(f64::INFINITY) }
    }
}

/// How many registers have each pair of ranks: left, then right.
pub(crate) struct JointCounts {
    precision: u32,
    counts: [[u32; 64]; 64],
}

impl JointCounts {
    pub(crate) const fn new(precision: u32) -> Self {
        Self { precision, counts: [[0; 64]; 64] }
    }

    pub(crate) fn add(&mut self, left: u8, right: u8, registers: u32) {
        self.counts[usize::from(left)][usize::from(right)] += registers;
    }

    fn cells(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        self.counts.iter().enumerate().flat_map(|(left, row)| {
            let taken = row.iter().enumerate().filter(|&(_, &count)| count > 0);
            taken.map(move |(right, &count)| (left, right, f64::from(count)))
        })
    }
}

/// Three numbers, for the keys of the left set only, of the right one only, and of both.
type Triple = [f64; 3];

/// Estimates the three parts of two sets by the maximum of their joint likelihood.
///
/// The ranks of a register in both sketches are the greatest of three independent Poisson processes, one
/// for each part. Inclusion and exclusion throws away what equal ranks tell; where the overlap is small,
/// its error is several times as large. `start` is where to begin, in keys.
///
/// # References
/// Otmar Ertl, "New cardinality estimation algorithms for HyperLogLog sketches", arXiv:1702.01284, 2017,
/// section 7.
pub(crate) fn maximum_joint_likelihood(counts: &JointCounts, start: Triple) -> Overlap {
    let registers = ldexp(1.0, counts.precision as i32);
    // A part of no keys has a logarithm all the same: far below one key.
    let mut rates = start.map(|keys| keys.max(1e-3) / registers);
    let mut here = Step::new(counts, rates);
    let mut damping = 1e-3;
    for _ in 0..100 {
        let Some(change) = here.towards_maximum(damping) else { break };
        let next = core::array::from_fn(|i| rates[i] * exp(change[i].clamp(-3.0, 3.0)));
        let there = Step::new(counts, next);
        let gain = there.log_likelihood - here.log_likelihood;
        if gain > 0.0 {
            (rates, here) = (next, there);
            damping /= 10.0;
            if gain < 1e-7 {
                break;
            }
        } else {
            damping *= 10.0;
            if damping > 1e9 {
                break;
            }
        }
    }
    let variances = here.variances();
    let part = |i: usize| {
        let value = rates[i] * registers;
        // The variance of the Poisson number of keys is no error.
        let variance = variances.map_or(f64::INFINITY, |v| value * value * v[i] - value);
        Estimate { value, standard_error: sqrt(variance.max(0.0)) }
    };
    Overlap { only_left: part(0), only_right: part(1), both: part(2) }
}

/// The logarithm of the likelihood at some rates, with its slope and information.
struct Step {
    log_likelihood: f64,
    /// By the logarithms of the rates.
    slope: Triple,
    /// The sum of the outer products of the registers' slopes.
    information: [Triple; 3],
}

impl Step {
    fn new(counts: &JointCounts, rates: Triple) -> Self {
        let table = RankTable::new(counts.precision, rates);
        let mut step = Self { log_likelihood: 0.0, slope: [0.0; 3], information: [[0.0; 3]; 3] };
        for (left, right, count) in counts.cells() {
            let term = table.pair(left, right);
            let slope: Triple = core::array::from_fn(|i| term.slope[i] * rates[i]);
            step.log_likelihood += count * term.log;
            for i in 0..3 {
                step.slope[i] += count * slope[i];
                for j in 0..3 {
                    step.information[i][j] += count * slope[i] * slope[j];
                }
            }
        }
        step
    }

    /// The change of the rates' logarithms, by Levenberg and Marquardt.
    fn towards_maximum(&self, damping: f64) -> Option<Triple> {
        let mut matrix = self.information;
        for (i, row) in matrix.iter_mut().enumerate() {
            row[i] *= 1.0 + damping;
        }
        solve(matrix, self.slope)
    }

    /// The variances of the rates' logarithms: the diagonal of the inverse of the information.
    fn variances(&self) -> Option<Triple> {
        let mut variances = [0.0; 3];
        for (i, variance) in variances.iter_mut().enumerate() {
            let mut unit = [0.0; 3];
            unit[i] = 1.0;
            *variance = solve(self.information, unit)?[i];
        }
        Some(variances)
    }
}

/// Solves a symmetric positive system, after scaling its diagonal to ones; `None` when it is singular.
fn solve(matrix: [Triple; 3], right: Triple) -> Option<Triple> {
    let scale: Triple = core::array::from_fn(|i| 1.0 / sqrt(matrix[i][i]));
    let m = |i: usize, j: usize| matrix[i][j] * scale[i] * scale[j];
    let b = |i: usize| right[i] * scale[i];
    let (p, q, r) = (m(0, 1), m(0, 2), m(1, 2));
    let determinant = 1.0 + 2.0 * p * q * r - p * p - q * q - r * r;
    if !(determinant > 1e-14 && scale.iter().all(|s| s.is_finite())) {
        return None;
    }
    let x = [
        (1.0 - r * r) * b(0) + (q * r - p) * b(1) + (p * r - q) * b(2),
        (q * r - p) * b(0) + (1.0 - q * q) * b(1) + (p * q - r) * b(2),
        (p * r - q) * b(0) + (p * q - r) * b(1) + (1.0 - p * p) * b(2),
    ];
    Some(core::array::from_fn(|i| x[i] / determinant * scale[i]))
}

/// The logarithm of a probability and its derivatives by the three rates.
#[derive(Clone, Copy, Default)]
struct Term<D> {
    log: f64,
    slope: D,
}

/// The probabilities of every rank under the rates that pairs of ranks are made of.
struct RankTable {
    left: [Term<f64>; 64],
    right: [Term<f64>; 64],
    only_left: [Term<f64>; 64],
    only_right: [Term<f64>; 64],
    equal: [Term<Triple>; 64],
}

impl RankTable {
    fn new(precision: u32, [left, right, both]: Triple) -> Self {
        let top = 65 - precision as usize;
        let single = |rate: f64| {
            let mut terms = [Term::default(); 64];
            for (rank, term) in terms.iter_mut().enumerate().take(top + 1) {
                *term = greatest_rank(rate, rank, top);
            }
            terms
        };
        let mut equal = [Term::default(); 64];
        for (rank, term) in equal.iter_mut().enumerate().take(top + 1) {
            *term = equal_ranks([left, right, both], rank, top);
        }
        Self {
            left: single(left + both),
            right: single(right + both),
            only_left: single(left),
            only_right: single(right),
            equal,
        }
    }

    /// A pair of ranks: the greater one is no key of both, for then the other would be as great.
    fn pair(&self, left: usize, right: usize) -> Term<Triple> {
        if left == right {
            return self.equal[left];
        }
        if left < right {
            let (l, r) = (self.left[left], self.only_right[right]);
            return Term { log: l.log + r.log, slope: [l.slope, r.slope, l.slope] };
        }
        let (l, r) = (self.only_left[left], self.right[right]);
        Term { log: l.log + r.log, slope: [l.slope, r.slope, r.slope] }
    }
}

/// The weight of a rank, 2^-rank, and of all ranks above it, which none follow after the top.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "ranks are below 64"
)]
fn weights(rank: usize, top: usize) -> (f64, f64) {
    let weight = ldexp(1.0, -(rank.min(top - 1) as i32));
    (weight, if rank == top { 0.0 } else { weight })
}

/// The probability that a rank is the greatest one at a rate: e^(-λ w) (1 - e^(-λ w)).
fn greatest_rank(rate: f64, rank: usize, top: usize) -> Term<f64> {
    let (weight, above) = weights(rank, top);
    let none_above = Term { log: -rate * above, slope: -above };
    if rank == 0 {
        return none_above;
    }
    let y = rate * weight;
    Term {
        log: none_above.log + log(-expm1(-y)),
        slope: none_above.slope + weight * exp(-y) / -expm1(-y),
    }
}

/// The probability that a rank is the greatest one in both sketches.
///
/// Either a key of both sets has it, or a key of either has: 1 - f + f (1 - g) (1 - h), where f, g and h
/// are the probabilities that no key of both, of the left and of the right only has this rank.
fn equal_ranks(rates: Triple, rank: usize, top: usize) -> Term<Triple> {
    let (weight, above) = weights(rank, top);
    let none_above = Term { log: -above * rates.iter().sum::<f64>(), slope: [-above; 3] };
    if rank == 0 {
        return none_above;
    }
    let [left_unseen, right_unseen, both_unseen] = rates.map(|rate| exp(-rate * weight));
    let [left_seen, right_seen, both_seen] = rates.map(|rate| -expm1(-rate * weight));
    let probability = both_seen + both_unseen * left_seen * right_seen;
    let slope = [
        both_unseen * left_unseen * right_seen,
        both_unseen * right_unseen * left_seen,
        both_unseen * (1.0 - left_seen * right_seen),
    ];
    Term {
        log: none_above.log + log(probability),
        slope: slope.map(|d| weight * d / probability - above),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_sum_to_one_and_slopes_to_zero() {
        for rates in [[0.3, 0.2, 0.1], [2.0, 1e-4, 30.0], [1e6, 2e6, 1e5]] {
            let table = RankTable::new(40, rates);
            let mut total = 0.0;
            let mut slope = [0.0; 3];
            for left in 0..=25 {
                for right in 0..=25 {
                    let term = table.pair(left, right);
                    let probability = exp(term.log);
                    total += probability;
                    for (sum, d) in slope.iter_mut().zip(term.slope) {
                        *sum += probability * d;
                    }
                }
            }
            assert!((total - 1.0).abs() < 1e-9, "{rates:?}: {total}");
            assert!(slope.iter().all(|s| s.abs() < 1e-9), "{rates:?}: {slope:?}");
        }
    }

    #[test]
    fn a_solution_solves() {
        let matrix = [[4.0, 1.0, 0.5], [1.0, 3.0, -0.25], [0.5, -0.25, 9.0]];
        let x = solve(matrix, [1.0, -2.0, 3.0]).unwrap();
        for (row, expected) in matrix.iter().zip([1.0, -2.0, 3.0]) {
            let product: f64 = row.iter().zip(x).map(|(a, b)| a * b).sum();
            assert!((product - expected).abs() < 1e-12);
        }
        assert!(solve([[1.0; 3]; 3], [1.0; 3]).is_none());
    }
}
