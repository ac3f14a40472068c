//! Coverage: how often intervals hold the truth, at three confidences.
//!
//! A [`Trial`] builds one instance from random hashes and hands over its answers, each with the truth. The trials of a
//! case are independent, so that the number of intervals that hold the truth follows a binomial law.

use super::Run;
use super::judge::{Case, Check, Law, Measurement};
use super::random::{Random, label};
use super::schedule::Job;
use crate::numbers::real;
use core::ops::RangeInclusive;
use pds::Estimate;
use pds_testkit::keys;
use pds_testkit::stats::normal_quantile;

/// The confidences at which intervals are asked, each with its check.
pub(crate) const COVERAGE: [(f64, Check); 3] = [
    (
        0.95,
        Check::new(
            "intervals at 0.95 that hold the truth",
            "The share of 6,000 independent intervals or more that hold the truth. An interval a tenth too \
                      narrow is seen.",
        ),
    ),
    (
        0.9973,
        Check::new(
            "intervals at 0.9973 that hold the truth",
            "The same at three standard errors. Some sixteen misses are expected, so that an interval must be \
                      about a seventh too narrow to be seen.",
        ),
    ),
    (
        0.99999,
        Check::new(
            "intervals at 0.99999 that hold the truth",
            "The same far out. Gross failure only is seen: no miss is expected, and an interval must be about \
                      a third too narrow to be seen.",
        ),
    ),
];

/// Trials of a case: as many as show an interval a tenth too narrow at 0.95. A full run has four times as many.
const TRIALS: u64 = 6_000;

/// The width of an interval as the structure states it.
pub(crate) const AS_STATED: f64 = 1.0;
/// The width with the faults `narrow-interval` and `narrow-count`, as a share of what the structure states.
pub(crate) const NARROW: f64 = 0.9;

/// The standard errors that a normal error exceeds, on either side, with probability 1 - confidence.
pub(crate) fn deviations(confidence: f64) -> f64 {
    normal_quantile((1.0 - confidence) / 2.0)
}

/// An estimate with its interval at each confidence.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    value: f64,
    /// At each confidence, or at the first ones only.
    ends: Vec<RangeInclusive<f64>>,
}

impl Answer {
    /// An estimate and its interval, by the confidence.
    pub(crate) fn new(value: f64, interval: impl Fn(f64) -> RangeInclusive<f64>) -> Self {
        Self { value, ends: COVERAGE.map(|(confidence, _)| interval(confidence)).to_vec() }
    }

    /// As many standard errors around the estimate as a normal error exceeds with probability 1 - confidence.
    pub(crate) fn normal(Estimate { value, standard_error }: Estimate) -> Self {
        Self::new(value, |confidence| {
            let spread = deviations(confidence) * standard_error;
            value - spread..=value + spread
        })
    }

    /// At 0.95 only, for a standard error of few coincidences: it tells how seldom one occurs, and no more.
    pub(crate) fn of_few(estimate: Estimate) -> Self {
        let mut answer = Self::normal(estimate);
        answer.ends.truncate(1);
        answer
    }

    /// Whether each interval holds `truth`, once it has `width` times its width.
    fn holds(&self, truth: f64, width: f64) -> impl Iterator<Item = bool> {
        let end = move |end: f64| {
            if width == AS_STATED { end } else { self.value + width * (end - self.value) }
        };
        self.ends.iter().map(move |ends| (end(*ends.start())..=end(*ends.end())).contains(&truth))
    }
}

/// An answer of one instance.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// Keys inserted.
    pub(crate) items: u64,
    /// The question.
    pub(crate) name: &'static str,
    pub(crate) truth: f64,
    pub(crate) answer: Answer,
}

/// Builds an instance from random hashes and hands over its answers.
type Trial<'a> = Box<dyn Fn(Random<'_>, &mut dyn FnMut(Asked)) + Send + 'a>;

/// A structure of one shape whose intervals are tried.
pub(crate) struct Intervals<'a> {
    structure: &'static str,
    shape: String,
    /// Roughly how many operations a trial takes.
    cost: u64,
    trial: Trial<'a>,
}

impl<'a> Intervals<'a> {
    pub(crate) fn new(
        structure: &'static str,
        shape: impl Into<String>,
        cost: u64,
        trial: impl Fn(Random<'_>, &mut dyn FnMut(Asked)) + Send + 'a,
    ) -> Self {
        Self { structure, shape: shape.into(), cost, trial: Box::new(trial) }
    }

    /// The job that tries it, with intervals of `width` times their width.
    pub(crate) fn job(self, run: &Run, width: f64) -> Job<'a> {
        self.tried(run.effort.choose([TRIALS, TRIALS, 4 * TRIALS]), run.seed, width)
    }

    fn tried(self, trials: u64, seed: u64, width: f64) -> Job<'a> {
        Job::new(self.cost * trials, move || {
            let mut random = keys::random(seed ^ label(&self.shape));
            let mut tallies: Vec<Tally> = Vec::new();
            for _ in 0..trials {
                (self.trial)(&mut random, &mut |asked| {
                    tally_of(&mut tallies, &asked).add(&asked, width)
                });
            }
            let judge = |tally: &Tally| tally.judge(trials, self.structure, &self.shape);
            tallies.iter().flat_map(judge).collect()
        })
    }
}

/// The intervals that held the truth, of one question at one number of keys.
struct Tally {
    items: u64,
    name: &'static str,
    trials: u64,
    /// At each confidence that is asked.
    held: Vec<u64>,
}

fn tally_of<'a>(tallies: &'a mut Vec<Tally>, asked: &Asked) -> &'a mut Tally {
    let is_same = |tally: &Tally| tally.items == asked.items && tally.name == asked.name;
    let index = tallies.iter().position(is_same).unwrap_or(tallies.len());
    if index == tallies.len() {
        let held = vec![0; asked.answer.ends.len()];
        tallies.push(Tally { items: asked.items, name: asked.name, trials: 0, held });
    }
    &mut tallies[index]
}

impl Tally {
    fn add(&mut self, asked: &Asked, width: f64) {
        self.trials += 1;
        let holds = asked.answer.holds(asked.truth, width);
        self.held.iter_mut().zip(holds).for_each(|(held, holds)| *held += u64::from(holds));
    }

    /// The share of each confidence, of so many trials. A question that only some instances answer, as those that a coincidence has kept
    /// sparse, is not judged.
    fn judge(&self, trials: u64, structure: &'static str, shape: &str) -> Vec<Measurement> {
        let in_all = real(self.trials);
        let measure = |((confidence, check), &held): ((f64, Check), &u64)| {
            let shape = format!("{shape}, {}", self.name);
            let case = Case::random(structure, self.items, 1.0 - confidence, shape);
            let case = Case { hasher: "none", ..case.of(self.trials) };
            let law = Law::Coverage { trials: self.trials, confidence };
            case.row(check, law, real(held) / in_all, in_all * (1.0 - confidence))
        };
        let is_judged = 2 * self.trials > trials;
        let held = COVERAGE.into_iter().zip(&self.held).filter(|_| is_judged);
        held.map(measure).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::judge::{FALSE_ALARM, Verdict, judge};
    use super::super::schedule;
    use super::*;

    /// A sum of twelve uniform numbers, whose error is known.
    fn sums() -> Intervals<'static> {
        Intervals::new("toy", "", 1, |random, ask| {
            let uniform = |number: u64| real(number >> 11) * 2f64.powi(-53);
            let value = random.take(12).map(uniform).sum();
            let answer = Answer::normal(Estimate { value, standard_error: 1.0 });
            ask(Asked { items: 12, name: "sum", truth: 6.0, answer });
        })
    }

    fn verdicts(width: f64) -> Vec<Verdict> {
        let done = schedule::run(vec![sums().tried(TRIALS, 1, width)]).remove(0);
        let rows = judge(done.measurements, FALSE_ALARM / 3_000.0);
        rows.iter().map(|row| row.verdict).collect()
    }

    #[test]
    fn an_interval_is_kept_and_a_narrow_one_found() {
        assert_eq!(verdicts(AS_STATED), [Verdict::Kept; 3]);
        assert_eq!(verdicts(NARROW)[0], Verdict::Broken);
        assert_eq!(verdicts(0.4), [Verdict::Broken; 3]);
        assert_eq!(verdicts(1.5)[0], Verdict::Wide);
    }
}
