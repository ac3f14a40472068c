//! The cuckoo filter as a subject: histories, its rate at many loads, and the load at which an insert first fails.

mod faults;

use super::constructors::{self, Constructor, ITEMS, RATE, built, calculated};
use super::fingerprints::{Load, identity, length};
use super::prelude::*;
use super::proofs::{self, History};
use super::removal::{Removals, Ways, steps};
use pds::CuckooFilter;
use pds::registry::CUCKOO;

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
    let shapes = [(1, 8), (13, 4), (64, 8), (1_001, 5), (4_096, 12), (20_011, 23)];
    let mut jobs: Vec<_> = shapes.into_iter().map(|shape| history(run, shape)).collect();
    let widths: &[u32] =
        run.effort.choose([&[4, 8, 12], &[4, 6, 8, 12, 16], &[4, 5, 6, 8, 10, 12, 16, 20]]);
    for &bits in widths {
        jobs.extend([0.25, 0.5, 0.75, 0.95].map(|load| rate(run, bits, load)));
    }
    jobs.extend(XOR_LOADS.map(|(bits, load)| first_failure(run, bits, load)));
    jobs.extend(constructors::jobs(run, NAME, all_constructors()));
    jobs.push(identity::<CuckooFilter>().job(NAME, run.seed));
    jobs.extend(proofs::jobs(run, NAME, &HISTORIES));
    jobs
}

/// Fills filters until an insert fails. The mean load lies between that of the usual scheme and what is possible at all.
fn first_failure(run: &Run, bits: u32, xor_load: f64) -> Job<'_> {
    let fills = run.effort.choose([10, 20, 200]);
    let items = 4 * FILLED_BUCKETS;
    Job::new(items * fills, move || {
        let mut hashes = keys::random(run.seed ^ u64::from(bits));
        let mut filter = build(FILLED_BUCKETS, bits);
        let mut load = || {
            filter.clear();
            while filter.insert_hash(next(&mut hashes)).is_ok() {}
            filter.load_factor()
        };
        let loads: Vec<f64> = (0..fills).map(|_| load()).collect();
        let (mean, variance) = mean_and_variance(&loads);
        let law = Law::between(xor_load, THRESHOLD, (variance / real(fills)).sqrt());
        let shape = format!("{FILLED_BUCKETS} buckets of {bits} bits");
        let case = Case::random(NAME, items, 0.0, shape).of(fills);
        vec![case.row(FIRST_FAILURE, law, mean, real(fills))]
    })
}

fn history(run: &Run, (buckets, bits): (u64, u32)) -> Job<'_> {
    let removals =
        Removals { seed: run.seed ^ buckets, steps: steps(run.effort), keys: 4 * buckets };
    let shape = format!("{buckets} buckets of {bits} bits");
    removals.job(NAME, shape, move || build(buckets, bits))
}

fn build(buckets: u64, bits: u32) -> CuckooFilter {
    let builder = CuckooFilter::builder().buckets(buckets).fingerprint_bits(bits);
    builder.build().expect("a shape of the list, and memory for it")
}

/// Absent keys of one large filter.
fn rate(run: &Run, bits: u32, load: f64) -> Job<'_> {
    let items = whole(real(4 * BUCKETS) * load);
    let filter = build(BUCKETS, bits);
    let (seed, rate) = (run.seed ^ u64::from(bits), filter.params().rate_at(items));
    let shape = format!("{bits} bits, load {load}");
    Load { structure: NAME, seed, items, rate, shape }.job(run, filter, Ways::BY_HASH)
}

fn all_constructors() -> Vec<Constructor> {
    let of_bits = || CuckooFilter::builder().expected_items(ITEMS).fingerprint_bits(9).build();
    let promised = of_bits().expect("sound").promised_rate();
    let mut all = vec![
        built("new(1000, 0.01)", RATE, ITEMS, || CuckooFilter::new(ITEMS, RATE)),
        built("builder: items", RATE, ITEMS, || {
            CuckooFilter::builder().expected_items(ITEMS).build()
        }),
        built("builder: items and bits", promised, ITEMS, of_bits),
        built("builder: buckets and bits", None, ITEMS, || {
            CuckooFilter::builder().buckets(300).fingerprint_bits(8).build()
        }),
    ];
    all.extend(calculated(&CUCKOO, CuckooFilter::from_params));
    all
}
