//! Behaviour of the filters at ordinary and at edge parameters.
#![cfg(feature = "std")]

use bloom_counting::error::{BuildError, ParamError};
use bloom_counting::hash::SipHashBuilder;
use bloom_counting::{BlockedCountingBloomFilter, CountingBloomFilter, CountingBloomFilterBuilder};
use pds_params::internal::ParamFault;

fn numbers(items: u32) -> CountingBloomFilter {
    let mut filter = CountingBloomFilter::new(1_000, 0.01).unwrap();
    filter.extend(0..items);
    filter
}

fn blocked(items: u32) -> BlockedCountingBloomFilter {
    let mut filter = BlockedCountingBloomFilter::new(1_000, 0.01).unwrap();
    filter.extend(0..items);
    filter
}

#[test]
fn a_key_comes_and_goes() {
    let (mut filter, mut lines) = (numbers(0), blocked(0));
    assert!(filter.insert("key") && lines.insert("key"));
    assert!(!filter.insert("key") && !lines.insert("key"));
    assert_eq!((filter.estimate("key"), lines.estimate("key")), (2, 2));
    for left in [true, false] {
        assert!(filter.remove("key") && lines.remove("key"));
        assert_eq!((filter.contains("key"), lines.contains("key")), (left, left));
    }
    assert!(!filter.remove("key") && !lines.remove("key"));
    assert!(filter == numbers(0) && lines == blocked(0));
}

#[test]
fn keys_are_their_type_too() {
    let mut filter = numbers(0);
    filter.insert(&1u32);
    assert!(filter.contains(&1u32) && !filter.contains(&1u64));
}

#[test]
fn filters_tell_their_design_and_their_state() {
    let filter = numbers(1_000);
    assert_eq!((filter.expected_items(), filter.promised_rate()), (Some(1_000), Some(0.01)));
    assert_eq!((filter.num_hashes(), filter.counter_bits()), (7, 4));
    assert_eq!(filter.size_in_bytes(), filter.num_counters().div_ceil(16) * 8);
    assert!((filter.approx_len().value - 1_000.0).abs() < 5.0 * filter.approx_len().standard_error);
    assert!((0.008..0.012).contains(&filter.false_positive_rate()));
    let lines = blocked(1_000);
    assert_eq!((lines.expected_items(), lines.promised_rate()), (Some(1_000), Some(0.01)));
    assert_eq!(lines.size_in_bytes(), 64 * lines.num_lines());
    assert!(
        (0.006..0.014).contains(&lines.false_positive_rate()),
        "{}",
        lines.false_positive_rate()
    );
    assert!((0.3..0.6).contains(&lines.fill_ratio()));
    assert_eq!((filter.saturated_counters(), lines.saturated_counters()), (0, 0));
}

#[test]
fn an_empty_and_a_full_filter_have_rates() {
    assert_eq!((numbers(0).false_positive_rate(), blocked(0).false_positive_rate()), (0.0, 0.0));
    let (filter, lines) = (numbers(100_000), blocked(100_000));
    assert_eq!((filter.false_positive_rate(), lines.false_positive_rate()), (1.0, 1.0));
    assert!(filter.saturated_counters() > 0 && lines.saturated_counters() > 0);
    assert!(filter.approx_len().value.is_infinite());
}

#[test]
fn clearing_and_copying() {
    let (mut filter, mut lines) = (numbers(300), blocked(300));
    let copies = (filter.try_clone().unwrap(), lines.try_clone().unwrap());
    filter.clear();
    lines.clear();
    assert!(filter == numbers(0) && lines == blocked(0));
    assert!(copies.0 == numbers(300) && copies.1 == blocked(300));
}

#[test]
fn wide_counters_count_further() {
    let builder = CountingBloomFilter::builder().counters(1_000).hashes(5);
    let (mut narrow, mut wide) =
        (builder.build().unwrap(), builder.wide_counters().build().unwrap());
    for _ in 0..300 {
        narrow.insert("key");
        wide.insert("key");
    }
    assert_eq!((narrow.estimate("key"), wide.estimate("key")), (15, 255));
    assert_eq!((narrow.saturated_counters(), wide.saturated_counters()), (5, 5));
    assert_eq!(wide.size_in_bytes(), 2 * narrow.size_in_bytes() - 8);
}

#[test]
fn the_builder_refuses_too_little_and_too_much() {
    let builder = CountingBloomFilter::builder;
    let error = |b: CountingBloomFilterBuilder| match b.build().unwrap_err() {
        BuildError::Param(e) => e,
        other => panic!("{other}"),
    };
    let missing = |parameter| ParamError(ParamFault::Missing { parameter });
    let conflict = |parameter| ParamError(ParamFault::Conflict { parameter });
    assert_eq!(error(builder()), missing("expected_items"));
    assert_eq!(error(builder().hashes(3)), missing("expected_items"));
    assert_eq!(error(builder().counters(3)), missing("hashes"));
    assert_eq!(error(builder().counters(3).expected_items(3)), conflict("counters"));
    assert_eq!(error(builder().hashes(3).expected_items(3)), conflict("hashes"));
    let rate = builder().counters(3).false_positive_rate(0.1);
    assert_eq!(error(rate), conflict("false_positive_rate"));
    let zero = ParamError(ParamFault::OutOfRange {
        parameter: "counters",
        value: 0,
        min: 1,
        max: 1 << 63,
    });
    assert_eq!(error(builder().counters(0).hashes(3)), zero);
}

#[test]
fn the_blocked_builder_too() {
    let builder = BlockedCountingBloomFilter::builder;
    let param = |e: BuildError| match e {
        BuildError::Param(e) => e,
        other => panic!("{other}"),
    };
    let missing = ParamError(ParamFault::Missing { parameter: "expected_items" });
    assert_eq!(param(builder().build().unwrap_err()), missing);
    let both = builder().lines(3).expected_items(3).build().unwrap_err();
    assert_eq!(param(both), ParamError(ParamFault::Conflict { parameter: "lines" }));
    let rate = builder().lines(3).false_positive_rate(0.1).build().unwrap_err();
    assert_eq!(param(rate), ParamError(ParamFault::Conflict { parameter: "false_positive_rate" }));
    assert!(builder().lines(0).build().is_err());
    assert_eq!(builder().lines(7).build().unwrap().num_lines(), 7);
}

#[test]
fn builders_take_another_hasher_and_a_seed() {
    let hasher = SipHashBuilder::from_key([7; 16]);
    let mut filter =
        CountingBloomFilter::builder().expected_items(10).hasher(hasher).build().unwrap();
    let mut lines =
        BlockedCountingBloomFilter::builder().expected_items(10).hasher(hasher).build().unwrap();
    assert!(filter.insert("key") && filter.contains("key") && filter.hasher() == &hasher);
    assert!(lines.insert("key") && lines.contains("key") && lines.hasher() == &hasher);
    let seeded = |seed| {
        let mut filter =
            CountingBloomFilter::builder().expected_items(99).seed(seed).build().unwrap();
        filter.insert("key");
        filter.to_bytes()
    };
    assert_ne!(seeded(3), seeded(4));
}

#[test]
#[should_panic(expected = "one answer per key")]
fn a_batch_wants_one_answer_a_key() {
    numbers(1).contains_batch(&[1u32, 2], &mut [false]);
}

#[test]
fn debug_shows_no_counters() {
    let text = format!("{:?} {:?}", numbers(100), blocked(100));
    assert!(text.contains("counter_bits: 4") && text.contains("num_lines: "), "{text}");
    assert!(text.len() < 250, "{text}");
}
