//! Answers against what the structure proves: random histories after which no interval may contradict a fact.
//!
//! A fact is counted here, apart from the library: the registers that the hashes occupy, the times that a key came.

use super::Run;
use super::judge::{Case, Check, Law, Measurement, real};
use super::schedule::Job;
use core::ops::RangeInclusive;
use histories::{HISTORIES, LOW_END};
use pds::Estimate;
use pds::cms::CountInterval;
use pds_testkit::keys;

mod histories;

const CONTRADICTIONS: Check = Check::new(
    "answers that contradict the structure",
    "After random histories: no interval ends before it begins, excludes what occupied registers, set bits or \
              counters prove, or has an end or an error that is no number.",
);

/// The claims of a history that did not hold.
#[derive(Debug, Default)]
struct Claims {
    made: u64,
    broken: u64,
}

impl Claims {
    const fn hold(&mut self, holds: bool) {
        self.made += 1;
        self.broken += !holds as u64;
    }

    /// An interval that begins before it ends, and holds no less than `floor`.
    fn interval(&mut self, interval: &RangeInclusive<f64>, floor: u64) {
        let (start, end) = (*interval.start(), *interval.end());
        // An estimate may be a rounding below the number of its registers.
        let floor = real(floor) * (1.0 - 1e-12);
        self.hold(floor <= start && start <= end);
    }

    /// An error that is a number, around an estimate from `low` to `high`.
    fn estimate(&mut self, Estimate { value, standard_error }: Estimate, low: f64, high: f64) {
        self.hold(standard_error.is_finite() && standard_error >= 0.0);
        self.hold((low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(&value));
    }

    /// Ends in order, and an upper one that is certain: no less than the count, and no more than all.
    fn count(&mut self, interval: CountInterval, truth: u64, total: u64) {
        let most = interval.truth_at_most;
        self.hold(most.is_none_or(|most| (interval.truth_at_least..=total).contains(&most)));
        self.hold(most.is_none_or(|most| truth <= most));
    }
}

/// The random numbers of a history.
type Random<'a> = &'a mut dyn Iterator<Item = u64>;

/// A structure under random histories.
struct History {
    structure: &'static str,
    name: &'static str,
    run: fn(Random<'_>, &mut Claims),
}

/// The jobs of a structure.
pub(crate) fn jobs<'a>(run: &'a Run, structure: &str) -> Vec<Job<'a>> {
    let chosen = HISTORIES.iter().filter(|history| history.structure == structure);
    chosen.map(|history| history.job(run)).collect()
}

/// The jobs that find the fault.
pub(crate) fn fault_jobs<'a>(run: &Run) -> Vec<Job<'a>> {
    vec![LOW_END.job(run)]
}

impl History {
    fn job<'a>(&'static self, run: &Run) -> Job<'a> {
        let (seed, histories) = (run.seed, run.effort.choose([100, 1_000, 10_000]));
        Job {
            cost: histories * 2_000,
            run: Box::new(move |progress| {
                let row = self.measure(seed, histories);
                progress.advance(histories * 2_000);
                vec![row]
            }),
        }
    }

    fn measure(&self, seed: u64, histories: u64) -> Measurement {
        let mut random = keys::random(seed);
        let mut claims = Claims::default();
        (0..histories).for_each(|_| (self.run)(&mut random, &mut claims));
        let case = Case {
            structure: self.structure,
            items: 0,
            rate: 0.0,
            shape: format!("{}, {} claims", self.name, claims.made),
            keys: "random",
            hasher: "default",
            instances: histories,
        };
        let (check, law) = (CONTRADICTIONS, Law::Exactly(0.0));
        Measurement { case, check, law, observed: real(claims.broken), events: 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lower_end_below_the_occupied_registers_is_found() {
        assert!(LOW_END.measure(1, 100).observed > 10.0);
    }

    #[test]
    fn true_facts_are_none() {
        let sound =
            HISTORIES.iter().filter(|history| matches!(history.structure, "bloom" | "counting"));
        assert!(sound.map(|history| history.measure(1, 100).observed).all(|broken| broken == 0.0));
    }
}
