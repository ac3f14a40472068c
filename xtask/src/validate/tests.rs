//! The validator, held to its own standard: it finds every fault that is injected, and none where there is none.

use super::bloom::Plain;
use super::corpus::Corpus;
use super::effort::Effort;
use super::grid::Grid;
use super::judge::{Check, FALSE_ALARM, Verdict, judge};
use super::keys::HasherKind;
use super::measure::Task;
use super::schedule::{self, Job};
use super::structures::{self, ALL, Fault, faults};
use super::subject::{Design, Family};
use super::{DEFAULT_SEED, Options, Run};
use clap::Args;
use pds_testkit::stats::split_budget;

/// More tests than a full run has: what is found at this level is found in a run.
const TESTS_OF_A_RUN: usize = 3_000;
/// Jobs of fewer operations than this are cheap enough for a unit test.
const CHEAP: u64 = 1_200_000;

fn alpha() -> f64 {
    split_budget(FALSE_ALARM, TESTS_OF_A_RUN)
}

fn run(effort: Effort) -> Run {
    Run { effort, seed: DEFAULT_SEED, corpus: Corpus::sample() }
}

/// A quick run.
pub(super) fn quick() -> Run {
    run(Effort::Quick)
}

/// The jobs that are cheap enough for a unit test.
pub(super) fn cheap(mut jobs: Vec<Job<'_>>) -> Vec<Job<'_>> {
    jobs.retain(|job| job.cost < CHEAP);
    assert!(jobs.len() > 30, "only {} jobs", jobs.len());
    jobs
}

/// The checks that jobs break.
pub(super) fn broken(jobs: Vec<Job<'_>>) -> Vec<Check> {
    let measurements = schedule::run(jobs).into_iter().flat_map(|done| done.measurements);
    let rows = judge(measurements.collect(), alpha());
    let mut checks: Vec<Check> =
        rows.iter().filter(|row| row.verdict == Verdict::Broken).map(|row| row.check).collect();
    checks.dedup();
    checks
}

/// Whether the jobs of a fault break its checks. The cheapest come first, and the last ones are left out once all are
/// broken.
fn is_found(fault: &Fault) -> bool {
    let run = run(fault.effort);
    let mut jobs = (fault.jobs)(&run);
    jobs.sort_by_key(|job| job.cost);
    let mut missing = fault.breaks.to_vec();
    for job in jobs {
        let found = broken(vec![job]);
        missing.retain(|check| !found.contains(check));
        if missing.is_empty() {
            return true;
        }
    }
    false
}

#[test]
fn every_fault_breaks_its_checks() {
    let missed: Vec<_> =
        faults().filter(|fault| !is_found(fault)).map(|fault| fault.name).collect();
    assert!(missed.is_empty(), "not found: {missed:?}");
}

#[test]
fn every_structure_has_a_fault_and_every_fault_one_structure() {
    assert!(ALL.iter().all(|structure| !structure.faults.is_empty()));
    for fault in faults() {
        let same_name = faults().filter(|other| other.name == fault.name).count();
        assert_eq!(same_name, 1, "{}", fault.name);
        assert!(!fault.breaks.is_empty(), "{} breaks no check", fault.name);
    }
}

#[test]
fn help_lists_every_fault_and_structure() {
    let help = Options::augment_args(clap::Command::new("validate")).render_long_help().to_string();
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for fault in faults() {
        let line = format!("- {}: {}: {}", fault.name, fault.structure().name, fault.effect);
        assert!(help.contains(&line), "{line} is not in {help}");
        assert_eq!(
            help.contains(&format!("{line} (seen with --full)")),
            fault.effort == Effort::Full
        );
    }
    for structure in ALL {
        assert!(help.contains(&format!("- {}: {}", structure.name, structure.title)), "{help}");
    }
}

fn parsed(words: &[&str]) -> Result<Options, String> {
    let command = Options::augment_args(clap::Command::new("validate"));
    let matches = command.try_get_matches_from([&["validate"], words].concat());
    let options = matches.and_then(|matches| clap::FromArgMatches::from_arg_matches(&matches));
    let options: Options = options.map_err(|error| error.to_string())?;
    options.check().map(|()| options)
}

#[test]
fn a_fault_chooses_the_structure_and_an_effort_that_sees_it() {
    for fault in faults() {
        let options = parsed(&["--inject", fault.name]).unwrap();
        assert_eq!(options.effort(), fault.effort, "{}", fault.name);
        let named = ["--inject", fault.name, "--structure", fault.structure().name];
        assert!(parsed(&named).is_ok(), "{}", fault.name);
    }
    let error = |words: &[&str]| parsed(words).unwrap_err();
    let wrong = error(&["--inject", "drops-victim", "--structure", "hll"]);
    assert_eq!(wrong, "drops-victim is a fault of cuckoo, not of hll");
    let quick = error(&["--inject", "higher-rate", "--quick"]);
    assert_eq!(quick, "--quick cannot see higher-rate: it takes --full");
    assert!(error(&["--inject", "no-such-fault"]).contains("drops-victim"));
}

#[test]
fn the_product_breaks_nothing() {
    assert_eq!(broken(cheap(structures::jobs(&quick(), None))), []);
}

/// A weak hasher breaks the rate of a filter that takes its word, and a run fails where it does not.
#[test]
fn a_weak_hasher_unmixed_breaks_the_rate_as_expected() {
    let corpus = Corpus::sample();
    let rate =
        |design: &Design, stored| Plain.predict(&Plain.params(design), design, stored).rate.low;
    let plan = Grid { effort: Effort::Quick, corpus: &corpus, rate: &rate }.weak();
    let verdicts = |rows: Vec<_>| -> Vec<Verdict> {
        judge(rows, alpha()).iter().map(|row| row.verdict).collect()
    };
    for seed in 0..30 {
        let task = Task::new(Plain, plan, seed, &corpus);
        assert_eq!(verdicts(task.run_unmixed()), [Verdict::Expected], "seed {seed}");
    }
    let task = Task::new(Plain, plan, 7, &corpus);
    assert!(
        verdicts(task.run()).iter().all(|&one| one != Verdict::Broken),
        "mixed, it keeps the rate"
    );
    let mixed = task.unmixed_rate(|seed| HasherKind::Identity.seeded(seed), 10_000, 100_000);
    assert_eq!(verdicts(vec![mixed]), [Verdict::Broken]);
}
