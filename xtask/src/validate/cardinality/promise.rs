//! The standard error that a precision is chosen by: the greatest at any number of keys, says its constructor.

use super::NAME;
use super::simulated::{ESTIMATORS, RankLaw, estimates};
use crate::validate::prelude::*;
use pds::params::HllParams;

const PROMISED_ERROR: Check = Check::new(
    "error, at most the promise",
    "The root mean square of the errors of many sketches, as a multiple of `HllParams::standard_error`, by \
              which `for_standard_error` chooses the precision.",
);

/// Errors asked for, which precisions 4, 5, 6 and 10 just keep.
const WANTED: [f64; 4] = [0.26, 0.184, 0.13, 0.033];
/// Sketches of each: as many as show some per cent of error, which are more where an error is far from normal.
const SKETCHES: u64 = 24_000;
/// Registers that have seen as many keys as this err as much as they ever do.
const KEYS: f64 = 1e9;

/// The jobs of all errors asked for.
pub(super) fn jobs(run: &Run) -> Vec<Job<'_>> {
    let chosen = &WANTED[..run.effort.choose([1, 3, 4])];
    let job = |&wanted: &f64| {
        let params = HllParams::for_standard_error(ESTIMATORS[0], wanted).expect("within reach");
        Job::new(SKETCHES * params.num_registers(), move || measure(wanted, run.seed))
    };
    chosen.iter().map(job).collect()
}

/// The sketches that each estimator asks for.
fn measure(wanted: f64, seed: u64) -> Vec<Measurement> {
    let of = |index: usize| {
        let estimator = ESTIMATORS[index];
        let params = HllParams::for_standard_error(estimator, wanted).ok()?;
        let law = RankLaw::new(params, KEYS);
        let mut random = keys::random(seed ^ label("promise") ^ wanted.to_bits());
        let (mut squares, mut fourths) = (0.0, 0.0);
        for _ in 0..SKETCHES {
            let error = estimates(params, &law, &mut random)[index] / KEYS - 1.0;
            squares += error.powi(2);
            fourths += error.powi(4);
        }
        let promised = params.standard_error(estimator);
        let (mean, fourth) = (squares / real(SKETCHES), fourths / real(SKETCHES));
        // The error of a root is half of that of its square.
        let deviation = (fourth / mean.powi(2) - 1.0).sqrt() / (2.0 * real(SKETCHES).sqrt());
        let shape = format!("p {}, {}", params.precision(), super::name(estimator));
        let case = Case::random(NAME, whole(KEYS), promised, shape).of(SKETCHES);
        let case = Case { keys: "drawn", hasher: "none", ..case };
        let law = Law::at_most(1.0, deviation);
        Some(case.row(PROMISED_ERROR, law, mean.sqrt() / promised, real(SKETCHES)))
    };
    (0..ESTIMATORS.len()).filter_map(of).collect()
}
