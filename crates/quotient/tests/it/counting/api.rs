//! Behaviour of the filter at ordinary and at edge parameters.

use pds_core::hash::finalize;
use pds_core::traits::{Frequency, Insert, Membership, Merge, Remove};
use pds_testkit::keys;
use quotient::error::{BuildError, InsertError, MergeError};
use quotient::hash::SipHashBuilder;
use quotient::{CountingQuotientFilter, CountingQuotientFilterBuilder, QuotientParams};

use super::shaped;

const MAX: u64 = CountingQuotientFilter::MAX_COUNT;

fn empty() -> CountingQuotientFilter {
    CountingQuotientFilter::new(1_000, 0.001).unwrap()
}

#[test]
fn counts_go_up_and_down() {
    let mut filter = empty();
    for count in 1..=3_000 {
        filter.insert("key").unwrap();
        assert_eq!((filter.count("key"), filter.len()), (count, 1));
    }
    for count in (0..3_000).rev() {
        assert!(filter.remove("key"));
        assert_eq!(filter.count("key"), count);
    }
    assert!(!filter.remove("key") && !filter.contains("key"));
    assert_eq!(filter.to_bytes(), empty().to_bytes());
}

/// A count of c takes 1 + ceil(log2(c) / r) slots.
#[test]
fn a_count_takes_the_documented_slots() {
    for bits in [1u32, 2, 7, 20, 55] {
        for power in 0..64u32 {
            for (count, log) in [(1u64 << power, power), ((1 << power) + 1, power + 1)] {
                let mut filter = shaped(200, bits);
                if count > MAX {
                    continue;
                }
                filter.insert_many_hash(finalize(7), count).unwrap();
                assert_eq!(filter.used_slots(), u64::from(1 + log.div_ceil(bits)), "{count}");
                assert_eq!(filter.count_hash(finalize(7)), count);
            }
        }
    }
}

#[test]
fn no_copies_change_nothing() {
    let mut filter = shaped(2, 7);
    filter.insert_many("key", 0).unwrap();
    assert!(filter.is_empty() && !filter.contains("key"));
    filter.insert_many("key", 1).unwrap();
    filter.insert_many("key", 0).unwrap();
    filter.insert_many("other", 0).unwrap();
    assert_eq!(filter.remove_many("key", 0), 0);
    assert_eq!((filter.count("key"), filter.len()), (1, 1));
}

#[test]
fn the_greatest_count_is_exact_and_no_more_is_taken() {
    let mut filter = empty();
    let error = InsertError::Count { max: MAX };
    let refused = Err(error);
    assert_eq!(filter.insert_many("key", MAX + 1), refused);
    assert_eq!(filter.insert_many("key", u64::MAX), refused);
    assert!(filter.is_empty());
    filter.insert_many("key", MAX).unwrap();
    for times in [1, MAX, u64::MAX] {
        assert_eq!(filter.insert_many("key", times), refused);
    }
    assert_eq!(filter.count("key"), MAX);
    assert_eq!(filter.remove_many("key", MAX - 1), MAX - 1);
    assert_eq!(filter.insert_many("key", MAX), refused);
    assert_eq!(filter.remove_many("key", u64::MAX), 1);
    let text = error.to_string();
    assert_eq!(text, "the count of the key would be above 9223372036854775808, the greatest one");
    assert_eq!(filter, empty());
}

#[test]
fn sums_of_merges_are_at_most_the_greatest_count() {
    let (mut left, mut right) = (empty(), empty());
    left.insert_many("key", MAX - 5).unwrap();
    right.insert_many("key", 6).unwrap();
    right.insert("other").unwrap();
    let before = left.clone();
    let error = left.merge(&right).unwrap_err();
    assert_eq!(error, MergeError::Insert(InsertError::Count { max: MAX }));
    assert_eq!(left, before);
    assert!(right.remove("key"));
    left.merge(&right).unwrap();
    assert_eq!((left.count("key"), left.count("other"), left.len()), (MAX, 1, 2));
    // The sum of these is 2^64.
    assert_eq!(left.merge(&left.clone()).unwrap_err(), error);
}

#[test]
fn a_full_filter_counts_as_far_as_its_slots_allow() {
    let mut filter = shaped(100, 7);
    (0..94).for_each(|key| filter.insert_hash(finalize(key)).unwrap());
    // The last slot is for the second copy, and those up to 2^7 need no other.
    filter.insert_many_hash(finalize(0), 127).unwrap();
    assert_eq!((filter.used_slots(), filter.capacity(), filter.load_factor()), (95, 95, 0.95));
    let before = filter.clone();
    let full = Err(InsertError::Full { len: 95, capacity: 95 });
    assert_eq!(filter.insert_hash(finalize(0)), full);
    assert_eq!(filter.insert_hash(finalize(1)), full);
    assert_eq!(filter.insert_hash(finalize(1_000)), full);
    assert_eq!(filter, before);
    assert!(filter.remove_hash(finalize(0)));
    filter.insert_hash(finalize(0)).unwrap();
    assert_eq!(filter, before);
}

/// The capacity is exact at every size: no digit below it is refused, even if all lie behind the last slot.
#[test]
fn every_slot_below_the_capacity_can_be_used() {
    for slots in 2..200 {
        for hash in [0, u64::MAX / 2, u64::MAX] {
            let (mut filter, mut count) = (shaped(slots, 1), 1);
            let capacity = slots * 95 / 100;
            while filter.used_slots() < capacity.min(64) {
                filter.insert_many_hash(hash, count).unwrap();
                count = filter.count_hash(hash);
                assert_eq!(filter.used_slots(), u64::from(1 + count.ilog2()));
            }
            if capacity < 64 {
                let full = InsertError::Full { len: capacity, capacity };
                assert_eq!(filter.insert_many_hash(hash, count), Err(full));
            }
            assert_eq!(filter.count_hash(hash), count);
        }
    }
}

#[test]
fn the_order_of_operations_leaves_no_trace() {
    let counts: Vec<(u64, u64)> = (0..400).map(|key| (key, 1 + key * key % 700)).collect();
    let mut by_key = empty();
    counts.iter().for_each(|&(key, count)| by_key.insert_many(&key, count).unwrap());
    let mut by_copy = empty();
    for copy in 0..700 {
        let keys = counts.iter().rev().filter(|&&(_, count)| count > copy);
        keys.for_each(|(key, _)| by_copy.insert(key).unwrap());
    }
    assert_eq!(by_key.to_bytes(), by_copy.to_bytes());
    let mut from_above = empty();
    counts.iter().for_each(|&(key, count)| from_above.insert_many(&key, count + 900).unwrap());
    counts.iter().for_each(|(key, _)| assert_eq!(from_above.remove_many(key, 900), 900));
    assert_eq!(by_key.to_bytes(), from_above.to_bytes());
}

#[test]
fn merging_grown_filters_is_counting_everything_in_one() {
    let builder = CountingQuotientFilter::builder().expected_items(100).grows_to(100_000);
    let (mut left, mut right) = (builder.build().unwrap(), builder.build().unwrap());
    let mut both = builder.build().unwrap();
    for key in 0..3_000u64 {
        right.insert_many(&key, 1 + key % 300).unwrap();
        both.insert_many(&key, 1 + key % 300).unwrap();
    }
    for key in 2_900..3_000u64 {
        left.insert_many(&key, 1 << 40).unwrap();
        both.insert_many(&key, 1 << 40).unwrap();
    }
    assert!(left.num_slots() < right.num_slots());
    let mut merged = left.clone();
    merged.merge(&right).unwrap();
    assert_eq!(merged.to_bytes(), both.to_bytes());
    right.merge(&left).unwrap();
    assert_eq!(right, both);
    assert_eq!(both.expected_items(), Some(100_000));
}

#[test]
fn merging_an_empty_filter_changes_nothing() {
    let mut filter = empty();
    filter.insert_many("key", 5).unwrap();
    let before = filter.to_bytes();
    filter.merge(&empty()).unwrap();
    assert_eq!(filter.to_bytes(), before);
    let mut none = empty();
    none.merge(&filter).unwrap();
    assert_eq!(none.to_bytes(), before);
    none.merge(&filter.clone()).unwrap();
    assert_eq!(none.count("key"), 10);
    // A filter that cannot be merged is refused even if it is empty.
    assert!(filter.merge(&shaped(3 * filter.num_slots(), 9)).is_err());
    let seeded = CountingQuotientFilter::builder().expected_items(1_000).seed(9).build().unwrap();
    assert!(filter.merge(&seeded).unwrap_err().to_string().contains("hasher"));
}

/// Fingerprints that become equal have one count, the sum.
#[test]
fn merging_keeps_the_bits_that_both_have() {
    let (mut narrow, mut wide) = (shaped(512, 2), shaped(512, 40));
    for hash in keys::random(4).take(200) {
        narrow.insert_hash(hash).unwrap();
        wide.insert_many_hash(hash, 3).unwrap();
    }
    let mut merged = wide.clone();
    merged.merge(&narrow).unwrap();
    assert_eq!((merged.remainder_bits(), merged.len()), (2, narrow.len()));
    assert!(narrow.len() < 200);
    for hash in keys::random(4).take(200) {
        assert_eq!(merged.count_hash(hash), 4 * narrow.count_hash(hash));
    }
}

#[test]
fn growing_is_building_at_that_size_and_shrinking_the_inverse() {
    let mut filter = shaped(100, 9);
    for key in 0..30 {
        filter.insert_many_hash(finalize(key), 1 + key * key * key).unwrap();
    }
    let before = filter.to_bytes();
    for doublings in 1..9 {
        filter.grow().unwrap();
        let mut built = shaped(100 << doublings, 9 - doublings);
        for key in 0..30 {
            built.insert_many_hash(finalize(key), 1 + key * key * key).unwrap();
        }
        assert_eq!(filter, built);
    }
    let error = filter.grow().unwrap_err().to_string();
    assert!(error.contains("remainder_bits"), "{error}");
    filter.shrink_to_fit().unwrap();
    assert!(filter.num_slots() <= 100 && filter.remainder_bits() >= 9);
    while filter.num_slots() < 100 {
        filter.grow().unwrap();
    }
    // The limit of its growth is no part of the counts.
    let params = filter.params().with_doublings(0).unwrap();
    let mut same = CountingQuotientFilter::from_params(params, *filter.hasher()).unwrap();
    same.merge(&filter).unwrap();
    assert_eq!(same.to_bytes(), before);
}

#[test]
fn a_filter_that_has_shrunk_grows_again_by_itself() {
    let builder = CountingQuotientFilter::builder().expected_items(100).grows_to(10_000);
    let mut filter = builder.build().unwrap();
    let fill = |filter: &mut CountingQuotientFilter| {
        (0..10_000u32).for_each(|key| filter.insert_many(&key, 2).unwrap());
        filter.num_slots()
    };
    let slots = fill(&mut filter);
    (0..10_000u32).for_each(|key| assert_eq!(filter.remove_many(&key, 2), 2));
    filter.shrink_to_fit().unwrap();
    assert!(filter.is_empty() && filter.num_slots() < slots / 8);
    assert_eq!(fill(&mut filter), slots);
    assert!(filter.false_positive_rate() <= 0.01);
}

/// A filter of stated slots has no plan that it could grow by.
#[test]
fn a_filter_of_stated_slots_that_has_shrunk_does_not_grow_by_itself() {
    let builder = CountingQuotientFilter::builder().slots(64).remainder_bits(3);
    let mut filter = builder.build().unwrap();
    filter.shrink_to_fit().unwrap();
    let capacity = filter.capacity();
    assert!(filter.num_slots() < 64);
    let error = (0..64u32).find_map(|key| filter.insert(&key).err());
    assert_eq!(error, Some(InsertError::Full { len: filter.used_slots(), capacity }));
    filter.grow().unwrap();
    assert!(filter.capacity() > capacity);
}

#[test]
fn a_merge_that_does_not_fit_says_how_many_places_it_needs() {
    let mut filters = [0, 1].map(|_| shaped(100, 20));
    for (filter, first) in filters.iter_mut().zip([0, 60]) {
        (first..first + 60).for_each(|key| filter.insert_hash(finalize(key)).unwrap());
    }
    let [mut left, right] = filters;
    let error = left.merge(&right).unwrap_err();
    assert_eq!(error, MergeError::Insert(InsertError::Full { len: 120, capacity: 95 }));
}

#[test]
fn the_traits_count_copies_that_can_be_removed() {
    fn through_traits(filter: &mut (impl Insert + Remove + Membership)) {
        let mut insert = || filter.insert("key").unwrap_or_else(|_| panic!("it fits"));
        assert!(insert() && !insert());
        assert!(filter.remove("key") && filter.contains("key"));
        assert!(filter.remove("key") && !filter.contains("key"));
    }
    fn merged<T: Merge>(mut left: T, right: &T) -> T {
        left.merge(right).unwrap_or_else(|_| panic!("it fits"));
        left
    }
    through_traits(&mut empty());
    let mut filter = empty();
    filter.insert(&3u8).unwrap();
    let twice = merged(filter.clone(), &filter);
    assert_eq!((twice.count(&3u8), Frequency::estimate(&twice, &3u8)), (2, 2));
}

#[test]
fn a_filter_tells_its_design_and_its_state() {
    let mut filter = empty();
    (0..500u32).for_each(|key| filter.insert_many(&key, 2).unwrap());
    assert_eq!((filter.expected_items(), filter.promised_rate()), (Some(1_000), Some(0.001)));
    assert!(filter.len() <= 500 && filter.used_slots() == 2 * filter.len());
    assert_eq!(filter.capacity(), 2_000);
    assert!(filter.false_positive_rate() < 0.001);
    assert_eq!(filter.size_in_bytes(), filter.num_slots().div_ceil(64) + 264 * (3 + 9));
    assert!(format!("{filter:?}").contains("CountingQuotientFilter { num_slots: 2106"));
}

#[test]
fn batches_count_and_answer_each_key() {
    let mut filter = empty();
    let keys: Vec<u32> = (0..300).map(|index| index % 100).collect();
    filter.insert_batch(&keys).unwrap();
    assert!((0..100u32).all(|key| filter.count(&key) >= 3));
    let mut answers = vec![false; 300];
    filter.contains_batch(&keys, &mut answers);
    assert!(answers.iter().all(|&answer| answer));
    let asked: Vec<u32> = (1_000..4_000).collect();
    let mut answers = vec![false; 3_000];
    filter.contains_batch(&asked, &mut answers);
    assert!(asked.iter().zip(&answers).all(|(key, &answer)| answer == (filter.count(key) > 0)));
    assert_eq!(filter.clone().insert_batch::<u32>(&[]), Ok(()));
}

#[test]
fn what_the_builder_refuses_is_named() {
    type Change = fn(CountingQuotientFilterBuilder) -> CountingQuotientFilterBuilder;
    let cases: [(&str, Change); 9] = [
        ("expected_items", |b| b),
        ("expected_items", |b| b.expected_items(0)),
        ("remainder_bits", |b| b.slots(10).remainder_bits(56)),
        ("remainder_bits", |b| b.slots(10)),
        ("slots_per_item", |b| b.slots(10).remainder_bits(3).slots_per_item(2.0)),
        ("slots_per_item", |b| b.expected_items(10).slots_per_item(0.99)),
        ("slots_per_item", |b| b.expected_items(10).slots_per_item(f64::NAN)),
        ("slots_per_item", |b| b.expected_items(10).slots_per_item(64.5)),
        ("grows_to", |b| b.expected_items(10).grows_to(9)),
    ];
    for (index, (parameter, change)) in cases.into_iter().enumerate() {
        match change(CountingQuotientFilter::builder()).build() {
            Err(BuildError::Param(error)) => {
                assert_eq!(error.parameter(), parameter, "case {index}")
            }
            other => panic!("case {index}: {other:?}"),
        }
    }
    let params = QuotientParams::from_slots_and_remainder_bits(10, 56).unwrap();
    let error = CountingQuotientFilter::from_params(params, SipHashBuilder::from_key([7; 16]));
    let Err(BuildError::Param(error)) = error else { panic!("it is built") };
    assert_eq!((error.parameter(), error.allowed()), ("remainder_bits", Some(1..=55)));
}

/// Of the keys that are in, and of those that are not, as many have too high a count as the rate predicts. None has a lower
/// one.
#[test]
fn counts_are_exact_but_for_the_predicted_share() {
    let (mut high, mut absent, mut expected) = (0.0f64, 0.0, 0.0);
    for seed in 0..40 {
        let mut filter = shaped(1_000, 6);
        let counts: Vec<_> = keys::random(seed).zip(keys::random(seed + 100)).take(400).collect();
        for &(hash, word) in &counts {
            filter.insert_many_hash(hash, 1 + word % 60).unwrap();
        }
        for &(hash, word) in &counts {
            let count = filter.count_hash(hash);
            assert!(count > word % 60, "a count is too low");
            high += f64::from(u8::from(count > 1 + word % 60));
        }
        let strangers = keys::random(seed + 200).take(400);
        absent += strangers.filter(|&hash| filter.count_hash(hash) > 0).count() as f64;
        expected += 400.0 * filter.params().rate_at(400);
    }
    // 100 events are expected. Seven standard deviations: one false alarm in 10^11.
    for observed in [high, absent] {
        let deviations = (observed - expected) / expected.sqrt();
        assert!(deviations.abs() < 7.0, "{observed} for {expected}");
    }
}
