//! Theta sketches: the error and the interval of the number of distinct keys.
//!
//! A sketch has a limit theta, a fraction of all hashes, and keeps the hashes below it. Of n distinct keys, each is kept with
//! probability theta, so the estimate is the number of kept hashes divided by theta: Anirban Dasgupta, Kevin Lang, Lee Rhodes and
//! Justin Thaler, "A Framework for Estimating Stream Expression Cardinalities", ICDT 2016, section 3.

pub(crate) mod params;

use core::ops::RangeInclusive;

use crate::check::check_probability;
use crate::{Estimate, ParamError};
use libm::{erfc, exp, log1p, sqrt};

/// The least nominal size of a sketch.
#[doc(hidden)]
pub const MIN_NOMINAL_SIZE: u32 = 16;

/// The greatest nominal size of a sketch.
#[doc(hidden)]
pub const MAX_NOMINAL_SIZE: u32 = 1 << 26;

/// Up to this number of kept hashes the interval is exact. Beyond it, a normal approximation is as good.
const MAX_EXACT: u64 = 120;

/// Returns the estimated number of distinct keys if `retained` hashes are below `theta`, with its standard error.
///
/// The estimate is exact if theta is 1. Otherwise the standard error is above 0. If no hash is kept, it is that of one kept hash,
/// which is also the standard deviation of the number of keys before the first one that is kept.
///
/// # Examples
/// ```
/// let estimate = pds_params::theta::cardinality(1_068, 0.5294);
/// assert_eq!(format!("{estimate:.1}"), "2017.4 ± 42.3");
/// // No hash below a third: some keys may be there.
/// assert_eq!(pds_params::theta::cardinality(0, 1.0 / 3.0).to_string(), "0.0 ± 2.4");
/// ```
// The number of kept hashes is binomial: its variance n theta (1 - theta) is estimated by retained (1 - theta). An error of 0
// would say that no kept hash means no key.
#[must_use]
pub fn cardinality(retained: u64, theta: f64) -> Estimate {
    let retained = retained as f64;
    let standard_error = sqrt(retained.max(1.0) * (1.0 - theta).max(0.0)) / theta;
    Estimate { value: retained / theta, standard_error }
}

/// Returns an interval that holds the number of distinct keys with this probability, if `retained` hashes are below `theta`.
///
/// Each end is the number of keys of which so many hashes, or more extreme numbers, are below theta with a probability of
/// (1 - `confidence`) / 2: the interval of Clopper and Pearson for the number of trials. For more than 120 hashes it is the score
/// interval with a correction for continuity. Its ends differ by at most one key and 4 % of the width up to a confidence of 95 %,
/// and 10 % of it at 99.9998 %. The lower end is at least `retained`.
///
/// # Errors
/// If `confidence` is not above 0 and below 1.
///
/// # Examples
/// ```
/// use pds_params::theta::cardinality_interval;
///
/// let few = cardinality_interval(37, 0.018_720, 0.95)?;
/// assert!(*few.start() > 1_380.0 && *few.start() < 1_400.0 && *few.end() > 2_700.0);
/// // No hash below a third: as many as nine keys would leave none with a probability of 2.5 %.
/// let none = cardinality_interval(0, 1.0 / 3.0, 0.95)?;
/// assert_eq!(format!("{:.1} to {:.1}", none.start(), none.end()), "0.0 to 9.1");
/// assert_eq!(cardinality_interval(5, 1.0, 0.95)?, 5.0..=5.0);
/// # Ok::<(), pds_params::ParamError>(())
/// ```
pub fn cardinality_interval(
    retained: u64,
    theta: f64,
    confidence: f64,
) -> Result<RangeInclusive<f64>, ParamError> {
    check_probability("confidence", confidence)?;
    let kept = retained as f64;
    if theta >= 1.0 {
        return Ok(kept..=kept);
    }
    let tail = (1.0 - confidence) / 2.0;
    if retained <= MAX_EXACT {
        return Ok(exact_interval(retained, theta, tail));
    }
    let z = normal_quantile(tail);
    let start = score_end(kept - 0.5, theta, -z);
    Ok(start.max(kept)..=score_end(kept + 0.5, theta, z))
}

/// Solves (kept - n theta)^2 = z^2 n theta (1 - theta) for n. The sign of `z` chooses the solution.
fn score_end(kept: f64, theta: f64, z: f64) -> f64 {
    let half = 0.5 * z * sqrt(1.0 - theta);
    let root = half + sqrt(half * half + kept);
    root * root / theta
}

/// Returns the z that a normal number exceeds with this probability, below one half.
fn normal_quantile(tail: f64) -> f64 {
    let exceeded = |z: f64| 0.5 * erfc(z * core::f64::consts::FRAC_1_SQRT_2);
    // Beyond 39 the probability is below the least f64.
    bisect(0.0, 39.0, |z| exceeded(z) > tail)
}

fn exact_interval(retained: u64, theta: f64, tail: f64) -> RangeInclusive<f64> {
    let kept = retained as f64;
    let start = match retained.checked_sub(1) {
        Some(fewer) => at_most_reaches(fewer, theta, 1.0 - tail, kept),
        None => 0.0,
    };
    start..=at_most_reaches(retained, theta, tail, kept)
}

/// Returns the number of keys, at least `min`, of which at most `count` are kept with this probability.
fn at_most_reaches(count: u64, theta: f64, probability: f64, min: f64) -> f64 {
    let is_low = |keys: f64| at_most(count, keys, theta) > probability;
    let mut max = 2.0 * (min + 1.0) / theta;
    while is_low(max) {
        max *= 2.0;
    }
    bisect(min, max, is_low)
}

/// Returns the probability that at most `count` of `keys` are kept. `keys` is at least `count`, and may be between whole numbers.
// From the term of `count` down to that of 0, each by its ratio to the one before. If the first one underflows, all do, as far as
// the search asks: it stays within a factor of two of the end that it looks for.
fn at_most(count: u64, keys: f64, theta: f64) -> f64 {
    let mut term = exp((keys - count as f64) * log1p(-theta));
    for kept in 1..=count {
        let kept = kept as f64;
        term *= (keys - kept + 1.0) * theta / kept;
    }
    let odds = (1.0 - theta) / theta;
    let mut sum = term;
    for kept in (1..=count).rev() {
        let kept = kept as f64;
        term *= kept * odds / (keys - kept + 1.0);
        sum += term;
    }
    sum
}

/// Returns the end of the numbers from `low` to `high` for which `is_low` holds.
fn bisect(mut low: f64, mut high: f64, is_low: impl Fn(f64) -> bool) -> f64 {
    // Each step gives one bit.
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if is_low(middle) { low = middle } else { high = middle }
    }
    high
}
