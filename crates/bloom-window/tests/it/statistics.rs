//! Measured rates against predicted ones, with literal seeds.
//!
//! All tests of this file together raise a false alarm with a probability of 10^-6 at most.

use bloom_window::hash::DefaultHashBuilder;
use bloom_window::{HealthStatus, TimedBloomFilter, TimedParams, WindowBloomFilter, WindowParams};
use pds_testkit::keys;
use pds_testkit::stats::{judge_mean, split_budget};

const FALSE_ALARM: f64 = 1e-6;
/// How many judgements the tests below pass, rounded up.
const JUDGEMENTS: usize = 20;
/// Absent hashes per measurement.
const ASKED: usize = 20_000;

/// Judges the mean of rates of independent filters.
fn judge(name: &str, rates: &[f64], expected: f64) {
    judge_mean(name, rates, expected, split_budget(FALSE_ALARM, JUDGEMENTS));
    // The relative error of a mean is at most 1 / sqrt(events).
    let events = rates.iter().sum::<f64>() * ASKED as f64;
    assert!(events > 2_500.0, "{name}: too few events, {events}");
}

/// The share of absent hashes that are answered `true`.
fn rate(contains: impl Fn(u64) -> bool, absent: &mut impl Iterator<Item = u64>) -> f64 {
    absent.take(ASKED).filter(|&hash| contains(hash)).count() as f64 / ASKED as f64
}

#[test]
fn the_rate_is_the_predicted_one_before_and_after_a_generation_is_forgotten() {
    for (seed, (window, promised, slack)) in
        (1..).zip([(1_400, 0.01, 0.1), (3_000, 0.02, 0.04), (200, 0.05, 0.5)])
    {
        let params = WindowParams::new(window, promised, slack).unwrap();
        let (mut worst, mut best) = (Vec::new(), Vec::new());
        let (stay, items) = (params.longest_stay(), params.generation_items());
        for filter in 0..100 {
            let mut inserted = keys::random(1_000 * seed + filter);
            let mut absent = keys::random(1_000 * seed + 500 + filter);
            let hasher = DefaultHashBuilder::default();
            let mut filter = WindowBloomFilter::from_params(params, hasher).unwrap();
            // Once around all columns, and one key short of the end of a generation.
            let first = (stay + 1) * 2 + items - 1;
            inserted.by_ref().take(usize::try_from(first).unwrap()).for_each(|hash| {
                filter.insert_hash(hash);
            });
            worst.push(rate(|hash| filter.contains_hash(hash), &mut absent));
            filter.insert_hash(inserted.next().unwrap());
            best.push(rate(|hash| filter.contains_hash(hash), &mut absent));
        }
        judge("before", &worst, params.worst_rate());
        judge("after", &best, params.rate_after(stay + 1 - items));
        assert!(params.worst_rate() <= promised);
    }
}

#[test]
fn the_rate_of_keys_that_come_evenly_in_time() {
    // Windows that are whole numbers of generations, and windows that are not.
    for (ticks, per_tick, slack) in
        [(1_000, 2, 0.1), (10, 200, 0.5), (11, 200, 0.1), (24, 100, 0.25), (100, 20, 0.1)]
    {
        let items = ticks * per_tick;
        let params = TimedParams::new(ticks, items, 0.01, slack).unwrap();
        // Until the end of a generation.
        let end = 3 * u64::from(params.generations()) * params.generation_ticks();
        let rates: Vec<f64> = (0..100)
            .map(|seed| {
                let mut inserted = keys::random(seed);
                let mut filter =
                    TimedBloomFilter::from_params(params, DefaultHashBuilder::default()).unwrap();
                for time in 0..end {
                    filter.advance(time).unwrap();
                    (0..per_tick).for_each(|_| _ = filter.insert_hash(inserted.next().unwrap()));
                }
                rate(|hash| filter.contains_hash(hash), &mut keys::random(seed + 1_000))
            })
            .collect();
        judge(&format!("{ticks} ticks"), &rates, params.rate_at(items));
        assert!(params.rate_at(items) <= 0.01);
    }
}

/// Keys that come per tick where they come again.
const PER_TICK: usize = 2;

/// Keys that come again after five generations, in a filter for all inserts and in one for as many items as there are keys.
#[test]
fn a_key_counts_in_each_generation_in_which_it_comes() {
    const TICKS: u64 = 1_000;
    const INSERTS: u64 = TICKS * PER_TICK as u64;
    const AGAIN: u64 = 5;
    let for_items = |items| TimedParams::new(TICKS, items, 0.01, 0.1).unwrap();
    let for_inserts = for_items(INSERTS);
    let share = PER_TICK as u64 * for_inserts.generation_ticks();
    let for_keys = for_items(AGAIN * share);
    assert_eq!(for_keys.generation_ticks(), for_inserts.generation_ticks());
    let [kept, missed] = [for_inserts, for_keys].map(|params| {
        // The window has more generations than keys come in. Those with equal keys have equal columns.
        let predicted = params.grid().rate_at((0..AGAIN).map(|_| share));
        let rates: Vec<f64> =
            (0..100).map(|seed| rate_of_keys_again(params, seed, AGAIN)).collect();
        judge(&format!("for {} items", params.expected_items().unwrap()), &rates, predicted);
        assert!(predicted <= params.rate_at(INSERTS));
        predicted
    });
    assert!(kept <= 0.01 && missed > 0.1, "{kept} {missed}");
}

/// The rate of a filter to which keys come evenly, each again after `again` generations.
fn rate_of_keys_again(params: TimedParams, seed: u64, again: u64) -> f64 {
    let ticks = params.generation_ticks();
    let mut hashes = keys::random(seed);
    let keys: Vec<[u64; PER_TICK]> =
        (0..again * ticks).map(|_| [0; PER_TICK].map(|_| hashes.next().unwrap())).collect();
    let mut filter = TimedBloomFilter::from_params(params, DefaultHashBuilder::default()).unwrap();
    let end = 4 * u64::from(params.generations()) * ticks;
    for (time, keys) in (0..end).zip(keys.iter().cycle()) {
        filter.advance(time).unwrap();
        filter.insert_hash_batch(keys);
    }
    rate(|hash| filter.contains_hash(hash), &mut keys::random(seed + 1_000))
}

#[test]
fn the_rate_by_the_bits_is_that_of_the_same_filter() {
    let mut filter = WindowBloomFilter::new(5_000, 0.05).unwrap();
    filter.extend(0..22_000_u64);
    let own = filter.false_positive_rate();
    let mut absent = keys::random(9);
    let rates: Vec<f64> =
        (0..20).map(|_| rate(|hash| filter.contains_hash(hash), &mut absent)).collect();
    judge("by the bits", &rates, own);
}

#[test]
fn health_tells_how_many_keys_there_are_and_whether_they_are_too_many() {
    let mut filter = WindowBloomFilter::new(10_000, 0.01).unwrap();
    filter.extend(0..55_000_u64);
    let health = filter.health();
    assert_eq!(health.status, HealthStatus::Ok);
    let held = f64::from(10_000_u32.div_ceil(14) * 14) + 55_000_f64 % 715.0;
    let items = health.items;
    assert!((items.value - held).abs() < 5.0 * items.standard_error, "{items:?} for {held}");
    assert!(items.standard_error < 150.0);

    let mut timed = TimedBloomFilter::new(1_000, 5_000, 0.01).unwrap();
    assert_eq!(timed.health().items.value, 0.0);
    let mut fill = |per_tick: u64| {
        for time in timed.now() + 1..timed.now() + 2_000 {
            timed.advance(time).unwrap();
            (0..per_tick).for_each(|key| _ = timed.insert(&(time, key)));
        }
        timed.health()
    };
    assert_eq!(fill(5).status, HealthStatus::Ok);
    let much = fill(10);
    assert!(much.status > HealthStatus::Ok, "{much}");
    // A generation takes 67 ticks.
    assert_eq!(much.expected_items, Some(16 * 335));
}
