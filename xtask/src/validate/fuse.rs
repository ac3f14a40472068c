//! Static filters and maps as subjects: no key is lost, strangers are affirmed at the predicted rate, values are right.

mod faults;

use super::prelude::*;
use core::ops::Range;
use pds::fuse::{ExactFilter, FuseFilter, RetrievalMap, RibbonFilter, UpdatableMap};
use pds::hash::Mixed;
use pds::traits::Membership;
use pds_testkit::hashers::Fnv1aBuilder;

/// Filters and maps that are built from all keys at once.
pub(crate) const STRUCTURE: Structure = Structure {
    name: FUSE,
    title: "Fuse filter",
    variants: &[
        (RIBBON, "Ribbon filter"),
        (RETRIEVAL, "Retrieval map"),
        (UPDATABLE, "Updatable map"),
        (EXACT, "Exact filter"),
    ],
    jobs,
    faults: &faults::FAULTS,
};

const FUSE: &str = "fuse";
const RIBBON: &str = "ribbon";
const RETRIEVAL: &str = "retrieval";
const UPDATABLE: &str = "updatable";
const EXACT: &str = "exact";

const WRONG_VALUES: Check =
    Check::new("wrong values", "Every stored key was asked for; each must have its own value.");
const STRANGERS: Check = Check::new(
    "strangers without a value",
    "A map without bits to check gives every key a value, as its documentation says.",
);
const WRONG_ANSWERS: Check = Check::new(
    "wrong answers on the universe",
    "Every key to include and every key to exclude was asked for; no answer may be wrong.",
);

/// Numbers of keys: of a last layer alone, of one layer and a last one, and of more layers and segments.
const SIZES: [u64; 3] = [1_000, 40_009, 600_011];

fn jobs(run: &Run) -> Vec<Job<'_>> {
    let mut jobs = Vec::new();
    // Whole numbers of columns, and shares of the windows with one more.
    let columns: &[f64] = run.effort.choose([
        &[1.0, 4.3, 8.0, 9.75],
        &[0.5, 1.0, 4.3, 6.72, 8.0, 9.5, 11.75],
        &[0.5, 1.0, 2.9, 4.3, 6.72, 8.0, 9.5, 12.75, 16.0, 19.1],
    ]);
    let widths: &[u32] =
        run.effort.choose([&[1, 7, 8, 10], &[1, 4, 7, 8, 11, 12], &[1, 4, 7, 8, 12, 16, 19]]);
    for size in SIZES {
        jobs.extend(columns.iter().map(|&columns| ribbon(run, size, columns)));
        jobs.extend(widths.iter().map(|&bits| fuse(run, size, bits)));
        jobs.extend([(1, 8), (13, 7), (64, 0), (30, 10)].map(|bits| retrieval(run, size, bits)));
        jobs.extend([(1, 8), (20, 6)].map(|bits| updatable(run, size, bits)));
        jobs.extend([10, 1_000, 100_000].map(|include| exact(run, include, size)));
    }
    jobs.push(shrunk(run));
    jobs.push(weak(run, RIBBON, |keys| {
        let builder = RibbonFilter::builder().columns(8.0).hasher(Mixed(Fnv1aBuilder));
        builder.build(keys).expect(BUILT)
    }));
    jobs.push(weak(run, FUSE, |keys| {
        let builder = FuseFilter::builder().fingerprint_bits(8).hasher(Mixed(Fnv1aBuilder));
        builder.build(keys).expect(BUILT)
    }));
    jobs
}

fn hashes(seed: u64, items: u64) -> Vec<u64> {
    first(items, keys::random(seed)).collect()
}

fn ribbon(run: &Run, items: u64, columns: f64) -> Job<'_> {
    let seed = run.seed ^ items ^ columns.to_bits();
    let (case, queries) = filter_case(run, RIBBON, items, columns, format!("{columns} columns"));
    filter_job(case, seed, queries, move |hashes| of_columns(columns, hashes))
}

/// A ribbon filter, and its rate.
fn of_columns(columns: f64, hashes: Vec<u64>) -> (RibbonFilter, f64) {
    let filter = RibbonFilter::builder().columns(columns).build_hashes(hashes).expect(BUILT);
    let rate = filter.false_positive_rate();
    (filter, rate)
}

fn fuse(run: &Run, items: u64, bits: u32) -> Job<'_> {
    let seed = run.seed ^ items ^ u64::from(bits);
    let (case, queries) = filter_case(run, FUSE, items, bits.into(), format!("{bits} bits"));
    filter_job(case, seed, queries, move |hashes| {
        let builder = FuseFilter::builder().fingerprint_bits(bits);
        let filter = builder.build_hashes(hashes).expect(BUILT);
        let rate = filter.false_positive_rate();
        (filter, rate)
    })
}

/// A ribbon filter that gave columns away without its keys.
fn shrunk(run: &Run) -> Job<'_> {
    let (case, queries) =
        filter_case(run, RIBBON, SIZES[1], 100f64.log2(), "20 columns, shrunk to 1 %".into());
    filter_job(case, run.seed ^ 1, queries, |hashes| {
        let filter = of_columns(20.0, hashes).0.shrink_to_rate(0.01).expect("a higher rate");
        let rate = filter.false_positive_rate();
        (filter, rate)
    })
}

const BUILT: &str = "distinct hashes, and memory for them";

/// Returns the case of a filter with a rate of 2^-`bits`, and the number of absent keys to ask for.
fn filter_case(run: &Run, name: &'static str, items: u64, bits: f64, shape: String) -> (Case, u64) {
    let rate = (-bits).exp2();
    let most = run.effort.choose([3_000_000, 20_000_000, u64::MAX]);
    (Case::random(name, items, rate, shape), run.effort.queries(rate).min(most))
}

/// Builds a filter of random hashes, asks for all of them, and for as many absent ones as `queries`.
fn filter_job<'a, F: Membership>(
    case: Case,
    seed: u64,
    queries: u64,
    build: impl Fn(Vec<u64>) -> (F, f64) + Send + 'a,
) -> Job<'a> {
    Job::new(2 * case.items + queries, move || {
        let stored = hashes(seed, case.items);
        let (filter, rate) = build(stored.clone());
        let lost = stored.iter().filter(|&&hash| !filter.contains_hash(hash)).count() as u64;
        let hits = hits(seed, case.items, queries, |hash| filter.contains_hash(hash));
        vec![case.none(LOST_KEYS, lost), strangers(&case, queries, rate, hits)]
    })
}

/// Counts the affirmed ones among absent hashes. The stream goes on behind the stored ones.
fn hits(seed: u64, stored: u64, queries: u64, affirms: impl Fn(u64) -> bool) -> u64 {
    let absent = first(queries, keys::random(seed).skip(index(stored)));
    absent.filter(|&hash| affirms(hash)).count() as u64
}

/// Affirmed strangers: each is one independently of the others, because its fingerprint is.
fn strangers(case: &Case, queries: u64, rate: f64, hits: u64) -> Measurement {
    case.events(FALSE_POSITIVES, queries, Interval::exactly(rate), hits)
}

/// Keys that are counted from 0, hashed by a weak hasher and mixed.
fn weak<'a, F: Membership>(
    run: &'a Run,
    name: &'static str,
    build: impl Fn(Range<u64>) -> F + Send + 'a,
) -> Job<'a> {
    let (case, queries) = filter_case(run, name, SIZES[1], 8.0, "8 bits".to_owned());
    let case = Case { keys: "consecutive", hasher: "mixed FNV-1a", ..case };
    Job::new(2 * case.items + queries, move || {
        let filter = build(0..case.items);
        let lost = (0..case.items).filter(|key| !filter.contains(key)).count() as u64;
        let absent = case.items..case.items + queries;
        let hits = absent.filter(|key| filter.contains(key)).count() as u64;
        vec![case.none(LOST_KEYS, lost), strangers(&case, queries, 1.0 / 256.0, hits)]
    })
}

fn retrieval(run: &Run, items: u64, (value_bits, check_bits): (u32, u32)) -> Job<'_> {
    let shape = format!("{value_bits} bits, {check_bits} to check");
    let (case, queries) = filter_case(run, RETRIEVAL, items, check_bits.into(), shape);
    let seed = run.seed ^ items ^ u64::from(value_bits);
    map_job(case, seed, queries, value_bits, move |entries| {
        let builder = RetrievalMap::builder().value_bits(value_bits).check_bits(check_bits);
        let map = builder.build_hashes(entries).expect(BUILT);
        move |hash| map.get_hash(hash)
    })
}

/// Every value is changed once before it is asked for. A stranger is refused for its check bits, or because the two bits
/// that name its slot are those of none, with a probability of 1/4.
fn updatable(run: &Run, items: u64, (value_bits, check_bits): (u32, u32)) -> Job<'_> {
    let shape = format!("{value_bits} bits, {check_bits} to check");
    let bits = f64::from(check_bits) + (4.0_f64 / 3.0).log2();
    let (case, queries) = filter_case(run, UPDATABLE, items, bits, shape);
    let seed = run.seed ^ items ^ u64::from(value_bits);
    map_job(case, seed, queries, value_bits, move |entries| {
        let builder = UpdatableMap::builder().value_bits(value_bits).check_bits(check_bits);
        let first = entries.iter().map(|&(hash, value)| (hash, !value >> (64 - value_bits)));
        let mut map = builder.build_hashes(first.collect()).expect(BUILT);
        let set =
            |&(hash, value): &(u64, u64)| map.set_hash(hash, value).expect("a value that fits");
        assert!(entries.iter().all(set), "every key has a place");
        move |hash| map.get_hash(hash)
    })
}

/// Builds a map from random hashes to random values, asks for all of them, and for absent ones.
fn map_job<'a, G: Fn(u64) -> Option<u64>>(
    case: Case,
    seed: u64,
    queries: u64,
    value_bits: u32,
    build: impl Fn(Vec<(u64, u64)>) -> G + Send + 'a,
) -> Job<'a> {
    Job::new(2 * case.items + queries, move || {
        let values = keys::random(!seed).map(|value| value >> (64 - value_bits));
        let entries: Vec<_> = hashes(seed, case.items).into_iter().zip(values).collect();
        let get = build(entries.clone());
        let wrong = entries.iter().filter(|&&(hash, value)| get(hash) != Some(value)).count();
        let hits = hits(seed, case.items, queries, |hash| get(hash).is_some());
        let others = match case.rate {
            // Without bits to check, every stranger has a value.
            1.0 => case.none(STRANGERS, queries - hits),
            rate => strangers(&case, queries, rate, hits),
        };
        vec![case.none(WRONG_VALUES, wrong as u64), others]
    })
}

fn exact(run: &Run, include: u64, exclude: u64) -> Job<'_> {
    let seed = run.seed ^ include ^ exclude;
    let case = Case::random(EXACT, include, 0.0, format!("{exclude} to exclude"));
    Job::new(2 * (include + exclude), move || {
        let mut universe = hashes(seed, include + exclude);
        let excluded = universe.split_off(index(include));
        let filter =
            ExactFilter::builder().build_hashes(universe.clone(), excluded.clone()).expect(BUILT);
        let denied = universe.iter().filter(|&&hash| !filter.contains_hash(hash)).count();
        let affirmed = excluded.iter().filter(|&&hash| filter.contains_hash(hash)).count();
        vec![case.none(WRONG_ANSWERS, (denied + affirmed) as u64)]
    })
}
