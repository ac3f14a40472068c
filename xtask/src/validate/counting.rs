//! The counting Bloom filters as subjects: histories, counters that saturate, and the number of keys.

mod faults;
mod histories;

use super::constructors::{self, Constructor, ITEMS, RATE, built, calculated, made};
use super::counts::{DESIGN, loads};
use super::identity::{Identity, KEYS, and};
use super::prelude::*;
use super::proofs;
use super::removal::{Removals, steps};
use pds::params::counting::{mean_count, overflow_probability};
use pds::registry::{BLOCKED_COUNTING_BLOOM, COUNTING_BLOOM};
use pds::{BlockedCountingBloomFilter, CountingBloomFilter};

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
    jobs.extend(constructors::jobs(run, NAME, all_constructors()));
    let plain = || CountingBloomFilter::new(KEYS, 0.01).expect("sound");
    let lines = || BlockedCountingBloomFilter::new(KEYS, 0.01).expect("sound");
    jobs.extend([
        Identity::filled("plain", plain, |it| and(it.to_bytes(), &[it.approx_len().value]))
            .job(NAME, run.seed),
        Identity::filled("blocked", lines, |it| and(it.to_bytes(), &[it.fill_ratio()]))
            .job(NAME, run.seed),
    ]);
    jobs.extend(proofs::jobs(run, NAME, &histories::HISTORIES));
    jobs
}

/// A job for each history of counting filters; the small ones saturate all the time.
fn removal_jobs(run: &Run) -> Vec<Job<'_>> {
    let removals = |keys: u64| Removals { seed: run.seed ^ keys, steps: steps(run.effort), keys };
    let anywhere = [(50, 3), (1_000, 7), (100_000, 7)].map(|(counters, hashes)| {
        let builder = CountingBloomFilter::builder().counters(counters).hashes(hashes);
        let build = move || builder.build().expect("a shape of the list");
        removals(counters / 8).job(NAME, format!("m = {counters}, k = {hashes}"), build)
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
    let items = whole(MEAN_COUNT * real(COUNTERS / u64::from(HASHES)));
    Job::new(items, move || {
        let builder = CountingBloomFilter::builder().counters(COUNTERS).hashes(HASHES);
        let mut filter = builder.build().expect("sound parameters");
        first(items, keys::random(run.seed)).for_each(|hash| _ = filter.insert_hash(hash));
        let rate = overflow_probability(mean_count(COUNTERS, items, HASHES), 15);
        let case = Case::random(NAME, items, rate, format!("m = {COUNTERS}, k = {HASHES}"));
        let saturated = filter.saturated_counters();
        vec![case.events(OVERFLOW, COUNTERS, Interval::exactly(rate), saturated)]
    })
}

/// The number of keys in a filter of `items` keys.
fn counted(items: u64) -> Intervals<'static> {
    Intervals::new(NAME, "4-bit counters", items, move |random, ask| {
        let mut filter =
            CountingBloomFilter::new(DESIGN.items, DESIGN.rate).expect("a sound design");
        first(items, random).for_each(|hash| _ = filter.insert_hash(hash));
        let answer = Answer::normal(filter.approx_len());
        ask(Asked { items, name: "approx_len", truth: real(items), answer });
    })
}

/// The constructors of counting filters, and the methods that make one filter from another.
fn all_constructors() -> Vec<Constructor> {
    let new = || CountingBloomFilter::new(ITEMS, RATE);
    let mut all = vec![
        built("new(1000, 0.01)", RATE, ITEMS, new),
        built("builder: counters and hashes", None, ITEMS, || {
            CountingBloomFilter::builder().counters(9_600).hashes(5).build()
        }),
        built("builder: wide counters", RATE, ITEMS, || {
            CountingBloomFilter::builder().expected_items(ITEMS).wide_counters().build()
        }),
        made("to_bloom_filter", RATE, ITEMS, new, |it| it.to_bloom_filter().expect("memory")),
        built("blocked new(1000, 0.01)", RATE, ITEMS, || {
            BlockedCountingBloomFilter::new(ITEMS, RATE)
        }),
        built("blocked builder: lines", None, ITEMS, || {
            BlockedCountingBloomFilter::builder().lines(100).build()
        }),
    ];
    all.extend(calculated(&COUNTING_BLOOM, CountingBloomFilter::<_>::from_params));
    all.extend(calculated(&BLOCKED_COUNTING_BLOOM, BlockedCountingBloomFilter::from_params));
    all
}
