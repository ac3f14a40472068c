//! The time that each check of each structure took.

use super::table::table;
use crate::validate::schedule::Done;
use core::time::Duration;
use pds_testkit::pipe;
use std::io;

/// Prints a table of structures and checks, the longest first. A job counts for the first check that it measures.
///
/// # Errors
/// When standard output fails; a reader that has left is no failure.
pub(crate) fn print(done: &[Done]) -> io::Result<()> {
    let mut sums: Vec<(&str, &str, usize, Duration)> = Vec::new();
    for job in done {
        let Some(first) = job.measurements.first() else { continue };
        let (structure, check) = (first.case.structure, first.check.title);
        match sums.iter_mut().find(|sum| (sum.0, sum.1) == (structure, check)) {
            Some((_, _, jobs, took)) => {
                *jobs += 1;
                *took += job.took;
            }
            None => sums.push((structure, check, 1, job.took)),
        }
    }
    sums.sort_by_key(|sum| core::cmp::Reverse(sum.3));
    let mut table = table(&["seconds", "jobs", "structure", "check"], &[0, 1]);
    table.add_rows(sums.into_iter().map(|(structure, check, jobs, took)| {
        let seconds = format!("{:.2}", took.as_secs_f64());
        [seconds, jobs.to_string(), structure.to_owned(), check.to_owned()]
    }));
    pipe::print(format_args!("\n{table}\n"))
}
