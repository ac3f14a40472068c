//! Behaviour that programs rely on.

use bloom_window::error::BuildError;
use bloom_window::hash::{KeyHasher, SipHashBuilder};
use bloom_window::storage::WordSource;
use bloom_window::{
    Age, AgingBloomFilter, LastTicks, TimedBloomFilter, TimedBloomFilterView, WindowBloomFilter,
    WindowBloomFilterView,
};
use pds_core::traits::{DynInsert, Membership};

#[test]
fn filters_and_views_cross_threads() {
    fn crosses<T: Send + Sync + Clone>() {}
    crosses::<WindowBloomFilter>();
    crosses::<TimedBloomFilter<SipHashBuilder>>();
    crosses::<WindowBloomFilterView<alloc::sync::Arc<[u8]>>>();
}

/// Knows neither age nor storage.
fn known<A: Age, S: KeyHasher, W: WordSource>(filter: &AgingBloomFilter<A, S, W>) -> bool {
    filter.contains("key")
}

#[test]
fn one_function_serves_all_ages_and_storages() {
    let mut window = WindowBloomFilter::new(10, 0.01).unwrap();
    let mut timed: AgingBloomFilter<LastTicks> = TimedBloomFilter::new(10, 10, 0.01).unwrap();
    assert!(!known(&window) && !known(&timed));
    window.insert("key");
    timed.insert("key");
    assert!(known(&window) && known(&timed));
    assert!(known(&WindowBloomFilterView::open(window.to_bytes()).unwrap()));
    assert!(known(&TimedBloomFilterView::open(timed.to_bytes()).unwrap()));
}

#[test]
fn trait_objects() {
    let mut filter: Box<dyn DynInsert> = Box::new(WindowBloomFilter::new(10, 0.01).unwrap());
    assert_eq!(filter.insert_key("key"), Ok(true));
    assert_eq!(filter.insert_key("key"), Ok(false));
    let timed: Box<dyn Membership> = Box::new(TimedBloomFilter::new(10, 10, 0.01).unwrap());
    assert!(!timed.contains_key("key"));
}

fn parameter<T: core::fmt::Debug>(result: Result<T, BuildError>) -> String {
    match result.unwrap_err() {
        BuildError::Param(error) => error.parameter().to_owned(),
        other => panic!("{other}"),
    }
}

#[test]
fn the_builder_names_what_is_wrong() {
    let window = WindowBloomFilter::builder;
    assert_eq!(parameter(window().build()), "window");
    assert_eq!(parameter(window().window(0).build()), "window");
    assert_eq!(
        parameter(window().window(9).false_positive_rate(0.0).build()),
        "false_positive_rate"
    );
    for slack in [0.0, 1.0, f64::NAN, 0.01] {
        assert_eq!(parameter(window().window(1_000).slack(slack).build()), "slack");
    }
    let timed = TimedBloomFilter::builder;
    assert_eq!(parameter(timed().expected_items(5).build()), "ticks");
    assert_eq!(parameter(timed().ticks(5).build()), "expected_items");
    assert_eq!(parameter(timed().ticks(5).expected_items(0).build()), "expected_items");
    let huge = window().window(1 << 50).false_positive_rate(0.01).build();
    assert!(matches!(huge, Err(BuildError::Alloc(_))), "{huge:?}");
}

#[test]
fn hashers_and_seeds_make_other_filters() {
    let filled = |seed| {
        let mut filter = WindowBloomFilter::builder().window(100).seed(seed).build().unwrap();
        filter.extend(0..100_u32);
        filter
    };
    assert!(filled(1) == filled(1) && filled(1) != filled(2));
    let hasher = SipHashBuilder::from_key([7; 16]);
    let mut sip =
        TimedBloomFilter::builder().ticks(9).expected_items(9).hasher(hasher).build().unwrap();
    assert!(sip.insert("key") && sip.contains("key"));
    assert_eq!(sip.try_clone().unwrap(), sip);
}

#[test]
fn getters_and_debug() {
    let mut filter = WindowBloomFilter::builder().window(10_000).build().unwrap();
    filter.extend(0..3_u32);
    assert_eq!((filter.window(), filter.inserted(), filter.generations()), (10_000, 3, 14));
    assert_eq!((filter.num_hashes(), filter.promised_rate()), (7, Some(0.01)));
    assert_eq!(filter.size_in_bytes(), filter.params().size_in_bytes());
    let text = format!("{filter:?}");
    assert!(text.starts_with("WindowBloomFilter { generations: 14"), "{text}");
    let view = WindowBloomFilterView::open(filter.to_bytes()).unwrap();
    assert!(format!("{view:?}").starts_with("WindowBloomFilterView {"));
    let timed = TimedBloomFilter::new(3_600, 500, 0.01).unwrap();
    assert_eq!((timed.ticks(), timed.expected_items(), timed.now()), (3_600, Some(500), 0));
}

#[test]
#[should_panic(expected = "one answer per key: 2 keys, but 1 answers")]
fn batches_need_an_answer_per_key() {
    WindowBloomFilter::new(10, 0.01).unwrap().contains_batch(&[1, 2], &mut [false]);
}
