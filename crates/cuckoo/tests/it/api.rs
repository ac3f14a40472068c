//! Behaviour of the filter at ordinary and at edge parameters.
#![cfg(feature = "std")]

use cuckoo::error::{BuildError, InsertError, MergeError, ParamError};
use cuckoo::hash::SipHashBuilder;
use cuckoo::{CuckooFilter, CuckooFilterBuilder};
use pds_core::hash::finalize;
use pds_core::traits::{Insert, Membership, Remove};
use pds_params::internal::ParamFault;

fn shaped(buckets: u64, bits: u32) -> CuckooFilter {
    CuckooFilter::builder().buckets(buckets).fingerprint_bits(bits).build().unwrap()
}

/// Holds the numbers below `items`.
fn numbers(items: u32) -> CuckooFilter {
    let mut filter = CuckooFilter::new(1_000, 0.001).unwrap();
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
    for copies in 1..=8 {
        filter.insert("key").unwrap();
        assert_eq!(filter.count("key"), copies);
    }
    assert_eq!(filter.len(), 18);
    for copies in (0..8).rev() {
        assert!(filter.remove("key"));
        assert_eq!(filter.count("key"), copies);
    }
    assert_eq!(filter, numbers(10));
}

#[test]
fn insert_if_absent_stores_once() {
    let mut filter = numbers(0);
    assert_eq!(filter.insert_if_absent("key"), Ok(true));
    assert_eq!(filter.insert_if_absent("key"), Ok(false));
    assert_eq!(filter.count("key"), 1);
}

#[test]
fn the_traits_store_copies_that_can_be_removed() {
    fn through_traits(filter: &mut (impl Insert + Remove + Membership)) {
        let mut insert = || filter.insert("key").unwrap_or_else(|_| panic!("it fits"));
        assert!(insert() && !insert());
        assert!(filter.remove("key") && filter.contains("key"));
        assert!(filter.remove("key") && !filter.contains("key"));
    }
    through_traits(&mut numbers(5));
}

#[test]
fn a_filter_tells_its_design_and_its_state() {
    let filter = numbers(500);
    assert_eq!((filter.expected_items(), filter.promised_rate()), (Some(1_000), Some(0.001)));
    assert_eq!((filter.fingerprint_bits(), filter.num_buckets()), (13, 268));
    assert_eq!(filter.num_slots(), 4 * 268);
    assert_eq!(filter.size_in_bytes(), (4_u64 * 268 * 13).div_ceil(64) * 8);
    assert!((1_000..1_072).contains(&filter.capacity()));
    assert_eq!(filter.load_factor(), 500.0 / 1_072.0);
    let rate = filter.false_positive_rate();
    assert!((rate / (8.0 * filter.load_factor() / 8_191.0) - 1.0).abs() < 0.01, "{rate}");
}

#[test]
fn an_empty_and_a_crammed_filter_have_rates() {
    assert_eq!(shaped(3, 8).false_positive_rate(), 0.0);
    let mut filter = shaped(1, 4);
    while filter.insert_hash(finalize(filter.len())).is_ok() {}
    let rate = filter.false_positive_rate();
    assert!(rate > 0.2 && rate < 0.25, "{rate}");
}

#[test]
fn fingerprints_are_listed_with_their_buckets() {
    let filter = numbers(700);
    let listed: Vec<_> = filter.fingerprints().collect();
    assert_eq!(listed.len(), 700);
    assert!(listed.is_sorted_by_key(|&(bucket, _)| bucket));
    assert!(listed.iter().all(|&(bucket, print)| bucket < 268 && (1..1 << 13).contains(&print)));
}

#[test]
fn clearing_forgets_all() {
    let mut filter = numbers(300);
    filter.clear();
    assert_eq!(filter, numbers(0));
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
        let mut filter = CuckooFilter::builder().expected_items(100).seed(seed).build().unwrap();
        filter.insert("key").unwrap();
        filter
    };
    assert_eq!(seeded(3), seeded(3));
    assert_ne!(seeded(3).fingerprints().next(), seeded(4).fingerprints().next());
}

#[test]
fn batches_stop_at_the_first_that_does_not_fit() {
    let mut filter = shaped(5, 12);
    let keys: Vec<u32> = (0..100).collect();
    let error = filter.insert_batch(&keys).unwrap_err();
    assert_eq!(error, InsertError::Full { len: filter.len(), capacity: 20 });
    let inserted = usize::try_from(filter.len()).unwrap();
    assert!(keys[..inserted].iter().all(|key| filter.contains(key)));
    assert_eq!(
        error.to_string(),
        format!("no free slot for the key: {inserted} of 20 slots are used")
    );
}

#[test]
#[should_panic(expected = "one answer per key")]
fn a_batch_wants_one_answer_a_key() {
    numbers(1).contains_batch(&[1u32, 2], &mut [false]);
}

#[test]
fn a_merge_that_does_not_fit_changes_nothing() {
    let (mut left, mut right) = (shaped(50, 12), shaped(50, 12));
    (0..120u32).for_each(|key| left.insert(&key).unwrap());
    (100..220u32).for_each(|key| right.insert(&key).unwrap());
    let before = (left.clone(), right.clone());
    let error = left.merge(&right).unwrap_err();
    assert!(
        matches!(error, MergeError::Insert(InsertError::Full { capacity: 200, .. })),
        "{error}"
    );
    assert!((left, right) == before);
}

#[test]
fn merging_adds_copies() {
    let (mut left, mut right) = (numbers(100), numbers(0));
    (50..150u32).for_each(|key| right.insert(&key).unwrap());
    left.merge(&right).unwrap();
    assert_eq!(left.len(), 200);
    assert!(
        (0..150u32).all(|key| left.count(&key) >= if (50..100).contains(&key) { 2 } else { 1 })
    );
    assert!((0..100u32).chain(50..150).all(|key| left.remove(&key)));
    assert!(left.is_empty());
}

#[test]
fn the_builder_takes_three_combinations() {
    let builder = CuckooFilter::builder;
    let plain = builder().expected_items(1_000).build().unwrap();
    assert_eq!(plain.promised_rate(), Some(0.01));
    let wide = builder().expected_items(1_000).fingerprint_bits(20).build().unwrap();
    assert_eq!((wide.num_buckets(), wide.expected_items()), (268, Some(1_000)));
    assert!(wide.promised_rate() < Some(1e-5));
    let outright = builder().buckets(7).fingerprint_bits(9).build().unwrap();
    assert_eq!((outright.num_buckets(), outright.fingerprint_bits()), (7, 9));
    assert_eq!((outright.expected_items(), outright.promised_rate()), (None, None));
}

#[test]
fn the_builder_refuses_too_little_and_too_much() {
    let builder = CuckooFilter::builder;
    let error = |b: CuckooFilterBuilder| match b.build().unwrap_err() {
        BuildError::Param(e) => e,
        other => panic!("{other}"),
    };
    let missing = |parameter| ParamError(ParamFault::Missing { parameter });
    let conflict = |parameter| ParamError(ParamFault::Conflict { parameter });
    assert_eq!(error(builder()), missing("expected_items"));
    assert_eq!(error(builder().fingerprint_bits(8)), missing("expected_items"));
    assert_eq!(error(builder().buckets(8)), missing("fingerprint_bits"));
    assert_eq!(error(builder().buckets(8).expected_items(9)), conflict("buckets"));
    let both = builder().fingerprint_bits(8).false_positive_rate(0.1);
    assert_eq!(error(both.buckets(8)), conflict("false_positive_rate"));
    assert_eq!(error(both.expected_items(8)), conflict("false_positive_rate"));
}

#[test]
fn what_is_out_of_range_is_named() {
    let range = |parameter, value, min, max| {
        BuildError::Param(ParamError(ParamFault::OutOfRange { parameter, value, min, max }))
    };
    let shape = |buckets, bits| {
        CuckooFilter::builder().buckets(buckets).fingerprint_bits(bits).build().unwrap_err()
    };
    assert_eq!(shape(0, 8), range("buckets", 0, 1, 1 << 32));
    assert_eq!(shape((1 << 32) + 1, 8), range("buckets", (1 << 32) + 1, 1, 1 << 32));
    assert_eq!(shape(1, 3), range("fingerprint_bits", 3, 4, 32));
    assert_eq!(shape(1, 33), range("fingerprint_bits", 33, 4, 32));
}

#[test]
fn a_builder_takes_another_hasher() {
    let hasher = SipHashBuilder::from_key([7; 16]);
    let mut filter = CuckooFilter::builder().expected_items(10).hasher(hasher).build().unwrap();
    filter.insert("key").unwrap();
    assert!(filter.contains("key"));
    assert_eq!(filter.hasher(), &hasher);
}

#[test]
fn debug_shows_no_slots() {
    let text = format!("{:?}", numbers(100));
    assert!(text.starts_with("CuckooFilter {") && text.contains("len: 100"), "{text}");
    assert!(text.len() < 100, "{text}");
}
