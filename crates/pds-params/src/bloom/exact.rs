//! The mean false-positive rate over all filters, computed without cancellation.
//!
//! Let X be the number of occupied cells after t = kn uniform throws into m cells. The rate is E[(X/m)^k]. A query of k
//! positions has d distinct ones with probability w(d). All of them are occupied with probability P(d). The rate is the
//! sum of w(d) P(d). The textbook evaluation of P(d) is inclusion and exclusion over the d cells. At k = 30 and half
//! fill it loses all digits. Three evaluations together cover all parameters:
//!
//! - Nearly full filters: inclusion and exclusion. Its terms decrease quickly there.
//! - Few cells: the distribution of X itself, throw by throw.
//! - All others: a sum over the number J of throws that land on the d cells. J is binomial. The probability that J
//!   throws cover d cells has a recurrence of positive terms. This takes O(k (k + J)) steps, independent of m. Every
//!   operation is a sum or product of positive numbers, so the relative error is a few k units in the last place.

use super::MAX_HASHES;
use super::fill::occupied;

/// Length of an array with one number per count of distinct positions, 0 included.
const SLOTS: usize = MAX_HASHES as usize + 1;

/// The natural logarithm of the greatest amplification of rounding errors that is allowed for inclusion and exclusion.
///
/// This is a factor of 1100, which leaves 12 digits. It also bounds kn/m for the other two evaluations, by 4.3.
const MAX_AMPLIFICATION: f64 = 7.0;

/// The greatest number of cells per query position for which the distribution of X is followed throw by throw.
///
/// With more cells, the probability that no throw lands on the query's cells is above e^-1300. Its root and the inverse
/// of the root are then within the range of an f64. With about one cell per position they are not.
const FEW_CELLS_PER_HASH: u32 = 4;

/// Terms below this fraction of the sum do not change it.
const NEGLIGIBLE: f64 = 1e-19;

/// Occupancies below the mean that are less probable than this are neglected.
const NEVER: f64 = 1e-200;

/// Returns the mean false-positive rate E\[(X/m)^k\], a fraction in \[0, 1\].
///
/// X is the number of set bits after n items of k independent uniform positions each. The relative error of the result
/// is below 1e-12.
///
/// The rate exceeds [`rate_finite`](super::rate_finite) by a relative difference of about (k(k-1)/2) Var(X)/E\[X\]².
/// The difference is 0.64 % at m = 1000, k = 7, n = 100, and a factor of two at m = 15, k = 10, n = 1.
///
/// # Panics
/// If `hashes` is above [`MAX_HASHES`].
///
/// # Complexity
/// O(k²) up to the design load of a filter, O(kn/m k²) at worst, for all m and n. No allocation.
///
/// # References
/// Prosenjit Bose et al., "On the false-positive rate of Bloom filters", Information Processing
/// Letters 108(4), 2008; Ken Christensen, Allen Roginsky and Miguel Jimeno, "A new analysis of the
/// false positive rate of a Bloom filter", Information Processing Letters 110(21), 2010.
///
/// # Examples
/// ```
/// use pds_params::bloom::{rate_exact, rate_finite};
/// let (exact, finite) = (rate_exact(1000, 100, 7), rate_finite(1000, 100, 7));
/// assert_eq!(format!("{:.4}", exact / finite), "1.0064");
/// ```
#[must_use]
pub fn rate_exact(bits: u64, items: u64, hashes: u32) -> f64 {
    assert!(hashes <= MAX_HASHES, "{hashes} hashes, but at most {MAX_HASHES} are supported");
    if hashes == 0 {
        return 1.0;
    }
    if items == 0 {
        return 0.0;
    }
    if bits < 2 {
        return 1.0;
    }
    let throws = f64::from(hashes) * items as f64;
    let rate = if amplification(bits, throws, hashes) <= MAX_AMPLIFICATION {
        by_inclusion_exclusion(bits, throws, hashes)
    } else if bits <= u64::from(FEW_CELLS_PER_HASH * hashes) {
        by_occupancy(bits, u64::from(hashes) * items, hashes)
    } else {
        by_binomial_mixture(bits as f64, throws, hashes)
    };
    rate.min(1.0)
}

/// Returns the logarithm of the factor by which inclusion and exclusion amplify rounding errors.
///
/// Each step subtracts the fraction 1 - fill of a number and leaves the fraction `fill`.
fn amplification(bits: u64, throws: f64, hashes: u32) -> f64 {
    let fill = occupied(bits as f64, throws);
    at_most(bits, hashes) as f64 * libm::log((2.0 - fill) / fill)
}

/// Returns the lesser of a number of cells and a small limit.
fn at_most(cells: u64, limit: u32) -> usize {
    u32::try_from(cells).map_or(limit, |cells| cells.min(limit)) as usize
}

/// The distribution of the number of occupied cells after a number of throws, for at most `N` - 1 occupied cells.
struct Occupancy<const N: usize> {
    law: [f64; N],
    /// By number of occupied cells: the probability that a throw hits an occupied cell.
    meets: [f64; N],
    /// By number of occupied cells: the probability that a throw occupies a further cell and leads to this number.
    adds: [f64; N],
    /// The least number whose probability is not neglected.
    least: usize,
    /// The greatest possible number.
    reached: usize,
}

impl<const N: usize> Occupancy<N> {
    fn empty(cells: f64) -> Self {
        let mut law = [0.0; N];
        law[0] = 1.0;
        let meets = core::array::from_fn(|occupied| occupied as f64 / cells);
        // Negative only one past the last cell, where the probability is zero.
        let adds = core::array::from_fn(|occupied| {
            (1.0 - (occupied as f64 - 1.0) / cells).clamp(0.0, 1.0)
        });
        Self { law, meets, adds, least: 0, reached: 0 }
    }

    fn add_throw(&mut self, most: usize) {
        let before = self.law;
        let Self { law, meets, adds, least, reached } = self;
        *reached = (*reached + 1).min(most);
        let after = law[*least + 1..=*reached].iter_mut().zip(&before[*least..*reached]);
        let odds = meets[*least + 1..].iter().zip(&adds[*least + 1..]);
        for ((after, fewer), (meets, adds)) in after.zip(odds) {
            *after = *after * meets + fewer * adds;
        }
        law[*least] *= meets[*least];
        // Subnormal numbers are slow, and these are negligible.
        while law[*least] < NEVER {
            law[*least] = 0.0;
            *least += 1;
        }
    }
}

/// Returns the probabilities that `hashes` uniform positions among `cells` have 0, 1, ... distinct ones.
fn distinct_positions(cells: f64, hashes: u32) -> [f64; SLOTS] {
    let mut occupancy = Occupancy::<SLOTS>::empty(cells);
    (0..hashes).for_each(|_| occupancy.add_throw(hashes as usize));
    occupancy.law
}

/// Computes the rate from the distribution of X, throw by throw: O(m t), for few cells.
fn by_occupancy(bits: u64, throws: u64, hashes: u32) -> f64 {
    const CELLS: usize = FEW_CELLS_PER_HASH as usize * MAX_HASHES as usize;
    let cells = bits as f64;
    let most = at_most(bits, FEW_CELLS_PER_HASH * MAX_HASHES);
    let mut occupancy = Occupancy::<{ CELLS + 1 }>::empty(cells);
    (0..throws).for_each(|_| occupancy.add_throw(most));
    let rate_of = |set: usize| libm::pow((set as f64 / cells).min(1.0), f64::from(hashes));
    let law = &occupancy.law[..=most];
    law.iter().enumerate().map(|(set, probability)| probability * rate_of(set)).sum()
}

/// Computes the rate by inclusion and exclusion over the query's cells, for nearly full filters: O(k²).
///
/// P(d, m) = P(d - 1, m) - (1 - 1/m)^t P(d - 1, m - 1). The subtracted term is the probability that the first d - 1
/// cells are occupied and the d-th is empty. In this case all throws went to the other m - 1 cells.
fn by_inclusion_exclusion(bits: u64, throws: f64, hashes: u32) -> f64 {
    let cells = bits as f64;
    let distinct = distinct_positions(cells, hashes);
    let most = at_most(bits, hashes);
    let mut empty = [0.0; SLOTS];
    for (removed, empty) in empty[..most].iter_mut().enumerate() {
        *empty = 1.0 - occupied(cells - removed as f64, throws);
    }
    let mut all_occupied = [1.0; SLOTS];
    let mut rate = 0.0;
    for (d, probability) in (1..=most).zip(&distinct[1..]) {
        for removed in 0..=most - d {
            all_occupied[removed] -= empty[removed] * all_occupied[removed + 1];
        }
        rate += probability * all_occupied[0];
    }
    rate
}

/// The state of the sum over J for a query of d distinct cells.
#[derive(Clone, Copy)]
struct Term {
    /// The probability of such a query, times the root of (1 - d/m)^t.
    scale: f64,
    /// The binomial probability of J throws on the cells, divided by that root.
    landed: f64,
    /// d / (m - d), the odds that a throw lands on the cells.
    odds: f64,
    /// The probability that J throws on the d cells cover all of them.
    covered: f64,
    /// ((d - 1) / d)^J, the probability that J throws on the d cells miss a given one.
    missed: f64,
    /// (d - 1) / d.
    miss: f64,
}

impl Term {
    /// The term for no distinct cells. No throws cover them.
    const NONE: Self =
        Self { scale: 0.0, landed: 0.0, odds: 0.0, covered: 1.0, missed: 0.0, miss: 0.0 };

    fn new(d: usize, probability: f64, cells: f64, throws: f64) -> Self {
        let d = d as f64;
        // Two factors of the size of the root do not underflow. Their product would.
        let root = libm::exp(0.5 * throws * libm::log1p(-d / cells));
        Self {
            scale: probability * root,
            landed: root,
            odds: d / (cells - d),
            covered: 0.0,
            missed: 1.0,
            miss: (d - 1.0) / d,
        }
    }

    /// Advances from J - 1 to J and returns the term of J.
    ///
    /// `covered_fewer` is the `covered` of d - 1 cells at J - 1, and `growth` is (t - J + 1) / J.
    fn advance(&mut self, growth: f64, covered_fewer: f64) -> f64 {
        self.landed *= growth * self.odds;
        self.covered += covered_fewer * self.missed;
        self.missed *= self.miss;
        self.scale * self.landed * self.covered
    }
}

/// Computes the rate as a sum over the number of throws that land on the query's cells.
fn by_binomial_mixture(cells: f64, throws: f64, hashes: u32) -> f64 {
    let most = hashes as usize;
    let distinct = distinct_positions(cells, hashes);
    let mut terms = [Term::NONE; SLOTS];
    for (d, probability) in (1..=most).zip(&distinct[1..]) {
        terms[d] = Term::new(d, *probability, cells, throws);
    }
    let peak = f64::from(hashes) * (throws / cells).max(1.0);
    let mut rate = 0.0;
    let mut landed = 0.0;
    loop {
        let growth = (throws - landed) / (landed + 1.0);
        landed += 1.0;
        let mut added = 0.0;
        for d in (1..=most).rev() {
            let covered_fewer = terms[d - 1].covered;
            added += terms[d].advance(growth, covered_fewer);
        }
        terms[0].covered = 0.0;
        rate += added;
        // The terms grow at least up to the peak. Once they decrease, they decrease faster than geometrically.
        if landed >= peak && added <= rate * NEGLIGIBLE {
            return rate;
        }
    }
}
