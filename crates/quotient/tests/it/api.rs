//! Behaviour of the filter at ordinary and at edge parameters.

use pds_core::hash::finalize;
use pds_core::traits::{Insert, Membership, Merge, Remove};
use quotient::error::{BuildError, InsertError, MergeError};
use quotient::hash::SipHashBuilder;
use quotient::{QuotientFilter, QuotientFilterBuilder, QuotientParams};

use crate::{full, shaped};

/// Holds the numbers below `items`.
fn numbers(items: u32) -> QuotientFilter {
    let mut filter = QuotientFilter::new(1_000, 0.001).unwrap();
    (0..items).for_each(|key| filter.insert(&key).unwrap());
    filter
}

#[test]
fn a_key_comes_and_goes() {
    let mut filter = numbers(0);
    assert!(filter.is_empty() && !filter.contains("key"));
    filter.insert("key").unwrap();
    assert!(filter.contains("key") && filter.len() == 1);
    assert!(filter.remove("key"));
    assert!(filter.is_empty() && !filter.contains("key") && !filter.remove("key"));
    assert_eq!(filter, numbers(0));
}

#[test]
fn keys_are_their_type_too() {
    let mut filter = numbers(0);
    filter.insert(&1u32).unwrap();
    assert!(filter.contains(&1u32) && !filter.contains(&1u64));
}

#[test]
fn copies_are_counted() {
    let mut filter = numbers(10);
    for copies in 1..=300 {
        filter.insert("key").unwrap();
        assert_eq!(filter.count("key"), copies);
    }
    assert_eq!(filter.len(), 310);
    for copies in (0..300).rev() {
        assert!(filter.remove("key"));
        assert_eq!(filter.count("key"), copies);
    }
    assert_eq!(filter, numbers(10));
}

#[test]
fn insert_if_absent_stores_once_even_in_a_full_filter() {
    let mut filter = numbers(0);
    assert_eq!(filter.insert_if_absent("key"), Ok(true));
    assert_eq!(filter.insert_if_absent("key"), Ok(false));
    assert_eq!(filter.count("key"), 1);
    let mut filter = full(100, 40);
    assert_eq!(filter.insert_hash_if_absent(finalize(3)), Ok(false));
    let error = InsertError::Full { len: 95, capacity: 95 };
    assert_eq!(filter.insert_hash_if_absent(finalize(1_000)), Err(error));
    assert_eq!(filter, full(100, 40));
}

#[test]
fn the_traits_store_copies_that_can_be_removed() {
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
    through_traits(&mut numbers(5));
    assert_eq!(merged(numbers(1), &numbers(2)).count(&0u32), 2);
}

#[test]
fn a_filter_tells_its_design_and_its_state() {
    let filter = numbers(500);
    assert_eq!((filter.expected_items(), filter.promised_rate()), (Some(1_000), Some(0.001)));
    let params = QuotientParams::new(1_000, 0.001).unwrap();
    assert_eq!(filter.params(), params);
    assert_eq!((filter.remainder_bits(), filter.num_slots()), (10, 1_053));
    assert_eq!((filter.capacity(), params.capacity()), (1_000, 1_000));
    assert_eq!(filter.load_factor(), 500.0 / 1_053.0);
    let rate = filter.false_positive_rate();
    assert!((rate / (filter.load_factor() / 1_024.0) - 1.0).abs() < 0.01, "{rate}");
    assert!(format!("{filter:?}").contains("num_slots: 1053"));
}

#[test]
fn fingerprints_are_listed_in_order() {
    let filter = numbers(700);
    let listed: Vec<_> = filter.fingerprints().collect();
    assert_eq!(listed.len(), 700);
    assert!(listed.is_sorted());
    assert!(listed.iter().all(|&(quotient, print)| quotient < 1_053 && print < 1 << 10));
}

#[test]
fn clearing_forgets_all() {
    let mut filter = numbers(300);
    filter.clear();
    assert_eq!(filter.to_bytes(), numbers(0).to_bytes());
    let mut filter = shaped(64, 3);
    (0..60).for_each(|_| filter.insert_hash(u64::MAX).unwrap());
    filter.clear();
    assert_eq!(filter.to_bytes(), shaped(64, 3).to_bytes());
}

#[test]
fn a_copy_is_independent() {
    let original = numbers(10);
    let mut copy = original.try_clone().unwrap();
    assert_eq!(copy, original.clone());
    copy.remove(&3u32);
    assert_ne!(copy, original);
}

#[test]
fn another_seed_hashes_elsewhere() {
    let seeded = |seed| {
        let mut filter = QuotientFilter::builder().expected_items(100).seed(seed).build().unwrap();
        filter.insert("key").unwrap();
        filter
    };
    assert_eq!(seeded(3), seeded(3));
    assert_ne!(seeded(3).fingerprints().next(), seeded(4).fingerprints().next());
    assert_ne!(seeded(3), seeded(4));
}

#[test]
fn batches_stop_at_the_first_that_does_not_fit() {
    let mut filter = shaped(100, 12);
    let keys: Vec<u32> = (0..200).collect();
    let error = filter.insert_batch(&keys).unwrap_err();
    assert_eq!(error, InsertError::Full { len: 95, capacity: 95 });
    assert!(keys[..95].iter().all(|key| filter.contains(key)));
    assert_eq!(filter.remove_batch(&keys[..95]), 95);
    assert!(filter.is_empty());
}

/// The capacity is exact at every size: no key below it is refused, even if all keys fall into the last slot.
#[test]
fn every_key_below_the_capacity_is_taken() {
    for slots in 1..200 {
        for hash in [0, u64::MAX / 2, u64::MAX] {
            let mut filter = shaped(slots, 4);
            (0..filter.capacity()).for_each(|_| filter.insert_hash(hash).unwrap());
            let capacity = slots * 95 / 100;
            assert_eq!(
                filter.insert_hash(hash),
                Err(InsertError::Full { len: capacity, capacity })
            );
        }
    }
}

#[test]
fn what_the_builder_refuses_is_named() {
    type Change = fn(QuotientFilterBuilder) -> QuotientFilterBuilder;
    let cases: [(&str, Change); 13] = [
        ("expected_items", |b| b),
        ("expected_items", |b| b.false_positive_rate(0.1)),
        ("expected_items", |b| b.expected_items(0)),
        ("false_positive_rate", |b| b.expected_items(10).false_positive_rate(1.0)),
        ("false_positive_rate", |b| b.slots(10).remainder_bits(3).false_positive_rate(0.1)),
        ("remainder_bits", |b| b.slots(10)),
        ("remainder_bits", |b| b.expected_items(10).remainder_bits(3)),
        ("remainder_bits", |b| b.slots(10).remainder_bits(57)),
        ("slots", |b| b.expected_items(10).slots(3)),
        ("slots", |b| b.slots(0).remainder_bits(3)),
        ("slots", |b| b.slots((1 << 48) + 1).remainder_bits(3)),
        ("grows_to", |b| b.slots(10).remainder_bits(3).grows_to(30)),
        ("grows_to", |b| b.expected_items(10).grows_to(9)),
    ];
    for (index, (parameter, change)) in cases.into_iter().enumerate() {
        match change(QuotientFilter::builder()).build() {
            Err(BuildError::Param(error)) => {
                assert_eq!(error.parameter(), parameter, "case {index}")
            }
            other => panic!("case {index}: {other:?}"),
        }
    }
}

/// A filter of one slot would have room for no key.
#[test]
fn the_fewest_slots_hold_one_key() {
    let built = |slots| QuotientFilter::builder().slots(slots).remainder_bits(8).build();
    let Err(BuildError::Param(error)) = built(1) else { panic!("it is built") };
    assert_eq!((error.parameter(), error.allowed()), ("slots", Some(2..=1 << 48)));
    assert_eq!(built(2).unwrap().capacity(), 1);
}

#[test]
fn growth_that_is_impossible_is_named() {
    let mut filter = full(100, 1);
    let before = filter.clone();
    let error = filter.grow().unwrap_err().to_string();
    assert!(error.contains("remainder_bits"), "{error}");
    assert_eq!(filter, before);
}

#[test]
fn filters_that_cannot_be_merged_are_named_and_unchanged() {
    let named = |left: &QuotientFilter, right: &QuotientFilter, text: &str| {
        let mut merged = left.clone();
        let error = merged.merge(right).unwrap_err();
        assert!(error.to_string().contains(text), "{error}");
        assert_eq!(merged.to_bytes(), left.to_bytes());
        error
    };
    let error = named(&shaped(1_000, 8), &shaped(1_500, 8), "1000 here and 1500 in the other");
    assert!(matches!(error, MergeError::Incompatible(_)));
    named(&shaped(1_000, 8), &shaped(3_000, 8), "number of slots");
    // The first try of a user: the error says how to build filters that fit.
    let sized = |items| QuotientFilter::new(items, 0.01).unwrap();
    named(&sized(100), &sized(150), "build both with the same `grows_to` and rate");
    let too_few = "the number of remainder bits of the smaller one, 2, is too low: \
                   its growth to the size of the other takes 3";
    named(&shaped(1_000, 2), &shaped(4_000, 8), too_few);
    named(&shaped(4_000, 8), &shaped(1_000, 2), too_few);
    named(&shaped(64, 8), &shaped(16_384, 8), "8, is too low");
    let seeded = QuotientFilter::builder().slots(10).remainder_bits(8).seed(9).build().unwrap();
    named(&shaped(10, 8), &seeded, "hasher");
    let told = "both filters do not fit into one: they need 190 places, but there are 95";
    let error = named(&full(100, 8), &full(100, 8), told);
    assert_eq!(error, MergeError::Insert(InsertError::Full { len: 190, capacity: 95 }));
    // With one bit no doubling is left, whatever the plan of the other.
    let mut growing =
        QuotientFilter::builder().expected_items(300).grows_to(10_000).build().unwrap();
    (0..growing.capacity()).for_each(|key| growing.insert(&key).unwrap());
    let capacity = growing.capacity();
    let error = named(&growing, &full(growing.num_slots(), 1), "both filters do not fit into one");
    let len = 2 * capacity;
    assert_eq!(error, MergeError::Insert(InsertError::Full { len, capacity }));
}

#[test]
fn merging_an_empty_filter_changes_nothing() {
    let planned = QuotientFilter::builder().expected_items(300).grows_to(10_000).build().unwrap();
    let slots = planned.num_slots();
    let mut filled = planned.clone();
    (0..300u32).for_each(|key| filled.insert(&key).unwrap());
    for filter in [planned, filled, full(slots, 9)] {
        for (times, bits) in [(1, 3), (1, 20), (2, 1), (4, 30)] {
            let mut merged = filter.clone();
            merged.merge(&shaped(slots * times, bits)).unwrap();
            let same = merged.to_bytes() == filter.to_bytes();
            assert!(same, "{times} times the slots, {bits} bits");
        }
        // A filter that cannot be merged is refused even if it is empty.
        assert!(filter.clone().merge(&shaped(3 * slots, 9)).is_err());
    }
}

/// An empty filter keeps its promise and its size where it can.
#[test]
fn merging_into_an_empty_filter_takes_all() {
    let planned = QuotientFilter::builder().expected_items(300).grows_to(10_000).build().unwrap();
    for (times, bits) in [(1, 40), (2, 12), (2, 40)] {
        let other = full(planned.num_slots() * times, bits);
        let mut merged = planned.clone();
        merged.merge(&other).unwrap();
        assert_eq!((merged.len(), merged.num_slots()), (other.len(), other.num_slots()));
        assert_eq!(merged.expected_items(), Some(10_000));
        assert_eq!(merged.params().grown(), planned.params().grown());
        assert!((0..other.len()).all(|key| merged.contains_hash(finalize(key))));
    }
    let mut merged = planned.clone();
    merged.merge(&full(planned.num_slots(), 3)).unwrap();
    assert_eq!((merged.remainder_bits(), merged.promised_rate()), (3, None));
}

#[test]
fn a_merge_grows_as_the_plan_allows_and_keeps_the_promise_it_can() {
    let builder = QuotientFilter::builder().expected_items(300).grows_to(10_000);
    let (mut left, mut right) = (builder.build().unwrap(), builder.build().unwrap());
    (0..400u32).for_each(|key| left.insert(&key).unwrap());
    (300..4_000u32).for_each(|key| right.insert(&key).unwrap());
    let mut merged = left.clone();
    merged.merge(&right).unwrap();
    assert_eq!((merged.len(), merged.expected_items()), (4_100, Some(10_000)));
    assert_eq!(merged.params().grown(), left.params().grown());
    assert!((0..4_000u32).all(|key| merged.contains(&key)));
    right.merge(&left).unwrap();
    assert_eq!(merged, right);
    // Fewer bits than the design needs: the promise is gone, and the rate tells.
    let mut narrow = shaped(left.num_slots(), 3);
    narrow.insert("key").unwrap();
    merged = left.clone();
    merged.merge(&narrow).unwrap();
    assert_eq!((merged.expected_items(), merged.promised_rate()), (None, None));
    assert_eq!(merged.remainder_bits(), 3);
}

#[test]
fn a_keyed_hasher_is_kept() {
    let hasher = SipHashBuilder::from_key([7; 16]);
    let mut filter = QuotientFilter::builder().expected_items(10).hasher(hasher).build().unwrap();
    filter.insert("key").unwrap();
    assert!(filter.contains("key") && filter.count("key") == 1);
    assert_eq!(filter.hasher().key(), hasher.key());
}
