//! The cuckoo filter as a subject: histories, its rate at many loads, and the load at which an insert first fails.

mod constructors;
mod faults;

use super::fingerprints::{Load, identity, length};
use super::judge::{Case, Check, Law, real};
use super::proofs::History;
use super::removal::{Removals, steps};
use super::schedule::{Job, Progress};
use super::structures::Structure;
use super::{Run, proofs};
use pds::CuckooFilter;
use pds::hash::DefaultHashBuilder;
use pds::params::CuckooParams;
use pds_testkit::keys;

/// The cuckoo filter.
pub(crate) const STRUCTURE: Structure =
    Structure { name: NAME, title: "Cuckoo filter", variants: &[], jobs, faults: &faults::FAULTS };

const NAME: &str = "cuckoo";

const HISTORIES: [History; 1] = [History { name: NAME, run: length::<CuckooFilter> }];

const FIRST_FAILURE: Check = Check::new(
    "mean load at the first failure",
    "The mean load at which an insert first fails: no less than that of the usual scheme, and no \
     more than two choices allow.",
);

/// Buckets of the filters whose rate is measured: a prime number, so that nothing divides them.
const BUCKETS: u64 = 50_021;
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
    jobs.push(identity::<CuckooFilter>().job(NAME, run.seed));
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
        let shape = format!("{FILLED_BUCKETS} buckets of {bits} bits");
        let case = Case { instances: fills, ..Case::random(NAME, items, 0.0, shape) };
        let law = Law::between(xor_load, THRESHOLD, deviation);
        vec![case.row(FIRST_FAILURE, law, mean, real(fills))]
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

/// Absent keys of one large filter.
fn rate(run: &Run, bits: u32, load: f64) -> Job<'_> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in bounds")]
    let items = (real(4 * BUCKETS) * load) as u64;
    let filter = build(BUCKETS, bits);
    let (seed, rate) = (run.seed ^ u64::from(bits), filter.params().rate_at(items));
    let shape = format!("{bits} bits, load {load}");
    Load { structure: NAME, seed, items, rate, shape }.job(run, filter)
}
