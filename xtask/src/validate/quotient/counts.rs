//! Counts of the counting quotient filter, and values of the quotient map.

use super::{NAME, SLOTS, load_of};
use crate::validate::identity::{Identity, KEYS, and};
use crate::validate::prelude::*;
use crate::validate::removal::{Removals, Ways, steps};
use pds::{CountingQuotientFilter, QuotientFilter, QuotientMap};

pub(super) const TOO_LOW: Check = Check::new(
    "counts below the truth",
    "After inserts and removals of many copies, no key may be counted below its number.",
);
const TOO_HIGH: Check = Check::new(
    "counts above the truth",
    "As many stored keys are counted too high as have the fingerprint of another one on average.",
);

pub(super) fn jobs(run: &Run) -> Vec<Job<'_>> {
    let removals = |keys: u64| Removals { seed: run.seed ^ keys, steps: steps(run.effort), keys };
    let mut jobs = vec![
        // Copies take no slots but the second one, so these are never full.
        removals(700).job(NAME, "counting, 1500 slots of 6 bits", || counting(1_500, 6)),
        removals(3_000).job(NAME, "counting, 9000 slots of 1 bit", || counting(9_000, 1)),
        removals(700).job_by(NAME, "map, 800 slots of 6 bits", map, BY_VALUES),
        removals(4_000).job(NAME, "16 shards", || {
            let builder = QuotientFilter::builder().expected_items(1_000).grows_to(10_000);
            builder.build_sharded(16).expect("sound")
        }),
    ];
    for (bits, items) in [(4, 90_000), (5, 150_000)] {
        let filter = counting(SLOTS, bits);
        let load = load_of(run, filter.params(), items, format!("counting, {bits} bits"));
        jobs.push(load.job(run, filter, Ways::BY_HASH));
        jobs.push(counted(run, bits, items, CountingQuotientFilter::count_hash));
    }
    jobs.push(identity().job(NAME, run.seed));
    jobs
}

fn counting(slots: u64, bits: u32) -> CountingQuotientFilter {
    let builder = CountingQuotientFilter::builder().slots(slots).remainder_bits(bits);
    builder.build().expect("a shape of the list, and memory for it")
}

fn map() -> QuotientMap {
    QuotientMap::builder(16).slots(800).remainder_bits(6).build().expect("a shape of the list")
}

/// A map in which each key has one value.
const BY_VALUES: Ways<QuotientMap> = Ways {
    insert: |map, key| map.insert(&key, value(key)).is_ok(),
    remove: |map, key| map.remove(&key, value(key)),
    contains: |map, key| map.values(&key).any(|found| found == value(key)),
};

fn value(key: u64) -> u32 {
    u32::try_from(key % 60_000).expect("below 2^16")
}

/// Keys of one to 1,000 copies, of which some are taken away again: the counts that are too low, and too high.
pub(super) fn counted(
    run: &Run,
    bits: u32,
    items: u64,
    count: fn(&CountingQuotientFilter, u64) -> u64,
) -> Job<'_> {
    let filters = run.effort.choose([12u64, 30, 200]);
    let seed = run.seed ^ items;
    Job::new(2 * filters * items, move || {
        let (mut low, mut high) = (0, 0);
        for filter in 0..filters {
            let stream = || keys::random(seed + filter).zip(keys::random(seed - filter - 1));
            let mut filter = counting(2 * SLOTS, bits);
            let copies = |word: u64| 1 + word % (1 << (word >> 32 & 7));
            for (hash, word) in first(items, stream()) {
                let added = filter.insert_many_hash(hash, copies(word) + word % 3);
                added.expect("the load is below the limit");
                filter.remove_many_hash(hash, word % 3);
            }
            for (hash, word) in first(items, stream()) {
                let (count, truth) = (count(&filter, hash), copies(word));
                low += u64::from(count < truth);
                high += u64::from(count > truth);
            }
        }
        let cells = real(2 * SLOTS) * f64::from(1 << bits);
        let (mean, variance) = crowded(real(items), cells);
        let (mean, variance) = (real(filters) * mean, real(filters) * variance);
        let shape = format!("counting, {bits} bits");
        let case = Case::random(NAME, items, mean / real(filters * items), shape);
        let law = Law::around(mean, variance.sqrt());
        vec![case.none(TOO_LOW, low), case.row(TOO_HIGH, law, real(high), mean)]
    })
}

/// The mean and the variance of the number of items that are not alone in their cell.
// The items of a cell have a Poisson law, and are tied by their known sum: the variance is that of independent cells less
// the part that the sum explains.
fn crowded(items: f64, cells: f64) -> (f64, f64) {
    let mean = items / cells;
    let alone = mean * (-mean).exp();
    let in_cell = mean - alone;
    let square = mean + mean * mean - alone;
    let covariance = square - mean * in_cell;
    let variance = square - in_cell * in_cell - covariance * covariance / mean;
    (items * -((items - 1.0) * (-1.0 / cells).ln_1p()).exp_m1(), cells * variance)
}

fn identity() -> Identity<CountingQuotientFilter> {
    let empty = || CountingQuotientFilter::new(KEYS, 0.01).expect("sound");
    Identity::filled("counting", empty, |filter| {
        let counts = (0..100_000u64).map(|hash| filter.count_hash(hash << 40 | hash));
        let numbers = counts.chain([filter.len(), filter.used_slots()]).map(real);
        and([], &numbers.collect::<Vec<_>>())
    })
}
