//! From measurements to verdicts.
//!
//! Every measurement brings the law it must follow if the structure keeps its word. All laws together share one
//! false-alarm budget: a library without a fault fails a whole run with that probability at most.

use pds_testkit::stats::{Binomial, normal_quantile, split_budget};
use serde::Serialize;

/// The probability that a whole run on faultless code reports a broken promise.
pub(crate) const FALSE_ALARM: f64 = 1e-6;
/// The probability with which a row sees the deviation that it claims to see.
pub(crate) const POWER: f64 = 0.99;
/// A row that could miss a deviation above this proves nothing and is marked so.
pub(crate) const WEAK_ABOVE: f64 = 0.10;

/// What was measured, in the order in which reports show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) enum Check {
    /// Stored keys that the structure denies.
    LostKeys,
    /// Absent keys that it affirms, given its own fill.
    FalsePositives,
    /// The mean rate over many instances, at most the promised one.
    Promise,
    /// The mean rate over many instances against the predicted one.
    MeanRate,
    /// Set bits against the number of keys stored.
    SetBits,
    /// Set bits in the lower half of the array against those in all of it.
    LowerHalf,
    /// The most deviating part of the array against all of it.
    WorstPart,
    /// The union's words that differ from those of a filter of all keys.
    UnionWords,
    /// The number of keys, estimated from the fill.
    Count,
    /// The number of keys in the union of two filters, estimated.
    UnionCount,
    /// The number of keys in both of two filters, estimated.
    SharedCount,
    /// Estimates of a frequency below the truth, other than those that say so.
    BelowTruth,
    /// Estimates of a frequency beyond their bound.
    BeyondBound,
    /// The mean over all keys of estimate less truth.
    MeanError,
    /// The error that one key in a hundred exceeds.
    TailError,
    /// The bytes of a merge that differ from those of the sketch of the whole.
    MergedBytes,
    /// Keys above the share that are not listed.
    MissedHeavy,
    /// Listed keys further below the share than the error allows.
    WronglyHeavy,
    /// The mean of many estimates, as a multiple of the truth.
    MeanEstimate,
    /// The root mean square of many errors, as a multiple of the predicted one.
    EstimateSpread,
    /// The mean load at which a filter with slots is first full.
    FirstFailure,
    /// Counters that stick.
    Overflow,
    /// Absent keys affirmed under a weak hasher that is said to be uniform: to be broken.
    UnmixedRate,
}

impl Check {
    /// What a reader calls it.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::LostKeys => "lost keys",
            Self::FalsePositives => "false positives, given the fill",
            Self::Promise => "mean rate, at most the promise",
            Self::MeanRate => "mean rate, as predicted",
            Self::SetBits => "set bits",
            Self::LowerHalf => "set bits in the lower half",
            Self::WorstPart => "set bits in the worst part",
            Self::UnionWords => "union's words unlike the whole's",
            Self::Count => "approx_len",
            Self::UnionCount => "approx_union_len",
            Self::SharedCount => "approx_intersection_len",
            Self::BelowTruth => "estimates below the truth",
            Self::BeyondBound => "estimates beyond the bound",
            Self::MeanError => "mean error of estimates",
            Self::TailError => "99th percentile of errors",
            Self::MergedBytes => "merge's bytes unlike the whole's",
            Self::MissedHeavy => "heavy keys missed",
            Self::WronglyHeavy => "light keys listed",
            Self::MeanEstimate => "mean estimate",
            Self::EstimateSpread => "spread of estimates",
            Self::FirstFailure => "mean load at the first failure",
            Self::Overflow => "counters that stick",
            Self::UnmixedRate => "false positives, a weak hasher unmixed",
        }
    }

    /// Whether the measurement has to contradict its law, so that the run fails when it agrees.
    pub(crate) const fn is_to_break(self) -> bool {
        matches!(self, Self::UnmixedRate)
    }
}

impl Check {
    /// What a passing row means, in a sentence.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::LostKeys => "Every stored key was asked for; none may be denied.",
            Self::FalsePositives => {
                "Absent keys that were affirmed, against the number that the measured fill of the same instance \
                 predicts, by the exact binomial law."
            }
            Self::Promise => {
                "The mean over many small filters may not exceed the rate that was asked for."
            }
            Self::MeanRate => "The same mean must be the one that the exact formula predicts.",
            Self::SetBits => "As many bits must be set as the stored keys set on average.",
            Self::LowerHalf => "Half of the array must hold half of the set bits.",
            Self::WorstPart => "Of up to 64 equal parts of the array, the one that deviates most.",
            Self::UnionWords => {
                "The union of two filters must be the filter of the united keys, word by word."
            }
            Self::Count => {
                "The number of keys, estimated from the fill, within its own standard error."
            }
            Self::UnionCount => {
                "The number of keys in either of two filters, within its own standard error."
            }
            Self::MeanEstimate => {
                "The mean of the estimates of many sketches, as a multiple of the true number."
            }
            Self::EstimateSpread => {
                "The root mean square of their errors, as a multiple of the predicted standard error."
            }
            Self::FirstFailure => {
                "The mean load at which an insert first fails: no less than that of the usual scheme, and no more than \
                 two choices allow."
            }
            Self::Overflow => "Counters that stick, against the tail of the Poisson law.",
            Self::UnmixedRate => {
                "An expected failure: a weak hasher in `Avalanching` must break the promised rate, which `Mixed` keeps."
            }
            Self::BelowTruth => {
                "No key may be estimated below its count, unless the answer is \"at least\"."
            }
            Self::BeyondBound => {
                "Of all estimates, at most a share of delta may exceed the count by more than epsilon N."
            }
            Self::MeanError => {
                "The mean error over all keys, against a simulation with fully random rows."
            }
            Self::TailError => {
                "The error that one key in a hundred exceeds, against the same simulation."
            }
            Self::MergedBytes => "A merge must be the sketch of both streams, byte for byte.",
            Self::MissedHeavy => "Every key above the share must be listed.",
            Self::WronglyHeavy => "No listed key may be below the share by more than the error.",
            Self::SharedCount => {
                "The number of keys in both of two filters, within its own standard error."
            }
        }
    }
}

/// What an observed number must follow.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Law {
    /// This number and no other.
    Exactly(f64),
    /// A count of independent events, each with a probability between `low` and `high`.
    Events { trials: u64, low: f64, high: f64 },
    /// A normal variable with a mean between `low` and `high`; the most deviating of `looks` such variables.
    Normal { low: f64, high: f64, deviation: f64, looks: u32 },
}

impl Law {
    /// A normal variable whose mean may lie anywhere at or below `bound`.
    pub(crate) const fn at_most(bound: f64, deviation: f64) -> Self {
        Self::Normal { low: f64::NEG_INFINITY, high: bound, deviation, looks: 1 }
    }
}

/// What a row is about.
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

/// One number, with the law it must follow.
#[derive(Debug, Clone)]
pub(crate) struct Measurement {
    pub(crate) case: Case,
    pub(crate) check: Check,
    pub(crate) law: Law,
    pub(crate) observed: f64,
    /// The number of random events behind `observed`, as predicted.
    pub(crate) events: f64,
}

/// What a row says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    /// The measurement agrees with the prediction.
    Kept,
    /// It agrees, but a tenth more or less would have agreed too.
    Weak,
    /// It contradicts the prediction, as it has to.
    Expected,
    /// It contradicts the prediction, or agrees where it must not.
    Broken,
}

/// A judged measurement.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Row {
    #[serde(flatten)]
    pub(crate) case: Case,
    pub(crate) check: Check,
    pub(crate) observed: f64,
    /// The prediction; its upper end where it is an interval.
    pub(crate) expected: f64,
    /// The least and the greatest number that agree with the prediction; no least one for a one-sided promise.
    pub(crate) accepted: (Option<f64>, f64),
    /// The predicted number of random events; none for an exact check.
    pub(crate) events: Option<f64>,
    /// The least relative deviation that this row sees with probability [`POWER`]; none for an exact check.
    pub(crate) sees: Option<f64>,
    pub(crate) verdict: Verdict,
}

impl Row {
    /// Whether chance has a part in this row.
    pub(crate) const fn is_statistical(&self) -> bool {
        self.sees.is_some()
    }
}

/// Judges all measurements of a run at the false-alarm level `alpha` each, in the order of checks.
pub(crate) fn judge(mut measurements: Vec<Measurement>, alpha: f64) -> Vec<Row> {
    measurements.sort_by_key(|measurement| measurement.check);
    measurements.into_iter().map(|measurement| judge_one(measurement, alpha)).collect()
}

/// The share of [`FALSE_ALARM`] that each measurement subject to chance receives.
pub(crate) fn false_alarm_of_each(measurements: &[Measurement]) -> f64 {
    let exact = |measurement: &&Measurement| matches!(measurement.law, Law::Exactly(_));
    split_budget(FALSE_ALARM, measurements.len() - measurements.iter().filter(exact).count())
}

fn judge_one(measurement: Measurement, alpha: f64) -> Row {
    let Measurement { case, check, law, observed, events } = measurement;
    let bounds = Bounds::of(law, alpha);
    let agrees = (bounds.low..=bounds.high).contains(&observed);
    let verdict = if agrees == check.is_to_break() {
        Verdict::Broken
    } else if !agrees {
        Verdict::Expected
    } else if bounds.sees > WEAK_ABOVE {
        Verdict::Weak
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

/// The numbers that a law accepts.
struct Bounds {
    low: f64,
    high: f64,
    expected: f64,
    sees: f64,
}

impl Bounds {
    fn of(law: Law, alpha: f64) -> Self {
        match law {
            Law::Exactly(value) => Self { low: value, high: value, expected: value, sees: 0.0 },
            Law::Events { trials, low, high } => Self::of_events(trials, low, high, alpha),
            Law::Normal { low, high, deviation, looks } => {
                Self::of_normal(low, high, deviation, alpha / f64::from(looks))
            }
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
        }
    }
}

/// A count as a real number; counts here stay below 2^53.
#[expect(clippy::cast_precision_loss, reason = "counts of a run stay below 2^53")]
pub(crate) const fn real(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measurement(law: Law, observed: f64) -> Measurement {
        let case = Case {
            structure: "toy",
            items: 1,
            rate: 0.01,
            shape: String::new(),
            keys: "random",
            hasher: "default",
            instances: 1,
        };
        Measurement { case, check: Check::FalsePositives, law, observed, events: 1.0 }
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
    fn the_worst_of_many_looks_may_deviate_further() {
        let once = Law::Normal { low: 1000.0, high: 1000.0, deviation: 10.0, looks: 1 };
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
