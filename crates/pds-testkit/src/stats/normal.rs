//! Tails of the standard normal distribution.

use core::f64::consts::SQRT_2;
use statrs::function::erf::{erfc, erfc_inv};

/// Returns the probability that a standard normal variable exceeds `z`.
#[must_use]
pub fn normal_upper_tail(z: f64) -> f64 {
    0.5 * erfc(z / SQRT_2)
}

/// Returns the `z` that a standard normal variable exceeds with probability `upper_tail`.
///
/// For a two-sided test at level `alpha`, use `alpha / 2`.
#[must_use]
pub fn normal_quantile(upper_tail: f64) -> f64 {
    SQRT_2 * erfc_inv(2.0 * upper_tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_two_sided_millionth_is_at_4_89() {
        assert!((normal_quantile(5e-7) - 4.891_638_475_698_591).abs() < 1e-9);
    }

    #[test]
    fn quantile_and_tail_are_inverse() {
        for exponent in 1..=14 {
            let tail = 10f64.powi(-exponent);
            let back = normal_upper_tail(normal_quantile(tail));
            assert!((back / tail - 1.0).abs() < 1e-9, "{tail} came back as {back}");
        }
        assert!(normal_quantile(0.5).abs() < 1e-15);
    }
}
