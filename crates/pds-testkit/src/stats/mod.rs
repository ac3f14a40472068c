//! Statistical tests of measurements against their predictions.
//!
//! A count of independent events is tested by the [`Binomial`] distribution itself, not by its normal approximation.
//! Many tests in one run need small false-alarm levels. There the approximation errs by orders of magnitude in the
//! tail. Sums over many random cells (set bits) are tested by [`normal_quantile`]. Means of few values, whose spread is not
//! known, are tested by [`judge_mean`]. Times are reported by their
//! [`Median`].

mod binomial;
mod mean;
mod median;
mod normal;
mod positives;

pub use binomial::Binomial;
pub use mean::judge_mean;
pub use median::Median;
pub use normal::{normal_quantile, normal_upper_tail};
pub use positives::Positives;

/// Returns the false-alarm level for each of `tests` independent tests.
///
/// All tests together then raise a false alarm with probability at most `total`. The level is
/// `1 - (1 - total)^(1 / tests)`, slightly more than `total / tests` (Šidák, "Rectangular confidence regions for the
/// means of multivariate normal distributions", JASA 1967).
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
