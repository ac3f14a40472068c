//! The jobs of membership structures: the cases of the grid, unions and counts.

use super::Run;
use super::grid::Grid;
use super::judge::Measurement;
use super::measure::{Plan, Task};
use super::random::{label, next};
use super::schedule::Job;
use super::subject::{Design, Family, Sets};
use pds_testkit::keys;

/// Returns a job for each case of the grid.
pub(crate) fn grid_jobs<F: Family>(family: F, run: &Run) -> Vec<Job<'_>> {
    plan_jobs(family, with_grid(family, run, |grid| grid.plans()), run)
}

/// Returns a job for each case of the grid that costs little. The standard filter takes the whole grid.
pub(crate) fn cheap_jobs<F: Family>(family: F, run: &Run) -> Vec<Job<'_>> {
    let most = run.effort.choose([1_300_000, 10_000_000, u64::MAX]);
    let mut jobs = grid_jobs(family, run);
    jobs.retain(|job| job.cost <= most);
    jobs
}

/// Returns a job for each large array of the grid.
pub(crate) fn large_jobs<F: Family>(family: F, run: &Run) -> Vec<Job<'_>> {
    plan_jobs(family, with_grid(family, run, |grid| grid.large()), run)
}

/// Returns a job for each of these cases.
pub(crate) fn plan_jobs<F: Family>(family: F, plans: Vec<Plan>, run: &Run) -> Vec<Job<'_>> {
    plans.into_iter().map(|plan| job(family, plan, run, |task| task.run())).collect()
}

/// Returns two jobs with a weak hasher: mixed, it keeps the rate; unmixed, it has to break it.
pub(crate) fn weak_jobs<F: Family>(family: F, run: &Run) -> Vec<Job<'_>> {
    let plan = with_grid(family, run, |grid| grid.weak());
    vec![
        job(family, plan, run, |task| task.run()),
        job(family, plan, run, |task| task.run_unmixed()),
    ]
}

/// Returns a job for the unions and counts of each design.
pub(crate) fn sets_jobs<F: Family<Filter: Sets>>(family: F, run: &Run) -> Vec<Job<'_>> {
    let plans = with_grid(family, run, |grid| grid.sets());
    plans.into_iter().map(|plan| job(family, plan, run, |task| task.run_sets())).collect()
}

fn job<F: Family>(
    family: F,
    plan: Plan,
    run: &Run,
    measure: for<'t, 'r> fn(&'t Task<'r, F>) -> Vec<Measurement>,
) -> Job<'_> {
    let (seed, corpus) = (seed_of(run.seed, &plan), &run.corpus);
    Job::new(plan.cost(), move || measure(&Task::new(family, plan, seed, corpus)))
}

/// Applies a function to the grid of a family.
fn with_grid<F: Family, T>(family: F, run: &Run, apply: impl Fn(Grid<'_>) -> T) -> T {
    let rate =
        |design: &Design, stored| family.predict(&family.params(design), design, stored).rate.low;
    apply(Grid { effort: run.effort, corpus: &run.corpus, rate: &rate })
}

/// Returns the seed of a plan. It depends on the plan and the seed of the run only: a case gives the same numbers
/// whatever else runs.
fn seed_of(seed: u64, plan: &Plan) -> u64 {
    next(&mut keys::random(seed ^ label(&format!("{plan:?}"))))
}
