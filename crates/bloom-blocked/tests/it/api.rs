//! Behaviour of filters, at ordinary and at edge parameters.
#![cfg(feature = "std")]

use bloom_blocked::error::{BuildError, ParamError};
use bloom_blocked::hash::DefaultHashBuilder;
use bloom_blocked::{BlockedBloomFilter, BlockedBloomFilterBuilder, HealthStatus, Preference};
use pds_params::internal::ParamFault;

/// A filter of 1,000 items at 1 % that holds the numbers below `items`.
fn numbers(items: u32) -> BlockedBloomFilter {
    let mut filter = BlockedBloomFilter::new(1_000, 0.01).unwrap();
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
    assert_eq!(filter.num_hashes(), 8);
    assert_eq!(filter.size_in_bytes(), 64 * filter.num_blocks());
    assert_eq!(filter.words().len() as u64 * 64, filter.num_bits());
}

#[test]
fn blocks_are_whole_cache_lines() {
    let filter = numbers(0);
    assert_eq!(filter.words().as_ptr().addr() % 64, 0);
}

#[test]
fn clearing_forgets_all() {
    let mut filter = numbers(1_000);
    filter.clear();
    assert_eq!(filter, numbers(0));
    assert_eq!(filter.approx_len().value, 0.0);
    assert_eq!(filter.false_positive_rate(), 0.0);
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
fn the_number_of_hashes_follows_the_rate() {
    let hashes = |rate, preference| {
        let builder = BlockedBloomFilter::builder().expected_items(100_000);
        builder.false_positive_rate(rate).prefer(preference).build().unwrap().num_hashes()
    };
    let rates = [0.05, 0.01, 0.001, 1e-4, 1e-5];
    assert_eq!(rates.map(|rate| hashes(rate, Preference::Fastest)), [4, 8, 8, 12, 14]);
    assert_eq!(rates.map(|rate| hashes(rate, Preference::Smallest)), [4, 6, 10, 12, 14]);
}

#[test]
fn the_builder_takes_any_two_of_items_rate_and_blocks() {
    let builder = BlockedBloomFilter::builder;
    let by_items = builder().expected_items(1_000).build().unwrap();
    assert_eq!(
        by_items,
        builder().expected_items(1_000).false_positive_rate(0.01).build().unwrap()
    );
    let by_blocks = builder().blocks(20).build().unwrap();
    assert_eq!(by_blocks.promised_rate(), Some(0.01));
    assert!(by_blocks.expected_items() > Some(1_000));
    let by_both = builder().blocks(20).expected_items(1_000).build().unwrap();
    assert_eq!((by_both.num_hashes(), by_both.expected_items()), (6, Some(1_000)));
    let outright = builder().blocks(20).hashes(4).build().unwrap();
    assert_eq!((outright.num_blocks(), outright.num_hashes()), (20, 4));
    assert_eq!((outright.expected_items(), outright.promised_rate()), (None, None));
}

fn error(builder: BlockedBloomFilterBuilder) -> ParamError {
    match builder.build().unwrap_err() {
        BuildError::Param(e) => e,
        other => panic!("{other}"),
    }
}

#[test]
fn the_builder_refuses_too_little_and_too_much() {
    let builder = BlockedBloomFilter::builder;
    let missing = |parameter| ParamError(ParamFault::Missing { parameter });
    assert_eq!(error(builder()), missing("expected_items"));
    assert_eq!(error(builder().hashes(4).expected_items(9)), missing("blocks"));
    let conflict = |parameter| ParamError(ParamFault::Conflict { parameter });
    let all = builder().blocks(100).expected_items(9).false_positive_rate(0.1);
    assert_eq!(error(all), conflict("false_positive_rate"));
    let rate = builder().blocks(100).hashes(4).false_positive_rate(0.1);
    assert_eq!(error(rate), conflict("false_positive_rate"));
    let items = builder().blocks(100).hashes(4).expected_items(9);
    assert_eq!(error(items), conflict("expected_items"));
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
    let mut filter = BlockedBloomFilter::builder().blocks(20).hashes(4).build().unwrap();
    filter.extend(0..1_500u32);
    assert_eq!(filter.health().status, HealthStatus::Ok);
    filter.extend(0..2_200u32);
    assert_eq!(filter.health().status, HealthStatus::Warning);
}

#[test]
#[should_panic(expected = "one answer per key")]
fn a_batch_wants_one_answer_a_key() {
    numbers(1).contains_batch(&[1u32, 2], &mut [false]);
}

#[test]
#[should_panic(expected = "one word for every 64 keys")]
fn a_bitmap_wants_one_bit_a_key() {
    numbers(1).contains_batch_bitmap(&[1u32; 65], &mut [0]);
}

#[test]
fn debug_shows_no_bits() {
    let text = format!("{:?}", numbers(100));
    assert!(text.contains("num_hashes: 8") && text.len() < 100, "{text}");
}

#[test]
fn what_threads_may_share_is_marked() {
    fn shared<T: Send + Sync>() {}
    shared::<BlockedBloomFilter>();
    shared::<bloom_blocked::AtomicBlockedBloomFilter>();
    shared::<bloom_blocked::BlockedBloomFilterView<&[u8], DefaultHashBuilder>>();
    shared::<bloom_blocked::SplitBlockBloomFilter>();
}

#[cfg(feature = "huge-pages")]
#[test]
fn huge_pages_change_no_answer() {
    let builder = BlockedBloomFilter::builder().expected_items(4_000_000).huge_pages(true);
    let mut filter = builder.build().unwrap();
    filter.extend(0..1_000u32);
    assert!((0..1_000u32).all(|key| filter.contains(&key)));
}
