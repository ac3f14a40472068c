//! Runs jobs on all cores, the longest first, and shows how far they are.

use super::judge::Measurement;
use core::sync::atomic::{AtomicUsize, Ordering};
use indicatif::{ProgressBar, ProgressStyle};
use std::sync::Mutex;
use std::thread;

/// What a job does.
pub(crate) type Work<'a> = Box<dyn FnOnce(&Progress) -> Vec<Measurement> + Send + 'a>;

/// A piece of work that ends in measurements.
pub(crate) struct Job<'a> {
    /// Roughly how many operations it takes.
    pub(crate) cost: u64,
    pub(crate) run: Work<'a>,
}

/// The progress bar, advanced by operations.
#[derive(Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// A bar on standard error; none where that is not a terminal.
    pub(crate) fn new(total: u64) -> Self {
        let style = "{wide_bar} {percent:>3} % of {len} operations, {elapsed} gone, {eta} to go";
        let bar = ProgressBar::new(total);
        bar.set_style(ProgressStyle::with_template(style).expect("a template that is a constant"));
        Self(bar)
    }

    pub(crate) fn advance(&self, operations: u64) {
        self.0.inc(operations);
    }
}

/// Runs all jobs; the measurements come in the order of the jobs, whatever the threads did.
pub(crate) fn run(jobs: Vec<Job<'_>>) -> Vec<Measurement> {
    let progress = Progress::new(jobs.iter().map(|job| job.cost).sum());
    let mut queue: Vec<(usize, Job<'_>)> = jobs.into_iter().enumerate().collect();
    queue.sort_by_key(|(_, job)| core::cmp::Reverse(job.cost));
    let queue: Vec<Mutex<Option<(usize, Job<'_>)>>> =
        queue.into_iter().map(|job| Mutex::new(Some(job))).collect();
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(slot) = queue.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let job = slot.lock().expect("no job locks its slot").take();
                    let (index, job) = job.expect("each slot is taken once");
                    let measurements = (job.run)(&progress);
                    done.lock().expect("no job holds the results").push((index, measurements));
                }
            });
        }
    });
    progress.0.finish_and_clear();
    let mut done = done.into_inner().expect("all threads have ended");
    done.sort_by_key(|&(index, _)| index);
    done.into_iter().flat_map(|(_, measurements)| measurements).collect()
}

#[cfg(test)]
mod tests {
    use super::super::judge::{Case, Law};
    use super::super::measure::LOST_KEYS;
    use super::*;

    fn job(cost: u64, observed: f64) -> Job<'static> {
        let case = Case {
            structure: "toy",
            items: 0,
            rate: 0.5,
            shape: String::new(),
            keys: "",
            hasher: "",
            instances: 1,
        };
        let law = Law::Exactly(0.0);
        let measurement = Measurement { case, check: LOST_KEYS, law, observed, events: 0.0 };
        Job { cost, run: Box::new(move |_| vec![measurement]) }
    }

    #[test]
    fn results_keep_the_order_of_the_jobs() {
        let jobs = (0..100u32).map(|index| job(u64::from(index % 7), f64::from(index))).collect();
        let observed = run(jobs).into_iter().map(|measurement| measurement.observed);
        assert!(observed.eq((0..100).map(f64::from)));
    }
}
