//! The cuckoo filter as a subject: histories, its rate at many loads, and the load at which an insert first fails.

mod constructors;
mod faults;

use super::identity::{Identity, KEYS, and, merged, with};
use super::judge::{Case, Check, Law, Measurement, real};
use super::measure::FALSE_POSITIVES;
use super::proofs::{Claims, History, Random, next, some};
use super::removal::{Removals, case, steps};
use super::schedule::{Job, Progress};
use super::structures::Structure;
use super::{Run, proofs};
use pds::CuckooFilter;
use pds::hash::DefaultHashBuilder;
use pds::params::CuckooParams;
use pds_testkit::keys;

/// The cuckoo filter.
pub(crate) const STRUCTURE: Structure = Structure {
    name: NAME,
    title: "Cuckoo filter",
    variants: &[],
    jobs,
    faults: &faults::FAULTS,
    sketches: &[],
};

const NAME: &str = "cuckoo";

const HISTORIES: [History; 1] = [History { name: NAME, run: length }];

const FIRST_FAILURE: Check = Check::new(
    "mean load at the first failure",
    "The mean load at which an insert first fails: no less than that of the usual scheme, and no \
     more than two choices allow.",
);

/// Buckets of the filters whose rate is measured: a prime number, so that nothing divides them.
const BUCKETS: u64 = 50_021;
/// Standard deviations of one filter's own rate around the mean that its row allows for.
const ALLOWED_DEVIATIONS: f64 = 5.0;
/// Buckets of the filters that are filled until an insert fails.
const FILLED_BUCKETS: u64 = 4_096;
/// The load that no filter of four slots and two choices passes: Cain, Sanders and Wormald, "The random graph
/// threshold for k-orientability and a fast algorithm for optimal multiple-choice allocation", SODA 2007.
const THRESHOLD: f64 = 0.980_37;
/// Mean loads at the first failure of the usual scheme, by exclusive-or with 500 moves, simulated apart from this
/// library for as many buckets: widths in bits, loads.
const XOR_LOADS: [(u32, f64); 6] =
    [(4, 0.957_1), (5, 0.964_3), (6, 0.968_2), (8, 0.968_4), (12, 0.968_9), (16, 0.967_9)];

fn jobs(run: &Run) -> Vec<Job<'_>> {
    let mut jobs = own_jobs(run);
    jobs.extend(super::constructors::jobs(run, NAME, constructors::all()));
    jobs.push(identity().job(NAME, run.seed));
    jobs.extend(proofs::jobs(run, NAME, &HISTORIES));
    jobs
}

/// A job for each history of cuckoo filters, and each width and load whose rate is measured.
fn own_jobs(run: &Run) -> Vec<Job<'_>> {
    let shapes = [(1, 8), (13, 4), (64, 8), (1_001, 5), (4_096, 12), (20_011, 23)];
    let mut jobs: Vec<_> = shapes.into_iter().map(|shape| history(run, shape)).collect();
    let widths: &[u32] =
        run.effort.choose([&[4, 8, 12], &[4, 6, 8, 12, 16], &[4, 5, 6, 8, 10, 12, 16, 20]]);
    for &bits in widths {
        jobs.extend([0.25, 0.5, 0.75, 0.95].map(|load| rate(run, bits, load)));
    }
    jobs.extend(XOR_LOADS.map(|(bits, load)| first_failure(run, bits, load)));
    jobs
}

/// Fills filters until an insert fails. The mean load lies between that of the usual scheme and what is possible at all.
fn first_failure(run: &Run, bits: u32, xor_load: f64) -> Job<'_> {
    let fills = run.effort.choose([10, 20, 200]);
    let items = 4 * FILLED_BUCKETS;
    let work = move |progress: &Progress| {
        let mut hashes = keys::random(run.seed ^ u64::from(bits));
        let mut filter = build(FILLED_BUCKETS, bits);
        let mut load = || {
            filter.clear();
            while hashes.next().is_some_and(|hash| filter.insert_hash(hash).is_ok()) {}
            progress.advance(items);
            filter.load_factor()
        };
        let loads: Vec<f64> = (0..fills).map(|_| load()).collect();
        let mean = loads.iter().sum::<f64>() / real(fills);
        let squares: f64 = loads.iter().map(|load| (load - mean).powi(2)).sum();
        let deviation = (squares / real(fills - 1) / real(fills)).sqrt();
        let case = case(NAME, items, 0.0, format!("{FILLED_BUCKETS} buckets of {bits} bits"));
        let law = Law::Normal { low: xor_load, high: THRESHOLD, deviation, looks: 1 };
        let case = Case { instances: fills, ..case };
        vec![Measurement { case, check: FIRST_FAILURE, law, observed: mean, events: real(fills) }]
    };
    Job { cost: items * fills, run: Box::new(work) }
}

fn history(run: &Run, (buckets, bits): (u64, u32)) -> Job<'_> {
    let removals =
        Removals { seed: run.seed ^ buckets, steps: steps(run.effort), keys: 4 * buckets };
    let shape = format!("{buckets} buckets of {bits} bits");
    removals.job(NAME, shape, move || build(buckets, bits))
}

fn build(buckets: u64, bits: u32) -> CuckooFilter {
    let params = CuckooParams::from_buckets_and_fingerprint_bits(buckets, bits);
    CuckooFilter::from_params(params.expect("a shape of the list"), DefaultHashBuilder::default())
        .expect("memory for the filter")
}

/// Absent keys of one large filter, against the exact mean rate and how far one filter's is from it.
fn rate(run: &Run, bits: u32, load: f64) -> Job<'_> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in bounds")]
    let items = (real(4 * BUCKETS) * load) as u64;
    let mut filter = build(BUCKETS, bits);
    let rate = filter.params().rate_at(items);
    let queries =
        run.effort.queries(rate).min(run.effort.choose([20_000_000, 40_000_000, u64::MAX]));
    let seed = run.seed ^ u64::from(bits);
    let work = move |progress: &Progress| {
        let mut hashes = keys::random(seed);
        for hash in hashes.by_ref().take(usize::try_from(items).expect("fits")) {
            filter.insert_hash(hash).expect("the load is below the limit of this size");
        }
        let absent = hashes.take(usize::try_from(queries).expect("fits"));
        let hits = absent.filter(|&hash| filter.contains_hash(hash)).count();
        progress.advance(items + queries);
        // The number of different places of so many keys, each one of 2 / rate, is spread by their coincidences.
        let spread = ALLOWED_DEVIATIONS * (rate / (2.0 * real(items))).sqrt();
        let (low, high) = (rate * (1.0 - spread), rate * (1.0 + spread));
        let case = case(NAME, items, rate, format!("{bits} bits, load {load}"));
        let law = Law::Events { trials: queries, low, high };
        let observed = real(hits as u64);
        vec![Measurement { case, check: FALSE_POSITIVES, law, observed, events: observed }]
    };
    Job { cost: items + queries, run: Box::new(work) }
}

fn identity() -> Identity<CuckooFilter> {
    fn empty() -> CuckooFilter {
        CuckooFilter::new(KEYS, 0.01).expect("sound")
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
    let mut filter = CuckooFilter::new(100, 0.01).expect("sound");
    let (mut length, keys) = (0, some(random, 6));
    for key in 0..keys {
        length += u64::from(filter.insert(&key).is_ok());
        if next(random).is_multiple_of(3) {
            length -= u64::from(filter.remove(&key));
        }
        claims.hold(filter.len() == length);
    }
}
