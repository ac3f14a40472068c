//! The quotient filters as subjects: histories, rates at many loads and after every doubling, and counts.

mod counts;
mod faults;

use super::constructors::{self, Constructor, ITEMS, RATE, built, calculated};
use super::fingerprints::{Load, identity, length};
use super::prelude::*;
use super::proofs::{self, History};
use super::removal::{Removals, Ways, steps};
use pds::QuotientFilter;
use pds::hash::KeyHasher;
use pds::params::QuotientParams;
use pds::registry::QUOTIENT;

/// The quotient filter.
pub(crate) const STRUCTURE: Structure = Structure {
    name: NAME,
    title: "Quotient filter",
    variants: &[],
    jobs,
    faults: &faults::FAULTS,
};

const NAME: &str = "quotient";

const HISTORIES: [History; 1] = [History { name: NAME, run: length::<QuotientFilter> }];

/// Slots of the filters whose rate is measured: a prime number, so that nothing divides them.
const SLOTS: u64 = 200_003;

fn jobs(run: &Run) -> Vec<Job<'_>> {
    let shapes = [(3, 8), (67, 4), (256, 8), (4_001, 5), (16_384, 12), (80_021, 23)];
    let mut jobs: Vec<_> = shapes.into_iter().map(|shape| history(run, shape)).collect();
    let widths: &[u32] =
        run.effort.choose([&[1, 7, 10], &[1, 4, 7, 10, 14], &[1, 2, 3, 5, 7, 10, 14]]);
    for &bits in widths {
        jobs.extend([0.25, 0.5, 0.75, 0.95].map(|load| {
            let (filter, items) = (build(SLOTS, bits), whole(real(SLOTS) * load));
            let load = load_of(run, filter.params(), items, format!("{bits} bits, load {load}"));
            load.job(run, filter, Ways::BY_HASH)
        }));
    }
    for doublings in 0..=7 {
        jobs.push(grown(run, 1_000 << doublings, Ways::BY_HASH));
    }
    jobs.push(crowd(run).job_by(NAME, CROWDED, || build(1_024, 8), BY_FEW_QUOTIENTS));
    jobs.extend(counts::jobs(run));
    jobs.extend(constructors::jobs(run, NAME, all_constructors()));
    jobs.push(identity::<QuotientFilter>().job(NAME, run.seed));
    jobs.extend(proofs::jobs(run, NAME, &HISTORIES));
    jobs
}

fn history(run: &Run, (slots, bits): (u64, u32)) -> Job<'_> {
    let removals = Removals { seed: run.seed ^ slots, steps: steps(run.effort), keys: slots };
    removals.job(NAME, format!("{slots} slots of {bits} bits"), move || build(slots, bits))
}

fn build(slots: u64, bits: u32) -> QuotientFilter {
    let builder = QuotientFilter::builder().slots(slots).remainder_bits(bits);
    builder.build().expect("a shape of the list, and memory for it")
}

/// The history of a filter whose keys share a quarter of the quotients, so that runs go on for many blocks.
fn crowd(run: &Run) -> Removals {
    Removals { seed: run.seed, steps: steps(run.effort), keys: CROWD }
}

/// Keys that a crowded filter swings around, and its description.
const CROWD: u64 = 700;
const CROWDED: &str = "1024 slots of 8 bits, a quarter of the quotients";

/// Keys by hashes of a quarter of the quotients.
const BY_FEW_QUOTIENTS: Ways<QuotientFilter> = Ways {
    insert: |filter, key| filter.insert_hash(crowded(filter, key)).is_ok(),
    remove: |filter, key| filter.remove_hash(crowded(filter, key)),
    contains: |filter, key| filter.contains_hash(crowded(filter, key)),
};

fn crowded(filter: &QuotientFilter, key: u64) -> u64 {
    filter.hash_key(&key) >> 2
}

/// Absent keys of a filter for 1,000 keys that doubles up to 128,000.
fn grown(run: &Run, items: u64, by: Ways<QuotientFilter>) -> Job<'_> {
    let builder = QuotientFilter::builder().expected_items(1_000).grows_to(128_000);
    let filter = builder.false_positive_rate(0.02).build().expect("sound");
    let note = format!("{items} items in a filter that grows");
    load_of(run, filter.params(), items, note).job(run, filter, by)
}

fn load_of(run: &Run, params: QuotientParams, items: u64, shape: String) -> Load {
    let rate = params.rate_at(items);
    Load { structure: NAME, seed: run.seed ^ items, items, rate, shape }
}

fn all_constructors() -> Vec<Constructor> {
    let mut all = vec![
        built("new(1000, 0.01)", RATE, ITEMS, || QuotientFilter::new(ITEMS, RATE)),
        built("builder: items", RATE, ITEMS, || {
            QuotientFilter::builder().expected_items(ITEMS).build()
        }),
        built("builder: slots and bits", None, ITEMS, || {
            QuotientFilter::builder().slots(1_200).remainder_bits(6).build()
        }),
    ];
    all.extend(calculated(&QUOTIENT, QuotientFilter::from_params));
    all
}
