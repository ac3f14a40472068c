//! Binary fuse filters: measured rates and sizes against predicted ones, with literal seeds.
//!
//! All tests of this file together raise a false alarm with probability [`FALSE_ALARM`] at most.
#![cfg(feature = "std")]

use fuse::FuseFilter;
use pds_testkit::hashers::on_awkward_keys;
use pds_testkit::keys;
use pds_testkit::stats::{Binomial, Positives, split_budget};

const FALSE_ALARM: f64 = 1e-6;
/// How many judgements the tests below pass, rounded up.
const JUDGEMENTS: usize = 150;

fn alpha() -> f64 {
    split_budget(FALSE_ALARM, JUDGEMENTS)
}

/// Fingerprints of strangers are independent of the cells, so the number of false positives of a filter is binomial.
#[test]
fn rates_are_the_predicted_ones() {
    for keys in [1, 2, 10, 300, 5_000, 20_000, 400_000] {
        for bits in [1, 2, 3, 5, 7, 8, 10, 11] {
            let mut hashes = keys::random(100 * keys as u64 + u64::from(bits));
            let builder = FuseFilter::builder().fingerprint_bits(bits);
            let filter = builder.build_hashes(hashes.by_ref().take(keys).collect()).unwrap();
            let queries = 1_000_000;
            let hits = hashes.take(queries).filter(|&hash| filter.contains_hash(hash)).count();
            let accepted =
                Binomial::new(queries as u64, 0.5_f64.powi(bits.cast_signed())).acceptance(alpha());
            assert!(
                accepted.contains(&(hits as u64)),
                "{keys} keys, {bits} bits: {hits} not in {accepted:?}"
            );
        }
    }
}

/// 16 and 20 bits, whose windows share bits of the hash with the fingerprint: enough queries to see a rise by a half.
#[test]
fn rates_of_wide_fingerprints_are_the_predicted_ones() {
    for (bits, queries) in [(16, 20_000_000_u64), (20, 100_000_000)] {
        let filter = FuseFilter::builder().fingerprint_bits(bits);
        let filter = filter.build_hashes(keys::random(5).take(1_000_000).collect()).unwrap();
        let mut answers = [false; 1_000];
        let mut hashes = keys::random(6);
        let hits: u64 = (0..queries / 1_000)
            .map(|_| {
                let block: Vec<u64> = hashes.by_ref().take(1_000).collect();
                filter.contains_hash_batch(&block, &mut answers);
                answers.iter().filter(|&&answer| answer).count() as u64
            })
            .sum();
        let accepted = Binomial::new(queries, filter.false_positive_rate()).acceptance(alpha());
        assert!(accepted.contains(&hits), "{bits} bits: {hits} not in {accepted:?}");
    }
}

#[test]
fn case_01_a_very_small_rate_is_reached() {
    let filter = FuseFilter::new(keys::random(1).take(1_000_000), 1e-9).unwrap();
    assert!(!keys::random(2).take(10_000_000).any(|key| filter.contains(&key)));
}

/// A weak hasher under `Mixed` keeps the rate.
#[test]
fn case_08_weak_hashes_give_the_promised_error() {
    for (name, hasher, mut keys) in on_awkward_keys() {
        let builder = FuseFilter::builder().hasher(hasher).fingerprint_bits(8);
        let filter = builder.build(keys.by_ref().take(50_000)).unwrap();
        assert_eq!(filter.num_exact(), 0, "{name}");
        let rate = filter.false_positive_rate();
        Positives::of(&filter, keys.take(500_000)).judge(&name, rate, alpha());
    }
}

/// The sizes that the documentation states, in bits per key and bit of fingerprint.
#[test]
fn sizes_are_those_promised() {
    for (keys, most) in
        [(100, 1.53), (1_000, 1.285), (10_000, 1.24), (100_000, 1.17), (1_000_000, 1.131)]
    {
        let filter = FuseFilter::builder()
            .fingerprint_bits(8)
            .build_hashes(keys::random(3).take(keys).collect());
        let bits = filter.unwrap().bits_per_key() / 8.0;
        assert!(bits <= most && bits > most - 0.02, "{keys} keys: {bits}");
    }
}
