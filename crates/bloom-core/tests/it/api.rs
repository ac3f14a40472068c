//! Behaviour of filters, at ordinary and at edge parameters.
#![cfg(feature = "std")]

use core::convert::Infallible;
use pds_core::internal::Difference;
use pds_params::internal::ParamFault;

use bloom_core::error::{BuildError, Incompatible, ParamError};
use bloom_core::hash::SipHashBuilder;
use bloom_core::{
    AtomicBloomFilter, BitArray, BloomFilter, BloomFilterBuilder, BloomFilterView, DoubleHash,
    Health, HealthStatus,
};
use pds_core::hash::KeyHasher;
use pds_core::traits::{Insert, Membership, Merge};

/// Does not compile if a public type cannot be sent to another thread.
const _: () = {
    const fn crosses_threads<T: Send + Sync>() {}
    crosses_threads::<BloomFilter>();
    crosses_threads::<AtomicBloomFilter>();
    crosses_threads::<BloomFilterBuilder>();
    crosses_threads::<BitArray>();
    crosses_threads::<DoubleHash>();
    crosses_threads::<Health>();
    crosses_threads::<HealthStatus>();
};

/// A filter of 1,000 items at 1 % that holds the numbers below `items`.
fn numbers(items: u32) -> BloomFilter {
    let mut filter = BloomFilter::new(1_000, 0.01).unwrap();
    filter.extend(0..items);
    filter
}

#[test]
fn insert_says_whether_the_key_was_absent() {
    let mut filter = numbers(0);
    assert!(!filter.contains("key"));
    assert!(filter.insert("key"));
    assert!(!filter.insert("key"));
    assert!(filter.contains("key"));
}

#[test]
fn keys_are_their_type_too() {
    let mut filter = numbers(0);
    filter.insert(&1u32);
    assert!(filter.contains(&1u32) && !filter.contains(&1u64));
}

#[test]
fn a_filter_tells_its_design() {
    let filter = numbers(0);
    assert_eq!((filter.expected_items(), filter.promised_rate()), (Some(1_000), Some(0.01)));
    assert_eq!(filter.num_hashes(), 7);
    assert_eq!(filter.size_in_bytes(), filter.num_bits().div_ceil(64) * 8);
    assert_eq!(filter.bits().num_bits(), filter.num_bits());
}

#[test]
fn clearing_forgets_all() {
    let mut filter = numbers(1_000);
    filter.clear();
    assert_eq!(filter, numbers(0));
    assert_eq!(filter.approx_len().value, 0.0);
}

#[test]
fn a_copy_is_independent() {
    let original = numbers(10);
    let mut copy = original.try_clone().unwrap();
    assert_eq!(copy, original.clone());
    copy.insert("another");
    assert_ne!(copy, original);
}

#[test]
fn another_seed_hashes_elsewhere() {
    let seeded = |seed| {
        let mut filter = BloomFilter::builder().expected_items(100).seed(seed).build().unwrap();
        filter.insert("key");
        filter
    };
    assert_eq!(seeded(3), seeded(3));
    assert_ne!(seeded(3).bits(), seeded(4).bits());
}

#[test]
fn the_builder_takes_any_two_of_items_rate_and_bits() {
    let builder = BloomFilter::builder;
    let by_items = builder().expected_items(1_000).build().unwrap();
    assert_eq!(
        by_items,
        builder().expected_items(1_000).false_positive_rate(0.01).build().unwrap()
    );
    let by_bits = builder().bits(10_000).build().unwrap();
    assert_eq!(by_bits.promised_rate(), Some(0.01));
    assert!(by_bits.expected_items() > Some(1_030));
    let by_both = builder().bits(10_000).expected_items(1_000).build().unwrap();
    assert_eq!((by_both.num_hashes(), by_both.expected_items()), (7, Some(1_000)));
    let outright = builder().bits(10_000).hashes(3).build().unwrap();
    assert_eq!((outright.num_bits(), outright.num_hashes()), (10_000, 3));
    assert_eq!((outright.expected_items(), outright.promised_rate()), (None, None));
}

#[test]
fn the_builder_refuses_too_little_and_too_much() {
    let builder = BloomFilter::builder;
    let error = |b: BloomFilterBuilder| match b.build().unwrap_err() {
        BuildError::Param(e) => e,
        other => panic!("{other}"),
    };
    let missing = |parameter| ParamError(ParamFault::Missing { parameter });
    assert_eq!(error(builder()), missing("expected_items"));
    assert_eq!(error(builder().hashes(3).expected_items(9)), missing("bits"));
    let conflict = |parameter| ParamError(ParamFault::Conflict { parameter });
    let all = builder().bits(100).expected_items(9).false_positive_rate(0.1);
    assert_eq!(error(all), conflict("false_positive_rate"));
    let rate = builder().bits(100).hashes(3).false_positive_rate(0.1);
    assert_eq!(error(rate), conflict("false_positive_rate"));
    assert_eq!(error(builder().bits(100).hashes(3).expected_items(9)), conflict("expected_items"));
}

#[test]
fn a_builder_takes_another_hasher() {
    let hasher = SipHashBuilder::from_key([7; 16]);
    let mut filter = BloomFilter::builder().expected_items(10).hasher(hasher).build().unwrap();
    assert!(filter.insert("key") && filter.contains("key"));
    assert_eq!(filter.hasher(), &hasher);
}

#[test]
fn folding_needs_a_divisor() {
    let filter = BloomFilter::builder().bits(300).hashes(2).build().unwrap();
    for factor in [0, 7, 301] {
        let error = filter.fold(factor).unwrap_err();
        assert_eq!(error.to_string(), format!("factor is {factor}, but must divide 300"));
    }
    assert_eq!(filter.fold(300).unwrap().num_bits(), 1);
}

#[test]
fn debug_shows_no_bits() {
    let text = format!("{:?}", numbers(100));
    assert!(text.contains("num_hashes: 7") && text.len() < 100, "{text}");
}

#[test]
fn health_goes_from_ok_to_critical() {
    let status = |items| numbers(items).health().status;
    assert_eq!(status(0), HealthStatus::Ok);
    assert_eq!(status(1_000), HealthStatus::Ok);
    assert_eq!(status(1_300), HealthStatus::Warning);
    assert_eq!(status(3_000), HealthStatus::Critical);
}

#[test]
fn health_without_a_promise_minds_the_fill() {
    let mut filter = BloomFilter::builder().bits(10_000).hashes(4).build().unwrap();
    filter.extend(0..1_500u32);
    assert_eq!(filter.health().status, HealthStatus::Ok);
    filter.extend(0..2_000u32);
    assert_eq!(filter.health().status, HealthStatus::Warning);
}

#[test]
fn health_reads_as_a_line() {
    let text = numbers(3_000).health().to_string();
    assert!(text.starts_with("critical: ") && text.contains("(promised 1.000e-2)"), "{text}");
}

#[test]
fn saturation_comes_with_half_of_the_answers_wrong() {
    assert!(!numbers(3_000).is_saturated());
    assert!(numbers(4_000).is_saturated());
}

#[test]
#[should_panic(expected = "one answer per key")]
fn a_batch_wants_one_answer_a_key() {
    numbers(1).contains_batch(&[1u32, 2], &mut [false]);
}

#[test]
fn a_difference_is_named() {
    let mut left = numbers(1);
    let right = BloomFilter::new(2_000, 0.01).unwrap();
    let error = left.union_with(&right).unwrap_err();
    assert!(
        matches!(error, Incompatible(Difference::Shape { parameter: "number of bits", .. })),
        "{error}"
    );
}

/// Code that uses only the traits: both filters give the same answers.
fn through_the_traits<F>(mut filter: F, mut other: F)
where
    F: Insert<Error = Infallible> + Membership + Merge,
{
    assert!(Insert::insert(&mut filter, "here").unwrap());
    assert!(Insert::insert(&mut other, "there").unwrap());
    assert!(!Membership::contains(&filter, "there"));
    filter.merge(&other).unwrap();
    let hashes = ["here", "there", "nowhere"].map(|key| filter.hash_key(key));
    let mut answers = [false; 3];
    filter.contains_hash_batch(&hashes, &mut answers);
    assert_eq!(answers, [true, true, false]);
    assert!(!filter.insert_hash(hashes[0]).unwrap() && filter.contains_hash(hashes[1]));
}

#[test]
fn the_traits_lead_to_the_methods() {
    through_the_traits(numbers(0), numbers(0));
    through_the_traits(AtomicBloomFilter::from(numbers(0)), numbers(0).into());
    let of_any_kind: &dyn Membership = &numbers(10);
    assert!(!of_any_kind.contains_hash(7));
}

#[test]
fn many_filters_are_asked_in_any_storage_and_number() {
    for count in [0, 1, 255, 256, 257, 513] {
        let filters: Vec<_> = (0..count).map(numbers).collect();
        let hash = numbers(0).hash_key(&100u32);
        let expected: Vec<bool> = filters.iter().map(|filter| filter.contains_hash(hash)).collect();
        assert!((101..expected.len()).all(|i| expected[i]), "stored from the filter 101 on");
        let mut answers = vec![true; filters.len()];
        BloomFilter::contains_hash_in(&filters, hash, &mut answers);
        assert_eq!(answers, expected);
        let open = |filter: &BloomFilter| BloomFilterView::open(filter.to_bytes()).unwrap();
        let views: Vec<_> = filters.iter().map(open).collect();
        BloomFilterView::contains_hash_in(&views, hash, &mut answers);
        assert_eq!(answers, expected);
        let shared: Vec<_> = filters.into_iter().map(AtomicBloomFilter::from).collect();
        AtomicBloomFilter::contains_hash_in(shared.iter().rev(), hash, &mut answers);
        assert!(answers.iter().rev().eq(&expected));
        let other = || {
            let mut answers = vec![true; shared.len() + 1];
            AtomicBloomFilter::contains_hash_in(&shared, hash, &mut answers);
        };
        assert!(std::panic::catch_unwind(core::panic::AssertUnwindSafe(other)).is_err());
    }
    let mut too_few = [true; 3];
    let filters: Vec<_> = (0..5).map(numbers).collect();
    let ask = || BloomFilter::contains_hash_in(&filters, 0, &mut too_few);
    assert!(std::panic::catch_unwind(core::panic::AssertUnwindSafe(ask)).is_err());
}

/// A shared filter is filled and emptied through references, also by code that knows the traits only.
#[test]
fn a_reference_to_a_shared_filter_inserts() {
    fn fill(mut sink: impl Insert<Error = Infallible>) -> bool {
        sink.insert("key").unwrap()
    }
    let shared = AtomicBloomFilter::from(numbers(0));
    assert!(fill(&shared) && !fill(&shared));
    assert!(shared.contains("key"));
    shared.clear();
    assert!(!shared.contains("key") && shared.count_ones() == 0);
}

/// Filters in any storage are united, intersected and compared with one that is owned.
#[test]
fn filters_in_any_storage_are_combined() {
    let (left, right) = (numbers(600), numbers(900));
    let view = BloomFilterView::open(right.to_bytes()).unwrap();
    let shared = AtomicBloomFilter::from(right.clone());
    let (mut by_view, mut by_shared, mut by_owned) = (left.clone(), left.clone(), left.clone());
    by_owned.union_with(&right).unwrap();
    by_view.union_with(&view).unwrap();
    by_shared.union_with(&shared).unwrap();
    assert!(by_owned == by_view && by_owned == by_shared);
    assert_eq!(left.approx_union_len(&view), left.approx_union_len(&right));
    assert_eq!(view.approx_intersection_len(&left), right.approx_intersection_len(&left));
    let into_shared = AtomicBloomFilter::from(left.clone());
    into_shared.union_with(&view).unwrap();
    assert_eq!(into_shared.into_plain(), by_owned);
    by_view.intersect_with(&view).unwrap();
    assert_eq!(by_view, right);
    let copy = shared.clone();
    assert_eq!(
        (copy.into_plain(), shared.try_clone().unwrap().into_plain()),
        (right.clone(), right)
    );
}

#[test]
fn positions_beyond_the_bits_are_refused() {
    let mut bits = BitArray::zeroed(100).unwrap();
    assert!(std::panic::catch_unwind(|| bits.get(100)).is_err());
    assert!(std::panic::catch_unwind(move || bits.set(127)).is_err());
}

#[test]
fn bit_arrays_of_unequal_length_are_not_combined() {
    let (mut left, right) = (BitArray::zeroed(100).unwrap(), BitArray::zeroed(101).unwrap());
    let error =
        Incompatible(Difference::Shape { parameter: "number of bits", left: 100, right: 101 });
    assert_eq!(left.union_with(&right), Err(error));
    assert_eq!(left.intersect_with(&right), Err(error));
    assert_eq!(left.count_union_ones(&right), Err(error));
}

#[cfg(feature = "huge-pages")]
#[test]
fn huge_pages_change_no_answer() {
    let build = |huge| BloomFilter::builder().bits(1 << 26).hashes(3).huge_pages(huge).build();
    let (mut with, mut without) = (build(true).unwrap(), build(false).unwrap());
    with.extend(0..1_000u32);
    without.extend(0..1_000u32);
    assert_eq!(with, without);
}
