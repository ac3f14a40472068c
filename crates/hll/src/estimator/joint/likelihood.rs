//! The joint likelihood of two sketches' registers.

use libm::{exp, expm1, ldexp, log};

use super::Triple;

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

    pub(super) fn registers(&self) -> f64 {
        ldexp(1.0, self.precision as i32)
    }

    /// Returns in how many registers the left rank is the greater one, and in how many the right one. At least so many
    /// keys are in that set only.
    pub(crate) fn greater(&self) -> [u32; 2] {
        let sum = |is_greater: fn(usize, usize) -> bool| {
            let cells = self.counts.iter().enumerate().flat_map(|(left, row)| {
                row.iter().enumerate().filter(move |&(right, _)| is_greater(left, right))
            });
            cells.map(|(_, &count)| count).sum()
        };
        [sum(|left, right| left > right), sum(|left, right| left < right)]
    }

    /// Returns the probabilities that another key is visibly absent from the other set, for keys of only the left and
    /// of only the right set. It is visible if its rank is above that of the other set.
    pub(super) fn seen_shares(&self) -> [f64; 2] {
        let top = 65 - self.precision as usize;
        let mut sums = [0.0; 2];
        for (left, right, count) in self.cells() {
            sums[0] += count * weights(right, top).1;
            sums[1] += count * weights(left, top).1;
        }
        sums.map(|sum| sum / self.registers())
    }

    fn cells(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        self.counts.iter().enumerate().flat_map(|(left, row)| {
            let taken = row.iter().enumerate().filter(|&(_, &count)| count > 0);
            taken.map(move |(right, &count)| (left, right, f64::from(count)))
        })
    }
}

/// The likelihood at given rates, in keys per register.
pub(super) struct Likelihood {
    pub(super) rates: Triple,
    pub(super) log: f64,
    /// The derivatives of the logarithm by the rates.
    pub(super) slope: Triple,
    /// Fisher's information: the mean of the outer product of the slope under these rates.
    pub(super) information: [Triple; 3],
}

impl Likelihood {
    pub(super) fn new(counts: &JointCounts, rates: Triple) -> Self {
        let table = RankTable::new(counts.precision, rates);
        let (mut log, mut slope) = (0.0, [0.0; 3]);
        for (left, right, count) in counts.cells() {
            let term = table.pair(left, right);
            log += count * term.log;
            for (sum, derivative) in slope.iter_mut().zip(term.slope) {
                *sum += count * derivative;
            }
        }
        let registers = counts.registers();
        let information = table.information().map(|row| row.map(|entry| registers * entry));
        Self { rates, log, slope, information }
    }
}

/// The logarithm of a probability and its derivatives by the three rates.
#[derive(Clone, Copy)]
struct Term<D> {
    log: f64,
    slope: D,
}

/// The probabilities of every rank at the rates that the pairs of ranks consist of.
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
            let mut terms = [Term { log: f64::NEG_INFINITY, slope: 0.0 }; 64];
            for (rank, term) in terms.iter_mut().enumerate().take(top + 1) {
                *term = greatest_rank(rate, rank, top);
            }
            terms
        };
        let mut equal = [Term { log: f64::NEG_INFINITY, slope: [0.0; 3] }; 64];
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

    /// Returns Fisher's information of one register.
    // The probability of a pair of unequal ranks is a product. The sum over all pairs therefore takes one pass over the
    // ranks.
    fn information(&self) -> [Triple; 3] {
        let mut sum = [[0.0; 3]; 3];
        // Over all ranks above the present one.
        let (mut above_left, mut above_right) = (Moments::default(), Moments::default());
        for rank in (0..64).rev() {
            let (left, right) = (Moments::of(self.left[rank]), Moments::of(self.right[rank]));
            add_product(&mut sum, left, above_right, [0, 1]);
            add_product(&mut sum, right, above_left, [1, 0]);
            above_left.add(Moments::of(self.only_left[rank]));
            above_right.add(Moments::of(self.only_right[rank]));
            let Term { log, slope } = self.equal[rank];
            let probability = exp(log);
            if probability > 0.0 {
                for i in 0..3 {
                    for j in 0..3 {
                        sum[i][j] += probability * slope[i] * slope[j];
                    }
                }
            }
        }
        sum
    }

    /// Returns the term of a pair of ranks. The key of the greater rank is not in both sets: the ranks would be equal.
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

/// A probability, the mean of its slope, and the mean of the squared slope.
#[derive(Clone, Copy, Default)]
struct Moments([f64; 3]);

impl Moments {
    fn of(Term { log, slope }: Term<f64>) -> Self {
        let probability = exp(log);
        // The slope of an impossible rank is infinite.
        if probability == 0.0 {
            return Self::default();
        }
        Self([probability, probability * slope, probability * slope * slope])
    }

    fn add(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, moment)| *sum += moment);
    }
}

/// Adds the information of pairs of a `lower` and an independent `upper` rank. Keys of the first of `sets` and common
/// keys have the lower rank. Keys of only the other set have the upper rank.
fn add_product(sum: &mut [Triple; 3], lower: Moments, upper: Moments, [own, other]: [usize; 2]) {
    const BOTH: usize = 2;
    let (Moments([l0, l1, l2]), Moments([u0, u1, u2])) = (lower, upper);
    for i in [own, BOTH] {
        for j in [own, BOTH] {
            sum[i][j] += l2 * u0;
        }
        sum[i][other] += l1 * u1;
        sum[other][i] += l1 * u1;
    }
    sum[other][other] += l0 * u2;
}

/// Returns the weight of a rank, 2^-rank, and of all ranks above it. There are none above the top.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "ranks are below 64"
)]
fn weights(rank: usize, top: usize) -> (f64, f64) {
    let weight = ldexp(1.0, -(rank.min(top - 1) as i32));
    (weight, if rank == top { 0.0 } else { weight })
}

/// Returns the probability that a rank is the greatest one at a rate: e^(-λ w) (1 - e^(-λ w)).
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

/// Returns the probability that a rank is the greatest one in both sketches.
///
/// Either a common key has it, or a key of each set has it: 1 - f + f (1 - g) (1 - h). Here f, g and h are the
/// probabilities that no common key, no key of only the left set, and no key of only the right set has this rank.
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
    fn probabilities_sum_to_one_slopes_to_zero_and_their_squares_to_the_information() {
        for rates in [[0.3, 0.2, 0.1], [2.0, 1e-4, 30.0], [1e6, 2e6, 1e5], [0.5, 3.0, 0.0]] {
            let table = RankTable::new(40, rates);
            let mut total = 0.0;
            let mut slope = [0.0; 3];
            let mut information = [[0.0; 3]; 3];
            for left in 0..=25 {
                for right in 0..=25 {
                    let term = table.pair(left, right);
                    let probability = exp(term.log);
                    total += probability;
                    for i in 0..3 {
                        slope[i] += probability * term.slope[i];
                        for (sum, other) in information[i].iter_mut().zip(term.slope) {
                            *sum += probability * term.slope[i] * other;
                        }
                    }
                }
            }
            assert!((total - 1.0).abs() < 1e-9, "{rates:?}: {total}");
            assert!(slope.iter().all(|s| s.abs() < 1e-9), "{rates:?}: {slope:?}");
            for (found, expected) in table.information().iter().zip(information) {
                for (found, expected) in found.iter().zip(expected) {
                    let error = (found - expected).abs();
                    assert!(
                        error < 1e-9 * expected.abs() + 1e-12,
                        "{rates:?}: {found}, {expected}"
                    );
                }
            }
        }
    }
}
