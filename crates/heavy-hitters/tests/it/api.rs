//! Behaviour of summaries at ordinary and at edge parameters.
#![cfg(feature = "std")]

use cms::Count;
use heavy_hitters::error::{BuildError, Incompatible, ParamError};
use heavy_hitters::hash::{DefaultHashBuilder, SipHashBuilder};
use heavy_hitters::{HeavyHitters, HeavyHittersParams, Hitter, SketchedHeavyHitters, TopK};
use pds_core::internal::Difference;
use pds_params::internal::ParamFault;

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
    assert_eq!(summary.untracked_at_most(), 0);
    assert_eq!(summary.insert_many(&9, 0), 0, "nothing is forgotten");
    // There is room for three keys: the count behind those of two is the floor from now on.
    assert_eq!(summary.insert(&4), 4);
    let counts = [summary.estimate(&3), summary.insert_many(&9, 0), summary.estimate(&9)];
    assert_eq!(counts.map(Count::value), [3, 3, 3]);
    assert_eq!(summary.untracked_at_most(), 3);
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
        Err(Incompatible(Difference::Shape { parameter: "capacity", left: 5, right: 6 }))
    ));
    assert!(matches!(summary.merge(&build(5, 1)), Err(Incompatible(Difference::Hasher { .. }))));
    let phi = HeavyHittersParams::with_capacity(0.3, 5).unwrap();
    let phi = HeavyHitters::from_params(phi, DefaultHashBuilder::default()).unwrap();
    let error = summary.merge(&phi).unwrap_err();
    assert_eq!(error, Incompatible(Difference::Share { parameter: "phi", left: 0.25, right: 0.3 }));
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

#[test]
fn impossible_parameters_are_typed_errors() {
    let parameter = |error: BuildError| match error {
        BuildError::Param(
            ParamError(ParamFault::NotAProbability { parameter, .. })
            | ParamError(ParamFault::OutOfRange { parameter, .. }),
        ) => parameter,
        other => panic!("{other}"),
    };
    for bad in [0.0, 1.0, -1.0, 2.0, f64::NAN, f64::INFINITY] {
        assert_eq!(parameter(HeavyHitters::<u64>::new(bad).unwrap_err()), "phi");
        let sketched = SketchedHeavyHitters::<u64>::new(bad, 0.1, 0.1);
        assert_eq!(parameter(sketched.unwrap_err()), "phi");
    }
    assert_eq!(parameter(TopK::<u64>::new(0).unwrap_err()), "k");
    assert_eq!(parameter(TopK::<u64>::new(u64::MAX).unwrap_err()), "k");
}

#[test]
fn structures_are_send_and_sync() {
    fn check<T: Send + Sync>() {}
    check::<HeavyHitters<String>>();
    check::<SketchedHeavyHitters<String>>();
    check::<TopK<String>>();
}

#[test]
fn a_halved_summary_keeps_what_it_promises() {
    let params = HeavyHittersParams::with_capacity(0.3, 4).unwrap();
    let mut summary = HeavyHitters::<u64>::builder().params(params).build().unwrap();
    assert!(summary.is_empty());
    let mut counts = [0u64; 40];
    for (i, key) in
        (0..2_000u64).map(|i| (i, i * i % 97 % 40)).map(|(i, key)| (i, key / (1 + i % 3)))
    {
        summary.insert(&key);
        counts[usize::try_from(key).unwrap()] += 1;
        if i % 137 == 136 {
            assert_eq!(summary.halve(), 0);
            counts.iter_mut().for_each(|count| *count /= 2);
            let read = HeavyHitters::<u64>::from_bytes(&summary.to_bytes());
            assert_eq!(read.unwrap(), summary);
        }
        for (key, &count) in (0..).zip(&counts) {
            assert!(summary.estimate_interval(&key).contains(count), "{i}: {key}");
            let most = summary.total() / summary.capacity() + 1;
            assert!(summary.estimate(&key).value() <= count + most, "{i}: {key}");
        }
    }
    assert_eq!((summary.len(), summary.is_empty()), (summary.iter().len(), false));
    assert!((&summary).into_iter().eq(summary.iter()));
    assert!(format!("{:?}", summary.iter()).contains("estimate"));
}

/// Each halved summary may add one to an error beyond the floor, and all of them are read again.
#[test]
fn merged_halves_are_read_again() {
    let params = HeavyHittersParams::with_capacity(0.3, 4).unwrap();
    let mut half = HeavyHitters::<u64>::builder().params(params).build().unwrap();
    (0..6).for_each(|key| _ = half.insert_many(&key, 3));
    half.insert(&9);
    half.halve();
    let mut merged = half.clone();
    for halves in 2..=20 {
        merged.merge(&half).unwrap();
        let read = HeavyHitters::<u64>::from_bytes(&merged.to_bytes()).unwrap();
        assert_eq!(read, merged, "{halves} halves");
        (0..6).for_each(|key| assert!(merged.estimate_interval(&key).contains(halves), "{key}"));
    }
}

/// Half of what a saturated count has lost is unknown, so nothing changes.
#[test]
fn a_saturated_summary_is_not_halved() {
    let mut summary = HeavyHitters::<u64>::new(0.1).unwrap();
    summary.insert_many(&1, u64::MAX);
    summary.insert_many(&2, 8);
    let before = summary.clone();
    assert_eq!(summary.halve(), 1);
    assert_eq!(summary, before);
    // Only the total is saturated: it stays so.
    let mut summary = HeavyHitters::<u64>::new(0.1).unwrap();
    summary.insert_many(&1, u64::MAX - 1);
    summary.insert_many(&2, 8);
    assert_eq!((summary.halve(), summary.total()), (0, u64::MAX));
    assert_eq!((summary.estimate(&1).value(), summary.estimate(&2).value()), (u64::MAX / 2, 4));
}

#[test]
fn borrowed_forms_of_composite_keys_are_the_owned_keys() {
    let mut summary = HeavyHitters::<(String, u32)>::new(0.2).unwrap();
    let mut list = TopK::<(String, u32)>::new(3).unwrap();
    let mut detector = SketchedHeavyHitters::<(String, u32)>::new(0.2, 0.01, 0.01).unwrap();
    let mut made = 0;
    for (text, number) in [("a", 1), ("a", 2), ("a", 1), ("b", 1), ("a", 1)] {
        let is_equal = |key: &(String, u32)| key.0 == text && key.1 == number;
        let mut to_key = || {
            made += 1;
            (text.to_owned(), number)
        };
        summary.insert_with(&(text, number), 1, is_equal, &mut to_key);
        list.insert_with(&(text, number), 1, is_equal, &mut to_key);
        detector.insert_with(&(text, number), 1, is_equal, &mut to_key);
    }
    let owned = ("a".to_owned(), 1);
    assert_eq!(made, 9, "an owned key is made only when it enters");
    assert_eq!(
        (summary.estimate(&owned), list.estimate(&owned)),
        (list.estimate(&("a", 1u32)), summary.insert_many(&owned, 0))
    );
    assert_eq!(summary.estimate(&owned), 3);
    let asked = summary.estimate_interval_with(&("a", 2u32), |key| key.0 == "a" && key.1 == 2);
    assert!(asked.contains(1) && !asked.contains(2));
    for top in [summary.top(), list.top(), detector.top()] {
        assert_eq!((top[0].key, top[0].estimate.value()), (&owned, 3));
    }
    assert_eq!(list.top().len(), 3);
}

#[test]
fn builders_say_what_they_miss() {
    let parameter = |error| match error {
        BuildError::Param(error) => error.parameter(),
        other => panic!("{other}"),
    };
    assert_eq!(parameter(HeavyHitters::<u8>::builder().build().unwrap_err()), "phi");
    let params = HeavyHittersParams::new(0.1).unwrap();
    let twice = HeavyHitters::<u8>::builder().phi(0.1).params(params);
    assert_eq!(parameter(twice.build().unwrap_err()), "phi");
    assert_eq!(parameter(TopK::<u8>::builder().build().unwrap_err()), "k");
    let detector = SketchedHeavyHitters::<u8>::builder();
    assert_eq!(parameter(detector.clone().error(0.1, 0.1).build().unwrap_err()), "phi");
    assert_eq!(parameter(detector.clone().phi(0.1).build().unwrap_err()), "error");
    assert_eq!(parameter(detector.phi(2.0).error(0.1, 0.1).build().unwrap_err()), "phi");
    let hasher = SipHashBuilder::from_key([1; 16]);
    assert_eq!(TopK::<u8>::builder().k(3).hasher(hasher).build().unwrap().hasher(), &hasher);
    let seeded = HeavyHitters::<u8>::builder().phi(0.1).seed(9).build().unwrap();
    assert_eq!(seeded.hasher(), &DefaultHashBuilder::with_seed(9));
}

/// Nine counts of which each gains a half by rounding, where six may: bytes are refused for more than the total.
#[test]
fn halving_gives_no_more_counts_than_the_total() {
    let params = HeavyHittersParams::with_capacity(0.5, 6).unwrap();
    let mut summary = HeavyHitters::<u64>::builder().params(params).build().unwrap();
    (0..6).for_each(|key| _ = summary.insert_many(&key, 8));
    summary.insert_many(&6, 3);
    // There is room for nine keys. The tenth makes the floor 3.
    (7..12).for_each(|key| _ = summary.insert(&key));
    assert_eq!((summary.estimate(&100).value(), summary.len(), summary.total()), (3, 9, 56));
    for _ in 0..2 {
        assert_eq!(summary.halve(), 0);
        assert_eq!(HeavyHitters::<u64>::from_bytes(&summary.to_bytes()).unwrap(), summary);
    }
    assert_eq!(
        (summary.estimate(&0).value(), summary.estimate_interval(&0).truth_at_least),
        (2, 2)
    );
}
