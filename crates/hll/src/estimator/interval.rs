//! Intervals for the number of distinct keys, from the probability of the state given exactly n keys.
//!
//! With n keys the ranks of registers follow a multinomial law. With a Poisson number of keys of mean x, registers and
//! ranks are independent, and the state has the probability e^ℓ(x / m) of [`Likelihood`]. The probability for n keys is
//! therefore n! times the coefficient of x^n in e^(x + ℓ(x / m)). The saddle-point method computes it with an error
//! below a thousandth. It is zero for fewer keys than the state proves. An interval leaves out equal tails of this
//! likelihood, weighted by 1 / n.

use alloc::vec::Vec;
use core::f64::consts::TAU;
use core::ops::RangeInclusive;

use libm::{exp, expm1, floor, log, log1p, round, sqrt};
use pds_core::error::ParamError;
use pds_params::internal::ParamFault;

use super::{HASHES, Likelihood};

/// Steps per standard deviation, if there are too many numbers of keys to visit each.
const STEPS: f64 = 5.0;

/// Numbers below this share of a tail, relative to the greatest likelihood, are not visited.
const NEGLIGIBLE: f64 = 1e-3;

/// Returns an interval that holds the true number of keys with probability `confidence`. It holds `estimate`, too,
/// unless that is less than the proven number.
///
/// # Errors
/// [`ParamError`] if `confidence` is not above 0 and below 1.
pub fn interval(
    likelihood: &Likelihood,
    estimate: f64,
    confidence: f64,
) -> Result<RangeInclusive<f64>, ParamError> {
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(ParamError(ParamFault::NotAProbability {
            parameter: "confidence",
            value: confidence,
        }));
    }
    let tail = (1.0 - confidence) / 2.0;
    let (proven, rate) = (likelihood.proven(), likelihood.rate());
    if proven == 0.0 {
        return Ok(0.0..=0.0);
    }
    if rate == f64::INFINITY {
        return Ok(keys_that_fill(likelihood.registers(), tail).max(proven)..=f64::INFINITY);
    }
    let cells = cells(likelihood, rate, tail);
    let tail = tail * cells.iter().map(Cell::mass).sum::<f64>();
    let low = quantile(cells.iter(), tail, |cell, share| cell.low + share * cell.width());
    let high = quantile(cells.iter().rev(), tail, |cell, share| cell.high - share * cell.width());
    // A cell of one number reaches half a number to both sides of it.
    Ok(round(low).min(estimate).max(proven)..=round(high).max(estimate))
}

/// Numbers of keys that are treated as equally likely.
struct Cell {
    low: f64,
    high: f64,
    density: f64,
}

impl Cell {
    fn width(&self) -> f64 {
        self.high - self.low
    }

    fn mass(&self) -> f64 {
        self.density * self.width()
    }
}

/// Returns the number at which the masses of the cells add up to `tail`. `at` converts a share of that cell to a
/// number.
fn quantile<'a>(
    cells: impl Iterator<Item = &'a Cell>,
    tail: f64,
    at: impl Fn(&Cell, f64) -> f64,
) -> f64 {
    let mut sum = 0.0;
    for cell in cells {
        if sum + cell.mass() >= tail {
            return at(cell, (tail - sum) / cell.mass());
        }
        sum += cell.mass();
    }
    f64::NAN
}

/// Lists the numbers of keys that are not negligible, in ascending order.
fn cells(likelihood: &Likelihood, rate: f64, tail: f64) -> Vec<Cell> {
    let (registers, proven) = (likelihood.registers(), likelihood.proven());
    let best = round(registers * rate).max(proven);
    // The Fisher information about the logarithm of the rate, as observed.
    let information = -rate * likelihood.score(rate).1;
    let spread = sqrt((1.0 / information - 1.0 / best).max(0.0));
    let step = |keys: f64| floor(keys * spread / STEPS).max(1.0);
    let greatest = logarithm(likelihood, best, rate).0;
    let walk = |next: &dyn Fn(f64) -> Option<f64>| {
        let (mut keys, mut rate) = (best, rate);
        let mut points = Vec::new();
        while let Some(number) = next(keys) {
            let (logarithm, solution) = logarithm(likelihood, number, rate * number / keys);
            let density = exp(logarithm - greatest) * best / number;
            points.push((number, density));
            // Likelihoods of damaged bytes may be NaN.
            if density.is_nan() || density <= tail * NEGLIGIBLE {
                break;
            }
            (keys, rate) = (number, solution);
        }
        points
    };
    let mut points = walk(&|keys| (keys > proven).then(|| (keys - step(keys)).max(proven)));
    points.reverse();
    points.push((best, 1.0));
    points.extend(walk(&|keys| Some(keys + step(keys))));
    cut(&points)
}

/// Cuts between neighbours in the middle.
fn cut(points: &[(f64, f64)]) -> Vec<Cell> {
    let middle = |left: usize| (points[left].0 + points[left + 1].0) / 2.0;
    let cell = |(i, &(keys, density)): (usize, &(f64, f64))| Cell {
        low: if i == 0 { keys - 0.5 } else { middle(i - 1) },
        high: if i + 1 == points.len() { keys + 0.5 } else { middle(i) },
        density,
    };
    points.iter().enumerate().map(cell).collect()
}

/// Returns the logarithm of the probability of the state given `keys` keys, and the rate of its saddle point. `rate` is
/// a guess of that rate.
fn logarithm(likelihood: &Likelihood, keys: f64, mut rate: f64) -> (f64, f64) {
    let (registers, others) = (likelihood.registers(), keys - likelihood.proven());
    if others == 0.0 {
        let orders = keys * (log(keys) - 1.0) + log(TAU * keys) / 2.0 + stirling_error(keys);
        return (orders + likelihood.logarithm_of_proven(), rate);
    }
    let mut slope = registers;
    // The mean number of keys rises with the rate and is convex: Newton's method overshoots at most once.
    for _ in 0..40 {
        let (score, derivative) = likelihood.score(rate);
        slope = registers + derivative;
        let missing = keys - registers * rate - score;
        // The logarithm is off by half of this square over the variance, which the last step squares once more.
        let is_near = missing * missing <= 1e-4 * rate * slope;
        rate = (rate + missing / slope).max(rate / 16.0);
        if is_near {
            break;
        }
    }
    let off = registers * rate / keys - 1.0;
    let exponent = keys * (off - log1p(off)) + likelihood.logarithm(rate);
    let spread = log(keys / (rate * slope)) / 2.0;
    (exponent + spread + stirling_error(keys) - stirling_error(others), rate)
}

/// Returns ln n! less Stirling's formula, for n >= 1.
fn stirling_error(n: f64) -> f64 {
    let square = n * n;
    (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / (1260.0 * square)) / square) / n
}

/// Returns the number n of keys that brings all registers to their last rank with this probability: (1 - e^(-n /
/// 2^64))^m.
fn keys_that_fill(registers: f64, probability: f64) -> f64 {
    -HASHES * log(-expm1(log(probability) / registers))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMS: usize = 60;

    /// Returns the product of two power series.
    fn product(left: &[f64; TERMS], right: &[f64; TERMS]) -> [f64; TERMS] {
        core::array::from_fn(|n| (0..=n).map(|i| left[i] * right[n - i]).sum())
    }

    /// Returns the power series of e^(a x).
    fn exponential(a: f64) -> [f64; TERMS] {
        let mut term = 1.0;
        core::array::from_fn(|n| {
            if n > 0 {
                term *= a / n as f64;
            }
            term
        })
    }

    /// Of sixteen registers, three have rank 1, one rank 2 and one rank 5.
    #[test]
    fn the_probability_of_a_state_is_that_of_its_power_series() {
        let mut counts = [0; 64];
        (counts[0], counts[1], counts[2], counts[5]) = (11, 3, 1, 1);
        let likelihood = Likelihood::of_ranks(&counts, 4);
        let unseen = 11.0 + 3.0 / 2.0 + 1.0 / 4.0 + 1.0 / 32.0;
        let mut series = exponential(1.0 - unseen / 16.0);
        for weight in [0.5, 0.5, 0.5, 0.25, 1.0 / 32.0] {
            let mut seen = exponential(-weight / 16.0).map(|term| -term);
            seen[0] = 0.0;
            series = product(&series, &seen);
        }
        let mut factorial = 1.0;
        let mut rate = likelihood.rate();
        for (keys, coefficient) in (1u32..).map(f64::from).zip(&series[1..]) {
            factorial *= keys;
            if keys >= likelihood.proven() {
                let (found, solution) = logarithm(&likelihood, keys, rate);
                let exact = (factorial * coefficient).ln();
                assert!((found - exact).abs() < 2e-3, "{keys} keys: {found}, exact {exact}");
                rate = solution;
            }
        }
    }

    /// A single empty register of 2^18 makes numbers up to 2^64 likely. The search still visits few of them.
    #[test]
    fn nearly_full_registers_have_an_interval() {
        let mut counts = [0; 64];
        (counts[46], counts[47]) = (1, (1 << 18) - 1);
        let found = interval(&Likelihood::of_ranks(&counts, 18), f64::NAN, 0.95).unwrap();
        assert!(*found.start() > 1e19 && *found.end() < 1e22, "{found:?}");
    }
}
