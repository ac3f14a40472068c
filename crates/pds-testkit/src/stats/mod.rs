//! When does a measurement contradict its prediction?
//!
//! A count of independent events is judged by the [`Binomial`] distribution itself, not by its normal approximation:
//! at the small false-alarm levels that many tests in one run need, the approximation is off by orders of magnitude
//! in the tail. Sums over many random cells (set bits) are judged by [`normal_quantile`]. Times are told by their [`Median`].

mod binomial;
mod median;
mod normal;
mod positives;

pub use binomial::Binomial;
pub use median::Median;
pub use normal::{normal_quantile, normal_upper_tail};
pub use positives::Positives;

/// The false-alarm level of each of `tests` independent tests that together may raise a false alarm with probability
/// `total` at most.
///
/// Šidák, "Rectangular confidence regions for the means of multivariate normal distributions", JASA 1967:
/// `1 - (1 - total)^(1 / tests)`, slightly more than `total / tests`.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a number of tests is far below 2^53")]
pub fn split_budget(total: f64, tests: usize) -> f64 {
    -(f64::ln_1p(-total) / tests.max(1) as f64).exp_m1()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shares_of_a_budget_add_up_to_it() {
        assert_eq!(split_budget(1e-6, 1), 1e-6);
        for tests in [2, 10, 1_000] {
            let share = split_budget(1e-6, tests);
            let together = 1.0 - (1.0 - share).powi(i32::try_from(tests).unwrap());
            assert!((together / 1e-6 - 1.0).abs() < 1e-6, "{tests} tests: {together}");
        }
    }
}
