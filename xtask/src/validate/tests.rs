//! The validator, held to its own standard: it finds every fault put in, and none where there is none.

use super::bloom::LOWER_HALF;
use super::bloom::Plain;
use super::corpus::Corpus;
use super::effort::Effort;
use super::grid::Grid;
use super::judge::{Check, FALSE_ALARM, Row, Verdict, judge};
use super::measure::{FALSE_POSITIVES, LOST_KEYS, Plan, SET_BITS, Task, Work};
use super::sabotage::{Fault, Faulty};
use super::sabotage_blocked::FaultyBlocked;
use super::schedule::Progress;
use super::subject::{Design, Family, Size};
use pds::Mixed;
use pds_testkit::hashers::IdentityBuilder;
use pds_testkit::stats::split_budget;

/// More tests than a full run has: what is found at this level is found in a run.
const TESTS_OF_A_RUN: usize = 3_000;
/// Plans of fewer operations than this are cheap enough for a unit test.
const CHEAP: u64 = 1_200_000;

fn plans(effort: Effort) -> Vec<Plan> {
    let corpus = Corpus::sample();
    let rate = |design: &Design, stored| Plain.predict(design, stored).rate.low;
    Grid { effort, corpus: &corpus, rate: &rate }.plans()
}

fn cheap_plans() -> Vec<Plan> {
    plans(Effort::Quick).into_iter().filter(|plan| plan.cost() < CHEAP).collect()
}

fn measure<F: Family>(family: F, plans: &[Plan]) -> Vec<Row> {
    let corpus = Corpus::sample();
    let progress = Progress::new(1);
    let run = |&plan| Task { family, plan, seed: 7, corpus: &corpus, progress: &progress }.run();
    judge(plans.iter().flat_map(run).collect(), split_budget(FALSE_ALARM, TESTS_OF_A_RUN))
}

/// The checks that find something broken.
fn broken(rows: &[Row]) -> Vec<Check> {
    let mut checks: Vec<Check> =
        rows.iter().filter(|row| row.verdict == Verdict::Broken).map(|row| row.check).collect();
    checks.dedup();
    checks
}

#[test]
fn the_product_is_beyond_reproach() {
    let rows = measure(Plain, &cheap_plans());
    assert!(rows.len() > 100, "only {} rows", rows.len());
    assert_eq!(broken(&rows), []);
}

#[test]
fn the_stand_in_without_a_fault_is_beyond_reproach() {
    assert_eq!(broken(&measure(Faulty(None), &cheap_plans())), []);
}

#[test]
fn the_blocked_stand_in_without_a_fault_is_beyond_reproach() {
    assert_eq!(broken(&measure(FaultyBlocked(None), &cheap_plans())), []);
}

/// A weak hasher breaks the rate of a filter that takes its word, and a run fails where it does not.
#[test]
fn a_weak_hasher_unmixed_breaks_the_rate_as_expected() {
    let corpus = Corpus::sample();
    let progress = Progress::new(1);
    let rate = |design: &Design, stored| Plain.predict(design, stored).rate.low;
    let plan = Grid { effort: Effort::Quick, corpus: &corpus, rate: &rate }.weak();
    let task = Task { family: Plain, plan, seed: 7, corpus: &corpus, progress: &progress };
    let alpha = split_budget(FALSE_ALARM, TESTS_OF_A_RUN);
    let verdicts = |rows: Vec<_>| -> Vec<Verdict> {
        judge(rows, alpha).iter().map(|row| row.verdict).collect()
    };
    assert_eq!(verdicts(task.run_unmixed()), [Verdict::Expected]);
    assert_eq!(broken(&judge(task.run(), alpha)), [], "mixed, it keeps the rate");
    let mixed = Mixed(IdentityBuilder);
    assert_eq!(verdicts(vec![task.unmixed_rate(mixed, 10_000, 100_000)]), [Verdict::Broken]);
}

#[test]
fn a_lane_left_out_is_found() {
    let found = broken(&measure(FaultyBlocked(Some(Fault::LaneLeftOut)), &cheap_plans()));
    assert!(found.contains(&FALSE_POSITIVES) && found.contains(&SET_BITS), "{found:?}");
}

#[test]
fn lanes_correlated_with_the_block_are_found() {
    let found = broken(&measure(FaultyBlocked(Some(Fault::CorrelatedLanes)), &cheap_plans()));
    assert!(found.contains(&FALSE_POSITIVES) && found.contains(&SET_BITS), "{found:?}");
}

#[test]
fn one_hash_too_few_is_found() {
    let found = broken(&measure(Faulty(Some(Fault::FewerHashes)), &cheap_plans()));
    assert!(found.contains(&FALSE_POSITIVES) && found.contains(&SET_BITS), "{found:?}");
}

#[test]
fn a_biased_bit_is_found() {
    let found = broken(&measure(Faulty(Some(Fault::BiasedBit)), &cheap_plans()));
    assert!(found.contains(&LOWER_HALF), "{found:?}");
}

#[test]
fn positions_in_half_of_the_array_are_found() {
    let found = broken(&measure(Faulty(Some(Fault::HalfTheArray)), &cheap_plans()));
    assert!(found.contains(&SET_BITS) && found.contains(&LOWER_HALF), "{found:?}");
}

#[test]
fn a_dropped_key_is_found() {
    let found = broken(&measure(Faulty(Some(Fault::DroppedKey)), &cheap_plans()));
    assert!(found.contains(&LOST_KEYS), "{found:?}");
}

#[test]
fn a_rate_three_per_cent_too_high_is_found_in_full() {
    let is_plain = |plan: &&Plan| match plan.work {
        Work::Instance { stored, .. } => {
            stored == plan.design.items && stored >= 10_000 && plan.design.rate == 0.01
        }
        Work::Pool { .. } => false,
    };
    let plans = plans(Effort::Full);
    let plan = plans.iter().filter(is_plain).min_by_key(|plan| plan.cost()).expect("a plain case");
    assert_eq!(broken(&measure(Faulty(None), &[*plan])), []);
    let found = broken(&measure(Faulty(Some(Fault::HigherRate)), &[*plan]));
    assert_eq!(found, [FALSE_POSITIVES]);
}

#[test]
fn one_position_in_a_thousand_is_found_in_full() {
    let is_large = |plan: &&Plan| plan.design.size == Size::Bits(200_000_000);
    let plans = plans(Effort::Full);
    let plan = plans.iter().find(is_large).expect("a large case");
    let found = broken(&measure(Faulty(Some(Fault::OneInAThousand)), &[*plan]));
    assert!(found.contains(&LOWER_HALF), "{found:?}");
}
