//! Every fault that a sketch can have is found, in as many sketches as an ordinary run has, and none where none is.

use super::MEAN_ESTIMATE;
use super::sabotage::measured;
use crate::validate::judge::{Check, FALSE_ALARM, Verdict, judge};
use crate::validate::sabotage::Fault;
use crate::validate::schedule::Progress;

/// More tests than a run has.
const TESTS_OF_A_RUN: f64 = 3_000.0;

fn broken(fault: Option<Fault>) -> Vec<Check> {
    let rows = judge(measured(fault, 1, &Progress::new(1)), FALSE_ALARM / TESTS_OF_A_RUN);
    rows.iter().filter(|row| row.verdict == Verdict::Broken).map(|row| row.check).collect()
}

#[test]
fn without_a_fault_nothing_is_found() {
    assert_eq!(broken(None), []);
}

#[test]
fn a_rank_off_by_one_is_found() {
    assert!(broken(Some(Fault::RankOffByOne)).contains(&MEAN_ESTIMATE));
}

#[test]
fn a_register_lost_on_promotion_is_found() {
    assert!(broken(Some(Fault::LostOnPromotion)).contains(&MEAN_ESTIMATE));
}

#[test]
fn a_stale_estimate_is_found() {
    assert!(broken(Some(Fault::StaleEstimate)).contains(&MEAN_ESTIMATE));
}

#[test]
fn a_wrong_constant_is_found() {
    assert!(broken(Some(Fault::WrongConstant)).contains(&MEAN_ESTIMATE));
}
