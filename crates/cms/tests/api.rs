//! What sketches and summaries do, at ordinary and at edge parameters.
#![cfg(feature = "std")]

use std::sync::Barrier;

use cms::{
    AtomicCountMinSketch, Count, CountMinParams, CountMinSketch, CountSketch, CountSketchParams,
    Counter, HeavyHitters, HeavyHittersParams, Hitter, InnerProductError, ShareError,
    SketchedHeavyHitters, TopK, Update,
};
use pds_core::{
    BuildError, DefaultHashBuilder, Frequency, Incompatible, ParamError, SipHashBuilder,
};

fn shape(width: u64, depth: u32) -> CountMinParams {
    CountMinParams::from_width_and_depth(width, depth).unwrap()
}

#[test]
fn insert_returns_the_new_estimate() {
    let mut sketch = CountMinSketch::new(0.01, 0.01).unwrap();
    assert_eq!(sketch.insert("key"), 1);
    assert_eq!(sketch.insert_many("key", 41), 42);
    assert_eq!(sketch.estimate("key").value(), 42);
    assert_eq!(sketch.total(), 42);
    assert_eq!(Frequency::estimate(&sketch, "key"), 42);
    assert_eq!(sketch.insert_many("key", 0), 42);
}

#[test]
fn keys_are_their_type_too() {
    let mut sketch = CountMinSketch::new(0.001, 0.001).unwrap();
    sketch.insert(&1u32);
    assert_eq!((sketch.estimate(&1u32).value(), sketch.estimate(&1u64).value()), (1, 0));
}

#[test]
fn one_counter_is_a_sketch() {
    for update in [Update::Plain, Update::Conservative] {
        let hasher = DefaultHashBuilder::default();
        let mut sketch =
            CountMinSketch::<_, u32>::from_params(shape(1, 1), update, hasher).unwrap();
        sketch.extend(0..10);
        assert_eq!(sketch.estimate(&"never seen"), 10);
        let interval = sketch.estimate_interval(&0);
        assert_eq!((interval.truth_at_least, interval.truth_at_most), (0, Some(10)));
        assert!(sketch.estimate_mean_min(&0).is_finite());
    }
}

#[test]
fn a_conservative_sketch_never_exceeds_a_plain_one() {
    let mut plain = CountMinSketch::builder(shape(20, 3)).build().unwrap();
    let mut conservative = CountMinSketch::builder(shape(20, 3)).conservative().build().unwrap();
    for key in (0..2_000u32).map(|i| i % 97 * (i % 3)) {
        plain.insert(&key);
        let estimate = conservative.insert(&key);
        assert_eq!(estimate, conservative.estimate(&key));
    }
    let pairs = plain.counters().iter().zip(conservative.counters());
    assert!(pairs.clone().all(|(plain, conservative)| conservative <= plain));
    assert!(pairs.clone().any(|(plain, conservative)| conservative < plain));
}

/// Counts up to the limit of a counter, one by one over the last steps, and by a merge.
fn saturates<C: Counter>(update: Update) {
    let limit: u64 = C::MAX.into();
    let build = || {
        let hasher = DefaultHashBuilder::default();
        CountMinSketch::<_, C>::from_params(shape(64, 4), update, hasher).unwrap()
    };
    let mut sketch = build();
    let below = sketch.insert_many("key", limit - 1);
    assert!(!below.is_saturated() && below == limit - 1);
    assert_eq!(sketch.estimate_interval("key").truth_at_most, Some(limit - 1));
    for _ in 0..3 {
        let at_limit = sketch.insert("key");
        assert!(at_limit.is_saturated() && at_limit == limit);
        assert_eq!(at_limit.to_string(), format!("at least {limit}"));
    }
    let interval = sketch.estimate_interval("key");
    assert_eq!(interval.truth_at_most, None);
    assert!(interval.contains(u64::MAX));
    assert!(sketch.insert_many("key", u64::MAX).is_saturated());
    assert_eq!(sketch.total(), u64::MAX, "a total never wraps");

    let (mut left, mut right) = (build(), build());
    left.insert_many("key", limit / 2 + 1);
    right.insert_many("key", limit / 2 + 1);
    left.merge(&right).unwrap();
    assert!(left.estimate("key").is_saturated() && left.estimate("key") == limit);
    assert_eq!(left.estimate("other"), 0);
    right.insert_many("other", u64::MAX);
    left.merge(&right).unwrap();
    assert_eq!(left.total(), u64::MAX, "a total never wraps");
}

#[test]
fn counters_of_every_width_saturate() {
    for update in [Update::Plain, Update::Conservative] {
        saturates::<u8>(update);
        saturates::<u16>(update);
        saturates::<u32>(update);
        saturates::<u64>(update);
    }
}

#[test]
fn counters_take_their_width_in_memory() {
    let bytes = |bytes: u64| bytes.next_multiple_of(8);
    let builder = CountMinSketch::builder(shape(101, 3));
    assert_eq!(builder.counters::<u8>().build().unwrap().size_in_bytes(), bytes(303));
    assert_eq!(builder.counters::<u16>().build().unwrap().size_in_bytes(), bytes(606));
    assert_eq!(builder.build().unwrap().size_in_bytes(), bytes(1212));
    assert_eq!(builder.counters::<u64>().build().unwrap().size_in_bytes(), bytes(2424));
}

/// Two keys of 2^64 - 1 each: no row may then hold more than the total, which bytes are refused for.
#[test]
fn halving_keeps_a_total_at_its_limit() {
    let mut sketch = CountMinSketch::builder(shape(1_000, 4)).counters::<u64>().build().unwrap();
    sketch.insert_many("one", u64::MAX);
    sketch.insert_many("other", u64::MAX);
    sketch.halve();
    assert_eq!((sketch.estimate("one").value(), sketch.total()), (u64::MAX / 2, u64::MAX));
    assert_eq!(CountMinSketch::<_, u64>::from_bytes(&sketch.to_bytes()).unwrap(), sketch);
}

#[test]
fn halving_ages_counts_and_tells_what_was_full() {
    let mut sketch = CountMinSketch::builder(shape(1_000, 4)).counters::<u8>().build().unwrap();
    sketch.insert_many("odd", 7);
    sketch.insert_many("full", 1_000);
    assert_eq!(sketch.halve(), 4);
    assert_eq!((sketch.estimate("odd").value(), sketch.estimate("full").value()), (3, 127));
    assert_eq!(sketch.total(), 504);
    assert!(sketch.estimate("full").is_saturated() && !sketch.estimate("odd").is_saturated());
    assert_eq!(sketch.halve(), 4);
    (0..8).for_each(|_| {
        sketch.halve();
    });
    assert_eq!((sketch.estimate("full").value(), sketch.total()), (0, 1));
    assert!(sketch.estimate("full").is_saturated(), "how often it came was never known");
    sketch.clear();
    assert!(!sketch.estimate("full").is_saturated());
}

#[test]
fn clearing_forgets_all() {
    let mut sketch = CountMinSketch::new(0.01, 0.01).unwrap();
    let empty = sketch.clone();
    sketch.extend(0..1_000);
    assert_ne!(sketch, empty);
    sketch.clear();
    assert_eq!(sketch, empty);
}

#[test]
fn an_inner_product_is_an_upper_bound() {
    let (mut left, mut right) =
        (CountMinSketch::new(0.01, 0.001).unwrap(), CountMinSketch::new(0.01, 0.001).unwrap());
    for key in 0..1_000u64 {
        left.insert_many(&key, key % 7);
        right.insert_many(&key, key % 5);
    }
    let truth: u64 = (0..1_000).map(|key| (key % 7) * (key % 5)).sum();
    let product = left.inner_product(&right).unwrap();
    assert!(product.value >= truth.into() && !product.is_saturated);
    assert!(product.value as f64 <= truth as f64 + product.error);
    let expected = 0.01 * left.total() as f64 * right.total() as f64;
    assert!((product.error / expected - 1.0).abs() < 1e-9);

    let rows = left.counters().chunks(272).zip(right.counters().chunks(272));
    let products = rows.map(|(left, right)| {
        left.iter().zip(right).map(|(&left, &right)| u128::from(left) * u128::from(right)).sum()
    });
    let products: Vec<u128> = products.collect();
    assert!(products[0] > product.value, "a stream whose first row is not the least");
    assert_eq!(products.iter().min(), Some(&product.value));

    let full = || {
        let mut sketch = CountMinSketch::builder(shape(100, 2)).counters::<u64>().build().unwrap();
        (0..3).for_each(|key| _ = sketch.insert_many(&key, u64::MAX));
        sketch
    };
    let product = full().inner_product(&full()).unwrap();
    assert!(product.value == u128::MAX && product.is_saturated);

    let narrow = |count| {
        let mut sketch = CountMinSketch::builder(shape(10, 2)).counters::<u8>().build().unwrap();
        sketch.insert_many("key", count);
        sketch
    };
    assert!(narrow(300).inner_product(&narrow(2)).unwrap().is_saturated);
    assert!(!narrow(200).inner_product(&narrow(2)).unwrap().is_saturated);
    let conservative = CountMinSketch::builder(shape(10, 2)).conservative().build().unwrap();
    let refused = conservative.inner_product(&conservative);
    assert!(matches!(refused, Err(InnerProductError::Conservative)));
}

#[test]
fn what_differs_is_named_and_nothing_changes() {
    let build = |width, depth| CountMinSketch::builder(shape(width, depth)).build().unwrap();
    let mut sketch = build(10, 3);
    sketch.insert("key");
    let before = sketch.clone();
    let conservative = CountMinSketch::builder(shape(10, 3)).conservative().build().unwrap();
    let seeded = CountMinSketch::builder(shape(10, 3)).seed(1).build().unwrap();
    let mut differs = |other: &CountMinSketch, name: &str| match sketch.merge(other) {
        Err(Incompatible::Shape { parameter, .. } | Incompatible::Mode { parameter, .. }) => {
            assert_eq!(parameter, name);
        }
        Err(Incompatible::Hasher { .. }) => assert_eq!("hasher", name),
        other => panic!("{other:?}"),
    };
    differs(&build(11, 3), "width");
    differs(&build(10, 2), "depth");
    differs(&conservative, "update");
    differs(&seeded, "hasher");
    assert!(matches!(sketch.inner_product(&seeded), Err(InnerProductError::Incompatible(_))));
    assert_eq!(sketch, before);

    let sip =
        |key| CountMinSketch::builder(shape(10, 3)).hasher(SipHashBuilder::from_key([key; 16]));
    let (mut left, right) = (sip(1).build().unwrap(), sip(2).build().unwrap());
    assert!(matches!(left.merge(&right), Err(Incompatible::Hasher { .. })));
    assert!(left.merge(&sip(1).build().unwrap()).is_ok());
}

/// Beyond a mebibyte a merge goes by lines, the last of which may be a part.
#[test]
fn large_sketches_merge_to_the_last_counter() {
    let build = || CountMinSketch::builder(shape(300_007, 1)).build().unwrap();
    let (mut left, mut right, mut both) = (build(), build(), build());
    left.extend(0..600_000);
    right.extend(400_000..1_400_000);
    both.extend((0..600_000).chain(400_000..1_400_000));
    left.merge(&right).unwrap();
    assert_ne!(right.counters().last(), Some(&0), "the last counter has something to add");
    assert_eq!(left, both);
}

#[test]
fn impossible_parameters_are_typed_errors() {
    let parameter = |error: BuildError| match error {
        BuildError::Param(
            ParamError::NotAProbability { parameter, .. }
            | ParamError::OutOfRange { parameter, .. }
            | ParamError::TooLarge { parameter, .. },
        ) => parameter,
        other => panic!("{other}"),
    };
    for bad in [0.0, 1.0, -1.0, 2.0, f64::NAN, f64::INFINITY] {
        assert_eq!(parameter(CountMinSketch::new(bad, 0.1).unwrap_err()), "epsilon");
        assert_eq!(parameter(CountMinSketch::new(0.1, bad).unwrap_err()), "delta");
        assert_eq!(parameter(CountSketch::new(bad, 0.1).unwrap_err()), "epsilon");
        assert_eq!(parameter(HeavyHitters::<u64>::new(bad).unwrap_err()), "phi");
        let sketched = SketchedHeavyHitters::<u64>::new(bad, 0.1, 0.1);
        assert_eq!(parameter(sketched.unwrap_err()), "phi");
    }
    assert_eq!(parameter(TopK::<u64>::new(0).unwrap_err()), "k");
    assert_eq!(parameter(TopK::<u64>::new(u64::MAX).unwrap_err()), "k");
    // More memory than any machine has is refused.
    let endless = CountMinParams::from_width_and_depth(1 << 58, 1).unwrap();
    assert!(CountMinSketch::builder(endless).build().is_err());
}

#[test]
fn a_count_sketch_counts_up_and_down() {
    let mut sketch = CountSketch::new(0.05, 0.01).unwrap();
    assert_eq!(sketch.insert("key"), 1);
    assert_eq!(sketch.insert_many("key", 9), 10);
    assert_eq!(sketch.remove("key"), 9);
    assert_eq!(sketch.remove_many("key", 12), -3);
    assert_eq!(Frequency::estimate(&sketch, "key"), 0);
    assert_eq!(sketch.insert_many("key", 3), 0);
    assert_eq!(sketch.sum_of_squares(), Some(0.0));
    sketch.insert_many("key", u64::MAX);
    assert_eq!(sketch.insert_many("key", u64::MAX), i64::MAX, "limits are kept");
    let mut twice = sketch.clone();
    twice.merge(&sketch).unwrap();
    assert_eq!(twice.estimate("key"), i64::MAX, "in merges too");
    sketch.clear();
    assert_eq!(sketch, CountSketch::new(0.05, 0.01).unwrap());
}

#[test]
fn count_sketches_merge_when_they_are_alike() {
    let build = |width, depth, seed| {
        let params = CountSketchParams::from_width_and_depth(width, depth).unwrap();
        CountSketch::from_params(params, DefaultHashBuilder::with_seed(seed)).unwrap()
    };
    let mut sketch = build(50, 3, 0);
    assert!(sketch.merge(&build(51, 3, 0)).is_err());
    assert!(sketch.merge(&build(50, 5, 0)).is_err());
    assert!(sketch.merge(&build(50, 3, 1)).is_err());
    let (mut other, mut both) = (build(50, 3, 0), build(50, 3, 0));
    sketch.extend(0..100);
    other.extend(50..150);
    both.extend((0..100).chain(50..150));
    sketch.merge(&other).unwrap();
    assert_eq!(sketch, both);
}

#[test]
fn the_sum_of_squares_is_the_median_of_the_rows() {
    for depth in 1..8 {
        let params = CountSketchParams::from_width_and_depth(20, depth).unwrap();
        let mut sketch = CountSketch::from_params(params, DefaultHashBuilder::default()).unwrap();
        sketch.insert_many("key", 3);
        assert_eq!(sketch.sum_of_squares(), Some(9.0), "{depth} rows");
    }
}

/// An even number of rows has two in the middle.
#[test]
fn a_count_sketch_of_two_rows_takes_their_mean() {
    let params = CountSketchParams::from_width_and_depth(1, 2).unwrap();
    let mut sketch = CountSketch::from_params(params, DefaultHashBuilder::default()).unwrap();
    assert_eq!(sketch.add_hash(1, 5), 5);
    let other = (0..64).find(|&hash| sketch.estimate_hash(hash) == 0).expect("rows that cancel");
    assert_eq!(sketch.estimate_hash(other), 0);
}

#[test]
fn owned_keys_are_asked_for_by_borrowed_ones() {
    let mut lines = HeavyHitters::<String>::new(0.2).unwrap();
    let mut bytes = TopK::<Vec<u8>>::new(3).unwrap();
    for word in "a b a c a d".split(' ') {
        lines.insert(word);
        bytes.insert(word.as_bytes());
    }
    assert_eq!((lines.estimate("a").value(), bytes.top()[0].key.as_slice()), (3, b"a".as_slice()));
    assert_eq!(lines.estimate_interval("d").truth_at_most, Some(1));
    assert_eq!(bytes.estimate_interval(b"a".as_slice()).truth_at_least, 3);
}

#[test]
fn a_summary_gives_new_keys_what_forgotten_ones_came() {
    let params = HeavyHittersParams::with_capacity(0.5, 2).unwrap();
    let mut summary =
        HeavyHitters::<u64>::from_params(params, DefaultHashBuilder::default()).unwrap();
    summary.insert_many(&1, 10);
    summary.insert_many(&2, 4);
    summary.insert_many(&3, 3);
    assert_eq!(summary.estimate(&9), 0, "nothing is forgotten");
    assert_eq!(summary.insert_many(&9, 0), 0, "nothing is forgotten");
    // There is room for three keys: the count behind those of two is the floor from now on.
    assert_eq!(summary.insert(&4), 4);
    let counts = [summary.estimate(&3), summary.insert_many(&9, 0), summary.estimate(&9)];
    assert_eq!(counts.map(Count::value), [3, 3, 3]);
    let interval = summary.estimate_interval(&4);
    assert_eq!((interval.truth_at_least, interval.truth_at_most), (1, Some(4)));
    assert_eq!((summary.total(), summary.threshold()), (18, 9));
    let listed = |hits: Vec<Hitter<'_, u64>>| {
        hits.iter().map(|hit| (*hit.key, hit.estimate.value(), hit.error)).collect::<Vec<_>>()
    };
    assert_eq!(listed(summary.top()), [(1, 10, 0)]);
    assert_eq!(listed(summary.iter().collect()), [(1, 10, 0), (2, 4, 0), (4, 4, 3)]);
    // Two keys share the count behind that of key 1, and go with it.
    assert_eq!(summary.insert(&5), 5);
    assert_eq!(listed(summary.iter().collect()), [(1, 10, 0), (5, 5, 4)]);
    summary.clear();
    assert_eq!((summary.total(), summary.iter().count()), (0, 0));
    assert_eq!(summary.insert(&5), 1);
}

/// Summaries that answer alike and promise unlike errors, or have forgotten more.
#[test]
fn summaries_are_equal_when_all_that_they_know_is() {
    let build = |capacity, counts: &[(u64, u64)]| {
        let params = HeavyHittersParams::with_capacity(0.5, capacity).unwrap();
        let hasher = DefaultHashBuilder::default();
        let mut summary = HeavyHitters::from_params(params, hasher).unwrap();
        counts.iter().for_each(|(key, count)| _ = summary.insert_many(key, *count));
        summary
    };
    // The fourth key makes the floor 3: of its four one is certain.
    let late = build(2, &[(1, 10), (2, 4), (3, 3), (4, 1)]);
    let early = build(2, &[(1, 10), (4, 4), (3, 3), (2, 1)]);
    let estimates = |summary: &HeavyHitters<u64>| [1, 2, 3, 4].map(|key| summary.estimate(&key));
    assert_eq!((estimates(&late), late.total()), (estimates(&early), early.total()));
    assert_ne!(late, early);
    // Of the two that the seventh key displaces, the greater is the floor.
    let forgot = |count| build(4, &[(1, 9), (2, 9), (3, 9), (4, 9), (5, 3), (6, count), (7, 1)]);
    assert!(forgot(3).iter().eq(forgot(2).iter()));
    assert_ne!(forgot(3), forgot(2), "totals differ");
    assert_eq!(forgot(3), forgot(3));
}

#[test]
fn a_summary_never_wraps_its_total() {
    let mut summary = HeavyHitters::<u64>::new(0.1).unwrap();
    assert_eq!(summary.insert_many(&1, u64::MAX), u64::MAX);
    assert!(summary.insert(&1).is_saturated());
    assert_eq!(summary.insert_many(&2, 5), 5);
    assert_eq!(summary.total(), u64::MAX);
    summary.merge(&summary.clone()).unwrap();
    assert_eq!((summary.total(), summary.estimate(&1).value()), (u64::MAX, u64::MAX));
}

#[test]
fn summaries_merge_when_they_are_alike() {
    let build = |capacity, seed| {
        let params = HeavyHittersParams::with_capacity(0.25, capacity).unwrap();
        HeavyHitters::<u64, _>::from_params(params, DefaultHashBuilder::with_seed(seed)).unwrap()
    };
    let mut summary = build(5, 0);
    assert!(matches!(
        summary.merge(&build(6, 0)),
        Err(Incompatible::Shape { parameter: "capacity", left: 5, right: 6 })
    ));
    assert!(matches!(summary.merge(&build(5, 1)), Err(Incompatible::Hasher { .. })));
    let phi = HeavyHittersParams::with_capacity(0.3, 5).unwrap();
    let phi = HeavyHitters::from_params(phi, DefaultHashBuilder::default()).unwrap();
    let error = summary.merge(&phi).unwrap_err();
    assert_eq!(error, Incompatible::Share { parameter: "phi", left: 0.25, right: 0.3 });
    assert_eq!(error.to_string(), "phi differs: 0.25 here, 0.3 in the other");
    assert!(TopK::<u64>::new(3).unwrap().merge(&TopK::new(4).unwrap()).is_err());
}

#[test]
fn a_detector_forgets_what_the_stream_has_outgrown() {
    let mut detector = SketchedHeavyHitters::<u64>::new(0.1, 0.01, 0.01).unwrap();
    detector.insert_many(&7, 50);
    assert_eq!(detector.top().len(), 1);
    (1_000..2_000u64).for_each(|key| {
        detector.insert(&key);
    });
    assert_eq!((detector.top().len(), detector.threshold()), (0, 105));
    detector.insert_many(&7, 100);
    let top = detector.top();
    assert_eq!((top.len(), *top[0].key), (1, 7));
    assert!(top[0].estimate >= 150 && top[0].interval().contains(150));
    // A hundredth of the 1,150 that came.
    assert_eq!(top[0].error, 11);
    detector.clear();
    assert!(detector.top().is_empty() && detector.sketch().total() == 0);
}

#[test]
fn a_shared_sketch_counts_as_a_plain_one() {
    let keys: Vec<u64> = (0..5_000).map(|i| i * i % 613).collect();
    let mut plain = CountMinSketch::new(0.02, 0.01).unwrap();
    plain.insert_many("before", 3);
    let shared = AtomicCountMinSketch::try_from(plain.clone()).unwrap();
    for key in &keys {
        assert_eq!(plain.insert(key), shared.insert(key));
    }
    assert_eq!(shared.total(), plain.total());
    assert_eq!(shared.estimate_interval("before"), plain.estimate_interval("before"));
    assert_eq!(shared.into_plain(), plain);
    let conservative = CountMinSketch::builder(shape(10, 2)).conservative().build().unwrap();
    let refused = AtomicCountMinSketch::try_from(conservative);
    assert!(matches!(refused, Err(ShareError::Conservative)));
}

/// No insert is lost when threads raise neighbours in one word, up to the limit.
fn threads_lose_nothing<C: Counter>() {
    const THREADS: usize = 4;
    const EACH: u64 = 100_000;
    let hasher = DefaultHashBuilder::default();
    let shared = AtomicCountMinSketch::<_, C>::from_params(shape(16, 2), hasher).unwrap();
    // Together, or the first is done before the last begins.
    let start = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        for thread in 0..THREADS as u64 {
            let (shared, start) = (&shared, &start);
            scope.spawn(move || {
                start.wait();
                for i in 0..EACH {
                    shared.insert(&((i + thread) % 40));
                }
            });
        }
    });
    let mut plain =
        CountMinSketch::<_, C>::from_params(shape(16, 2), Update::Plain, hasher).unwrap();
    for thread in 0..THREADS as u64 {
        (0..EACH).for_each(|i| {
            plain.insert(&((i + thread) % 40));
        });
    }
    assert_eq!(shared.total(), THREADS as u64 * EACH);
    assert_eq!(shared.into_plain(), plain);
}

#[test]
fn threads_lose_no_insert() {
    threads_lose_nothing::<u8>();
    threads_lose_nothing::<u16>();
    threads_lose_nothing::<u32>();
    threads_lose_nothing::<u64>();
}

/// Neither the part of the total that a key adds to wraps, nor the sum of the parts.
#[test]
fn a_shared_total_never_wraps() {
    let shared = AtomicCountMinSketch::new(0.1, 0.1).unwrap();
    for _ in 0..2 {
        shared.insert_many("key", u64::MAX - 5);
    }
    assert_eq!(shared.total(), u64::MAX);
    (0..64).for_each(|key| _ = shared.insert_many(&key, u64::MAX / 2));
    assert_eq!((shared.total(), shared.into_plain().total()), (u64::MAX, u64::MAX));
}

#[test]
fn counts_compare_and_show_as_numbers() {
    let mut sketch = CountMinSketch::new(0.1, 0.1).unwrap();
    let count = sketch.insert_many("key", 5);
    assert!(count > 4 && count < 6 && u64::from(count) == 5);
    assert_eq!(count.to_string(), "5");
    assert_eq!(sketch.estimate_interval("key").to_string(), "5 to 5");
    assert_eq!(Count::default().value(), 0);
}

#[test]
fn structures_are_send_and_sync() {
    fn check<T: Send + Sync>() {}
    check::<CountMinSketch>();
    check::<AtomicCountMinSketch>();
    check::<CountSketch>();
    check::<HeavyHitters<String>>();
    check::<SketchedHeavyHitters<String>>();
    check::<TopK<String>>();
}

/// Equal estimates are listed by their errors, and of a list's keys those that came first stay.
#[test]
fn ties_are_broken_by_error_and_then_by_age() {
    let mut list = TopK::<u64>::new(2).unwrap();
    (1..=9).for_each(|key| _ = list.insert(&key));
    let listed = |list: &TopK<u64>| list.top().iter().map(|hit| *hit.key).collect::<Vec<_>>();
    assert_eq!(listed(&list), [1, 2]);
    list.insert(&9);
    assert_eq!(listed(&list), [9, 1]);
    list.halve();
    assert_eq!(listed(&list), [9, 1]);
    assert_eq!(list.top()[0].estimate, 1);
    let params = HeavyHittersParams::with_capacity(0.01, 100).unwrap();
    let build = |counts: &[(u64, u64)]| {
        let mut summary =
            HeavyHitters::<u64>::from_params(params, DefaultHashBuilder::default()).unwrap();
        counts.iter().for_each(|(key, count)| _ = summary.insert_many(key, *count));
        summary
    };
    // 151 keys fill the room, and raise the floor to 1 as the last one comes.
    let mut late = build(&(0..=150).map(|key| (key, 1)).collect::<Vec<_>>());
    late.insert_many(&200, 7);
    late.insert_many(&201, 8);
    late.merge(&build(&[(201, 0), (200, 1)])).unwrap();
    let mut top: Vec<_> =
        late.top().iter().map(|hit| (*hit.key, hit.estimate.value(), hit.error)).collect();
    top.truncate(2);
    assert_eq!(top, [(200, 9, 1), (201, 9, 1)]);
}

/// A key that the other side has forgotten may have come there as often as the floor says.
#[test]
fn a_merge_reckons_with_what_was_forgotten() {
    let params = HeavyHittersParams::with_capacity(0.5, 2).unwrap();
    let build = |counts: &[(u64, u64)]| {
        let mut summary = HeavyHitters::from_params(params, DefaultHashBuilder::default()).unwrap();
        for (key, count) in counts {
            summary.insert_many(key, *count);
        }
        summary
    };
    let left = build(&[(1, 10), (2, 4)]);
    // Key 1 comes five times and is forgotten for key 5.
    let right = build(&[(1, 5), (3, 6), (4, 6), (5, 7)]);
    let (mut merged, mut reversed) = (left.clone(), right.clone());
    merged.merge(&right).unwrap();
    reversed.merge(&left).unwrap();
    for summary in [merged, reversed] {
        let interval = summary.estimate_interval(&1u64);
        assert_eq!((interval.truth_at_least, interval.truth_at_most), (10, Some(15)));
        assert!(summary.iter().all(|hitter| hitter.error <= summary.total() / 3));
    }
}
