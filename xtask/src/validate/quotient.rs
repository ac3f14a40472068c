//! The quotient filters as subjects: histories, rates at many loads and after every doubling, and counts.

mod constructors;
mod counts;
mod faults;

use super::identity::{Identity, KEYS, and, merged, with};
use super::judge::{Law, Measurement, real};
use super::measure::FALSE_POSITIVES;
use super::proofs::{Claims, History, Random, next, some};
use super::removal::{Removals, Removing, case, steps};
use super::schedule::{Job, Progress};
use super::structures::Structure;
use super::{Run, proofs};
use pds::QuotientFilter;
use pds::hash::{DefaultHashBuilder, KeyHasher};
use pds::params::QuotientParams;
use pds_testkit::keys;

/// The quotient filter.
pub(crate) const STRUCTURE: Structure = Structure {
    name: NAME,
    title: "Quotient filter",
    variants: &[],
    jobs,
    faults: &faults::FAULTS,
    sketches: &[],
};

const NAME: &str = "quotient";

const HISTORIES: [History; 1] = [History { name: NAME, run: length }];

/// Slots of the filters whose rate is measured: a prime number, so that nothing divides them.
const SLOTS: u64 = 200_003;
/// Standard deviations of one filter's own rate around the mean that its row allows for.
const ALLOWED_DEVIATIONS: f64 = 5.0;

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
            rate(run, build(SLOTS, bits), items, format!("{bits} bits, load {load}"))
        }));
    }
    for doublings in 0..=7 {
        let items = 1_000 << doublings;
        jobs.push(rate(run, growing(), items, format!("{items} items in a filter that grows")));
    }
    let removals = Removals { seed: run.seed, steps: steps(run.effort), keys: CROWD };
    jobs.push(removals.job(NAME, CROWDED.to_owned(), || Crowded(build(1_024, 8))));
    jobs.extend(counts::jobs(run));
    jobs.extend(super::constructors::jobs(run, NAME, constructors::all()));
    jobs.push(identity().job(NAME, run.seed));
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

/// A filter whose rate is measured.
trait Subject: Send {
    fn rate_at(&self, items: u64) -> f64;
    fn take(&mut self, hash: u64) -> bool;
    fn has(&self, hash: u64) -> bool;
}

impl Subject for QuotientFilter {
    fn rate_at(&self, items: u64) -> f64 {
        self.params().rate_at(items)
    }

    fn take(&mut self, hash: u64) -> bool {
        self.insert_hash(hash).is_ok()
    }

    fn has(&self, hash: u64) -> bool {
        self.contains_hash(hash)
    }
}

/// Absent keys of one filter, against the exact mean rate and how far one filter's is from it.
fn rate<F>(run: &Run, filter: F, items: u64, note: String) -> Job<'_>
where
    F: Subject + 'static,
{
    let rate = filter.rate_at(items);
    let queries =
        run.effort.queries(rate).min(run.effort.choose([20_000_000, 40_000_000, u64::MAX]));
    let seed = run.seed ^ items;
    let work = move |progress: &Progress| {
        let (mut hashes, mut filter) = (keys::random(seed), filter);
        for hash in hashes.by_ref().take(usize::try_from(items).expect("fits")) {
            assert!(filter.take(hash), "the load is below the limit of this size");
        }
        let absent = hashes.take(usize::try_from(queries).expect("fits"));
        let hits = absent.filter(|&hash| filter.has(hash)).count();
        progress.advance(items + queries);
        // The number of different fingerprints of so many keys is spread by their coincidences.
        let spread = ALLOWED_DEVIATIONS * (rate / (2.0 * real(items))).sqrt();
        let (low, high) = (rate * (1.0 - spread), rate * (1.0 + spread));
        let law = Law::Events { trials: queries, low, high };
        let observed = real(hits as u64);
        let case = case(NAME, items, rate, note);
        vec![Measurement { case, check: FALSE_POSITIVES, law, observed, events: observed }]
    };
    Job { cost: items + queries, run: Box::new(work) }
}

fn identity() -> Identity<QuotientFilter> {
    fn empty() -> QuotientFilter {
        QuotientFilter::new(KEYS, 0.01).expect("sound")
    }
    Identity {
        name: "plain",
        full: |seed| with(empty(), seed, KEYS),
        empty,
        says: |f| {
            let answers = (0..100_000u64).map(|hash| f.contains_hash(hash << 40 | hash).into());
            and(answers.collect(), &[real(f.len())])
        },
        left: true,
        merge: merged,
    }
}

/// As many keys as were inserted and not removed, exactly.
fn length(random: Random<'_>, claims: &mut Claims) {
    let mut filter = QuotientFilter::new(100, 0.01).expect("sound");
    let (mut length, keys) = (0, some(random, 6));
    for key in 0..keys {
        length += u64::from(filter.insert(&key).is_ok());
        if next(random).is_multiple_of(3) {
            length -= u64::from(filter.remove(&key));
        }
        claims.hold(filter.len() == length);
    }
}
