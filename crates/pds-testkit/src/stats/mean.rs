//! Means of independent values against a prediction.

use statrs::distribution::{ContinuousCDF as _, StudentsT};

/// Tests the mean of independent values against `expected`, two-sided with a false-alarm level of `alpha`.
///
/// The spread of the values themselves gives the error, so the limit is that of Student's t distribution. With 12 values and a level of
/// 10^-9 it is more than twice that of the normal distribution.
///
/// # Panics
/// If the mean is too far off, or if there are fewer than two values. The message says by how many standard errors.
#[expect(clippy::cast_precision_loss, reason = "a number of values is far below 2^53")]
pub fn judge_mean(name: &str, values: &[f64], expected: f64, alpha: f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
    let errors = (mean - expected) / (squares / (count - 1.0) / count).sqrt();
    let chance = two_sided(errors, values.len() - 1);
    assert!(chance > alpha, "{name}: {mean} for {expected}, {errors} standard errors: {chance}");
}

/// Returns the probability that a variable of Student's distribution is at least as far from 0 as `t`.
#[expect(clippy::cast_precision_loss, reason = "a number of values is far below 2^53")]
fn two_sided(t: f64, freedom: usize) -> f64 {
    let law = StudentsT::new(0.0, 1.0, freedom as f64).expect("two values at least");
    2.0 * law.sf(t.abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::normal_upper_tail;

    #[test]
    fn the_limits_are_those_of_the_tables() {
        // Two-sided limits from published tables of the distribution.
        for (freedom, t, chance) in [
            (1, 12.706, 0.05),
            (2, 4.303, 0.05),
            (3, 5.841, 0.01),
            (5, 2.571, 0.05),
            (11, 4.437, 0.001),
            (20, 3.850, 0.001),
            (39, 2.708, 0.01),
        ] {
            let found = two_sided(t, freedom);
            assert!((found / chance - 1.0).abs() < 2e-3, "{freedom}: {found}");
        }
        let (found, normal) = (two_sided(3.0, 1_000_000), 2.0 * normal_upper_tail(3.0));
        assert!((found / normal - 1.0).abs() < 1e-4, "{found} {normal}");
        assert_eq!([two_sided(0.0, 4), two_sided(0.0, 5)], [1.0, 1.0]);
    }

    #[test]
    fn a_mean_that_is_near_is_accepted() {
        judge_mean("near", &[0.9, 1.1, 1.0, 1.2], 1.0, 0.05);
    }

    #[test]
    #[should_panic(expected = "far: 1.05 for 0.8, 3.87")]
    fn a_mean_that_is_far_off_is_not() {
        judge_mean("far", &[0.9, 1.1, 1.0, 1.2], 0.8, 0.05);
    }
}
