//! Measured rates against predicted ones, with literal seeds.
//!
//! All tests of this file together raise a false alarm with probability at most [`FALSE_ALARM`].
#![cfg(feature = "std")]

use bloom_blocked::hash::DefaultHashBuilder;
use bloom_blocked::{BlockedBloomFilter, BlockedBloomParams, Preference};
use pds_core::hash::{KeyHasher, Mixed};
use pds_testkit::hashers::{Crc64Builder, Fnv1aBuilder, FxBuilder, IdentityBuilder};
use pds_testkit::keys;
use pds_testkit::stats::{Binomial, normal_quantile, split_budget};

const FALSE_ALARM: f64 = 1e-6;
/// Number of judgements in the tests below, rounded up.
const JUDGEMENTS: usize = 300;

fn alpha() -> f64 {
    split_budget(FALSE_ALARM, JUDGEMENTS)
}

/// The number of standard deviations that chance may explain.
fn tolerance() -> f64 {
    normal_quantile(alpha() / 2.0)
}

fn params(blocks: u64, hashes: u32) -> BlockedBloomParams {
    BlockedBloomParams::from_blocks_and_hashes(blocks, hashes).unwrap()
}

fn filter(blocks: u64, hashes: u32) -> BlockedBloomFilter {
    BlockedBloomFilter::from_params(params(blocks, hashes), DefaultHashBuilder::default()).unwrap()
}

#[expect(clippy::cast_precision_loss, reason = "counts of a test are far below 2^53")]
fn real(count: u64) -> f64 {
    count as f64
}

/// The mean rate over many random filters of each shape is the predicted one, to the error of the mean.
#[test]
fn mean_rates_are_the_predicted_ones() {
    const QUERIES: usize = 2_000;
    for (seed, hashes) in (1..).zip((2..=16).step_by(2)) {
        for (blocks, load, filters) in [(1, 20, 1_500), (2, 51, 800), (3, 51, 800), (64, 60, 200)] {
            let items = blocks * load;
            let mut hashes_of_keys = keys::random(100 * seed + blocks);
            let mut filter = filter(blocks, hashes);
            let (mut sum, mut squares) = (0.0, 0.0);
            for _ in 0..filters {
                filter.clear();
                for hash in hashes_of_keys.by_ref().take(usize::try_from(items).unwrap()) {
                    filter.insert_hash(hash);
                }
                let asked = hashes_of_keys.by_ref().take(QUERIES);
                let hits = asked.filter(|&hash| filter.contains_hash(hash)).count();
                let rate = real(hits as u64) / real(QUERIES as u64);
                sum += rate;
                squares += rate * rate;
            }
            let predicted = params(blocks, hashes).rate_at(items);
            if predicted * real(QUERIES as u64) * real(filters) < 100.0 {
                continue;
            }
            let mean = sum / real(filters);
            let error = ((squares / real(filters) - mean * mean) / real(filters)).sqrt();
            let z = (mean - predicted) / error;
            assert!(z.abs() <= tolerance(), "{blocks} blocks, k = {hashes}: {mean}, z = {z}");
            let spread = params(blocks, hashes).relative_spread_at(items) * predicted;
            let sampling = (predicted * (1.0 - predicted) / real(QUERIES as u64)).sqrt();
            let expected = spread.hypot(sampling) / real(filters).sqrt();
            assert!((0.7..1.4).contains(&(error / expected)), "k = {hashes}: {error}, {expected}");
        }
    }
}

/// The rate that a filter reports is that of its bits: fresh queries follow its binomial law.
#[test]
fn a_filter_knows_its_own_rate() {
    const QUERIES: usize = 1_000_000;
    for (seed, hashes) in (50..).zip((2..=16).step_by(2)) {
        for load in [30, 60, 150] {
            let mut hashes_of_keys = keys::random(seed);
            let mut filter = filter(50, hashes);
            hashes_of_keys.by_ref().take(50 * load).for_each(|hash| {
                filter.insert_hash(hash);
            });
            let asked = hashes_of_keys.take(QUERIES);
            let hits = asked.filter(|&hash| filter.contains_hash(hash)).count();
            let law = Binomial::new(QUERIES as u64, filter.false_positive_rate());
            let accepted = law.acceptance(alpha());
            assert!(accepted.contains(&(hits as u64)), "k = {hashes}: {hits} not in {accepted:?}");
        }
    }
}

#[test]
fn as_many_bits_are_set_as_predicted() {
    const FILTERS: u64 = 200;
    for (seed, hashes) in (80..).zip((2..=16).step_by(2)) {
        let mut hashes_of_keys = keys::random(seed);
        let mut filter = filter(100, hashes);
        let mut ones = 0;
        for _ in 0..FILTERS {
            filter.clear();
            hashes_of_keys.by_ref().take(4_000).for_each(|hash| {
                filter.insert_hash(hash);
            });
            ones += filter.count_ones();
        }
        let expected = params(100, hashes).set_bits_at(4_000);
        let error = expected.standard_error / real(FILTERS).sqrt();
        let z = (real(ones) / real(FILTERS) - expected.value) / error;
        assert!(z.abs() <= tolerance(), "k = {hashes}: {z} standard errors");
    }
}

/// Compares the number of false positives among `queries` keys after `stored` ones with the law of one filter.
fn judge<S: KeyHasher + Default>(name: &str, keys: impl Iterator<Item = u64>, hashes: u32) {
    const BLOCKS: u64 = 1_021;
    const QUERIES: usize = 1_000_000;
    let mut keys = keys;
    let mut filter = BlockedBloomFilter::from_params(params(BLOCKS, hashes), S::default()).unwrap();
    let items = 50 * BLOCKS;
    keys.by_ref().take(usize::try_from(items).unwrap()).for_each(|key| {
        filter.insert(&key);
    });
    let hits = keys.take(QUERIES).filter(|key| filter.contains(key)).count();
    let rate = filter.params().rate_at(items);
    let queries = real(QUERIES as u64);
    let error = (filter.params().relative_spread_at(items).powi(2)
        + (1.0 - rate) / (queries * rate))
        .sqrt();
    let z = (real(hits as u64) / (queries * rate) - 1.0) / error;
    assert!(z.abs() <= tolerance(), "{name}, k = {hashes}: {hits} of {QUERIES}, z = {z}");
}

/// Weak hashers give the promised rate, too.
#[test]
fn case_08_weak_hashes_give_the_promised_error() {
    for hashes in [6, 8, 12] {
        judge::<Mixed<IdentityBuilder>>("identity, consecutive", keys::consecutive(0), hashes);
        judge::<Mixed<IdentityBuilder>>("identity, strided", keys::strided(0, 1 << 32), hashes);
        judge::<Mixed<IdentityBuilder>>("identity, swapped", keys::byte_swapped(0), hashes);
        judge::<Mixed<FxBuilder>>("fx, consecutive", keys::consecutive(0), hashes);
        judge::<Mixed<Fnv1aBuilder>>("fnv, consecutive", keys::consecutive(0), hashes);
        judge::<Mixed<Crc64Builder>>("crc, consecutive", keys::consecutive(0), hashes);
        judge::<DefaultHashBuilder>("default, consecutive", keys::consecutive(0), hashes);
    }
}

/// A million items at the sizes that the constructor chooses.
#[test]
fn a_filter_of_a_million_keeps_its_promise() {
    const QUERIES: usize = 4_000_000;
    for (rate, preference) in [
        (0.01, Preference::Fastest),
        (0.01, Preference::Smallest),
        (0.001, Preference::Fastest),
        (0.0001, Preference::Smallest),
    ] {
        let builder = BlockedBloomFilter::builder().expected_items(1_000_000);
        let mut filter = builder.false_positive_rate(rate).prefer(preference).build().unwrap();
        filter.extend(keys::consecutive(0).take(1_000_000));
        let absent = keys::consecutive(1_000_000).take(QUERIES);
        let hits = real(absent.filter(|key| filter.contains(key)).count() as u64);
        let expected = rate * real(QUERIES as u64);
        let spread = filter.params().relative_spread_at(1_000_000);
        let error = (spread.powi(2) + (1.0 - rate) / expected).sqrt();
        let z = (hits / expected - 1.0) / error;
        assert!(z.abs() <= tolerance(), "{rate}, {preference:?}: {hits}, z = {z}");
    }
}

/// The estimates have their stated standard errors, and no visible bias.
#[test]
fn estimates_err_as_they_say() {
    const FILTERS: u32 = 2_000;
    for hashes in [6, 8, 12] {
        let mut keys = keys::random(40);
        let (mut left, mut right) = (filter(50, hashes), filter(50, hashes));
        let mut errors = [(0.0, 0.0); 3];
        for _ in 0..FILTERS {
            left.clear();
            right.clear();
            for (index, hash) in keys.by_ref().take(2_000).enumerate() {
                if index < 1_200 {
                    left.insert_hash(hash);
                }
                if index >= 800 {
                    right.insert_hash(hash);
                }
            }
            let estimates = [
                (left.approx_len(), 1_200.0),
                (left.approx_union_len(&right).unwrap(), 2_000.0),
                (left.approx_intersection_len(&right).unwrap(), 400.0),
            ];
            for ((sum, squares), (estimate, truth)) in errors.iter_mut().zip(estimates) {
                let z = (estimate.value - truth) / estimate.standard_error;
                *sum += z;
                *squares += z * z;
            }
        }
        let filters = f64::from(FILTERS);
        for (sum, squares) in errors {
            let (bias, spread) = (sum / filters, (squares / filters).sqrt());
            assert!(bias.abs() <= 0.07 + tolerance() / filters.sqrt(), "bias of {bias}");
            let allowed = 0.03 + tolerance() / (2.0 * filters).sqrt();
            assert!((spread - 1.0).abs() <= allowed, "spread {spread}");
        }
    }
}
