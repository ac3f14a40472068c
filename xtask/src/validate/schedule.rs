//! Runs jobs on all cores, the longest first, and shows how far they are.

use super::judge::Measurement;
use core::time::Duration;
use indicatif::{ProgressBar, ProgressStyle};
use rayon::iter::{ParallelBridge, ParallelIterator};
use std::time::Instant;

/// A piece of work that ends in measurements.
pub(crate) struct Job<'a> {
    /// Roughly how many operations it takes.
    pub(crate) cost: u64,
    work: Box<dyn FnOnce() -> Vec<Measurement> + Send + 'a>,
}

impl<'a> Job<'a> {
    pub(crate) fn new(cost: u64, work: impl FnOnce() -> Vec<Measurement> + Send + 'a) -> Self {
        Self { cost, work: Box::new(work) }
    }
}

/// The most operations of a job with a fault.
///
/// A fault shows in many jobs, subtle ones in those of 10^8 bits or of a rate of 1 %. The longest jobs, for the rarest
/// events, would take an hour and add nothing.
const MOST_WITH_A_FAULT: u64 = 110_000_000;

/// Returns the jobs that are affordable with a fault.
pub(crate) fn affordable(mut jobs: Vec<Job<'_>>) -> Vec<Job<'_>> {
    jobs.retain(|job| job.cost <= MOST_WITH_A_FAULT);
    jobs
}

/// The measurements of a job, and how long it took.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) took: Duration,
    pub(crate) measurements: Vec<Measurement>,
}

/// Runs all jobs. The results come in the order of the jobs, whatever the threads did.
///
/// A bar on standard error advances by the operations of each job; there is none where that is not a terminal.
pub(crate) fn run(jobs: Vec<Job<'_>>) -> Vec<Done> {
    let style = "{wide_bar} {percent:>3} % of {len} operations, {elapsed} gone, {eta} to go";
    let bar = ProgressBar::new(jobs.iter().map(|job| job.cost).sum());
    bar.set_style(ProgressStyle::with_template(style).expect("a template that is a constant"));
    let mut queue: Vec<(usize, Job<'_>)> = jobs.into_iter().enumerate().collect();
    queue.sort_by_key(|(_, job)| core::cmp::Reverse(job.cost));
    // A bridge hands out one job at a time, in this order.
    let jobs = queue.into_iter().par_bridge();
    let mut done: Vec<(usize, Done)> = jobs
        .map(|(index, job)| {
            let start = Instant::now();
            let measurements = (job.work)();
            bar.inc(job.cost);
            (index, Done { took: start.elapsed(), measurements })
        })
        .collect();
    bar.finish_and_clear();
    done.sort_by_key(|&(index, _)| index);
    done.into_iter().map(|(_, done)| done).collect()
}

#[cfg(test)]
mod tests {
    use super::super::judge::{Case, Law};
    use super::super::measure::LOST_KEYS;
    use super::*;

    fn job(cost: u64, observed: f64) -> Job<'static> {
        let law = Law::Exactly(0.0);
        let measurement = Case::random("toy", 0, 0.5, "").row(LOST_KEYS, law, observed, 0.0);
        Job::new(cost, move || vec![measurement])
    }

    #[test]
    fn results_keep_the_order_of_the_jobs() {
        let jobs = (0..100u32).map(|index| job(u64::from(index % 7), f64::from(index))).collect();
        let measurements = run(jobs).into_iter().flat_map(|done| done.measurements);
        let observed = measurements.map(|measurement| measurement.observed);
        assert!(observed.eq((0..100).map(f64::from)));
    }
}
