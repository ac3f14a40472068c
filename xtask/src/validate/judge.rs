//! From measurements to verdicts.
//!
//! Each measurement has a law that it follows if the structure keeps its promise. All laws share one false-alarm
//! budget: the probability that a run on faultless code fails is at most that budget.

use crate::numbers::real;
use pds_testkit::stats::{Binomial, normal_quantile, split_budget};
use serde::{Serialize, Serializer};

/// The probability that a whole run on faultless code reports a broken promise.
pub(crate) const FALSE_ALARM: f64 = 1e-6;
/// The probability that a row detects the deviation that it states.
pub(crate) const POWER: f64 = 0.99;
/// A row that detects only deviations above this is marked as weak.
pub(crate) const WEAK_ABOVE: f64 = 0.10;
/// The same for intervals at confidences above 0.99. They miss so rarely that a run detects gross errors only, such as
/// an interval of half the width.
const GROSS: f64 = 0.5;

/// The kind of a measurement. Each is a constant beside the code that measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Check {
    /// Its title in reports.
    pub(crate) title: &'static str,
    /// The meaning of a passing row, as a sentence.
    pub(crate) meaning: &'static str,
    /// Whether the measurement must contradict its law. The run fails if it agrees.
    is_to_break: bool,
}

impl Check {
    pub(crate) const fn new(title: &'static str, meaning: &'static str) -> Self {
        Self { title, meaning, is_to_break: false }
    }

    /// Returns the check as one that must contradict its law.
    pub(crate) const fn to_break(self) -> Self {
        Self { is_to_break: true, ..self }
    }
}

impl Serialize for Check {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.title)
    }
}

/// The distribution of a measured number.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Law {
    /// Exactly this number.
    Exactly(f64),
    /// A count of independent events, each with a probability between `low` and `high`.
    Events { trials: u64, low: f64, high: f64 },
    /// A normal variable with a mean between `low` and `high`; the most deviating of `looks` such variables.
    Normal { low: f64, high: f64, deviation: f64, looks: u32 },
    /// The share of independent intervals that hold the truth. Each does with probability `confidence` or more.
    Coverage { trials: u64, confidence: f64 },
}

impl Law {
    /// A normal variable whose mean may lie anywhere at or below `bound`.
    pub(crate) const fn at_most(bound: f64, deviation: f64) -> Self {
        Self::between(f64::NEG_INFINITY, bound, deviation)
    }

    /// A normal variable with a mean from `low` to `high`.
    pub(crate) const fn between(low: f64, high: f64, deviation: f64) -> Self {
        Self::Normal { low, high, deviation, looks: 1 }
    }

    /// A normal variable with this mean.
    pub(crate) const fn around(mean: f64, deviation: f64) -> Self {
        Self::between(mean, mean, deviation)
    }

    /// Returns the greatest deviation that a row may miss without being weak.
    const fn weak_above(self) -> f64 {
        match self {
            Self::Coverage { confidence, .. } if confidence > 0.99 => GROSS,
            _ => WEAK_ABOVE,
        }
    }
}

/// A closed interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Interval {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Interval {
    pub(crate) const fn exactly(value: f64) -> Self {
        Self { low: value, high: value }
    }
}

/// The subject of a row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Case {
    /// The structure's name on the command line.
    pub(crate) structure: &'static str,
    /// Keys stored in each instance.
    pub(crate) items: u64,
    /// The promised or, for a size given in bits, the predicted rate at the design load.
    pub(crate) rate: f64,
    /// The structure's own parameters, as text.
    pub(crate) shape: String,
    /// The kind of keys.
    pub(crate) keys: &'static str,
    /// The hasher.
    pub(crate) hasher: &'static str,
    /// How many instances were built.
    pub(crate) instances: u64,
}

impl Case {
    /// Returns the case of one instance of random keys with the default hasher.
    pub(crate) fn random(
        structure: &'static str,
        items: u64,
        rate: f64,
        shape: impl Into<String>,
    ) -> Self {
        let (keys, hasher, instances) = ("random", "default", 1);
        Self { structure, items, rate, shape: shape.into(), keys, hasher, instances }
    }

    /// Returns the same case of so many instances.
    pub(crate) fn of(self, instances: u64) -> Self {
        Self { instances, ..self }
    }

    /// Returns a row of this case.
    pub(crate) fn row(&self, check: Check, law: Law, observed: f64, events: f64) -> Measurement {
        Measurement { case: self.clone(), check, law, observed, events }
    }

    /// Returns a row of a number of faults, of which none is allowed.
    pub(crate) fn none(&self, check: Check, faults: u64) -> Measurement {
        self.row(check, Law::Exactly(0.0), real(faults), 0.0)
    }

    /// Returns a row of independent events, each with a probability in this interval.
    pub(crate) fn events(
        &self,
        check: Check,
        trials: u64,
        rate: Interval,
        events: u64,
    ) -> Measurement {
        let Interval { low, high } = rate;
        self.row(check, Law::Events { trials, low, high }, real(events), low * real(trials))
    }
}

/// A measured number and its law.
#[derive(Debug, Clone)]
pub(crate) struct Measurement {
    pub(crate) case: Case,
    pub(crate) check: Check,
    pub(crate) law: Law,
    pub(crate) observed: f64,
    /// The number of random events behind `observed`, as predicted.
    pub(crate) events: f64,
}

/// The result of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    /// The measurement agrees with the prediction.
    Kept,
    /// It agrees, but a deviation of a tenth would have agreed as well.
    Weak,
    /// Intervals hold the truth more often than they state. They are wider than necessary, which breaks no promise.
    Wide,
    /// It contradicts the prediction, as expected.
    Expected,
    /// It contradicts the prediction, or agrees with one that it must contradict.
    Broken,
}

/// A judged measurement.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Row {
    #[serde(flatten)]
    pub(crate) case: Case,
    pub(crate) check: Check,
    pub(crate) observed: f64,
    /// The prediction, or its upper end if it is an interval.
    pub(crate) expected: f64,
    /// The least and the greatest number that agree with the prediction. A one-sided promise has no least one.
    pub(crate) accepted: (Option<f64>, f64),
    /// The predicted number of random events. `None` for an exact check.
    pub(crate) events: Option<f64>,
    /// The least relative deviation that this row detects with probability [`POWER`]. `None` for an exact check.
    pub(crate) sees: Option<f64>,
    pub(crate) verdict: Verdict,
}

impl Row {
    /// Returns whether the measurement is random.
    pub(crate) const fn is_statistical(&self) -> bool {
        self.sees.is_some()
    }
}

/// Judges all measurements of a run, each at the false-alarm level `alpha`. Rows are sorted by the first occurrence of
/// their check.
pub(crate) fn judge(mut measurements: Vec<Measurement>, alpha: f64) -> Vec<Row> {
    let mut checks: Vec<Check> = Vec::new();
    for measurement in &measurements {
        if !checks.contains(&measurement.check) {
            checks.push(measurement.check);
        }
    }
    measurements
        .sort_by_key(|measurement| checks.iter().position(|check| *check == measurement.check));
    measurements.into_iter().map(|measurement| judge_one(measurement, alpha)).collect()
}

/// Returns the share of [`FALSE_ALARM`] for each random measurement.
pub(crate) fn false_alarm_of_each(measurements: &[Measurement]) -> f64 {
    let exact = |measurement: &&Measurement| matches!(measurement.law, Law::Exactly(_));
    split_budget(FALSE_ALARM, measurements.len() - measurements.iter().filter(exact).count())
}

fn judge_one(measurement: Measurement, alpha: f64) -> Row {
    let Measurement { case, check, law, observed, events } = measurement;
    let bounds = Bounds::of(law, alpha);
    let agrees = (bounds.low..=bounds.high).contains(&observed);
    let verdict = if agrees == check.is_to_break {
        Verdict::Broken
    } else if !agrees {
        Verdict::Expected
    } else if bounds.sees > law.weak_above() {
        Verdict::Weak
    } else if observed > bounds.tight {
        Verdict::Wide
    } else {
        Verdict::Kept
    };
    let chance = !matches!(law, Law::Exactly(_));
    Row {
        case,
        check,
        observed,
        expected: bounds.expected,
        accepted: (bounds.low.is_finite().then_some(bounds.low), bounds.high),
        events: chance.then_some(events),
        sees: chance.then_some(bounds.sees),
        verdict,
    }
}

/// The accepted numbers of a law.
struct Bounds {
    low: f64,
    high: f64,
    expected: f64,
    sees: f64,
    /// The greatest number that does not show an interval to be wider than necessary.
    tight: f64,
}

impl Bounds {
    fn of(law: Law, alpha: f64) -> Self {
        match law {
            Law::Exactly(value) => {
                Self { low: value, high: value, expected: value, sees: 0.0, tight: value }
            }
            Law::Events { trials, low, high } => Self::of_events(trials, low, high, alpha),
            Law::Normal { low, high, deviation, looks } => {
                Self::of_normal(low, high, deviation, alpha / f64::from(looks))
            }
            Law::Coverage { trials, confidence } => Self::of_coverage(trials, confidence, alpha),
        }
    }

    /// One-sided. The deviation to be seen is the share by which an interval of a normal error is too narrow.
    fn of_coverage(trials: u64, confidence: f64, alpha: f64) -> Self {
        let misses = Binomial::new(trials, 1.0 - confidence);
        let most = misses.greatest_accepted(alpha);
        let seen = (1.0 - confidence) * (1.0 + misses.detectable_rise(most, POWER));
        let share = |misses: u64| real(trials - misses) / real(trials);
        Self {
            low: share(most),
            high: 1.0,
            expected: confidence,
            sees: 1.0 - normal_quantile(seen / 2.0) / normal_quantile((1.0 - confidence) / 2.0),
            tight: share(misses.least_accepted(alpha)),
        }
    }

    fn of_events(trials: u64, low: f64, high: f64, alpha: f64) -> Self {
        let (lower, upper) = (Binomial::new(trials, low), Binomial::new(trials, high));
        let least = lower.least_accepted(alpha / 2.0);
        let greatest = upper.greatest_accepted(alpha / 2.0);
        let rise = (1.0 + upper.detectable_rise(greatest, POWER)) * high / low - 1.0;
        let fall = lower.detectable_fall(least, POWER);
        Self {
            low: real(least),
            high: real(greatest),
            expected: upper.mean(),
            sees: rise.max(fall),
            tight: f64::INFINITY,
        }
    }

    fn of_normal(low: f64, high: f64, deviation: f64, alpha: f64) -> Self {
        let one_sided = low == f64::NEG_INFINITY;
        let z = normal_quantile(if one_sided { alpha } else { alpha / 2.0 });
        let spread = if one_sided { 0.0 } else { high - low };
        let visible = (z + normal_quantile(1.0 - POWER)) * deviation + spread;
        Self {
            low: low - z * deviation,
            high: high + z * deviation,
            expected: high,
            sees: visible / high,
            tight: f64::INFINITY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measurement(law: Law, observed: f64) -> Measurement {
        Case::random("toy", 1, 0.01, "").row(Check::new("toys", ""), law, observed, 1.0)
    }

    fn judged(law: Law, observed: f64, alpha: f64) -> Row {
        judge(vec![measurement(law, observed)], alpha).remove(0)
    }

    fn verdict(law: Law, observed: f64) -> Verdict {
        judged(law, observed, FALSE_ALARM).verdict
    }

    #[test]
    fn an_exact_law_knows_no_noise() {
        assert_eq!(verdict(Law::Exactly(0.0), 0.0), Verdict::Kept);
        assert_eq!(verdict(Law::Exactly(0.0), 1.0), Verdict::Broken);
    }

    #[test]
    fn events_are_judged_on_both_sides() {
        // 10,000 expected, standard deviation 99.5, bounds at 4.9 of them.
        let law = Law::Events { trials: 1_000_000, low: 0.01, high: 0.01 };
        assert_eq!(verdict(law, 10_450.0), Verdict::Kept);
        assert_eq!(verdict(law, 10_520.0), Verdict::Broken);
        assert_eq!(verdict(law, 9_480.0), Verdict::Broken);
    }

    #[test]
    fn an_interval_of_rates_widens_the_bounds_on_its_side_only() {
        let law = Law::Events { trials: 1_000_000, low: 0.01, high: 0.0102 };
        assert_eq!(verdict(law, 10_650.0), Verdict::Kept);
        assert_eq!(verdict(law, 9_480.0), Verdict::Broken);
    }

    #[test]
    fn few_events_are_weak() {
        assert_eq!(
            verdict(Law::Events { trials: 10_000, low: 0.01, high: 0.01 }, 100.0),
            Verdict::Weak
        );
    }

    #[test]
    fn a_promise_is_broken_upwards_only() {
        let law = Law::at_most(0.01, 1e-5);
        assert_eq!(verdict(law, 0.001), Verdict::Kept);
        assert_eq!(verdict(law, 0.010_045), Verdict::Kept);
        assert_eq!(verdict(law, 0.010_055), Verdict::Broken);
    }

    #[test]
    fn coverage_is_broken_downwards_and_told_upwards() {
        let law = Law::Coverage { trials: 6_000, confidence: 0.95 };
        let row = judged(law, 0.95, 1e-9);
        assert_eq!(row.verdict, Verdict::Kept);
        // 300 misses expected, standard deviation 16.9: six of them either way.
        assert_eq!(verdict(law, 0.93), Verdict::Broken);
        assert_eq!(verdict(law, 0.97), Verdict::Wide);
        // An interval that is a tenth too narrow is detected.
        assert!(row.sees.is_some_and(|sees| sees < WEAK_ABOVE), "{row:?}");
    }

    #[test]
    fn far_tails_show_gross_failure_only() {
        let law = Law::Coverage { trials: 6_000, confidence: 0.99999 };
        let row = judged(law, 1.0, 1e-9);
        assert_eq!(row.verdict, Verdict::Kept);
        assert!(row.sees.is_some_and(|sees| (0.2..GROSS).contains(&sees)), "{row:?}");
        assert_eq!(verdict(law, 0.997), Verdict::Broken);
    }

    #[test]
    fn the_worst_of_many_looks_may_deviate_further() {
        let once = Law::around(1000.0, 10.0);
        let often = Law::Normal { low: 1000.0, high: 1000.0, deviation: 10.0, looks: 1000 };
        assert_eq!(verdict(once, 1055.0), Verdict::Broken);
        assert_eq!(verdict(often, 1055.0), Verdict::Kept);
    }

    #[test]
    fn more_tests_share_the_same_budget() {
        let law = Law::Events { trials: 1_000_000, low: 0.01, high: 0.01 };
        let exact = measurement(Law::Exactly(0.0), 0.0);
        let alone = false_alarm_of_each(&[exact.clone(), measurement(law, 1e4)]);
        let among_many = false_alarm_of_each(&vec![measurement(law, 1e4); 500]);
        assert_eq!(alone, FALSE_ALARM);
        assert!((among_many * 500.0 / FALSE_ALARM - 1.0).abs() < 1e-3);
        assert!(judged(law, 1e4, among_many).accepted.1 > judged(law, 1e4, alone).accepted.1);
    }
}
