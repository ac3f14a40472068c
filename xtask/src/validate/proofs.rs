//! Answers against what the structure proves: random histories after which no interval may contradict a fact.
//!
//! A fact is counted here, apart from the library: the registers that the hashes occupy, the times that a key came.

use super::Run;
use super::judge::{Case, Check, Measurement};
use super::random::Random;
use super::schedule::Job;
use crate::numbers::real;
use core::ops::RangeInclusive;
use pds::Estimate;
use pds::cms::CountInterval;
use pds_testkit::keys;

pub(crate) const CONTRADICTIONS: Check = Check::new(
    "answers that contradict the structure",
    "After random histories: no interval ends before it begins, excludes what occupied registers, set bits or \
              counters prove, or has an end or an error that is no number.",
);

/// The claims of a history that did not hold.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    made: u64,
    broken: u64,
}

impl Claims {
    pub(crate) const fn hold(&mut self, holds: bool) {
        self.made += 1;
        self.broken += !holds as u64;
    }

    /// An interval that begins before it ends, and holds no less than `floor`.
    pub(crate) fn interval(&mut self, interval: &RangeInclusive<f64>, floor: u64) {
        let (start, end) = (*interval.start(), *interval.end());
        // An estimate may be a rounding below the number of its registers.
        let floor = real(floor) * (1.0 - 1e-12);
        self.hold(floor <= start && start <= end);
    }

    /// An error that is a number, around an estimate from `low` to `high`.
    pub(crate) fn estimate(
        &mut self,
        Estimate { value, standard_error }: Estimate,
        low: f64,
        high: f64,
    ) {
        self.hold(standard_error.is_finite() && standard_error >= 0.0);
        self.hold((low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(&value));
    }

    /// Ends in order, and an upper one that is certain: no less than the count, and no more than all.
    pub(crate) fn count(&mut self, interval: CountInterval, truth: u64, total: u64) {
        let most = interval.truth_at_most;
        self.hold(most.is_none_or(|most| (interval.truth_at_least..=total).contains(&most)));
        self.hold(most.is_none_or(|most| truth <= most));
    }
}

/// A structure under random histories.
pub(crate) struct History {
    pub(crate) name: &'static str,
    pub(crate) run: fn(Random<'_>, &mut Claims),
}

/// Returns the jobs of the histories of a structure.
pub(crate) fn jobs<'a>(
    run: &Run,
    structure: &'static str,
    histories: &'static [History],
) -> Vec<Job<'a>> {
    let (seed, count) = (run.seed, run.effort.choose([100, 1_000, 10_000]));
    let job = |history: &'static History| {
        Job::new(count * 2_000, move || vec![history.measure(structure, seed, count)])
    };
    histories.iter().map(job).collect()
}

impl History {
    fn measure(&self, structure: &'static str, seed: u64, histories: u64) -> Measurement {
        let mut random = keys::random(seed);
        let mut claims = Claims::default();
        (0..histories).for_each(|_| (self.run)(&mut random, &mut claims));
        let shape = format!("{}, {} claims", self.name, claims.made);
        let case = Case::random(structure, 0, 0.0, shape).of(histories);
        case.none(CONTRADICTIONS, claims.broken)
    }
}
