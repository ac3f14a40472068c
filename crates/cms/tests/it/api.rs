//! Behaviour of sketches, at ordinary and at edge parameters.
#![cfg(feature = "std")]

use pds_core::internal::Difference;
use pds_params::internal::ParamFault;
use std::sync::Barrier;

use cms::{
    AtomicCountMinSketch, Count, CountMinParams, CountMinSketch, CountSketch, CountSketchParams,
    Counter, Update,
};
use pds_core::error::{BuildError, Incompatible, ParamError};
use pds_core::hash::{DefaultHashBuilder, SipHashBuilder};
use pds_core::traits::Frequency;

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
        let mut sketch = CountMinSketch::builder()
            .params(shape(1, 1))
            .counters::<u32>()
            .update(update)
            .hasher(hasher)
            .build()
            .unwrap();
        sketch.extend(0..10);
        assert_eq!(sketch.estimate(&"never seen"), 10);
        let interval = sketch.estimate_interval(&0);
        assert_eq!((interval.truth_at_least, interval.truth_at_most), (0, Some(10)));
        assert!(sketch.estimate_mean_min(&0).is_finite());
    }
}

#[test]
fn a_conservative_sketch_never_exceeds_a_plain_one() {
    let mut plain = CountMinSketch::builder().params(shape(20, 3)).build().unwrap();
    let mut conservative = CountMinSketch::builder()
        .params(shape(20, 3))
        .update(Update::Conservative)
        .build()
        .unwrap();
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
        CountMinSketch::builder()
            .params(shape(64, 4))
            .counters::<C>()
            .update(update)
            .hasher(hasher)
            .build()
            .unwrap()
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
    let builder = CountMinSketch::builder().params(shape(101, 3));
    assert_eq!(builder.counters::<u8>().build().unwrap().size_in_bytes(), bytes(303));
    assert_eq!(builder.counters::<u16>().build().unwrap().size_in_bytes(), bytes(606));
    assert_eq!(builder.build().unwrap().size_in_bytes(), bytes(1212));
    assert_eq!(builder.counters::<u64>().build().unwrap().size_in_bytes(), bytes(2424));
}

/// Two keys of 2^64 - 1 each: no row may hold more than the total, otherwise decoding would refuse the bytes.
#[test]
fn halving_keeps_a_total_at_its_limit() {
    let mut sketch =
        CountMinSketch::builder().params(shape(1_000, 4)).counters::<u64>().build().unwrap();
    sketch.insert_many("one", u64::MAX);
    sketch.insert_many("other", u64::MAX);
    sketch.halve();
    assert_eq!((sketch.estimate("one").value(), sketch.total()), (1 << 63, u64::MAX));
    assert_eq!(CountMinSketch::<_, u64>::from_bytes(&sketch.to_bytes()).unwrap(), sketch);
}

#[test]
fn halving_ages_counts_and_tells_what_was_full() {
    let mut sketch =
        CountMinSketch::builder().params(shape(1_000, 4)).counters::<u8>().build().unwrap();
    sketch.insert_many("odd", 7);
    sketch.insert_many("full", 1_000);
    assert_eq!(sketch.halve(), 4);
    assert_eq!((sketch.estimate("odd").value(), sketch.estimate("full").value()), (3, 128));
    assert_eq!(sketch.total(), 504);
    assert!(sketch.estimate("full").is_saturated() && !sketch.estimate("odd").is_saturated());
    // It may have lost 752 of the 1,007, of which nothing is left after ten calls.
    for calls in 2..=9 {
        assert_eq!(sketch.halve(), 4);
        let estimate = sketch.estimate("full");
        assert!(estimate.is_saturated() && estimate == (256 >> calls).max(1), "{calls}");
        assert_eq!(sketch.estimate("never").to_string(), "0", "{calls}");
    }
    assert_eq!(sketch.halve(), 4);
    assert_eq!(sketch.estimate_interval("full").truth_at_most, Some(1));
    assert_eq!(sketch.halve(), 0);
    assert_eq!(sketch.estimate_interval("full").truth_at_most, Some(0));
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
        let mut sketch =
            CountMinSketch::builder().params(shape(100, 2)).counters::<u64>().build().unwrap();
        (0..3).for_each(|key| _ = sketch.insert_many(&key, u64::MAX));
        sketch
    };
    let product = full().inner_product(&full()).unwrap();
    assert!(product.value == u128::MAX && product.is_saturated);

    let narrow = |count| {
        let mut sketch =
            CountMinSketch::builder().params(shape(10, 2)).counters::<u8>().build().unwrap();
        sketch.insert_many("key", count);
        sketch
    };
    assert!(narrow(300).inner_product(&narrow(2)).unwrap().is_saturated);
    assert!(!narrow(200).inner_product(&narrow(2)).unwrap().is_saturated);
    let conservative = CountMinSketch::builder()
        .params(shape(10, 2))
        .update(Update::Conservative)
        .build()
        .unwrap();
    let refused = conservative.inner_product(&conservative).unwrap_err();
    let text = "the update of both is conservative, but must be plain for an inner product";
    assert_eq!((refused.parameter(), refused.to_string().as_str()), ("update", text));
}

#[test]
fn what_differs_is_named_and_nothing_changes() {
    let build =
        |width, depth| CountMinSketch::builder().params(shape(width, depth)).build().unwrap();
    let mut sketch = build(10, 3);
    sketch.insert("key");
    let before = sketch.clone();
    let conservative = CountMinSketch::builder()
        .params(shape(10, 3))
        .update(Update::Conservative)
        .build()
        .unwrap();
    let seeded = CountMinSketch::builder().params(shape(10, 3)).seed(1).build().unwrap();
    let mut differs = |other: &CountMinSketch, name: &str| {
        assert_eq!(sketch.merge(other).unwrap_err().parameter(), name);
    };
    differs(&build(11, 3), "width");
    differs(&build(10, 2), "depth");
    differs(&conservative, "update");
    differs(&seeded, "hasher");
    assert_eq!(sketch.inner_product(&seeded).unwrap_err().parameter(), "hasher");
    assert_eq!(sketch, before);

    let sip = |key| {
        CountMinSketch::builder().params(shape(10, 3)).hasher(SipHashBuilder::from_key([key; 16]))
    };
    let (mut left, right) = (sip(1).build().unwrap(), sip(2).build().unwrap());
    assert!(matches!(left.merge(&right), Err(Incompatible(Difference::Hasher { .. }))));
    assert!(left.merge(&sip(1).build().unwrap()).is_ok());
}

/// Beyond a mebibyte a merge proceeds by cache lines. The last line may be partial.
#[test]
fn large_sketches_merge_to_the_last_counter() {
    let build = || CountMinSketch::builder().params(shape(300_007, 1)).build().unwrap();
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
            ParamError(ParamFault::NotAProbability { parameter, .. })
            | ParamError(ParamFault::OutOfRange { parameter, .. })
            | ParamError(ParamFault::TooLarge { parameter, .. }),
        ) => parameter,
        other => panic!("{other}"),
    };
    for bad in [0.0, 1.0, -1.0, 2.0, f64::NAN, f64::INFINITY] {
        assert_eq!(parameter(CountMinSketch::new(bad, 0.1).unwrap_err()), "epsilon");
        assert_eq!(parameter(CountMinSketch::new(0.1, bad).unwrap_err()), "delta");
        assert_eq!(parameter(CountSketch::new(bad, 0.1).unwrap_err()), "epsilon");
    }
    // More memory than any machine has is refused.
    let endless = CountMinParams::from_width_and_depth(1 << 58, 1).unwrap();
    assert!(CountMinSketch::builder().params(endless).build().is_err());
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

/// An even number of rows has two middle values.
#[test]
fn a_count_sketch_of_two_rows_takes_their_mean() {
    let params = CountSketchParams::from_width_and_depth(1, 2).unwrap();
    let mut sketch = CountSketch::from_params(params, DefaultHashBuilder::default()).unwrap();
    assert_eq!(sketch.add_hash(1, 5), 5);
    let other = (0..64).find(|&hash| sketch.estimate_hash(hash) == 0).expect("rows that cancel");
    assert_eq!(sketch.estimate_hash(other), 0);
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
    let conservative = CountMinSketch::builder()
        .params(shape(10, 2))
        .update(Update::Conservative)
        .build()
        .unwrap();
    let refused = AtomicCountMinSketch::try_from(conservative).unwrap_err();
    assert!(refused.to_string().starts_with("update is conservative, but must be plain"));
}

/// No insert is lost when threads raise neighbours in one word, up to the limit.
fn threads_lose_nothing<C: Counter>() {
    const THREADS: usize = 4;
    const EACH: u64 = 100_000;
    let hasher = DefaultHashBuilder::default();
    let shared = CountMinSketch::builder()
        .params(shape(16, 2))
        .counters::<C>()
        .hasher(hasher)
        .build_atomic()
        .unwrap();
    // All start together, otherwise the first ends before the last begins.
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
    let mut plain = CountMinSketch::builder()
        .params(shape(16, 2))
        .counters::<C>()
        .hasher(hasher)
        .build()
        .unwrap();
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

/// Neither a part of the total nor the sum of the parts wraps.
#[test]
fn a_shared_total_never_wraps() {
    let shared = CountMinSketch::builder().error(0.1, 0.1).build_atomic().unwrap();
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
    assert_eq!([count, count, sketch.estimate("never") + 7].into_iter().sum::<Count>(), 17);
    let full = sketch.insert_many("full", u64::MAX);
    assert!(count < full && (count + full).is_saturated() && full.is_saturated());
    assert_eq!((full + full).to_string(), format!("at least {}", 2 * u64::from(u32::MAX)));
    assert!(!(count + (u64::MAX - 5)).is_saturated() && (count + (u64::MAX - 4)).is_saturated());
    assert_eq!((count + u64::MAX).to_string(), format!("at least {}", u64::MAX));
}

#[test]
fn structures_are_send_and_sync() {
    fn check<T: Send + Sync>() {}
    check::<CountMinSketch>();
    check::<AtomicCountMinSketch>();
    check::<CountSketch>();
}

#[test]
fn a_sketch_of_given_counters_is_the_one_they_were_read_from() {
    let mut sketch = CountMinSketch::new(0.01, 0.01).unwrap();
    for key in 0..500u64 {
        sketch.insert_many(&(key % 70), key);
    }
    let (params, hasher) = (sketch.params(), *sketch.hasher());
    let again = cms::internal::sketch_of(params, hasher, sketch.counters(), sketch.total());
    let again = again.unwrap();
    assert!(again == sketch);
    assert_eq!(again.to_bytes(), sketch.to_bytes());
}
