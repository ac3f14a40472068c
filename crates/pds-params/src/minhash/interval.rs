//! Confidence intervals of a probability, from a number of successes.

use core::ops::RangeInclusive;

use crate::ParamError;
use crate::check::check_probability;
use libm::{exp, fabs, lgamma, log, log1p};

/// Returns an interval that holds the probability of a success with at least this confidence, after `successes` of `trials`.
///
/// Each end is the probability under which so many successes, or more extreme numbers, have a probability of
/// (1 - `confidence`) / 2: C. J. Clopper and E. S. Pearson, "The Use of Confidence or Fiducial Limits Illustrated in the Case
/// of the Binomial", Biometrika 26(4), 1934. More successes than trials count as all. Without trials the interval is 0 to 1.
///
/// # Errors
/// If `confidence` is not above 0 and below 1.
///
/// # Examples
/// ```
/// let none = pds_params::minhash::binomial_interval(0, 128, 0.95)?;
/// assert_eq!(format!("{:.4} to {:.4}", none.start(), none.end()), "0.0000 to 0.0284");
/// # Ok::<(), pds_params::ParamError>(())
/// ```
pub fn binomial_interval(
    successes: u32,
    trials: u32,
    confidence: f64,
) -> Result<RangeInclusive<f64>, ParamError> {
    check_probability("confidence", confidence)?;
    let tail = (1.0 - confidence) / 2.0;
    let successes = successes.min(trials);
    let (hits, misses) = (f64::from(successes), f64::from(trials - successes));
    let start = if successes == 0 { 0.0 } else { quantile(hits, misses + 1.0, tail) };
    let end = if successes == trials { 1.0 } else { 1.0 - quantile(misses, hits + 1.0, tail) };
    Ok(start..=end)
}

/// Returns the x with `beta(a, b, x)` = `probability`.
fn quantile(a: f64, b: f64, probability: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    // Each step gives one bit. Ends near 0 need some more than 53.
    for _ in 0..80 {
        let middle = (low + high) / 2.0;
        if beta(a, b, middle) < probability { low = middle } else { high = middle }
    }
    high
}

/// Returns the regularised incomplete beta function I_x(a, b).
fn beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    // The fraction converges fast on this side of the mean.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta_below_mean(b, a, 1.0 - x);
    }
    beta_below_mean(a, b, x)
}

/// Evaluates the continued fraction of DLMF 8.17.22, front to back by Lentz's method.
fn beta_below_mean(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let nonzero = |x: f64| if fabs(x) < TINY { TINY } else { x };
    let scale = lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x);
    let (mut fraction, mut c, mut d) = (1.0, 1.0, 0.0);
    // About the square root of a + b steps: some hundreds, and 20,000 for the greatest theta sketches.
    for step in 0..100_000 {
        let m = f64::from(step / 2);
        let coefficient = if step == 0 {
            1.0
        } else if step % 2 == 0 {
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        } else {
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        };
        d = 1.0 / nonzero(1.0 + coefficient * d);
        c = nonzero(1.0 + coefficient / c);
        fraction *= c * d;
        if step > 0 && fabs(c * d - 1.0) < 1e-15 {
            break;
        }
    }
    exp(scale) / a * (fraction - 1.0)
}
