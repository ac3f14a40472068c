//! Measured rates and loads against predicted ones, with literal seeds.
//!
//! All tests of this file together raise a false alarm with probability [`FALSE_ALARM`] at most.
#![cfg(feature = "std")]

use cuckoo::hash::DefaultHashBuilder;
use cuckoo::{CuckooFilter, CuckooParams};
use pds_params::cuckoo::{least_buckets, rate_by_load, rate_exact};
use pds_testkit::keys;
use pds_testkit::stats::{Binomial, normal_quantile, split_budget};

const FALSE_ALARM: f64 = 1e-6;
/// How many judgements the tests below pass, rounded up.
const JUDGEMENTS: usize = 60;

fn alpha() -> f64 {
    split_budget(FALSE_ALARM, JUDGEMENTS)
}

/// Inserts and asks random hashes: the buckets and fingerprints are under test here and no hasher.
fn shaped(buckets: u64, bits: u32) -> CuckooFilter {
    let params = CuckooParams::from_buckets_and_fingerprint_bits(buckets, bits).unwrap();
    CuckooFilter::from_params(params, DefaultHashBuilder::default()).unwrap()
}

/// The mean rate over many filters is the predicted one; for 4 bits the usual formula is 3 % too high.
#[test]
fn rates_are_the_exact_ones() {
    const FILTERS: u64 = 40;
    const QUERIES: u64 = 100_000;
    for (seed, (bits, load)) in
        (1..).zip([(4, 0.25), (4, 0.75), (5, 0.9), (8, 0.5), (8, 0.95), (12, 0.95)])
    {
        let (buckets, mut hashes) = (1_001, keys::random(seed));
        let items = load_of(buckets, load);
        let (mut hits, mut spread) = (0.0, 0.0);
        let expected = rate_exact(buckets, items, bits);
        for _ in 0..FILTERS {
            let mut filter = shaped(buckets, bits);
            (0..items).for_each(|_| filter.insert_hash(hashes.next().unwrap()).unwrap());
            let count =
                (0..QUERIES).filter(|_| filter.contains_hash(hashes.next().unwrap())).count();
            let rate = real(count as u64) / real(QUERIES);
            hits += rate;
            spread += (rate - expected) * (rate - expected);
        }
        let mean = hits / real(FILTERS);
        let error = spread.sqrt() / real(FILTERS);
        let z = (mean - expected) / error;
        assert!(
            z.abs() < normal_quantile(alpha() / 2.0),
            "{bits} bits, load {load}: {mean} for {expected}"
        );
        assert!(error < 0.01 * expected || bits == 12, "{bits} bits: too few events, {error}");
        if bits == 4 && load > 0.5 {
            let usual = rate_by_load(load, bits);
            assert!(usual > mean + 10.0 * error, "{usual} is not told from {mean}");
        }
    }
}

/// One large filter with keys of a real hasher at its design, by the binomial law of its own rate.
#[test]
fn a_filter_of_a_million_keeps_its_rate() {
    let mut filter = CuckooFilter::new(1_000_000, 0.01).unwrap();
    keys::consecutive(0).take(1_000_000).for_each(|key| filter.insert(&key).unwrap());
    let absent = 2_000_000;
    let hits = keys::consecutive(1_000_000).take(absent).filter(|key| filter.contains(key)).count();
    let law = Binomial::new(absent as u64, filter.false_positive_rate());
    let accepted = law.acceptance(alpha());
    assert!(accepted.contains(&(hits as u64)), "{hits} not in {accepted:?}");
    assert!(filter.false_positive_rate() <= 0.01);
}

/// A filter of the least size takes its items, at every number of them.
///
/// It is promised to fail once in a million fills; some 250,000 are made.
#[test]
fn the_expected_items_fit() {
    for bits in [6, 8, 13, 20] {
        let mut hashes = keys::random(50 + u64::from(bits));
        for items in (1..=256).chain([257, 300, 500, 1_000, 5_000]) {
            let fills = 1 + 10_000 / items;
            let mut filter = shaped(least_buckets(items, bits), bits);
            for _ in 0..fills {
                filter.clear();
                let fits = (0..items).all(|_| filter.insert_hash(hashes.next().unwrap()).is_ok());
                assert!(fits, "{items} items of {bits} bits: full at {}", filter.len());
            }
        }
    }
}

/// With fewer buckets the bound is not idle: it is met within an order of magnitude.
#[test]
fn fewer_buckets_do_fail() {
    // Five of five keys in two buckets of four slots: P = 1/16 that all have both buckets in one.
    let mut hashes = keys::random(77);
    let fills = 20_000;
    let failures = (0..fills)
        .filter(|_| {
            let mut filter = shaped(2, 16);
            !(0..5).all(|_| filter.insert_hash(hashes.next().unwrap()).is_ok())
        })
        .count();
    // The keys of both buckets in one given bucket: each with probability 1/4, five of five, two buckets.
    let law = Binomial::new(fills, 2.0 / 1_024.0);
    let accepted = law.acceptance(alpha());
    assert!(accepted.contains(&(failures as u64)), "{failures} not in {accepted:?}");
}

/// Filters of 1,000 buckets and more first fail above the load that they are designed for.
#[test]
fn the_first_failure_comes_late() {
    for (seed, (buckets, bits, fills)) in
        (1..).zip([(1_000, 5, 60), (1_000, 8, 60), (2_632, 4, 40), (2_632, 12, 40), (26_316, 8, 5)])
    {
        let mut hashes = keys::random(900 + seed);
        let loads: Vec<f64> = (0..fills)
            .map(|_| {
                let mut filter = shaped(buckets, bits);
                while filter.insert_hash(hashes.next().unwrap()).is_ok() {}
                filter.load_factor()
            })
            .collect();
        let count = f64::from(fills);
        let mean = loads.iter().sum::<f64>() / count;
        let variance = loads.iter().map(|load| (load - mean).powi(2)).sum::<f64>() / (count - 1.0);
        assert!(mean - 6.0 * variance.sqrt() > 0.945, "{buckets} x {bits}: {mean} {variance}");
        // The threshold of two choices is that of endless filters; small ones pass it by a little.
        assert!(mean < 0.9804 + 1.0 / real(buckets), "{buckets} x {bits}: {mean}");
    }
}

fn load_of(buckets: u64, load: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "small and positive"
    )]
    let items = (real(4 * buckets) * load) as u64;
    items
}

#[expect(clippy::cast_precision_loss, reason = "counts here are far below 2^53")]
fn real(count: u64) -> f64 {
    count as f64
}
