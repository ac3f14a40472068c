//! Faults that users of such sketches have met elsewhere, each as what must hold here.
#![cfg(feature = "std")]

use cms::{
    AtomicCountMinSketch, Count, CountMinParams, CountMinSketch, CountSketch, Counter,
    HeavyHitters, SketchedHeavyHitters, TopK, Update,
};
use core::hash::BuildHasher;
use pds_core::hash::finalize;
use pds_core::{
    Avalanching, BuildError, DecodeError, DefaultHashBuilder, Incompatible, KeyHasher, Mixed,
    ParamError, Raw, SipHashBuilder,
};
use pds_testkit::hashers::{Crc64Builder, Fnv1aBuilder, FxBuilder, IdentityBuilder};
use pds_testkit::keys;

fn shape(width: u64, depth: u32) -> CountMinParams {
    CountMinParams::from_width_and_depth(width, depth).unwrap()
}

/// Rows beyond 2^32 counters: columns spread over the whole row.
#[test]
fn case_02_columns_use_all_of_a_row_beyond_32_bits() {
    let width = 1u64 << 40;
    let mut eighths = [0u32; 8];
    for hash in 0..8_000 {
        let mut rows = cms::RowHash::new(finalize(hash));
        for _ in 0..4 {
            eighths[usize::try_from(rows.next_column(width) >> 37).unwrap()] += 1;
        }
    }
    // 4,000 each, with a standard deviation of 59.
    assert!(eighths.iter().all(|&count| count.abs_diff(4_000) < 350), "{eighths:?}");
}

#[test]
fn case_05_impossible_parameters_name_themselves() {
    for bad in [0.0, 1.0, -1.0, 1.1, f64::NAN, f64::INFINITY] {
        let error = CountMinSketch::new(bad, 0.1).unwrap_err();
        assert!(error.to_string().starts_with("epsilon is "), "{error}");
        let error = CountMinSketch::new(0.1, bad).unwrap_err();
        assert!(error.to_string().starts_with("delta is "), "{error}");
        let error = HeavyHitters::<u8>::new(bad).unwrap_err();
        assert!(error.to_string().starts_with("phi is "), "{error}");
        let error = SketchedHeavyHitters::<u8>::new(bad, 0.1, 0.1).unwrap_err();
        assert!(error.to_string().starts_with("phi is "), "{error}");
        let error = SketchedHeavyHitters::<u8>::new(0.1, bad, 0.1).unwrap_err();
        assert!(error.to_string().starts_with("epsilon is "), "{error}");
        let error = CountSketch::new(0.1, bad).unwrap_err();
        assert!(error.to_string().starts_with("delta is "), "{error}");
    }
    assert!(CountMinSketch::new(0.99, 0.99).is_ok());
    let error = TopK::<u8>::new(0).unwrap_err();
    assert!(matches!(error, BuildError::Param(ParamError::OutOfRange { parameter: "k", .. })));
}

#[test]
fn case_06_what_cannot_be_had_is_a_typed_error() {
    let huge = CountMinSketch::builder(shape(1 << 59, 2));
    assert!(huge.build().is_err());
    assert!(matches!(
        CountMinSketch::new(1e-300, 0.1),
        Err(BuildError::Param(ParamError::TooLarge { .. }))
    ));
    assert!(CountSketch::new(1e-9, 0.1).is_err());
    assert!(HeavyHitters::<u8>::new(1e-18).is_err());
    // Two terabytes: had or refused, without an abort.
    if let Err(error) = HeavyHitters::<[u64; 128]>::new(5e-10) {
        assert!(matches!(error, BuildError::Alloc(_)));
    }
}

/// The mean error under weak hashes is that under a good one.
#[test]
fn case_08_weak_hashes_cost_no_accuracy() {
    fn mean_error<S: KeyHasher>(hasher: S, keys: &[u64]) -> f64 {
        let mut sketch =
            CountMinSketch::<_, u32>::from_params(shape(2_000, 3), Update::Plain, hasher).unwrap();
        sketch.extend(keys);
        keys.iter().map(|key| sketch.estimate(key).value() - 1).sum::<u64>() as f64
            / keys.len() as f64
    }
    for keys in [
        keys::consecutive(0).take(40_000).collect::<Vec<_>>(),
        keys::strided(0, 1 << 20).take(40_000).collect(),
        keys::byte_swapped(0).take(40_000).collect(),
    ] {
        let good = mean_error(DefaultHashBuilder::default(), &keys);
        // Of three rows with 20 others on average the least has about 16.
        assert!((15.0..17.0).contains(&good), "{good}");
        for error in [
            mean_error(Mixed(IdentityBuilder), &keys),
            mean_error(Mixed(FxBuilder), &keys),
            mean_error(Mixed(Fnv1aBuilder), &keys),
            mean_error(Mixed(Crc64Builder), &keys),
        ] {
            assert!((error / good - 1.0).abs() < 0.03, "{error} against {good}");
        }
    }
}

/// Counters stop at their limit on add and on merge, and an answer at the limit says "at least".
#[test]
fn case_11_estimates_are_never_below_the_truth() {
    fn check<C: Counter>() {
        let limit: u64 = C::MAX.into();
        for update in [Update::Plain, Update::Conservative] {
            let build = || {
                CountMinSketch::<_, C>::from_params(
                    shape(32, 3),
                    update,
                    DefaultHashBuilder::default(),
                )
                .unwrap()
            };
            let (mut left, mut right) = (build(), build());
            for (key, count) in
                [("low", 3), ("near", limit - 1), ("full", limit), ("over", u64::MAX)]
            {
                left.insert_many(key, count);
                right.insert_many(key, count);
                let answer = left.estimate(key);
                assert!(answer.value() >= count || answer.is_saturated(), "{key}");
            }
            left.merge(&right).unwrap();
            for (key, count) in [("low", 6), ("near", 2 * (u128::from(limit) - 1))] {
                let answer = left.estimate(key);
                assert!(u128::from(answer.value()) >= count || answer.is_saturated(), "{key}");
            }
            let interval = left.estimate_interval("over");
            assert_eq!(interval.truth_at_most, None);
        }
    }
    check::<u8>();
    check::<u16>();
    check::<u32>();
    check::<u64>();
}

#[test]
fn case_12_the_smallest_sketches_work() {
    let mut one = CountMinSketch::builder(shape(1, 1)).counters::<u8>().build().unwrap();
    one.extend(0..200);
    assert_eq!(one.estimate(&7), 200);
    assert_eq!(CountMinSketch::<_, u8>::from_bytes(&one.to_bytes()).unwrap(), one);
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

/// Merging what differs is an error, for any hasher, and changes nothing.
#[test]
fn case_13_what_differs_is_not_merged() {
    fn refuses<S: KeyHasher + Clone>(left: S, right: S) {
        let build = |hasher| {
            let mut sketch =
                CountMinSketch::<_, u32>::from_params(shape(9, 2), Update::Plain, hasher).unwrap();
            sketch.insert("key");
            sketch
        };
        let (mut sketch, before) = (build(left.clone()), build(left));
        let error = sketch.merge(&build(right)).unwrap_err();
        assert!(matches!(error, Incompatible::Hasher { .. }));
        assert!(sketch == before);
    }
    refuses(DefaultHashBuilder::with_seed(1), DefaultHashBuilder::with_seed(2));
    refuses(SipHashBuilder::from_key([1; 16]), SipHashBuilder::from_key([2; 16]));
    refuses(Avalanching(std::hash::RandomState::new()), Avalanching(std::hash::RandomState::new()));
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
        Err(Incompatible::Shape { parameter, .. } | Incompatible::Share { parameter, .. }) => {
            parameter
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(named(detector.merge(&build(0.2, 0.1))), "phi");
    assert_eq!(named(detector.merge(&build(0.1, 0.2))), "width");
    let seeded = DefaultHashBuilder::with_seed(1);
    let params = before.sketch().params();
    let seeded = SketchedHeavyHitters::<u64>::from_params(0.1, params, seeded).unwrap();
    assert!(matches!(detector.merge(&seeded), Err(Incompatible::Hasher { .. })));
    assert!(detector == before && detector != build(0.2, 0.1));
}

#[test]
fn case_15_decoding_then_merging_is_merging() {
    let build = |keys: core::ops::Range<u64>| {
        let mut summary = HeavyHitters::<u64>::new(0.05).unwrap();
        let mut top = TopK::<u64>::new(5).unwrap();
        let mut signed = CountSketch::new(0.1, 0.1).unwrap();
        let mut detector = SketchedHeavyHitters::<u64>::new(0.02, 0.05, 0.1).unwrap();
        for key in keys {
            summary.insert(&(key * key % 97));
            top.insert(&(key * key % 97));
            signed.insert(&(key * key % 97));
            detector.insert(&(key * key % 97));
        }
        (summary, top, signed, detector)
    };
    let (mut a, b) = (build(0..700), build(300..999));
    let mut decoded = (
        HeavyHitters::<u64>::from_bytes(&a.0.to_bytes()).unwrap(),
        TopK::<u64>::from_bytes(&a.1.to_bytes()).unwrap(),
        CountSketch::from_bytes(&a.2.to_bytes()).unwrap(),
        SketchedHeavyHitters::<u64>::from_bytes(&a.3.to_bytes()).unwrap(),
    );
    a.0.merge(&b.0).unwrap();
    a.1.merge(&b.1).unwrap();
    a.2.merge(&b.2).unwrap();
    a.3.merge(&b.3).unwrap();
    decoded.0.merge(&b.0).unwrap();
    decoded.1.merge(&b.1).unwrap();
    decoded.2.merge(&b.2).unwrap();
    decoded.3.merge(&b.3).unwrap();
    // What bytes leave out is missing on both sides of a comparison of bytes.
    assert!(decoded == a);
    assert_eq!(decoded.0.to_bytes(), a.0.to_bytes());
    assert_eq!(decoded.1.to_bytes(), a.1.to_bytes());
    assert_eq!(decoded.2.to_bytes(), a.2.to_bytes());
    assert_eq!(decoded.3.to_bytes(), a.3.to_bytes());
    assert!(a.3.top().len() > 5);
}

/// A header that claims a petabyte, with a right checksum: the length is looked at first.
#[test]
fn case_17_hostile_lengths_allocate_nothing() {
    let mut bytes = CountMinSketch::new(0.1, 0.1).unwrap().to_bytes();
    let (width, depth) = (1u64 << 48, 3);
    bytes[56..64].copy_from_slice(&width.to_le_bytes());
    bytes[112..120].copy_from_slice(&(4 * width * depth + 8).to_le_bytes());
    let sum = DefaultHashBuilder::default().hash_one(Raw(&bytes[..120]));
    bytes[120..128].copy_from_slice(&sum.to_le_bytes());
    let read = CountMinSketch::<DefaultHashBuilder, u32>::from_bytes;
    assert!(matches!(read(&bytes), Err(DecodeError::Truncated { .. })));
    for end in 0..bytes.len() {
        assert!(read(&bytes[..end]).is_err());
    }
}

/// Counters whose rows end inside a word come back unchanged.
#[test]
fn case_20_any_number_of_counters_round_trips() {
    for width in 1..20 {
        for depth in 1..4 {
            let mut sketch =
                CountMinSketch::builder(shape(width, depth)).counters::<u8>().build().unwrap();
            sketch.extend(0..50);
            assert_eq!(CountMinSketch::<_, u8>::from_bytes(&sketch.to_bytes()).unwrap(), sketch);
        }
    }
}

/// A shared sketch loses nothing at its counters' limit either.
#[test]
fn case_11_shared_counters_stop_at_their_limit() {
    let shared =
        AtomicCountMinSketch::<_, u8>::from_params(shape(32, 3), DefaultHashBuilder::default());
    let shared = shared.unwrap();
    for _ in 0..300 {
        shared.insert("full");
    }
    shared.insert_many("low", 3);
    assert!(shared.estimate("full").is_saturated() && shared.estimate("full") == 255);
    assert_eq!(shared.estimate_interval("full").truth_at_most, None);
    assert_eq!((shared.estimate("low").value(), shared.total()), (3, 303));
}

#[test]
fn case_24_many_keys_are_asked_in_one_call() {
    let words: Vec<String> = keys::urls(1).take(3_000).collect();
    for (update, width) in
        [(Update::Plain, 500), (Update::Conservative, 500), (Update::Plain, 1 << 17)]
    {
        let build = || {
            let hasher = DefaultHashBuilder::default();
            CountMinSketch::<_, u32>::from_params(shape(width, 4), update, hasher).unwrap()
        };
        let (mut batch, mut single) = (build(), build());
        batch.insert_batch(&words);
        single.extend(&words);
        assert!(batch == single);
        for length in [0, 1, 63, 64, 65, 1_000] {
            let asked: Vec<String> = keys::urls(1).skip(2_900).take(length).collect();
            let mut counts = vec![Count::default(); length];
            batch.estimate_batch(&asked, &mut counts);
            assert!(counts.iter().take(100).all(|&count| count >= 1));
            assert!(asked.iter().map(|key| single.estimate(key)).eq(counts));
        }
    }
}

#[test]
fn case_24_many_keys_of_a_count_sketch_are_asked_in_one_call() {
    let words: Vec<String> = keys::urls(1).take(3_000).collect();
    let build = || CountSketch::new(0.1, 0.1).unwrap();
    let (mut batch, mut single) = (build(), build());
    batch.insert_batch(&words);
    single.extend(&words);
    assert!(batch == single);
    for length in [0, 1, 63, 64, 65, 1_000] {
        let mut counts = vec![0; length];
        batch.estimate_batch(&words[..length], &mut counts);
        assert!(words[..length].iter().map(|key| single.estimate(key)).eq(counts));
    }
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
        assert_eq!((summary.sketch().estimate(key).value(), heavy.estimate(key)), (count, count));
    }
    assert_eq!(HeavyHitters::<Vec<u8>>::from_bytes(&heavy.to_bytes()).unwrap(), heavy);
}
