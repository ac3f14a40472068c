//! Behaviour of sketches, at ordinary and at edge parameters.
#![cfg(feature = "std")]

extern crate alloc;

use alloc::sync::Arc;
use pds_core::internal::Difference;
use pds_params::internal::ParamFault;

use hll::{AtomicHyperLogLog, HllParams, HyperLogLog, UltraLogLog};
use pds_core::error::{Incompatible, ParamError};
use pds_core::hash::{DefaultHashBuilder, SipHashBuilder};
use pds_core::traits::Cardinality;

fn numbers(precision: u32, keys: core::ops::Range<u32>) -> HyperLogLog {
    let mut sketch = HyperLogLog::new(precision).unwrap();
    sketch.extend(keys);
    sketch
}

fn seeded(precision: u32, seed: u64) -> HyperLogLog {
    HyperLogLog::builder().precision(precision).seed(seed).build().unwrap()
}

#[test]
fn insert_says_whether_the_state_changed() {
    let mut sketch = numbers(14, 0..0);
    assert!(sketch.is_empty() && sketch.estimate() == 0.0);
    assert!(sketch.insert("key"));
    assert!(!sketch.insert("key"));
    sketch.make_dense();
    assert!(!sketch.insert("key"));
    assert!(sketch.insert("another") && !sketch.is_empty());
    assert_eq!(sketch.insert_batch(&["key", "new", "new"]), 1);
}

#[test]
fn keys_are_their_type_too() {
    let mut sketch = numbers(14, 0..0);
    assert!(sketch.insert(&1u32) && sketch.insert(&1u64) && sketch.insert("1"));
    assert_eq!(sketch.estimate().round(), 3.0);
}

#[test]
fn precisions_out_of_range_are_refused() {
    let range = |value, max| {
        Err(ParamError(ParamFault::OutOfRange { parameter: "precision", value, min: 4, max }))
    };
    for precision in [0, 3, 19, 64, u32::MAX] {
        assert_eq!(HyperLogLog::new(precision).map(drop), range(precision.into(), 18));
        assert_eq!(UltraLogLog::new(precision).map(drop), range(precision.into(), 18));
        assert_eq!(
            HyperLogLog::builder().precision(precision).build_atomic().map(drop),
            range(precision.into(), 18)
        );
    }
    for precision in 4..=18 {
        assert!(HyperLogLog::new(precision).is_ok() && UltraLogLog::new(precision).is_ok());
    }
    let mut sketch = numbers(10, 0..10);
    assert_eq!(sketch.reduce_precision(11), range(11, 10));
    assert_eq!(sketch.reduce_precision(3), range(3, 18));
    assert_eq!(sketch, numbers(10, 0..10));
    let mut ultra = UltraLogLog::new(10).unwrap();
    assert_eq!(ultra.reduce_precision(11), range(11, 10));
}

#[test]
fn the_builder_takes_precision_error_or_memory() {
    let builder = HyperLogLog::builder;
    let precision = |b: hll::HyperLogLogBuilder| b.build().map(|sketch| sketch.precision());
    assert_eq!(precision(builder()), Ok(14));
    assert_eq!(precision(builder().precision(9)), Ok(9));
    assert_eq!(precision(builder().standard_error(0.03)), Ok(11));
    assert_eq!(precision(builder().memory_bytes(4_096)), Ok(12));
    let conflict = |parameter| Err(ParamError(ParamFault::Conflict { parameter }));
    assert_eq!(precision(builder().precision(9).standard_error(0.1)), conflict("precision"));
    assert_eq!(precision(builder().precision(9).memory_bytes(99)), conflict("precision"));
    let both = builder().standard_error(0.1).memory_bytes(99);
    assert_eq!(precision(both), conflict("standard_error"));
    let keyed = builder().hasher(SipHashBuilder::from_key([7; 16])).build().unwrap();
    assert_eq!(keyed.hasher(), &SipHashBuilder::from_key([7; 16]));
}

#[test]
fn a_small_set_takes_little_memory() {
    let sizes: Vec<u64> = [0, 1, 10, 1_000, 2_048, 2_049, 100_000]
        .map(|keys| numbers(14, 0..keys).size_in_bytes())
        .to_vec();
    assert_eq!(sizes[0], 0);
    assert!(sizes[1] <= 32 && sizes[2] <= 40 && sizes[3] <= 6_000, "{sizes:?}");
    assert!(sizes[4] < 16_384, "{sizes:?}");
    assert_eq!(size_of::<HyperLogLog>(), 32, "many sketches are of few keys");
    for precision in 4..=18 {
        // The last size before the switch.
        let mut sketch = numbers(precision, 0..0);
        let mut largest = 0;
        for key in 0..1u32 << (precision - 3) {
            sketch.insert(&key);
            largest = sketch.size_in_bytes().max(largest);
        }
        assert!(largest < 1 << precision, "{largest} at precision {precision}");
    }
    assert_eq!(sizes[5..], [16_384, 16_384]);
}

#[test]
fn sizes_are_those_that_the_parameters_foretell() {
    for precision in [4, 8, 10, 14] {
        let params = HllParams::new(precision).unwrap();
        let mut sketch = numbers(precision, 0..0);
        for keys in 0..(1u64 << precision) / 8 + 3 {
            assert_eq!(sketch.size_in_bytes(), params.memory_bytes_at(keys), "{keys}");
            let packed = sketch.to_bytes().len() as u64 - 136;
            assert_eq!(packed, params.packed_bytes_at(keys), "{keys}");
            sketch.insert(&keys);
        }
    }
}

#[test]
fn a_sketch_is_as_if_built_at_a_lower_precision_on_both_sides_of_its_switch() {
    for count in 30..=34 {
        let mut sketch = numbers(12, 0..count);
        sketch.reduce_precision(8).unwrap();
        assert_eq!(sketch, numbers(8, 0..count));
        assert_eq!(sketch.is_dense(), count > 32);
    }
}

#[test]
fn clearing_forgets_all() {
    let mut sketch = numbers(12, 0..10_000);
    sketch.clear();
    assert_eq!(sketch, numbers(12, 0..0));
    assert_eq!(sketch.martingale_estimate(), Some(0.0));
    let mut ultra = UltraLogLog::new(12).unwrap();
    ultra.extend(0..10_000);
    ultra.clear();
    assert!(ultra.is_empty() && ultra == UltraLogLog::new(12).unwrap());
}

#[test]
fn equality_needs_precision_seed_form_and_state() {
    let sketch = numbers(12, 0..100);
    assert_eq!(sketch, numbers(12, 0..100));
    assert_ne!(sketch, numbers(12, 0..101));
    assert_ne!(sketch, numbers(13, 0..100));
    assert_ne!(numbers(12, 0..0), seeded(12, 1));
    let mut dense = sketch.clone();
    dense.make_dense();
    assert_ne!(sketch, dense);
}

#[test]
fn the_martingale_ends_with_a_merge() {
    let mut sketch = numbers(12, 0..10_000);
    let before = sketch.martingale_estimate().unwrap();
    assert!((before / 10_000.0 - 1.0).abs() < 0.05);
    sketch.merge(&numbers(12, 0..0)).unwrap();
    assert_eq!(sketch.martingale_estimate(), Some(before), "nothing came in");
    sketch.reduce_precision(10).unwrap();
    assert_eq!(sketch.martingale_estimate(), Some(before), "nothing came in");
    assert!(sketch.merge(&seeded(12, 9)).is_err());
    assert!(sketch.martingale_estimate().is_some(), "nothing came in");
    sketch.merge(&numbers(12, 0..1)).unwrap();
    assert_eq!(sketch.martingale_estimate(), None);
    sketch.insert(&77_777u32);
    assert_eq!(sketch.martingale_estimate(), None);
    sketch.clear();
    assert_eq!(sketch.martingale_estimate(), Some(0.0));
}

#[test]
fn a_merge_of_small_sets_keeps_the_martingale_while_it_is_sparse() {
    let mut sketch = numbers(12, 0..100);
    sketch.merge(&numbers(12, 50..200)).unwrap();
    assert_eq!(sketch.martingale_estimate(), Some(sketch.estimate()));
    sketch.extend(0..5_000u32);
    assert!((sketch.martingale_estimate().unwrap() / 5_000.0 - 1.0).abs() < 0.04);
    let mut dense = numbers(12, 0..500);
    dense.merge(&numbers(12, 400..900)).unwrap();
    assert_eq!((dense.is_dense(), dense.martingale_estimate()), (true, None));
    let mut last = numbers(12, 0..512);
    last.merge(&numbers(12, 512..513)).unwrap();
    assert_eq!((last.is_dense(), last.martingale_estimate()), (true, None));
}

#[test]
fn an_estimate_comes_with_its_error() {
    let params = HllParams::new(12).unwrap();
    let estimate = numbers(12, 0..100_000).estimate_with_error();
    let relative = estimate.standard_error / estimate.value;
    assert!((relative * 64.0 - 1.03).abs() < 0.02, "{relative}");
    let sparse = numbers(12, 0..100).estimate_with_error();
    assert!(sparse.standard_error < 0.02 && sparse.standard_error > 0.0, "{sparse}");
    assert_eq!(numbers(12, 0..0).estimate_with_error().standard_error, 0.0);
    let mut ultra = UltraLogLog::from_params(params, DefaultHashBuilder::default());
    ultra.extend(0..100_000u32);
    let estimate = ultra.estimate_with_error();
    let relative = estimate.standard_error / estimate.value;
    assert!((relative * 64.0 - 0.77).abs() < 0.03, "{relative}");
}

#[test]
fn intervals_need_a_probability() {
    let sketch = numbers(12, 0..1_000);
    for confidence in [0.0, 1.0, -1.0, 2.0, f64::NAN] {
        let error = sketch.estimate_interval(confidence).unwrap_err();
        assert!(matches!(
            error,
            ParamError(ParamFault::NotAProbability { parameter: "confidence", .. })
        ));
    }
    let width = |confidence| {
        let interval = sketch.estimate_interval(confidence).unwrap();
        interval.end() - interval.start()
    };
    assert!(width(0.5) < width(0.9) && width(0.9) < width(0.999));
    assert_eq!(numbers(12, 0..0).estimate_interval(0.9), Ok(0.0..=0.0));
    // Four registers of sixteen mean few keys, even at high confidence.
    let coarse = {
        let mut sketch = numbers(4, 0..4);
        sketch.make_dense();
        sketch
    };
    let interval = coarse.estimate_interval(1.0 - 1e-12).unwrap();
    assert!(*interval.start() >= 1.0 && *interval.end() < 100.0, "{interval:?}");
}

#[test]
fn a_union_is_estimated_without_a_merge() {
    let hours: Vec<_> = (0..30).map(|i| numbers(14, i * 500..i * 500 + 1_500)).collect();
    let hours: Vec<_> = hours.iter().collect();
    let mut day = numbers(14, 0..0);
    hours.iter().for_each(|hour| day.merge(hour).unwrap());
    assert_eq!(HyperLogLog::union_estimate(&hours), Ok(day.estimate()));
    assert!((day.estimate() / 16_000.0 - 1.0).abs() < 0.03);
    assert_eq!(HyperLogLog::<DefaultHashBuilder>::union_estimate(&[]), Ok(0.0));
    let mixed = HyperLogLog::union_estimate(&[&numbers(14, 0..100), &numbers(6, 50..150)]).unwrap();
    assert_eq!(mixed, numbers(6, 0..150).estimate());
    let other = seeded(14, 3);
    assert!(HyperLogLog::union_estimate(&[hours[0], &other]).is_err());
}

#[test]
fn an_overlap_of_nothing_is_nothing() {
    let (some, none) = (numbers(10, 0..5_000), numbers(10, 0..0));
    let overlap = some.overlap(&none).unwrap();
    assert_eq!((overlap.only_left.value, overlap.both.value), (some.estimate(), 0.0));
    assert_eq!(overlap.jaccard(), 0.0);
    assert_eq!(none.overlap(&none).unwrap().union(), 0.0);
    assert_eq!(none.jaccard_estimate(&none), Ok(0.0));
}

#[test]
fn parts_of_an_overlap_have_methods_of_their_own() {
    let (left, right) = (numbers(12, 0..30_000), numbers(10, 20_000..60_000));
    let overlap = left.overlap(&right).unwrap();
    assert_eq!(left.intersection_estimate(&right), Ok(overlap.both));
    assert_eq!(left.difference_estimate(&right), Ok(overlap.only_left));
    assert_eq!(left.jaccard_estimate(&right), Ok(overlap.jaccard()));
    assert!((overlap.jaccard() / (10.0 / 60.0) - 1.0).abs() < 0.3, "{overlap:?}");
    let mirrored = right.overlap(&left).unwrap();
    assert!((mirrored.only_right.value / overlap.only_left.value - 1.0).abs() < 1e-3);
}

#[test]
fn other_hashers_are_refused_by_name() {
    let (mut left, right) = (seeded(12, 1), seeded(12, 2));
    left.insert("key");
    let before = left.clone();
    let named = |result: Result<(), Incompatible>| matches!(result, Err(Incompatible(Difference::Hasher { left, right })) if left != right);
    assert!(named(left.merge(&right)));
    assert!(named(left.overlap(&right).map(drop)));
    assert_eq!(left, before);
    let params = HllParams::new(5).unwrap();
    let mut ultra = UltraLogLog::from_params(params, DefaultHashBuilder::with_seed(1));
    let other = UltraLogLog::from_params(params, DefaultHashBuilder::with_seed(2));
    assert!(named(ultra.merge(&other)) && ultra != other);
}

#[test]
fn threads_lose_no_insert() {
    let shared = HyperLogLog::builder().precision(10).build_atomic().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4u32 {
            let mut shared = &shared;
            scope.spawn(move || shared.extend(thread * 10_000..thread * 10_000 + 15_000));
        }
    });
    let mut plain = numbers(10, 0..45_000);
    plain.make_dense();
    assert_eq!(shared.estimate(), plain.estimate());
    assert_eq!(shared.to_plain(), plain);
    assert_eq!(shared.into_plain(), plain);
}

#[test]
fn an_atomic_sketch_does_what_a_dense_one_does() {
    let shared = AtomicHyperLogLog::from(numbers(12, 0..100));
    assert!(!shared.insert(&5u32) && shared.insert("key"));
    assert_eq!(shared.insert_batch(&["key", "other"]), 1);
    assert_eq!((shared.precision(), shared.size_in_bytes()), (12, 4_096));
    assert!(shared.estimate_interval(0.999).unwrap().contains(&102.0));
    let finer = AtomicHyperLogLog::from(numbers(14, 1_000..9_000));
    shared.merge(&finer).unwrap();
    let mut plain = numbers(12, 0..100);
    plain.insert_batch(&["key", "other"]);
    plain.merge(&numbers(12, 1_000..9_000)).unwrap();
    assert_eq!(shared.to_plain(), plain);
    assert_eq!(
        finer.merge(&shared),
        Err(Incompatible(Difference::Shape { parameter: "precision", left: 14, right: 12 }))
    );
    shared.clear();
    assert!(shared.is_empty());
}

#[test]
fn ultra_registers_are_rank_and_two_bits() {
    let mut ultra = UltraLogLog::new(4).unwrap();
    // Registers b and 9, ranks 2 and 5.
    let (b, nine) = (0xb70f_b2cc_55af_013f, 0x90fa_784d_ff59_df1d);
    assert!(ultra.insert_hash(b) && ultra.insert_hash(nine));
    assert!(!ultra.insert_hash(b));
    assert_eq!((ultra.registers()[0xb], ultra.registers()[0x9]), (8, 20));
    assert_eq!(ultra.registers().iter().filter(|&&register| register != 0).count(), 2);
}

#[test]
fn all_sketches_are_cardinalities() {
    fn estimate(sketch: &dyn Cardinality) -> f64 {
        sketch.estimate()
    }
    let mut ultra = UltraLogLog::new(12).unwrap();
    ultra.extend(0..50_000u32);
    let plain = numbers(12, 0..50_000);
    let shared = AtomicHyperLogLog::from(plain.clone());
    for sketch in [&plain as &dyn Cardinality, &shared, &ultra] {
        assert!((estimate(sketch) / 5e4 - 1.0).abs() < 0.05);
    }
}

#[test]
fn threads_may_have_and_share_them() {
    fn check<T: Send + Sync>() {}
    check::<HyperLogLog>();
    check::<AtomicHyperLogLog>();
    check::<UltraLogLog>();
}

#[test]
fn debug_shows_no_registers() {
    let text = format!("{:?}", numbers(12, 0..1));
    assert!(text.contains("precision: 12") && text.len() < 90, "{text}");
}

#[test]
fn a_default_sketch_is_of_precision_14_and_empty() {
    let sketch: HyperLogLog = HyperLogLog::default();
    assert_eq!((sketch.precision(), sketch.is_empty(), sketch.size_in_bytes()), (14, true, 0));
    assert_eq!(sketch, HyperLogLog::new(14).unwrap());
    let collected: HyperLogLog = (0..100u32).collect();
    assert_eq!(collected, numbers(14, 0..100));
    let mut by_name = std::collections::HashMap::<_, HyperLogLog>::new();
    for (name, number) in [("a", 1), ("b", 1), ("a", 2)] {
        by_name.entry(name).or_default().insert(&number);
    }
    assert_eq!(by_name["a"].estimate().round(), 2.0);
}

#[test]
fn merging_all_is_merging_one_after_the_other_or_nothing() {
    let parts = [numbers(12, 0..5_000), numbers(10, 4_000..9_000), numbers(14, 0..0)];
    let mut expected = numbers(13, 8_000..8_100);
    let mut merged = expected.clone();
    merged.merge_all(&parts).unwrap();
    parts.iter().for_each(|part| expected.merge(part).unwrap());
    assert_eq!(merged, expected);
    merged.merge_all([]).unwrap();
    assert_eq!(merged, expected);
    // The last sketch is refused before the first one is merged.
    let seeded = HyperLogLog::builder().precision(4).seed(1).build().unwrap();
    let refused = merged.merge_all([&numbers(4, 0..9), &seeded]);
    assert!(refused.is_err() && merged == expected);

    let ultra = |numbers: core::ops::Range<u32>, seed| {
        let mut sketch = UltraLogLog::builder().precision(8).seed(seed).build().unwrap();
        sketch.extend(numbers);
        sketch
    };
    let mut merged = ultra(0..100, 0);
    merged.merge_all(&[ultra(50..150, 0), ultra(150..500, 0)]).unwrap();
    assert_eq!(merged, ultra(0..500, 0));
    assert!(merged.merge_all(&[ultra(500..600, 0), ultra(0..1, 1)]).is_err());
    assert_eq!(merged, ultra(0..500, 0));
}

#[test]
fn both_builders_take_one_size_a_seed_and_a_hasher() {
    let builder = UltraLogLog::builder;
    assert_eq!(builder().build().unwrap().precision(), 14);
    assert_eq!(builder().memory_bytes(5_000).build().unwrap().size_in_bytes(), 4_096);
    // 0.782 / sqrt(2^12) is 1.22 %; that of a HyperLogLog is 1.62 %.
    assert_eq!(builder().standard_error(0.0123).build().unwrap().precision(), 12);
    assert_eq!(
        builder().precision(4).memory_bytes(16).build().map(drop),
        Err(ParamError(ParamFault::Conflict { parameter: "precision" }))
    );
    assert_eq!(
        builder().standard_error(0.1).memory_bytes(16).build().map(drop),
        Err(ParamError(ParamFault::Conflict { parameter: "standard_error" }))
    );
    let seeded = builder().seed(5).build().unwrap();
    assert_eq!(*seeded.hasher(), DefaultHashBuilder::with_seed(5));
    let keyed = builder().hasher(SipHashBuilder::from_key([7; 16])).build().unwrap();
    assert_eq!(*keyed.hasher(), SipHashBuilder::from_key([7; 16]));
    let shared = HyperLogLog::builder().precision(5).seed(9).build_atomic().unwrap();
    assert_eq!((shared.precision(), shared.size_in_bytes(), shared.is_dense()), (5, 32, true));
    assert!(HyperLogLog::builder().precision(3).build_atomic().is_err());
}

#[test]
fn a_shared_sketch_is_cleared_by_reference() {
    let shared = HyperLogLog::builder().precision(6).build_atomic().unwrap();
    (&shared).extend(0..1_000u32);
    assert!(!shared.is_empty());
    shared.clear();
    assert!(shared.is_empty() && shared.estimate() == 0.0);
}

/// A view keeps its bytes, and gives all answers of the sketch.
#[test]
fn a_view_owns_what_gives_its_bytes() {
    use hll::{HyperLogLogView, UltraLogLogView};
    let (sparse, dense) = (numbers(12, 0..100), numbers(12, 0..20_000));
    let views: Vec<HyperLogLogView<Arc<[u8]>>> = [&sparse, &dense]
        .map(|sketch| HyperLogLogView::open(sketch.to_bytes().into()).unwrap())
        .into();
    for (view, sketch) in views.iter().zip([&sparse, &dense]) {
        assert_eq!(view.is_dense(), sketch.is_dense());
        assert_eq!(view.estimate(), sketch.estimate());
        assert_eq!(view.estimate_by_likelihood(), sketch.estimate_by_likelihood());
        assert_eq!(view.estimate_with_error(), sketch.estimate_with_error());
        assert_eq!(view.estimate_interval(0.9).unwrap(), sketch.estimate_interval(0.9).unwrap());
        assert!(!view.is_empty() && view.params() == sketch.params());
        assert_eq!(view.get_ref()[..], sketch.to_bytes()[..]);
        assert!(format!("{view:?}").starts_with("HyperLogLogView {"));
    }
    assert_eq!((views[0].size_in_bytes(), views[1].size_in_bytes()), (400, 3_072));
    let mut ultra = UltraLogLog::new(6).unwrap();
    ultra.extend(0..500u32);
    let view = UltraLogLogView::open(ultra.to_bytes()).unwrap();
    assert_eq!(view.size_in_bytes(), ultra.size_in_bytes());
    assert_eq!(view.estimate_by_likelihood(), ultra.estimate_by_likelihood());
    assert!(format!("{view:?}").starts_with("UltraLogLogView {"));
}
