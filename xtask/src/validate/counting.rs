//! The counting Bloom filters as subjects: histories, counters that saturate, and the number of keys.

mod constructors;
mod faults;
mod histories;
mod identities;

use super::counts::{DESIGN, loads};
use super::coverage::{AS_STATED, Answer, Asked, Intervals, Trial};
use super::judge::{Case, Check, Law, real};
use super::removal::{Removals, steps};
use super::schedule::{Job, Progress};
use super::structures::Structure;
use super::{Run, proofs};
use pds::params::counting::{mean_count, overflow_probability};
use pds::{BlockedCountingBloomFilter, CountingBloomFilter};
use pds_testkit::keys;

/// The counting Bloom filters.
pub(crate) const STRUCTURE: Structure = Structure {
    name: NAME,
    title: "Counting Bloom filter",
    variants: &[(BLOCKED, "Blocked counting Bloom filter")],
    jobs,
    faults: &faults::FAULTS,
};

const NAME: &str = "counting";
const BLOCKED: &str = "blocked counting";

const OVERFLOW: Check =
    Check::new("saturated counters", "Saturated counters, against the tail of the Poisson law.");

/// Counters of the filter whose overflow is counted, and the mean that they have.
const COUNTERS: u64 = 4_000_000;
const MEAN_COUNT: f64 = 6.0;

fn jobs(run: &Run) -> Vec<Job<'_>> {
    let mut jobs = removal_jobs(run);
    jobs.extend(loads(run).iter().map(|&items| counted(items).job(run, AS_STATED)));
    jobs.extend(super::constructors::jobs(run, NAME, constructors::all()));
    jobs.extend(identities::jobs(run.seed));
    jobs.extend(proofs::jobs(run, NAME, &histories::HISTORIES));
    jobs
}

/// A job for each history of counting filters; the small ones saturate all the time.
fn removal_jobs(run: &Run) -> Vec<Job<'_>> {
    let removals = |keys: u64| Removals { seed: run.seed ^ keys, steps: steps(run.effort), keys };
    let anywhere = [(50, 3), (1_000, 7), (100_000, 7)].map(|(counters, hashes)| {
        let build = move || {
            let builder = CountingBloomFilter::builder().counters(counters).hashes(hashes);
            builder.build().expect("a shape of the list")
        };
        let shape = format!("m = {counters}, k = {hashes}");
        removals(counters / 8).job(NAME, shape, build)
    });
    let in_lines = [1, 100, 1_000].map(|lines| {
        let builder = BlockedCountingBloomFilter::builder().lines(lines);
        let build = move || builder.build().expect("a shape of the list");
        removals(12 * lines).job(BLOCKED, format!("{lines} lines"), build)
    });
    anywhere.into_iter().chain(in_lines).chain([overflow(run)]).collect()
}

/// Saturated counters of an overfull filter, against the tail of the Poisson law.
fn overflow(run: &Run) -> Job<'_> {
    const HASHES: u32 = 4;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in bounds")]
    let items = (MEAN_COUNT * real(COUNTERS / u64::from(HASHES))) as u64;
    let work = move |progress: &Progress| {
        let builder = CountingBloomFilter::builder().counters(COUNTERS).hashes(HASHES);
        let mut filter = builder.build().expect("sound parameters");
        let mut hashes = keys::random(run.seed);
        (0..items).for_each(|_| {
            filter.insert_hash(hashes.next().expect("the stream is endless"));
        });
        progress.advance(items);
        let rate = overflow_probability(mean_count(COUNTERS, items, HASHES), 15);
        let law = Law::Events { trials: COUNTERS, low: rate, high: rate };
        let observed = real(filter.saturated_counters());
        let case = Case::random(NAME, items, rate, format!("m = {COUNTERS}, k = {HASHES}"));
        vec![case.row(OVERFLOW, law, observed, rate * real(COUNTERS))]
    };
    Job { cost: items, run: Box::new(work) }
}

/// The number of keys in a filter of `items` keys.
fn counted(items: u64) -> Intervals<'static> {
    let trial: Trial<'_> = Box::new(move |random, ask| {
        let mut filter =
            CountingBloomFilter::new(DESIGN.items, DESIGN.rate).expect("a sound design");
        (0..items).for_each(|_| {
            filter.insert_hash(random.next().expect("endless"));
        });
        let answer = Answer::normal(filter.approx_len());
        ask(Asked { items, name: "approx_len", truth: real(items), answer });
    });
    Intervals { structure: NAME, shape: "4-bit counters".to_owned(), cost: items, trial }
}
