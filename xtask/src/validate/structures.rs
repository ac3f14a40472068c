//! The structures that are validated: each has a line here and a file of its own.

use super::blocked::{Blocked, Shape};
use super::coverage::AS_STATED;
use super::grid::Grid;
use super::measure::{Plan, Task};
use super::schedule::Job;
use super::subject::{Design, Family, Sets};
use super::{
    Run, blocked, bloom, bounds, cardinality, constructors, counts, frequency, identity, proofs,
    removal,
};
use core::hash::BuildHasher;
use pds::DefaultHashBuilder;
use pds::blocked::{Preference, backends};
use pds_testkit::hashers::Fnv1aBuilder;

/// A structure by its name on the command line, and the work that validates it.
struct Structure {
    name: &'static str,
    jobs: for<'a> fn(&'a Run) -> Vec<Job<'a>>,
}

const ALL: [Structure; 6] = [
    Structure { name: "bloom", jobs: bloom_jobs },
    Structure { name: "blocked", jobs: blocked_jobs },
    Structure { name: "counting", jobs: counting_jobs },
    Structure { name: "cuckoo", jobs: removal::cuckoo_jobs },
    Structure { name: "cms", jobs: cms_jobs },
    Structure { name: "hll", jobs: cardinality::jobs },
];

/// The names of all structures.
pub(crate) fn names() -> Vec<&'static str> {
    ALL.iter().map(|structure| structure.name).collect()
}

/// The jobs for the named structure, or for all.
pub(crate) fn jobs<'a>(run: &'a Run, name: Option<&str>) -> Vec<Job<'a>> {
    let chosen = ALL.iter().filter(|structure| name.is_none_or(|name| name == structure.name));
    let jobs = |structure: &Structure| {
        let mut jobs = (structure.jobs)(run);
        jobs.extend(constructors::jobs(run, structure.name));
        jobs.extend(identity::jobs(run, structure.name));
        jobs.extend(proofs::jobs(run, structure.name));
        jobs
    };
    chosen.flat_map(jobs).collect()
}

fn bloom_jobs(run: &Run) -> Vec<Job<'_>> {
    let mut jobs = membership_jobs(bloom::Plain, run);
    jobs.extend(sets_jobs(bloom::Plain, run));
    jobs.extend(unmixed_jobs(bloom::Plain, run));
    jobs.extend(counts::bloom_jobs(run, AS_STATED));
    jobs
}

/// A weak hasher whose hashes are taken as they come, which has to break the rate, and the same one mixed.
fn unmixed_jobs<F: Family>(family: F, run: &Run) -> Vec<Job<'_>> {
    let plan = with_grid(family, run, |grid| grid.weak());
    let (seed, corpus) = (seed_of(run.seed, &plan), &run.corpus);
    let unmixed = Job {
        cost: plan.cost(),
        run: Box::new(move |progress| Task { family, plan, seed, corpus, progress }.run_unmixed()),
    };
    let mut jobs = plan_jobs(family, vec![plan], run);
    jobs.push(unmixed);
    jobs
}

fn cms_jobs(run: &Run) -> Vec<Job<'_>> {
    let mut jobs = frequency::jobs(run);
    jobs.extend(bounds::jobs(run));
    jobs
}

fn counting_jobs(run: &Run) -> Vec<Job<'_>> {
    let mut jobs = removal::counting_jobs(run);
    jobs.extend(counts::counting_jobs(run, AS_STATED));
    jobs
}

/// The backend that the processor gets for most; tiny filters of every number of hashes, and unions, by each of them.
fn blocked_jobs(run: &Run) -> Vec<Job<'_>> {
    let fastest = Shape::Chosen(Preference::Fastest);
    let best = Blocked { name: "blocked", shape: fastest, backend: None };
    let mut jobs = cheap_jobs(best, run);
    jobs.extend(plan_jobs(best, blocked::promised(), run));
    jobs.extend(sets_jobs(best, run));
    for backend in backends() {
        jobs.extend(jobs_by_backend(backend, run));
    }
    jobs.extend(counts::blocked_jobs(run, AS_STATED));
    jobs
}

/// The part of the grid that a shorter run has time for, beside the whole of it for the plain filter.
pub(crate) fn cheap_jobs<F: Family>(family: F, run: &Run) -> Vec<Job<'_>> {
    let most = run.effort.choose([1_300_000, 40_000_000, u64::MAX]);
    let mut jobs = membership_jobs(family, run);
    jobs.retain(|job| job.cost <= most);
    jobs
}

fn jobs_by_backend<'a>(backend: &'static str, run: &'a Run) -> Vec<Job<'a>> {
    let shaped = |shape| Blocked { name: "blocked", shape, backend: Some(backend) };
    let tiny = |hashes| plan_jobs(shaped(Shape::Hashes(hashes)), blocked::tiny(), run);
    let mut jobs: Vec<Job<'a>> = (2..=16).step_by(2).flat_map(tiny).collect();
    jobs.extend(sets_jobs(shaped(Shape::Chosen(Preference::Smallest)), run));
    jobs
}

/// Applies something to the grid of a family.
fn with_grid<F: Family, T>(family: F, run: &Run, apply: impl Fn(Grid<'_>) -> T) -> T {
    let rate = |design: &Design, stored| family.predict(design, stored).rate.low;
    apply(Grid { effort: run.effort, corpus: &run.corpus, rate: &rate })
}

/// A job for each case of the grid.
pub(crate) fn membership_jobs<F: Family>(family: F, run: &Run) -> Vec<Job<'_>> {
    plan_jobs(family, with_grid(family, run, |grid| grid.plans()), run)
}

fn plan_jobs<F: Family>(family: F, plans: Vec<Plan>, run: &Run) -> Vec<Job<'_>> {
    let job = |plan: Plan| {
        let seed = seed_of(run.seed, &plan);
        let corpus = &run.corpus;
        Job {
            cost: plan.cost(),
            run: Box::new(move |progress| Task { family, plan, seed, corpus, progress }.run()),
        }
    };
    plans.into_iter().map(job).collect()
}

/// A job for the unions and counts of each design.
fn sets_jobs<F: Family>(family: F, run: &Run) -> Vec<Job<'_>>
where
    F::Filter<DefaultHashBuilder>: Sets,
{
    let plans = with_grid(family, run, |grid| grid.sets());
    let job = |plan: Plan| {
        let seed = seed_of(run.seed, &plan);
        let corpus = &run.corpus;
        Job {
            cost: plan.cost(),
            run: Box::new(move |progress| Task { family, plan, seed, corpus, progress }.run_sets()),
        }
    };
    plans.into_iter().map(job).collect()
}

/// A seed for each plan, which depends on nothing but the plan and the seed of the run: a case gives the same numbers
/// whatever else runs.
fn seed_of(seed: u64, plan: &Plan) -> u64 {
    let label = Fnv1aBuilder.hash_one(format!("{plan:?}"));
    pds_testkit::keys::random(seed ^ label).next().expect("the stream is endless")
}
