//! The quotient filters as subjects: histories, rates at many loads and after every doubling, and counts.

mod constructors;
mod counts;
mod faults;

use super::fingerprints::{Hashed, Load, identity, length};
use super::judge::real;
use super::proofs::History;
use super::removal::{Removals, Removing, steps};
use super::schedule::Job;
use super::structures::Structure;
use super::{Run, proofs};
use pds::QuotientFilter;
use pds::hash::{DefaultHashBuilder, KeyHasher};
use pds::params::QuotientParams;

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
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "in bounds"
            )]
            let items = (real(SLOTS) * load) as u64;
            let filter = build(SLOTS, bits);
            let mean = filter.params().rate_at(items);
            rate(run, filter, (items, mean), format!("{bits} bits, load {load}"))
        }));
    }
    for doublings in 0..=7 {
        let items = 1_000 << doublings;
        let note = format!("{items} items in a filter that grows");
        jobs.push(rate(run, growing(), (items, growing().params().rate_at(items)), note));
    }
    let removals = Removals { seed: run.seed, steps: steps(run.effort), keys: CROWD };
    jobs.push(removals.job(NAME, CROWDED.to_owned(), || Crowded(build(1_024, 8))));
    jobs.extend(counts::jobs(run));
    jobs.extend(super::constructors::jobs(run, NAME, constructors::all()));
    jobs.push(identity::<QuotientFilter>().job(NAME, run.seed));
    jobs.extend(proofs::jobs(run, NAME, &HISTORIES));
    jobs
}

fn history(run: &Run, (slots, bits): (u64, u32)) -> Job<'_> {
    let removals = Removals { seed: run.seed ^ slots, steps: steps(run.effort), keys: slots };
    removals.job(NAME, format!("{slots} slots of {bits} bits"), move || build(slots, bits))
}

fn build(slots: u64, bits: u32) -> QuotientFilter {
    let params = QuotientParams::from_slots_and_remainder_bits(slots, bits);
    QuotientFilter::from_params(params.expect("a shape of the list"), DefaultHashBuilder::default())
        .expect("memory for the filter")
}

/// A filter whose keys share a quarter of the quotients, so that runs go on for many blocks.
#[derive(Debug)]
struct Crowded(QuotientFilter);

/// Keys that a crowded filter swings around, and its description.
const CROWD: u64 = 700;
const CROWDED: &str = "1024 slots of 8 bits, a quarter of the quotients";

impl Crowded {
    fn hash(&self, key: u64) -> u64 {
        self.0.hash_key(&key) >> 2
    }
}

impl Removing for Crowded {
    fn insert(&mut self, key: u64) -> bool {
        self.0.insert_hash(self.hash(key)).is_ok()
    }

    fn remove(&mut self, key: u64) -> bool {
        self.0.remove_hash(self.hash(key))
    }

    fn contains(&self, key: u64) -> bool {
        self.0.contains_hash(self.hash(key))
    }
}

/// A filter for 1,000 keys that doubles up to 128,000.
fn growing() -> QuotientFilter {
    let builder = QuotientFilter::builder().expected_items(1_000).grows_to(128_000);
    builder.false_positive_rate(0.02).build().expect("sound")
}

/// Absent keys of one filter, whose mean rate is `rate`.
fn rate<F: Hashed + 'static>(
    run: &Run,
    filter: F,
    (items, rate): (u64, f64),
    shape: String,
) -> Job<'_> {
    Load { structure: NAME, seed: run.seed ^ items, items, rate, shape }.job(run, filter)
}
