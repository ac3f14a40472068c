//! Kinds of faults that filters of this kind have had elsewhere; the right value for each.
#![cfg(feature = "std")]

use bloom_counting::error::{Incompatible, ParamError};
use bloom_counting::hash::{DefaultHashBuilder, SipHashBuilder};
use bloom_counting::{
    Bits8, BlockedCountingBloomFilter, BlockedCountingBloomFilterView, BlockedCountingParams,
    CountingBloomFilter, CountingBloomFilterView,
};
use pds_core::hash::{Avalanching, KeyHasher};
use pds_core::internal::Difference;
use pds_params::internal::ParamFault;
use pds_testkit::hashers::on_awkward_keys;
use pds_testkit::keys;
use pds_testkit::stats::Positives;

fn shaped(counters: u64, hashes: u32) -> CountingBloomFilter {
    CountingBloomFilter::builder().counters(counters).hashes(hashes).build().unwrap()
}

fn wide(counters: u64, hashes: u32) -> CountingBloomFilter<DefaultHashBuilder, Bits8> {
    let builder = CountingBloomFilter::builder().counters(counters).hashes(hashes);
    builder.wide_counters().build().unwrap()
}

fn lines(lines: u64) -> BlockedCountingBloomFilter {
    BlockedCountingBloomFilter::builder().lines(lines).build().unwrap()
}

#[test]
fn case_04_a_rate_is_a_number_from_0_to_1() {
    let (mut filter, mut blocked) = (shaped(10, 3), lines(1));
    for key in 0..500u32 {
        for rate in
            [filter.false_positive_rate(), blocked.false_positive_rate(), filter.fill_ratio()]
        {
            assert!((0.0..=1.0).contains(&rate) && (rate > 0.0 || key < 10), "{rate}");
        }
        filter.insert(&key);
        blocked.insert(&key);
    }
}

#[test]
fn case_05_impossible_parameters_are_named() {
    for items in 1..=3 {
        assert!(CountingBloomFilter::new(items, 0.99).is_ok());
        assert!(BlockedCountingBloomFilter::new(items, 0.99).is_ok());
    }
    for rate in [0.0, 1.0, -0.5, 1.5, f64::NAN, f64::INFINITY] {
        let error = BlockedCountingParams::new(10, rate).unwrap_err();
        let expected = matches!(
            error,
            ParamError(ParamFault::NotAProbability { parameter: "false_positive_rate", value })
                if value.to_bits() == rate.to_bits()
        );
        assert!(expected, "{error}");
        assert!(CountingBloomFilter::new(10, rate).is_err());
    }
}

#[test]
fn case_06_huge_sizes_are_refused() {
    assert!(CountingBloomFilter::new(1_000_000_000_000_000_000, 0.01).is_err());
    assert!(BlockedCountingBloomFilter::new(1_000_000_000_000_000_000, 0.01).is_err());
    let lines = BlockedCountingParams::new(5_000_000_000, 0.01).unwrap().num_lines();
    assert!((440_000_000..450_000_000).contains(&lines), "{lines}");
}

#[test]
fn case_08_weak_hashes_give_the_promised_error() {
    for (name, hasher, keys) in on_awkward_keys() {
        let builder = CountingBloomFilter::builder().expected_items(50_000);
        let mut filter = builder.hasher(hasher).build().unwrap();
        let builder = BlockedCountingBloomFilter::builder().expected_items(50_000);
        let mut blocked = builder.hasher(hasher).build().unwrap();
        filter.extend(keys.clone().take(50_000));
        blocked.extend(keys.clone().take(50_000));
        let absent = || keys.clone().skip(50_000).take(300_000);
        Positives::of(&filter, absent()).judge(&name, filter.false_positive_rate(), 1e-7);
        Positives::of(&blocked, absent()).judge(&name, blocked.false_positive_rate(), 1e-7);
        let expected = blocked.params().rate_at(50_000);
        let ratio = blocked.false_positive_rate() / expected;
        assert!((ratio - 1.0).abs() < 0.05, "{name}: {ratio} of the predicted rate");
    }
}

/// More copies than a counter holds, all removed again: no other key is hurt.
#[test]
fn case_10_a_saturated_counter_is_never_lowered() {
    let (mut filter, mut blocked) = (shaped(400, 4), lines(4));
    let others: Vec<u32> = (0..40).collect();
    filter.extend(&others);
    blocked.extend(&others);
    for _ in 0..40 {
        filter.insert("often");
        blocked.insert("often");
    }
    assert_eq!((filter.estimate("often"), blocked.estimate("often")), (15, 15));
    for _ in 0..40 {
        assert!(filter.remove("often") && blocked.remove("often"));
    }
    assert!(others.iter().all(|key| filter.contains(key) && blocked.contains(key)));
    assert!(filter.contains("often") && blocked.contains("often"), "its counters stick");
    assert_eq!((filter.saturated_counters(), blocked.saturated_counters()), (4, 8));
    for key in &others {
        assert!(filter.remove(key) && blocked.remove(key));
    }
    assert_eq!((filter.saturated_counters(), blocked.saturated_counters()), (4, 8));
}

#[test]
fn case_10_a_saturated_wide_counter_is_never_lowered() {
    let mut filter = wide(400, 4);
    filter.extend(0..40u32);
    (0..300).for_each(|_| _ = filter.insert("often"));
    assert_eq!(filter.estimate("often"), 255);
    assert!((0..300).all(|_| filter.remove("often")));
    assert_eq!((filter.estimate("often"), filter.saturated_counters()), (255, 4));
    assert!((0..40u32).all(|key| filter.contains(&key)));
}

/// Up to 14 copies nothing sticks.
#[test]
fn case_10_fourteen_copies_come_and_go() {
    let (mut filter, mut blocked) = (shaped(400, 4), lines(4));
    for copies in 1..=14 {
        filter.insert("key");
        blocked.insert("key");
        assert_eq!((filter.estimate("key"), blocked.estimate("key")), (copies, copies));
    }
    for _ in 0..14 {
        assert!(filter.remove("key") && blocked.remove("key"));
    }
    assert!(filter == shaped(400, 4) && blocked == lines(4));
}

/// In a filter of few counters positions coincide: each counter is raised once all the same.
#[test]
fn case_10_a_counter_is_touched_once_a_key() {
    for counters in 1..=12 {
        let mut filter = shaped(counters, 11);
        for copies in 1..=10 {
            filter.insert("key");
            assert_eq!(filter.estimate("key"), copies, "{counters} counters");
        }
        for copies in (0..10).rev() {
            assert!(filter.remove("key"));
            assert_eq!(filter.estimate("key"), copies, "{counters} counters");
        }
    }
}

#[test]
fn case_10_an_absent_key_is_refused() {
    let (mut filter, mut blocked) = (shaped(5_000, 5), lines(40));
    filter.extend(0..100u32);
    blocked.extend(0..100u32);
    let before = (filter.clone(), blocked.clone());
    for key in 100..1_100u32 {
        assert!(filter.contains(&key) || !filter.remove(&key));
        assert!(blocked.contains(&key) || !blocked.remove(&key));
    }
    assert!(before == (filter, blocked));
}

/// The warning of the documentation: removing a false positive removes a key with it.
#[test]
fn case_10_to_remove_a_stranger_loses_a_key() {
    let (mut filter, mut blocked) = (shaped(150, 3), lines(1));
    filter.extend(0..40u32);
    blocked.extend(0..40u32);
    let seems_in_once = |estimate: &dyn Fn(&u32) -> u64| (40..).find(|key| estimate(key) == 1);
    let stranger = seems_in_once(&|key| filter.estimate(key)).unwrap();
    assert!(filter.remove(&stranger) && (0..40u32).any(|key| !filter.contains(&key)));
    let stranger = seems_in_once(&|key| blocked.estimate(key)).unwrap();
    assert!(blocked.remove(&stranger) && (0..40u32).any(|key| !blocked.contains(&key)));
}

#[test]
fn case_12_one_counter_and_one_line_are_enough() {
    for counters in [1, 15, 16, 17] {
        let mut filter = shaped(counters, 3);
        filter.extend(0..5u32);
        assert!((0..5u32).all(|key| filter.contains(&key)));
        assert!((0..5u32).all(|key| filter.remove(&key)));
        assert_eq!(filter, shaped(counters, 3));
        let mut filter = wide(counters / 2 + 1, 3);
        filter.extend(0..5u32);
        assert!((0..5u32).all(|key| filter.contains(&key) && filter.remove(&key)));
        assert_eq!(filter, wide(counters / 2 + 1, 3));
    }
    let mut blocked = lines(1);
    blocked.extend(0..5u32);
    assert!((0..5u32).all(|key| blocked.contains(&key)));
    assert!((0..5u32).all(|key| blocked.remove(&key)) && blocked == lines(1));
}

#[test]
fn case_13_filters_that_differ_are_not_merged() {
    let shape = |parameter, left, right| Incompatible(Difference::Shape { parameter, left, right });
    let mut filter = shaped(100, 3);
    filter.insert("key");
    let before = filter.clone();
    let error = filter.merge(&shaped(101, 3)).unwrap_err();
    assert_eq!(error, shape("number of counters", 100, 101));
    assert_eq!(filter.merge(&shaped(100, 4)).unwrap_err(), shape("number of hashes", 3, 4));
    let seeded = CountingBloomFilter::builder().counters(100).hashes(3).seed(1).build().unwrap();
    assert!(matches!(filter.merge(&seeded), Err(Incompatible(Difference::Hasher { .. }))));
    assert!(filter == before && filter != seeded);
    let error = wide(100, 3).merge(&wide(101, 3)).unwrap_err();
    assert_eq!(error, shape("number of counters", 100, 101));
    let random = || {
        let builder = CountingBloomFilter::builder().counters(100).hashes(3).wide_counters();
        builder.hasher(Avalanching(std::hash::RandomState::new())).build().unwrap()
    };
    assert!(matches!(random().merge(&random()), Err(Incompatible(Difference::Hasher { .. }))));
    assert_eq!(lines(2).merge(&lines(3)).unwrap_err(), shape("number of lines", 2, 3));
    let keyed = |key| {
        let hasher = SipHashBuilder::from_key([key; 16]);
        BlockedCountingBloomFilter::builder().lines(2).hasher(hasher).build().unwrap()
    };
    assert!(matches!(keyed(1).merge(&keyed(2)), Err(Incompatible(Difference::Hasher { .. }))));
    assert!(keyed(1).merge(&keyed(1)).is_ok());
}

/// A counter that is saturated in one of two filters is saturated in their sum, and so is a sum beyond the limit.
#[test]
fn case_13_merging_saturates() {
    let copies = |count: u32| {
        let mut filter = shaped(100, 3);
        (0..count).for_each(|_| {
            filter.insert("key");
        });
        filter
    };
    for (left, right, sum) in [(7, 7, 14), (7, 8, 15), (15, 0, 15), (30, 2, 15), (9, 9, 15)] {
        let mut merged = copies(left);
        merged.merge(&copies(right)).unwrap();
        assert_eq!(merged.estimate("key"), sum);
        assert_eq!(merged.saturated_counters() > 0, sum == 15);
    }
}

#[test]
fn case_20_a_size_need_not_be_a_multiple_of_the_word() {
    for counters in 1..=40 {
        let (mut narrow, mut wide) = (shaped(counters, 3), wide(counters, 3));
        narrow.extend(0..100u32);
        wide.extend(0..100u32);
        assert_eq!(narrow.size_in_bytes(), counters.div_ceil(16) * 8);
        assert_eq!(wide.size_in_bytes(), counters.div_ceil(8) * 8);
        assert_eq!(CountingBloomFilter::from_bytes(&narrow.to_bytes()), Ok(narrow));
        assert_eq!(CountingBloomFilter::from_bytes(&wide.to_bytes()), Ok(wide));
    }
}

/// Keys that were crafted against one hasher are like any others under a secret key.
#[test]
fn case_23_crafted_keys_do_no_better_under_a_secret_key() {
    fn filled<S: KeyHasher>(hasher: S) -> BlockedCountingBloomFilter<S> {
        let builder = BlockedCountingBloomFilter::builder().expected_items(10_000);
        let mut filter = builder.hasher(hasher).build().unwrap();
        filter.extend(keys::consecutive(0).take(10_000));
        filter
    }
    let public = filled(DefaultHashBuilder::default());
    let absent = keys::consecutive(10_000).take(2_000_000);
    let crafted: Vec<u64> = absent.filter(|key| public.contains(key)).collect();
    assert!(crafted.len() > 10_000);
    let secret = filled(SipHashBuilder::from_key([0x5a; 16]));
    let positives = Positives::of(&secret, crafted.iter());
    positives.judge("crafted keys", secret.false_positive_rate(), 1e-7);
}

/// The filters and their views alike, at lengths around that of a group of keys.
#[test]
fn case_24_many_keys_are_asked_in_one_call() {
    let stored: Vec<String> = keys::urls(1).take(5_000).collect();
    macro_rules! asks {
        ($filter:expr, $view:ty) => {{
            let mut filter = $filter;
            assert!(filter.insert_batch(&stored) > 4_900);
            let bytes = filter.to_bytes();
            let view = <$view>::open(&bytes).unwrap();
            for length in [0, 1, 31, 32, 33, 64, 65, 1_000] {
                let asked: Vec<String> = keys::urls(1).skip(4_900).take(length).collect();
                let (mut answers, mut viewed) = (vec![false; length], vec![false; length]);
                filter.contains_batch(&asked, &mut answers);
                view.contains_batch(&asked, &mut viewed);
                assert!(answers.iter().take(100).all(|&answer| answer) && answers == viewed);
                assert!(asked.iter().map(|key| filter.contains(key)).eq(answers));
            }
        }};
    }
    asks!(CountingBloomFilter::new(10_000, 0.01).unwrap(), CountingBloomFilterView<_>);
    asks!(wide(100_000, 7), CountingBloomFilterView<_, DefaultHashBuilder, Bits8>);
    asks!(lines(500), BlockedCountingBloomFilterView<_>);
}
