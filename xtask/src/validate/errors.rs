//! The errors of many estimates of one number: their mean, their spread, and the intervals that hold the truth.

use super::coverage::COVERAGE;
use super::judge::{Case, Check, Law, Measurement};
use crate::numbers::real;

/// The errors of independent estimates.
#[derive(Default)]
pub(crate) struct Errors {
    all: Vec<f64>,
    /// Intervals that hold the truth.
    hits: u64,
    /// The sum of the squares of the standard errors that estimates stated.
    stated: f64,
}

impl Errors {
    /// Adds the error of an estimate, and whether its interval at the first confidence of [`COVERAGE`] holds the truth.
    pub(crate) fn add(&mut self, error: f64, is_hit: bool) {
        self.all.push(error);
        self.hits += u64::from(is_hit);
    }

    /// Adds the standard error that the estimate states.
    pub(crate) fn add_stated(&mut self, standard_error: f64) {
        self.stated += standard_error.powi(2);
    }

    /// Returns the root mean square of the stated standard errors.
    pub(crate) fn stated(&self) -> f64 {
        (self.stated / real(self.all.len() as u64)).sqrt()
    }

    /// Returns the mean of `f` of each error, and its standard error.
    fn mean(&self, f: impl Fn(f64) -> f64) -> (f64, f64) {
        let count = real(self.all.len() as u64);
        let mean = self.all.iter().map(|&error| f(error)).sum::<f64>() / count;
        let squares = self.all.iter().map(|&error| (f(error) - mean) * (f(error) - mean));
        (mean, (squares.sum::<f64>() / count / count).sqrt())
    }

    /// Returns the root mean square in this unit, and its standard error.
    pub(crate) fn spread(&self, unit: f64) -> (f64, f64) {
        let (square, error) = self.mean(|error| error * error / unit / unit);
        (square.sqrt(), error / 2.0 / square.sqrt())
    }

    /// Judges the errors of estimates of `truth`, whose standard error lies between `least` and `most`. The checks are of the mean,
    /// the spread and the intervals.
    pub(crate) fn judge(
        &self,
        case: &Case,
        truth: f64,
        [least, most]: [f64; 2],
        checks: [Check; 3],
    ) -> Vec<Measurement> {
        let events = real(case.instances);
        let (bias, deviation) = self.mean(|error| error);
        let mean = Law::around(1.0, deviation / truth);
        let (spread, deviation) = self.spread(most);
        let of_spread = Law::between(least / most, 1.0, deviation);
        let confidence = COVERAGE[0].0;
        let hits = Law::Coverage { trials: case.instances, confidence };
        let judged = [
            (mean, 1.0 + bias / truth, events),
            (of_spread, spread, events),
            (hits, real(self.hits) / events, (1.0 - confidence) * events),
        ];
        let rows = checks.into_iter().zip(judged);
        rows.map(|(check, (law, observed, events))| case.row(check, law, observed, events))
            .collect()
    }
}
