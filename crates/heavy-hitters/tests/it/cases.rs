//! Faults that users of such summaries have met elsewhere, each as what must hold here.
#![cfg(feature = "std")]

use cms::CountMinParams;
use cms::internal::RowHash;
use core::hash::BuildHasher;
use heavy_hitters::error::{BuildError, Incompatible, ParamError};
use heavy_hitters::hash::DefaultHashBuilder;
use heavy_hitters::{HeavyHitters, HeavyHittersParams, SketchedHeavyHitters, TopK};
use pds_core::internal::Difference;
use pds_params::internal::ParamFault;

fn shape(width: u64, depth: u32) -> CountMinParams {
    CountMinParams::from_width_and_depth(width, depth).unwrap()
}

#[test]
fn case_05_impossible_parameters_name_themselves() {
    for bad in [0.0, 1.0, -1.0, 1.1, f64::NAN, f64::INFINITY] {
        let error = HeavyHitters::<u8>::new(bad).unwrap_err();
        assert!(error.to_string().starts_with("phi is "), "{error}");
        let error = SketchedHeavyHitters::<u8>::new(bad, 0.1, 0.1).unwrap_err();
        assert!(error.to_string().starts_with("phi is "), "{error}");
        let error = SketchedHeavyHitters::<u8>::new(0.1, bad, 0.1).unwrap_err();
        assert!(error.to_string().starts_with("epsilon is "), "{error}");
    }
    let error = TopK::<u8>::new(0).unwrap_err();
    assert!(matches!(
        error,
        BuildError::Param(ParamError(ParamFault::OutOfRange { parameter: "k", .. }))
    ));
}

#[test]
fn case_06_what_cannot_be_had_is_a_typed_error() {
    assert!(HeavyHitters::<u8>::new(1e-18).is_err());
    // Two terabytes: had or refused, without an abort.
    if let Err(error) = HeavyHitters::<[u64; 128]>::new(5e-10) {
        assert!(matches!(error, BuildError::Alloc(_)));
    }
}

#[test]
fn case_12_the_smallest_summaries_work() {
    let mut two = HeavyHitters::<u8>::new(0.9).unwrap();
    (0..100).for_each(|i| {
        two.insert(&(i % 3));
    });
    assert_eq!((two.capacity(), two.total()), (2, 100));
    let mut top = TopK::<u8>::new(1).unwrap();
    [3, 4, 4].iter().for_each(|key| {
        top.insert(key);
    });
    assert_eq!(*top.top()[0].key, 4);
}

#[test]
fn case_15_decoding_then_merging_is_merging() {
    let build = |keys: core::ops::Range<u64>| {
        let mut summary = HeavyHitters::<u64>::new(0.05).unwrap();
        let mut top = TopK::<u64>::new(5).unwrap();
        let mut detector = SketchedHeavyHitters::<u64>::new(0.02, 0.05, 0.1).unwrap();
        for key in keys {
            summary.insert(&(key * key % 97));
            top.insert(&(key * key % 97));
            detector.insert(&(key * key % 97));
        }
        (summary, top, detector)
    };
    let (mut a, b) = (build(0..700), build(300..999));
    let mut decoded = (
        HeavyHitters::<u64>::from_bytes(&a.0.to_bytes()).unwrap(),
        TopK::<u64>::from_bytes(&a.1.to_bytes()).unwrap(),
        SketchedHeavyHitters::<u64>::from_bytes(&a.2.to_bytes()).unwrap(),
    );
    a.0.merge(&b.0).unwrap();
    a.1.merge(&b.1).unwrap();
    a.2.merge(&b.2).unwrap();
    decoded.0.merge(&b.0).unwrap();
    decoded.1.merge(&b.1).unwrap();
    decoded.2.merge(&b.2).unwrap();
    // A comparison of bytes cannot see a part that both sides leave out.
    assert!(decoded == a);
    assert_eq!(decoded.0.to_bytes(), a.0.to_bytes());
    assert_eq!(decoded.1.to_bytes(), a.1.to_bytes());
    assert_eq!(decoded.2.to_bytes(), a.2.to_bytes());
    assert!(a.2.top().len() > 5);
}

/// Half as many keys again are tracked, rounded up, which odd capacities pay for.
#[test]
fn case_25_a_summary_takes_no_more_memory_than_it_was_given() {
    for bytes in (144..3_000).chain(1_000_000..1_000_100) {
        let params = HeavyHittersParams::for_memory(bytes).unwrap();
        let more = HeavyHittersParams::with_capacity(0.5, params.capacity() + 1).unwrap();
        let [taken, more] = [params, more].map(|params| {
            let summary = HeavyHitters::<u64>::from_params(params, DefaultHashBuilder::default());
            assert_eq!(summary.as_ref().unwrap().size_in_bytes(), params.memory_bytes());
            params.memory_bytes()
        });
        assert!(taken <= bytes && more > bytes, "{bytes} bytes: {taken}, {more}");
    }
}

/// The detector too: its share, its sketch and its hasher; nothing is changed then.
#[test]
fn case_13_detectors_that_differ_are_not_merged() {
    let build = |phi, epsilon| {
        let mut detector = SketchedHeavyHitters::<u64>::new(phi, epsilon, 0.1).unwrap();
        detector.insert_many(&7, 5);
        detector
    };
    let (mut detector, before) = (build(0.1, 0.1), build(0.1, 0.1));
    let named = |result| match result {
        Err(
            Incompatible(Difference::Shape { parameter, .. })
            | Incompatible(Difference::Share { parameter, .. }),
        ) => parameter,
        other => panic!("{other:?}"),
    };
    assert_eq!(named(detector.merge(&build(0.2, 0.1))), "phi");
    assert_eq!(named(detector.merge(&build(0.1, 0.2))), "width");
    let builder = SketchedHeavyHitters::<u64>::builder().phi(0.1).params(before.sketch().params());
    let seeded = builder.seed(1).build().unwrap();
    assert!(matches!(detector.merge(&seeded), Err(Incompatible(Difference::Hasher { .. }))));
    assert!(detector == before && detector != build(0.2, 0.1));
}

#[test]
fn case_22_keys_may_be_any_bytes() {
    let keys: [&[u8]; 5] = [b"", b"\0", b"\n", b"a\0b", b"\xff\xfe"];
    let mut summary = SketchedHeavyHitters::<Vec<u8>>::new(0.01, 0.001, 0.001).unwrap();
    let mut heavy = HeavyHitters::<Vec<u8>>::new(0.1).unwrap();
    for (count, key) in (1..).zip(keys) {
        summary.insert_many(key, count);
        heavy.insert_many(key, count);
    }
    for (count, key) in (1..).zip(keys) {
        assert_eq!(
            (summary.sketch().estimate(key).value(), heavy.estimate(key).value()),
            (count, count)
        );
    }
    assert_eq!(HeavyHitters::<Vec<u8>>::from_bytes(&heavy.to_bytes()).unwrap(), heavy);
}

/// A summary of two keys, with room for three.
fn summary_of_two() -> HeavyHitters<u64> {
    let params = HeavyHittersParams::with_capacity(0.5, 2).unwrap();
    HeavyHitters::from_params(params, DefaultHashBuilder::default()).unwrap()
}

/// A list orders its keys beyond 2^32, whether they come in few large weights or in many small ones.
#[test]
fn case_35_lists_order_keys_beyond_32_bits() {
    let mut list = TopK::<u64>::new(1).unwrap();
    list.insert_many(&1, 5_000_000_000);
    list.insert_many(&2, 50_000_000_000_000);
    let top = list.top();
    assert_eq!((*top[0].key, top[0].estimate.value()), (2, 50_000_000_000_000));
    assert!(top[0].interval().contains(50_000_000_000_000));
    assert!(!top[0].interval().contains(u64::from(u32::MAX)));

    // Key 9 comes last, in small parts, when all places are taken by keys beyond 2^32.
    let mut list = TopK::<u64>::new(2).unwrap();
    (1..=5).for_each(|key| _ = list.insert_many(&key, 10_000_000_000 + key));
    (0..5_000).for_each(|_| _ = list.insert_many(&9, 1 << 23));
    let top = list.top();
    assert_eq!((*top[0].key, top[0].estimate.value()), (9, 5_000 << 23));
    assert_eq!((*top[1].key, top[1].estimate.value()), (5, 10_000_000_005));
}

#[test]
fn case_35_detectors_list_keys_beyond_32_bits() {
    for total in [100_000_000_000, 1 << 50, u64::MAX - 100] {
        let mut detector = SketchedHeavyHitters::<u64>::new(0.1, 0.01, 0.01).unwrap();
        (0..4).for_each(|key| _ = detector.insert_many(&key, total / 5));
        (4..100).for_each(|key| _ = detector.insert_many(&key, total / 500));
        let mut listed: Vec<u64> = detector.top().iter().map(|hitter| *hitter.key).collect();
        listed.sort_unstable();
        assert_eq!(listed, [0, 1, 2, 3]);
        assert!(detector.top().iter().all(|hitter| hitter.interval().contains(total / 5)));
    }
}

/// At 2^64 and 9 more: at least 2^64 - 1, by all that list.
#[test]
fn case_35_counts_beyond_64_bits_have_no_upper_bound() {
    let mut heavy = HeavyHitters::<u64>::new(0.1).unwrap();
    let mut list = TopK::<u64>::new(2).unwrap();
    let mut detector = SketchedHeavyHitters::<u64>::new(0.1, 0.01, 0.01).unwrap();
    for count in [1 << 63, 1 << 63, 9] {
        heavy.insert_many(&1, count);
        list.insert_many(&1, count);
        detector.insert_many(&1, count);
    }
    heavy.insert_many(&2, 7);
    list.insert_many(&2, 7);
    assert_eq!(heavy.estimate(&1).to_string(), "at least 18446744073709551615");
    assert_eq!(heavy.estimate_interval(&1).truth_at_least, u64::MAX, "it never shared a counter");
    assert_eq!(heavy.estimate_interval(&2).truth_at_most, Some(7));
    assert!(!heavy.estimate(&2).is_saturated());
    for top in [heavy.top(), list.top(), detector.top()] {
        assert!(*top[0].key == 1 && top[0].estimate.is_saturated());
        assert_eq!(top[0].interval().truth_at_most, None);
    }
    // Of the total nothing is known, and of the error of a sketch neither.
    assert_eq!(list.estimate_interval(&2u64).truth_at_least, 0);
    assert_eq!((*list.top()[1].key, list.top()[1].interval().truth_at_least), (2, 0));
}

/// More saturated keys than are kept: some stay, and none is said to be light.
#[test]
fn case_35_a_summary_of_saturated_counts_keeps_keys() {
    let mut heavy = summary_of_two();
    for key in 1..=20 {
        heavy.insert_many(&key, u64::MAX);
        let kept = heavy.iter().count() as u64;
        assert!(kept >= heavy.capacity().min(key) && heavy.top().len() as u64 == kept, "{key}");
    }
    assert!((1..=20).all(|key| heavy.estimate_interval(&key).truth_at_most.is_none()));
    assert!((1..=20).all(|key| heavy.estimate(&key).is_saturated()));
    heavy.merge(&heavy.clone()).unwrap();
    assert!(heavy.top().len() >= 2 && heavy.estimate(&3).is_saturated());
    assert_eq!(HeavyHitters::<u64>::from_bytes(&heavy.to_bytes()).unwrap(), heavy);
}

/// A listed count is of when its key last came. The sketch may give more by now, which an increment of 0 must not copy.
#[test]
fn case_36_an_increment_of_zero_renews_no_listed_count() {
    let mut list = TopK::<u64>::new(10).unwrap();
    let columns = |key: u64| {
        let mut rows = RowHash::new(DefaultHashBuilder::default().hash_one(key));
        [(); 4].map(|()| rows.next_column(1_024))
    };
    list.insert_many(&0, 40);
    for row in 0..4 {
        let meets = (1..).find(|&key| columns(key)[row] == columns(0)[row]).unwrap();
        list.insert_many(&meets, 100);
    }
    let listed = |list: &TopK<u64>| {
        let top = list.top();
        top.iter().find(|hitter| *hitter.key == 0).map(|hitter| hitter.estimate.value())
    };
    assert_eq!((list.estimate(&0u64).value(), listed(&list)), (100, Some(40)));
    let before = list.to_bytes();
    assert_eq!(list.insert_many(&0, 0), 100);
    assert!(list.to_bytes() == before && listed(&list) == Some(40));
}

/// Halving what was lost by a full counter gives no upper bound.
#[test]
fn case_35_halving_a_list_forgets_no_saturation() {
    let mut list = TopK::<u64>::new(2).unwrap();
    (0..2).for_each(|_| _ = list.insert_many(&1, u64::MAX));
    assert_eq!(list.halve(), 4);
    assert_eq!(list.top()[0].interval().truth_at_most, None);
    assert_eq!(TopK::<u64>::from_bytes(&list.to_bytes()).unwrap(), list);
}

/// An increment of 0 changes no byte, whatever is counted already, and lists nothing.
#[test]
fn case_36_an_increment_of_zero_changes_nothing() {
    for seed in 0..50 {
        let hasher = DefaultHashBuilder::with_seed(seed);
        let mut detector = SketchedHeavyHitters::<String>::builder()
            .phi(0.1)
            .params(shape(2, 2))
            .hasher(hasher)
            .build()
            .unwrap();
        let mut list = TopK::<String>::builder().k(2).hasher(hasher).build().unwrap();
        let params = HeavyHittersParams::with_capacity(0.5, 2).unwrap();
        let mut heavy = HeavyHitters::<String>::from_params(params, hasher).unwrap();
        let mut bytes = Vec::new();
        for (key, count) in
            [("never", 0), ("foo", 10), ("bar", 42), ("bar", 0), ("never", 0), ("foo", 0)]
        {
            detector.insert_many(key, count);
            list.insert_many(key, count);
            heavy.insert_many(key, count);
            let after = [detector.to_bytes(), list.to_bytes(), heavy.to_bytes()];
            assert!(count > 0 || bytes.is_empty() || bytes == after, "seed {seed}: {key}");
            assert!(detector.top().iter().all(|hitter| hitter.key != "never"), "seed {seed}");
            assert!(list.top().iter().all(|hitter| hitter.key != "never"), "seed {seed}");
            assert!(heavy.iter().all(|hitter| hitter.key != "never"), "seed {seed}");
            bytes = after.to_vec();
        }
    }
}

/// An empty operand changes no byte on the right, and gives the bytes of the other on the left.
#[test]
fn case_29_an_empty_operand_is_the_identity_of_merging() {
    for (seed, inserts) in (0..30).zip([0, 1, 3, 40, 400].into_iter().cycle()) {
        let hasher = DefaultHashBuilder::with_seed(seed);
        macro_rules! identity {
            ($build:expr, $structure:ty) => {
                let mut some: $structure = $build;
                // Keys of a list fall behind the sketch's estimates, and are cut from it.
                (0..inserts).map(|i: u64| i * i % 31).for_each(|key| _ = some.insert(&key));
                let (mut left, mut right) = ($build, some.clone());
                left.merge(&some).unwrap();
                right.merge(&$build).unwrap();
                assert!(right.to_bytes() == some.to_bytes(), "empty on the right, {seed}");
                assert!(left.to_bytes() == some.to_bytes(), "empty on the left, {seed}");
                assert!(left == some && right == some);
            };
        }
        let few = HeavyHittersParams::with_capacity(0.5, 3).unwrap();
        identity!(HeavyHitters::from_params(few, hasher).unwrap(), HeavyHitters<u64>);
        identity!(TopK::builder().k(3).hasher(hasher).build().unwrap(), TopK<u64>);
        identity!(
            SketchedHeavyHitters::builder()
                .phi(0.2)
                .params(shape(5, 2))
                .hasher(hasher)
                .build()
                .unwrap(),
            SketchedHeavyHitters<u64>
        );
    }
}
