//! Relative errors of many estimates, compared with a prediction.
#![allow(dead_code, reason = "no test file needs everything")]

use pds_testkit::stats::normal_quantile;

/// The probability that a correct sketch fails a test.
pub(crate) const ALPHA: f64 = 1e-6;

/// Returns the deviation that a normal variable exceeds in either direction with this probability.
pub(crate) fn limit() -> f64 {
    normal_quantile(ALPHA / 2.0)
}

/// Relative errors of estimates of one true number.
#[derive(Default)]
pub(crate) struct Errors {
    count: f64,
    sum: f64,
    squares: f64,
}

impl Errors {
    pub(crate) fn add(&mut self, estimate: f64, truth: f64) {
        let error = estimate / truth - 1.0;
        self.count += 1.0;
        self.sum += error;
        self.squares += error * error;
    }

    pub(crate) fn bias(&self) -> f64 {
        self.sum / self.count
    }

    /// Returns the standard deviation around the mean.
    pub(crate) fn standard_deviation(&self) -> f64 {
        (self.squares / self.count - self.bias().powi(2)).sqrt()
    }

    pub(crate) fn root_mean_square(&self) -> f64 {
        (self.squares / self.count).sqrt()
    }

    /// Judges both against a predicted standard error, which is itself exact to `slack`.
    #[track_caller]
    pub(crate) fn judge(&self, expected: f64, slack: f64, what: &str) {
        let z = limit();
        let (bias, error) = (self.bias() / expected, self.root_mean_square() / expected);
        let bias_limit = z / self.count.sqrt() + slack;
        // The logarithm of the root mean square of normal errors has this spread.
        let error_limit = z / (2.0 * self.count).sqrt() + slack;
        println!(
            "{what}: bias {bias:+.3} (limit {bias_limit:.3}), error {error:.3} of the predicted one"
        );
        assert!(bias.abs() < bias_limit, "{what}: bias {bias} of limit {bias_limit}");
        assert!(error.ln().abs() < error_limit, "{what}: error {error}, limit {error_limit}");
    }
}
