//! Measured rates and sizes against predicted ones, with literal seeds.
//!
//! All tests of this file together raise a false alarm with probability [`FALSE_ALARM`] at most.
#![cfg(feature = "std")]

use fuse::{ExactFilter, Preset, RetrievalMap, RibbonFilter};

use pds_params::RibbonParams;
use pds_testkit::hashers::on_awkward_keys;
use pds_testkit::keys;
use pds_testkit::stats::{Binomial, Positives, split_budget};

const FALSE_ALARM: f64 = 1e-6;
/// How many judgements the tests below pass, rounded up.
const JUDGEMENTS: usize = 100;

fn alpha() -> f64 {
    split_budget(FALSE_ALARM, JUDGEMENTS)
}

/// Builds filters of as many keys, and counts how many of a million hashes each contains.
///
/// Fingerprints of strangers are independent of the slots, so the count is binomial for each filter.
fn judge(keys: usize, columns: f64, preset: Preset) {
    const QUERIES: usize = 1_000_000;
    let mut hashes = keys::random(keys as u64 ^ columns.to_bits());
    let builder = RibbonFilter::builder().columns(columns).preset(preset);
    let filter = builder.build_hashes(hashes.by_ref().take(keys).collect()).unwrap();
    let hits = hashes.take(QUERIES).filter(|&hash| filter.contains_hash(hash)).count();
    let accepted = Binomial::new(QUERIES as u64, filter.false_positive_rate()).acceptance(alpha());
    assert!(
        accepted.contains(&(hits as u64)),
        "{keys} keys, {columns} columns: {hits} not in {accepted:?}"
    );
    let ratio = filter.false_positive_rate() / filter.promised_rate();
    let spread = if columns.fract() == 0.0 { 0.0 } else { 0.5 / (keys as f64).sqrt() };
    assert!(ratio <= 1.0 + spread, "{keys} keys, {columns} columns: {ratio}");
    assert!(keys < 10_000 || ratio > 0.99, "{keys} keys, {columns} columns: {ratio}");
}

#[test]
fn rates_are_the_predicted_ones() {
    for keys in [50, 1_000, 2_500, 10_000, 100_000, 600_000] {
        for columns in [0.5, 1.0, 3.0, 5.25, 8.0, 8.5, 9.9] {
            judge(keys, columns, Preset::Compact);
        }
        judge(keys, 7.7, Preset::Quick);
    }
}

/// How much larger a filter of random keys is than expected, as a share. It has the columns for a memory, and keeps to that.
fn excess(keys: u64, bits_per_key: u64, seed: u64) -> f64 {
    let bytes = keys * bits_per_key / 8;
    let params = RibbonParams::for_memory(bytes, keys).unwrap();
    let builder = RibbonFilter::builder().columns(params.columns().as_f64());
    let hashes = (0..keys).zip(keys::random(seed)).map(|(_, hash)| hash);
    let filter = builder.build_hashes(hashes.collect()).unwrap();
    let size = filter.size_in_bytes();
    assert!(size <= bytes && size <= params.max_size_in_bytes(), "{keys} keys: {size} of {bytes}");
    size as f64 / params.size_in_bytes() as f64 - 1.0
}

#[test]
fn filters_for_a_memory_keep_to_it_and_have_the_expected_size_on_average() {
    // Keys, filters, and how far the mean size may be from the expected one.
    for (keys, filters, allowed) in
        [(100..=2_048, 60_u32, 0.0), (2_049..=6_000, 300, 0.01), (6_001..=20_000, 100, 0.005)]
    {
        let mut random = keys::random(*keys.start());
        let excesses = (0..filters).map(|seed| {
            let keys = keys.start() + random.next().unwrap() % (keys.end() - keys.start() + 1);
            excess(keys, 2 + random.next().unwrap() % 12, seed.into())
        });
        let mean = excesses.sum::<f64>() / f64::from(filters);
        assert!(mean.abs() <= allowed, "{keys:?}: {mean}");
    }
}

#[test]
fn case_01_a_very_small_rate_is_reached() {
    let filter = RibbonFilter::new(keys::random(1).take(1_000_000), 1e-9).unwrap();
    assert!(!keys::random(2).take(10_000_000).any(|key| filter.contains(&key)));
}

/// A weak hasher under `Mixed` keeps the rate.
#[test]
fn case_08_weak_hashes_give_the_promised_error() {
    for (name, hasher, mut keys) in on_awkward_keys() {
        let builder = RibbonFilter::builder().hasher(hasher).columns(8.0);
        let filter = builder.build(keys.by_ref().take(50_000)).unwrap();
        let rate = filter.false_positive_rate();
        Positives::of(&filter, keys.take(1_000_000)).judge(&name, rate, alpha());
    }
}

/// Bits per key over n log2(1/rate), at 8 columns: the sizes that the README states.
#[test]
fn sizes_are_those_promised() {
    for (keys, most) in [
        (100, 1.06),
        (1_000, 1.017),
        (2_048, 1.017),
        (3_000, 1.03),
        (10_000, 1.009),
        (100_000, 1.0045),
        (1_000_000, 1.004),
    ] {
        let filter = RibbonFilter::new(0..keys, 1.0 / 256.0).unwrap();
        let over = filter.bits_per_key() / 8.0;
        assert!(over <= most, "{keys} keys: {over}");
    }
}

/// Absent keys have a value at the rate 2^-c, and the values that they have are as good as random.
#[test]
fn strangers_of_a_map_are_told_by_the_check_bits() {
    const QUERIES: u32 = 1_000_000;
    for keys in [40, 1_000, 60_000] {
        for check_bits in [0, 1, 4, 8, 11] {
            let mut hashes = keys::random(keys ^ u64::from(check_bits) << 32);
            let entries = hashes.by_ref().zip(0..keys).map(|(hash, value)| (hash, value % 16));
            let builder = RetrievalMap::builder().check_bits(check_bits);
            let map = builder.build_hashes(entries.collect()).unwrap();
            let values: Vec<u64> =
                (0..QUERIES).zip(hashes).filter_map(|(_, hash)| map.get_hash(hash)).collect();
            let count = values.len() as u64;
            if check_bits == 0 {
                assert_eq!(count, u64::from(QUERIES));
            } else {
                let accepted =
                    Binomial::new(QUERIES.into(), map.false_positive_rate()).acceptance(alpha());
                assert!(accepted.contains(&count), "{keys} keys, {check_bits} bits: {count}");
            }
            assert_eq!(map.value_bits(), 4);
            // A slot without a row is 0, and makes zeros likelier in the smallest maps.
            let odd = values.iter().filter(|value| *value % 2 == 1).count() as u64;
            let share = odd as f64 / count as f64;
            assert!(keys < 1_000 || (0.4..0.6).contains(&share), "{share} odd");
        }
    }
}

/// The size of exact filters over the least possible one.
///
/// `cargo test -p fuse --test it statistics::exact -- --nocapture` prints it.
#[test]
fn exact_filters_are_near_the_bound() {
    for (include, exclude, most) in [
        (3_000, 3_000, 1.06),
        (3_000, 12_000, 1.17),
        (3_000, 300_000, 1.1),
        (10_000, 1_000, 2.4),
        (10_000, 2_500, 1.43),
        (10_000, 10_000, 1.03),
        (10_000, 20_000, 1.13),
        (10_000, 40_000, 1.14),
        (10_000, 80_000, 1.13),
        (10_000, 160_000, 1.12),
        (10_000, 320_000, 1.11),
        (1_000, 1_000_000, 1.1),
    ] {
        let mut hashes = keys::random(include ^ exclude);
        let inside = hashes.by_ref().take(usize::try_from(include).unwrap()).collect();
        let outside = hashes.take(usize::try_from(exclude).unwrap()).collect();
        let filter = ExactFilter::builder().build_hashes(inside, outside).unwrap();
        let over = filter.size_in_bytes() as f64 * 8.0 / ExactFilter::least_bits(include, exclude);
        println!("{include} of {exclude}: {over:.3}");
        assert!((1.0..most).contains(&over), "{include} of {exclude}: {over}");
    }
}
