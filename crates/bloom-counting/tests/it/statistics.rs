//! Measured rates and overflows against predicted ones, with literal seeds.
//!
//! All tests of this file together raise a false alarm with probability [`FALSE_ALARM`] at most.
#![cfg(feature = "std")]

use bloom_counting::hash::DefaultHashBuilder;
use bloom_counting::{
    BlockedCountingBloomFilter, BlockedCountingParams, BloomParams, CountingBloomFilter,
};
use pds_params::counting::{mean_count, overflow_probability};
use pds_testkit::keys;
use pds_testkit::stats::{Binomial, normal_quantile, split_budget};

const FALSE_ALARM: f64 = 1e-6;
/// How many judgements the tests below pass, rounded up.
const JUDGEMENTS: usize = 40;

fn alpha() -> f64 {
    split_budget(FALSE_ALARM, JUDGEMENTS)
}

/// The mean rate of blocked filters is that of the formula, and each keeps the rate it tells of itself.
#[test]
fn blocked_filters_keep_their_rate() {
    const FILTERS: u64 = 30;
    const QUERIES: u64 = 50_000;
    for (seed, (num_lines, load)) in (1..).zip([(1, 6), (7, 9), (100, 5), (1_000, 11), (1_001, 20)])
    {
        let params = BlockedCountingParams::from_lines(num_lines).unwrap();
        let (mut hashes, items) = (keys::random(seed), num_lines * load);
        let (mut told, mut squares, mut expected_hits, mut hits) = (0.0, 0.0, 0.0, 0u64);
        let mut filter =
            BlockedCountingBloomFilter::from_params(params, DefaultHashBuilder::default()).unwrap();
        for _ in 0..FILTERS {
            filter.clear();
            (0..items).for_each(|_| {
                filter.insert_hash(hashes.next().unwrap());
            });
            let rate = filter.false_positive_rate();
            told += rate;
            squares += rate * rate;
            expected_hits += rate * real(QUERIES);
            hits += (0..QUERIES).filter(|_| filter.contains_hash(hashes.next().unwrap())).count()
                as u64;
        }
        let mean = told / real(FILTERS);
        let error = ((squares / real(FILTERS) - mean * mean) / real(FILTERS)).sqrt();
        let z = (mean - params.rate_at(items)) / error;
        assert!(z.abs() < normal_quantile(alpha() / 2.0), "{num_lines} lines: {z} errors, {mean}");
        let accepted = Binomial::new(FILTERS * QUERIES, expected_hits / real(FILTERS * QUERIES));
        assert!(accepted.acceptance(alpha()).contains(&hits), "{num_lines} lines: {hits} hits");
    }
}

/// Counters reach a value as often as the Poisson tail says.
#[test]
fn counters_overflow_as_predicted() {
    const FILTERS: u64 = 20;
    for (seed, (counters, hashes, items)) in
        (1..).zip([(100_000, 4, 35_000), (100_000, 7, 43_000), (50_000, 10, 30_000)])
    {
        let params = BloomParams::from_bits_and_hashes(counters, hashes).unwrap();
        let mut random = keys::random(seed);
        let mut filter: CountingBloomFilter =
            CountingBloomFilter::from_params(params, DefaultHashBuilder::default()).unwrap();
        let mut stuck = 0;
        for _ in 0..FILTERS {
            filter.clear();
            (0..items).for_each(|_| {
                filter.insert_hash(random.next().unwrap());
            });
            stuck += filter.saturated_counters();
        }
        let single = overflow_probability(mean_count(counters, items, hashes), 15);
        let accepted = Binomial::new(FILTERS * counters, single).acceptance(alpha());
        assert!(accepted.contains(&stuck), "{stuck} stuck counters, not in {accepted:?}");
    }
}

/// One filter of each kind with keys of the default hasher, after half of the keys came and went.
#[test]
fn removal_leaves_the_rate_of_what_is_left() {
    let mut filter = CountingBloomFilter::new(100_000, 0.01).unwrap();
    let mut blocked = BlockedCountingBloomFilter::new(100_000, 0.01).unwrap();
    filter.extend(0..200_000u64);
    blocked.extend(0..200_000u64);
    assert!((100_000..200_000u64).all(|key| filter.remove(&key) && blocked.remove(&key)));
    assert!((0..100_000u64).all(|key| filter.contains(&key) && blocked.contains(&key)));
    let absent = || 100_000..1_100_000u64;
    for (rate, hits) in [
        (filter.false_positive_rate(), absent().filter(|key| filter.contains(key)).count()),
        (blocked.false_positive_rate(), absent().filter(|key| blocked.contains(key)).count()),
    ] {
        let accepted = Binomial::new(1_000_000, rate).acceptance(alpha());
        assert!(accepted.contains(&(hits as u64)), "{hits} not in {accepted:?}");
        assert!((rate / 0.01 - 1.0).abs() < 0.03, "{rate}");
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts here are far below 2^53")]
fn real(count: u64) -> f64 {
    count as f64
}
