use libm::sqrt;

use super::likelihood::{JointCounts, Likelihood};
use super::{EXCHANGE, HASHES, Parts, Triple, square};

/// The greatest number of steps of the search.
const MAX_STEPS: u32 = 200;

/// The search ends if a step is shorter than this share of a standard error.
const CLOSE: f64 = 1e-5;

/// The three parts of two sets at the maximum of their joint likelihood.
///
/// The ranks of a register in both sketches are the maxima of three independent Poisson processes, one for each part.
/// Inclusion and exclusion ignores the information in equal ranks. If the overlap is small, its error is several times
/// as large.
///
/// # References
/// Otmar Ertl, "New cardinality estimation algorithms for HyperLogLog sketches", arXiv:1702.01284, 2017,
/// section 7.
pub(crate) struct Maximum<'a> {
    counts: &'a JointCounts,
    rates: Triple,
    /// The next step of the search.
    step: Triple,
    /// The variance of the number of keys that no register shows.
    hidden: f64,
}

impl<'a> Maximum<'a> {
    /// Searches the maximum from `start`, in keys. No part that the registers prove may be 0 there.
    pub(crate) fn of(counts: &'a JointCounts, start: Triple) -> Self {
        let start = start.map(|keys| keys.min(HASHES) / counts.registers());
        let Search { at, step } = Search::run(counts, start);
        let hidden = counts.seen_shares().map(hidden_variance).iter().sum();
        Self { counts, rates: at.rates, step, hidden }
    }

    /// Returns the parts, with the covariance that they had if `shift` more of the keys were common.
    pub(crate) fn parts(&self, shift: f64) -> Parts {
        let registers = self.counts.registers();
        let shifted = [0, 1, 2].map(|i| self.rates[i] + EXCHANGE[i] * shift / registers);
        Parts {
            values: self.rates.map(|rate| rate * registers),
            covariance: self.covariance(shifted),
        }
    }

    fn covariance(&self, rates: Triple) -> [Triple; 3] {
        let registers = self.counts.registers();
        // At least one key: the information at lower rates comes from events that are too rare to rely on.
        let errors = Likelihood::new(self.counts, rates.map(|rate| rate.max(1.0 / registers)));
        let inverse = inverse(&errors.information);
        core::array::from_fn(|i| {
            core::array::from_fn(|j| {
                // The variance of the Poisson number of keys is not an error.
                let poisson = if i == j { errors.rates[i] * registers } else { 0.0 };
                // Another hidden key counts as common, and as one key less in the other set.
                let sign = if (i == 2) == (j == 2) { 1.0 } else { -1.0 };
                // The error of a search that ended early is its next step.
                let unfinished = self.step[i] * self.step[j];
                square(registers) * (inverse[i][j] + unfinished) - poisson + sign * self.hidden
            })
        })
    }
}

/// Returns the mean square of the number of keys before the next visible one, if each is visible with probability
/// `seen`.
///
/// Fisher's information omits it: if no key was visible, it states that there is none.
fn hidden_variance(seen: f64) -> f64 {
    (1.0 - seen) * (2.0 - seen) / square(seen)
}

/// The search for the maximum by Fisher's scoring, within 0 to 2^64 keys.
///
/// The search is in the rates, not in their logarithms. If there is no evidence for a part, a step then ends at 0
/// instead of continuing for ever.
struct Search {
    at: Likelihood,
    /// The next step.
    step: Triple,
}

impl Search {
    fn run(counts: &JointCounts, start: Triple) -> Self {
        let most = HASHES / counts.registers();
        // Less than a thousandth of a key is 0.
        let least = 1e-3 / counts.registers();
        let mut here = Self::new(Likelihood::new(counts, start), most);
        // Steps are lengthened as long as that helps. If the registers give little information, the likelihood is
        // flatter than its mean curvature, and the maximum is far away.
        let mut stretch = 1.0;
        for _ in 0..MAX_STEPS {
            if here.remaining() < CLOSE || stretch < 1e-9 {
                break;
            }
            let next = core::array::from_fn(|i| {
                let rate = (here.at.rates[i] + stretch * here.step[i]).min(most);
                if rate < least { 0.0 } else { rate }
            });
            let there = Likelihood::new(counts, next);
            if there.log > here.at.log {
                here = Self::new(there, most);
                stretch *= 2.0;
            } else {
                stretch = stretch.min(4.0) / 4.0;
            }
        }
        here
    }

    fn new(at: Likelihood, most: f64) -> Self {
        // A rate at its limit stays there unless the likelihood grows inwards.
        let is_free = |i: usize| {
            let (rate, slope) = (at.rates[i], at.slope[i]);
            (rate > 0.0 || slope > 0.0) && (rate < most || slope < 0.0)
        };
        let free = [0, 1, 2].map(|i| is_free(i) && at.information[i][i] > 0.0);
        let solved = |damping| solve(&at.information, at.slope, free, damping);
        let step = solved(0.0).or_else(|| solved(1e-3)).unwrap_or_default();
        Self { at, step }
    }

    /// Returns the length of the next step in standard errors.
    fn remaining(&self) -> f64 {
        sqrt(super::dot(self.step, self.at.slope).max(0.0))
    }
}

/// Returns the inverse of a symmetric positive matrix. Infinite if it is singular.
fn inverse(matrix: &[Triple; 3]) -> [Triple; 3] {
    core::array::from_fn(|i| {
        let mut unit = [0.0; 3];
        unit[i] = 1.0;
        solve(matrix, unit, [true; 3], 0.0).unwrap_or([f64::INFINITY; 3])
    })
}

/// Solves a symmetric positive system in the free variables. The others are 0. `None` if it is singular.
///
/// The diagonal is scaled to ones, and the damping is added to it.
fn solve(matrix: &[Triple; 3], right: Triple, free: [bool; 3], damping: f64) -> Option<Triple> {
    let scale: Triple =
        core::array::from_fn(|i| if free[i] { 1.0 / sqrt(matrix[i][i]) } else { 0.0 });
    if !scale.iter().all(|s| s.is_finite()) {
        return None;
    }
    let one = 1.0 + damping;
    let m = |i: usize, j: usize| matrix[i][j] * scale[i] * scale[j];
    let b = |i: usize| right[i] * scale[i];
    // Variables that are not free have zeros beside the diagonal and on the right side.
    let (p, q, r) = (m(0, 1), m(0, 2), m(1, 2));
    let determinant = one * (one * one - p * p - q * q - r * r) + 2.0 * p * q * r;
    if determinant <= 1e-14 {
        return None;
    }
    let x = [
        (one * one - r * r) * b(0) + (q * r - one * p) * b(1) + (p * r - one * q) * b(2),
        (q * r - one * p) * b(0) + (one * one - q * q) * b(1) + (p * q - one * r) * b(2),
        (p * r - one * q) * b(0) + (p * q - one * r) * b(1) + (one * one - p * p) * b(2),
    ];
    Some(core::array::from_fn(|i| x[i] / determinant * scale[i]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pds_testkit::keys;

    #[test]
    fn a_solution_solves() {
        let matrix = [[4.0, 1.0, 0.5], [1.0, 3.0, -0.25], [0.5, -0.25, 9.0]];
        let right = [1.0, -2.0, 3.0];
        for damping in [0.0, 0.5] {
            let x = solve(&matrix, right, [true; 3], damping).unwrap();
            for i in 0..3 {
                let damped = damping * matrix[i][i] * x[i];
                assert!((super::super::dot(matrix[i], x) + damped - right[i]).abs() < 1e-12);
            }
        }
        let x = solve(&matrix, right, [true, false, true], 0.0).unwrap();
        assert!((4.0 * x[0] + 0.5 * x[2] - 1.0).abs() < 1e-12 && x[1] == 0.0, "{x:?}");
        assert!(solve(&[[1.0; 3]; 3], [1.0; 3], [true; 3], 0.0).is_none());
        assert!(solve(&[[0.0; 3]; 3], [1.0; 3], [true; 3], 0.0).is_none());
    }

    /// Returns the registers (16 to 4,096) of random keys. Each part has from none to many keys.
    #[expect(clippy::cast_possible_truncation, reason = "ranks and registers are small")]
    fn random_counts(run: u64) -> (JointCounts, [u64; 3]) {
        let mut random = keys::random(run);
        let mut next = || random.next().unwrap();
        let precision = 4 + (next() % 9) as u32;
        let parts = [0; 3].map(|_| (1 << (next() % 16)) * (next() % 3));
        let mut registers = [[0; 2]; 4_096];
        for (part, sets) in [&[0usize][..], &[1], &[0, 1]].into_iter().enumerate() {
            for _ in 0..parts[part] {
                let hash = next();
                let rank = ((hash << precision) | 1 << (precision - 1)).leading_zeros() as u8 + 1;
                for &set in sets {
                    let register: &mut u8 =
                        &mut registers[(hash >> (64 - precision)) as usize][set];
                    *register = rank.max(*register);
                }
            }
        }
        let mut counts = JointCounts::new(precision);
        registers[..1 << precision].iter().for_each(|&[l, r]| counts.add(l, r, 1));
        (counts, parts)
    }

    /// No neighbour is more likely, and the next step is 0, for every start of the search.
    #[test]
    fn the_search_ends_at_the_maximum() {
        let mut ended = 0;
        for run in 0..600 {
            let (counts, parts) = random_counts(run);
            if parts[0] + parts[2] == 0 || parts[1] + parts[2] == 0 {
                continue;
            }
            let registers = counts.registers();
            let [left, right] = counts.greater().map(f64::from);
            for factor in [1.0, 20.0, 0.1] {
                let truth = parts.map(|part| part as f64 * factor);
                let start = [truth[0].max(left), truth[1].max(right), truth[2].max(1.0)];
                let search = Search::run(&counts, start.map(|keys| keys / registers));
                let remaining = search.remaining();
                assert!(remaining < 1e-3, "run {run}, {parts:?}: {remaining}");
                for i in 0..3 {
                    for change in [-1.0, 1.0] {
                        let mut rates = search.at.rates;
                        rates[i] =
                            (rates[i] * (1.0 + 1e-3 * change) + 0.01 * change / registers).max(0.0);
                        let log = Likelihood::new(&counts, rates).log;
                        let is_better = log > search.at.log + 1e-7;
                        assert!(!is_better, "run {run}, {parts:?} {i} {change}");
                    }
                }
                ended += 1;
            }
        }
        assert!(ended > 1_000, "{ended}");
    }
}
