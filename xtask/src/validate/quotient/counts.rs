//! Counts of the counting quotient filter, and values of the quotient map.

use super::{NAME, SLOTS, rate};
use crate::validate::Run;
use crate::validate::identity::{Identity, KEYS, and, merged, with};
use crate::validate::judge::{Case, Check, Law, real};
use crate::validate::removal::{Removals, Removing, steps};
use crate::validate::schedule::{Job, Progress};
use pds::hash::DefaultHashBuilder;
use pds::params::QuotientParams;
use pds::{CountingQuotientFilter, QuotientFilter, QuotientMap, ShardedQuotientFilter};
use pds_testkit::keys;

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
        removals(700).job(NAME, "counting, 1500 slots of 6 bits".to_owned(), || counting(1_500, 6)),
        removals(3_000)
            .job(NAME, "counting, 9000 slots of 1 bit".to_owned(), || counting(9_000, 1)),
        removals(700).job(NAME, "map, 800 slots of 6 bits".to_owned(), || Valued(map())),
        removals(4_000).job(NAME, "16 shards".to_owned(), sharded),
    ];
    for (bits, items) in [(4, 90_000), (5, 150_000)] {
        let note = format!("counting, {bits} bits");
        let filter = counting(SLOTS, bits);
        let mean = filter.params().rate_at(items);
        jobs.push(rate(run, filter, (items, mean), note));
        jobs.push(counted(run, bits, items));
    }
    jobs.push(identity().job(NAME, run.seed));
    jobs
}

fn counting(slots: u64, bits: u32) -> CountingQuotientFilter {
    let params = QuotientParams::from_slots_and_remainder_bits(slots, bits);
    let params = params.expect("a shape of the list");
    CountingQuotientFilter::from_params(params, DefaultHashBuilder::default()).expect("memory")
}

fn map() -> QuotientMap {
    QuotientMap::builder(16).slots(800).remainder_bits(6).build().expect("a shape of the list")
}

fn sharded() -> ShardedQuotientFilter {
    let builder = QuotientFilter::builder().expected_items(1_000).grows_to(10_000);
    builder.build_sharded(16).expect("sound")
}

/// A map in which each key has one value.
#[derive(Debug)]
struct Valued(QuotientMap);

impl Valued {
    fn value(&self, key: u64) -> u32 {
        u32::try_from(key % 60_000).expect("below 2^16")
    }
}

impl Removing for Valued {
    fn insert(&mut self, key: u64) -> bool {
        self.0.insert(&key, self.value(key)).is_ok()
    }

    fn remove(&mut self, key: u64) -> bool {
        self.0.remove(&key, self.value(key))
    }

    fn contains(&self, key: u64) -> bool {
        self.0.values(&key).any(|value| value == self.value(key))
    }
}

/// A filter that counts by hashes.
pub(super) trait Counting: Send {
    fn add(&mut self, hash: u64, times: u64);
    fn take_away(&mut self, hash: u64, times: u64);
    fn count(&self, hash: u64) -> u64;
}

impl Counting for CountingQuotientFilter {
    fn add(&mut self, hash: u64, times: u64) {
        self.insert_many_hash(hash, times).expect("the load is below the limit");
    }

    fn take_away(&mut self, hash: u64, times: u64) {
        self.remove_many_hash(hash, times);
    }

    fn count(&self, hash: u64) -> u64 {
        self.count_hash(hash)
    }
}

fn counted(run: &Run, bits: u32, items: u64) -> Job<'_> {
    counts_of(run, bits, items, move || counting(2 * SLOTS, bits))
}

/// Keys of one to 1,000 copies, of which some are taken away again: the counts that are too low, and too high.
pub(super) fn counts_of<'a, F: Counting>(
    run: &'a Run,
    bits: u32,
    items: u64,
    build: impl Fn() -> F + Send + 'a,
) -> Job<'a> {
    let filters = run.effort.choose([12u64, 30, 200]);
    let seed = run.seed ^ items;
    let work = move |progress: &Progress| {
        let (mut low, mut high) = (0, 0);
        for filter in 0..filters {
            let stream = || keys::random(seed + filter).zip(keys::random(seed - filter - 1));
            let all = || stream().take(usize::try_from(items).expect("fits"));
            let mut filter = build();
            let copies = |word: u64| 1 + word % (1 << (word >> 32 & 7));
            for (hash, word) in all() {
                filter.add(hash, copies(word) + word % 3);
                filter.take_away(hash, word % 3);
            }
            for (hash, word) in all() {
                let (count, truth) = (filter.count(hash), copies(word));
                low += u64::from(count < truth);
                high += u64::from(count > truth);
            }
            progress.advance(2 * items);
        }
        let cells = real(2 * SLOTS) * f64::from(1 << bits);
        let (mean, variance) = crowded(real(items), cells);
        let (mean, variance) = (real(filters) * mean, real(filters) * variance);
        let shape = format!("counting, {bits} bits");
        let case = Case::random(NAME, items, mean / real(filters * items), shape);
        let law = Law::around(mean, variance.sqrt());
        vec![case.none(TOO_LOW, low), case.row(TOO_HIGH, law, real(high), mean)]
    };
    Job { cost: 2 * filters * items, run: Box::new(work) }
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
    fn empty() -> CountingQuotientFilter {
        CountingQuotientFilter::new(KEYS, 0.01).expect("sound")
    }
    Identity {
        name: "counting",
        full: |seed| with(empty(), seed, KEYS),
        empty,
        says: |f| {
            let counts = (0..100_000u64).map(|hash| f.count_hash(hash << 40 | hash));
            let numbers: Vec<f64> = counts.chain([f.len(), f.used_slots()]).map(real).collect();
            and(Vec::new(), &numbers)
        },
        left: true,
        merge: merged,
    }
}
