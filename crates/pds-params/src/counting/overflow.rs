//! The overflow probability of counters.

/// Returns the mean of a counter, kn/m for n distinct keys, k hashes and m counters.
///
/// It is infinite if there are keys but no counters. The value of a counter is close to Poisson with this mean.
#[must_use]
pub fn mean_count(counters: u64, items: u64, hashes: u32) -> f64 {
    let throws = f64::from(hashes) * items as f64;
    if throws == 0.0 { 0.0 } else { throws / counters as f64 }
}

/// Returns the probability that a counter with this [mean](mean_count) is incremented at least `limit` times, in \[0,
/// 1\].
///
/// This is P(Poisson(mean) ≥ limit). For w bits, a counter overflows from the limit `1 << w` on. A saturating counter
/// is saturated from `(1 << w) - 1` on. Keys are assumed to be distinct: the same key sixteen times overflows all of
/// its 4-bit counters.
///
/// # Complexity
/// Up to a mean of 2^20, O(√mean) terms. Above, one formula with an error below 10^-6 of the greatest probability.
///
/// # Examples
/// ```
/// use pds_params::counting::overflow_probability;
///
/// // Half of the counters are in use, as at the best number of hashes.
/// let overflow = overflow_probability(core::f64::consts::LN_2, 16);
/// assert!(overflow > 7.0e-17 && overflow < 7.1e-17);
/// ```
///
/// # References
/// Li Fan, Pei Cao, Jussara Almeida and Andrei Z. Broder, "Summary Cache: A Scalable Wide-Area Web Cache
/// Sharing Protocol", IEEE/ACM Transactions on Networking 8(3), 2000, section V.C.
#[must_use]
pub fn overflow_probability(mean: f64, limit: u64) -> f64 {
    if limit == 0 || mean.is_nan() || mean.is_infinite() {
        return 1.0;
    }
    upper_tail(mean, limit)
}

/// Returns the probability that any counter is incremented at least `limit` times, a fraction in \[0, 1\].
///
/// This is 1 - (1 - P)^m with P of [`overflow_probability`], as if counters were independent.
#[must_use]
pub fn any_overflow_probability(counters: u64, mean: f64, limit: u64) -> f64 {
    let single = overflow_probability(mean, limit);
    if counters == 0 || single == 0.0 {
        return 0.0;
    }
    -libm::expm1(counters as f64 * libm::log1p(-single))
}

/// Returns the published upper bound of [`any_overflow_probability`], m (ea/j)^j for the mean a and the limit j, at
/// most 1.
///
/// For counters of 4 bits at half fill, it is about 20 times the probability.
///
/// # References
/// Fan et al. 2000, section V.C.
#[must_use]
pub fn overflow_bound(counters: u64, mean: f64, limit: u64) -> f64 {
    if limit == 0 || mean.is_nan() || mean.is_infinite() {
        return 1.0;
    }
    let ratio = core::f64::consts::E * mean.max(0.0) / limit as f64;
    (counters as f64 * libm::pow(ratio, limit as f64)).min(1.0)
}

/// Returns P(Poisson(mean) ≥ count), for a count of at least 1.
fn upper_tail(mean: f64, count: u64) -> f64 {
    if mean <= 0.0 {
        return 0.0;
    }
    let count = count as f64;
    if mean.max(count) > MANY {
        return upper_tail_of_many(mean, count);
    }
    let point = |x: f64| libm::exp(x * libm::log(mean) - mean - libm::lgamma(x + 1.0));
    if count > mean {
        // From the count upwards, each term from the previous one.
        sum(point(count), count, |term, x| term * mean / (x + 1.0), 1.0)
    } else {
        // From the count downwards, as the complement.
        1.0 - sum(point(count - 1.0), count - 1.0, |term, x| term * x / mean, -1.0)
    }
}

/// The mean or count above which terms are no longer summed, because they are too many and inexact.
const MANY: f64 = 1_048_576.0;

/// Returns P(Poisson(mean) ≥ count) from the first two terms of the uniform expansion of the incomplete gamma function.
///
/// N. M. Temme, "The asymptotic expansion of the incomplete gamma functions", SIAM J. Math. Anal. 10(4), 1979.
fn upper_tail_of_many(mean: f64, count: f64) -> f64 {
    let excess = (mean - count) / count;
    // Negative only by rounding. A far smaller mean has no tail at all.
    let half_square = (excess - libm::log1p(excess)).max(0.0);
    let eta = libm::sqrt(2.0 * half_square).copysign(excess);
    let correction =
        if excess.abs() < 1e-3 { eta / 12.0 - 1.0 / 3.0 } else { 1.0 / excess - 1.0 / eta };
    let density = libm::exp(-count * half_square) / libm::sqrt(core::f64::consts::TAU * count);
    let tail = 0.5 * libm::erfc(-eta * libm::sqrt(0.5 * count)) - density * correction;
    tail.clamp(0.0, 1.0)
}

/// Returns the sum of decreasing positive terms, up to the first that does not change it.
fn sum(first: f64, start: f64, next: impl Fn(f64, f64) -> f64, step: f64) -> f64 {
    let (mut term, mut x, mut total) = (first, start, 0.0);
    while term > total * f64::EPSILON / 4.0 {
        total += term;
        term = next(term, x);
        x += step;
    }
    total
}
