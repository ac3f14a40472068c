//! Faults that users of such sketches have met elsewhere. Each test states the correct behaviour.
#![cfg(feature = "std")]

use cms::{
    AtomicCountMinSketch, Count, CountMinParams, CountMinSketch, CountMinSketchView, CountSketch,
    CountSketchParams, CountSketchView, Counter, SignedCount, Update,
};
use pds_core::error::{BuildError, DecodeError, Incompatible, ParamError};
use pds_core::hash::{Avalanching, DefaultHashBuilder, KeyHasher, Mixed, SipHashBuilder, finalize};
use pds_core::internal::{DecodeFault, Difference};
use pds_params::internal::ParamFault;
use pds_testkit::envelope::claiming;
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
        let mut rows = cms::internal::RowHash::new(finalize(hash));
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
        let error = CountSketch::new(0.1, bad).unwrap_err();
        assert!(error.to_string().starts_with("delta is "), "{error}");
    }
    assert!(CountMinSketch::new(0.99, 0.99).is_ok());
}

#[test]
fn case_06_what_cannot_be_had_is_a_typed_error() {
    let huge = CountMinSketch::builder().params(shape(1 << 59, 2));
    assert!(huge.build().is_err());
    assert!(matches!(
        CountMinSketch::new(1e-300, 0.1),
        Err(BuildError::Param(ParamError(ParamFault::TooLarge { .. })))
    ));
    assert!(CountSketch::new(1e-9, 0.1).is_err());
}

/// The mean error with weak hashes is that with a good hash.
#[test]
fn case_08_weak_hashes_cost_no_accuracy() {
    fn mean_error<S: KeyHasher>(hasher: S, keys: &[u64]) -> f64 {
        let mut sketch = CountMinSketch::builder()
            .params(shape(2_000, 3))
            .counters::<u32>()
            .hasher(hasher)
            .build()
            .unwrap();
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
        // Of three rows with 20 other keys on average, the least has about 16.
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

/// Counters saturate on insert and on merge, and an answer at the limit says "at least".
#[test]
fn case_11_estimates_are_never_below_the_truth() {
    fn check<C: Counter>() {
        let limit: u64 = C::MAX.into();
        for update in [Update::Plain, Update::Conservative] {
            let build = || {
                CountMinSketch::builder()
                    .params(shape(32, 3))
                    .counters::<C>()
                    .update(update)
                    .build()
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
    let mut one = CountMinSketch::builder().params(shape(1, 1)).counters::<u8>().build().unwrap();
    one.extend(0..200);
    assert_eq!(one.estimate(&7), 200);
    assert_eq!(CountMinSketch::<_, u8>::from_bytes(&one.to_bytes()).unwrap(), one);
}

/// Merging incompatible sketches is an error for any hasher, and changes nothing.
#[test]
fn case_13_what_differs_is_not_merged() {
    fn refuses<S: KeyHasher + Clone>(left: S, right: S) {
        let build = |hasher| {
            let mut sketch = CountMinSketch::builder()
                .params(shape(9, 2))
                .counters::<u32>()
                .hasher(hasher)
                .build()
                .unwrap();
            sketch.insert("key");
            sketch
        };
        let (mut sketch, before) = (build(left.clone()), build(left));
        let error = sketch.merge(&build(right)).unwrap_err();
        assert!(matches!(error, Incompatible(Difference::Hasher { .. })));
        assert!(sketch == before);
    }
    refuses(DefaultHashBuilder::with_seed(1), DefaultHashBuilder::with_seed(2));
    refuses(SipHashBuilder::from_key([1; 16]), SipHashBuilder::from_key([2; 16]));
    refuses(Avalanching(std::hash::RandomState::new()), Avalanching(std::hash::RandomState::new()));
}

#[test]
fn case_15_decoding_then_merging_is_merging() {
    let build = |keys: core::ops::Range<u64>| {
        let mut signed = CountSketch::new(0.1, 0.1).unwrap();
        signed.extend(keys.map(|key| key * key % 97));
        signed
    };
    let (mut sketch, other) = (build(0..700), build(300..999));
    let mut decoded = CountSketch::from_bytes(&sketch.to_bytes()).unwrap();
    sketch.merge(&other).unwrap();
    decoded.merge(&other).unwrap();
    // A comparison of bytes does not cover what the bytes omit.
    assert!(decoded == sketch);
    assert_eq!(decoded.to_bytes(), sketch.to_bytes());
}

/// A header that claims a petabyte, with a correct checksum. The length is checked first.
#[test]
fn case_17_hostile_lengths_allocate_nothing() {
    let sketch = CountMinSketch::new(0.1, 0.1).unwrap();
    let (width, depth) = (1u64 << 48, u64::from(sketch.depth()));
    let bytes = claiming(&sketch.to_bytes(), width, 4 * width * depth + 8);
    let read = CountMinSketch::<DefaultHashBuilder, u32>::from_bytes;
    assert!(matches!(read(&bytes), Err(DecodeError(DecodeFault::Truncated { .. }))));
    for end in 0..bytes.len() {
        assert!(read(&bytes[..end]).is_err());
    }
}

/// Counters whose rows end inside a word are unchanged after a round trip.
#[test]
fn case_20_any_number_of_counters_round_trips() {
    for width in 1..20 {
        for depth in 1..4 {
            let mut sketch = CountMinSketch::builder()
                .params(shape(width, depth))
                .counters::<u8>()
                .build()
                .unwrap();
            sketch.extend(0..50);
            assert_eq!(CountMinSketch::<_, u8>::from_bytes(&sketch.to_bytes()).unwrap(), sketch);
        }
    }
}

/// A shared sketch loses nothing at the limit of its counters either.
#[test]
fn case_11_shared_counters_stop_at_their_limit() {
    let shared = CountMinSketch::builder().params(shape(32, 3)).counters::<u8>().build_atomic();
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
            CountMinSketch::builder()
                .params(shape(width, 4))
                .counters::<u32>()
                .update(update)
                .hasher(hasher)
                .build()
                .unwrap()
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
        let mut counts = vec![SignedCount::default(); length];
        batch.estimate_batch(&words[..length], &mut counts);
        assert!(words[..length].iter().map(|key| single.estimate(key)).eq(counts));
    }
}

fn sketch_of<C: Counter>(width: u64, depth: u32) -> CountMinSketch<DefaultHashBuilder, C> {
    CountMinSketch::builder().params(shape(width, depth)).counters::<C>().build().unwrap()
}

/// A counter that has lost counts cannot return to an exact number, up or down.
#[test]
fn case_35_signed_counters_stay_at_their_limits() {
    let build = || CountSketch::new(0.1, 0.1).unwrap();
    for end in [1i64, -1] {
        let add = |sketch: &mut CountSketch, count: i64| sketch.add_hash(finalize(7), count * end);
        let mut sketch = build();
        assert!(!add(&mut sketch, i64::MAX - 1).is_saturated());
        assert_eq!(add(&mut sketch, 1), i64::MAX * end);
        assert!(add(&mut sketch, -i64::MAX / 2).is_saturated());
        assert!(sketch.estimate_hash(finalize(7)).is_saturated());
        assert_eq!(sketch.estimate_hash(finalize(8)).value(), 0, "another key has other counters");
        assert_eq!(sketch.sum_of_squares(), None);
        // Merged with counts of the other sign, in both orders. An empty sketch changes nothing.
        let mut other = build();
        add(&mut other, -5);
        let (mut one, mut two, mut none) = (sketch.clone(), other.clone(), build());
        one.merge(&other).unwrap();
        two.merge(&sketch).unwrap();
        none.merge(&sketch).unwrap();
        assert!(one == two && one == sketch && none == sketch);
        let bytes = sketch.to_bytes();
        assert_eq!(CountSketch::from_bytes(&bytes).unwrap(), sketch);
        let view = CountSketchView::open(&bytes).unwrap();
        assert_eq!(view.estimate_hash(finalize(7)), sketch.estimate_hash(finalize(7)));
        let (mut left, mut right) = (build(), build());
        add(&mut left, i64::MAX);
        add(&mut right, -i64::MAX);
        let (mut one, mut two) = (left.clone(), right.clone());
        one.merge(&right).unwrap();
        two.merge(&left).unwrap();
        assert!(one == two && one.estimate_hash(finalize(7)).is_saturated());
    }
    let mut sketch = build();
    sketch.remove_many("key", 5);
    assert!(sketch.insert_many("key", u64::MAX).is_saturated(), "a count beyond 63 bits");
    assert!(build().add_hash(1, i64::MIN).is_saturated());
    assert_eq!(sketch.estimate("key").to_string(), "9223372036854775807 (saturated)");
}

/// After halving, a saturated counter gives no upper bound, in any form of the sketch.
#[test]
fn case_35_halving_forgets_no_saturation() {
    let mut sketch = sketch_of::<u8>(500, 3);
    sketch.insert_many("full", 1_000);
    sketch.insert_many("low", 100);
    assert_eq!(sketch.halve(), 3);
    let check = |interval: cms::CountInterval| assert_eq!(interval.truth_at_most, None);
    check(sketch.estimate_interval("full"));
    assert_eq!(sketch.estimate_interval("low").truth_at_most, Some(50));
    let bytes = sketch.to_bytes();
    check(CountMinSketch::<_, u8>::from_bytes(&bytes).unwrap().estimate_interval("full"));
    check(CountMinSketchView::<_, _, u8>::open(&bytes).unwrap().estimate_interval("full"));
    let shared = AtomicCountMinSketch::<_, u8>::try_from(sketch.clone()).unwrap();
    check(shared.estimate_interval("full"));
    check(shared.into_plain().estimate_interval("full"));
    let (mut merged, mut into) = (sketch_of::<u8>(500, 3), sketch.clone());
    merged.merge(&sketch).unwrap();
    into.merge(&sketch_of(500, 3)).unwrap();
    assert!(merged == sketch && into == sketch);
    let counted = sketch.inner_product(&merged).unwrap();
    assert!(counted.is_saturated, "500 * 500 against 128 * 128");
    // A saturated total does not bound what is lost.
    let mut endless = sketch_of::<u8>(500, 3);
    (0..2).for_each(|_| _ = endless.insert_many("full", u64::MAX));
    (0..200).for_each(|_| _ = endless.halve());
    assert_eq!((endless.estimate("full").value(), endless.total()), (1, u64::MAX));
    assert!(endless.estimate("full").is_saturated() && !endless.estimate("never").is_saturated());
    // The bound returns when no counter is as high.
    let mut healed = sketch_of::<u8>(500, 3);
    healed.insert_many("low", 255);
    healed.halve();
    healed.clear();
    healed.insert_many("low", 200);
    assert_eq!(healed.halve(), 0);
    assert_eq!(healed.estimate_interval("low").truth_at_most, Some(100));
}

/// A row without saturated counters bounds a product, even if another row gives less.
#[test]
fn case_35_a_product_is_bounded_by_rows_that_lost_nothing() {
    let (mut known, mut less) = (0, 0);
    for seed in 0..500 {
        let build = || {
            let hasher = DefaultHashBuilder::with_seed(seed);
            CountMinSketch::builder()
                .params(shape(3, 2))
                .counters::<u8>()
                .hasher(hasher)
                .build()
                .unwrap()
        };
        let (mut left, mut right) = (build(), build());
        (0..4u64).for_each(|key| _ = left.insert_many(&key, 80 * key));
        (4..8u64).for_each(|key| _ = right.insert_many(&key, 20 * key));
        left.insert_many(&9u64, 10);
        right.insert_many(&9u64, 10);
        let rows =
            left.counters().chunks(3).zip(right.counters().chunks(3)).map(|(left, right)| {
                let pairs = || left.iter().zip(right).filter(|&(&l, &r)| l > 0 && r > 0);
                let product: u128 = pairs().map(|(&l, &r)| u128::from(l) * u128::from(r)).sum();
                (pairs().any(|(&l, &r)| l == 255 || r == 255), product)
            });
        let rows: Vec<_> = rows.collect();
        let best = rows.iter().filter(|(full, _)| !full).map(|&(_, product)| product).min();
        let product = left.inner_product(&right).unwrap();
        assert_eq!(best, (!product.is_saturated).then_some(product.value));
        assert!(product.is_saturated || product.value >= 100);
        known += u32::from(best.is_some());
        less += u32::from(best.is_some_and(|best| rows.iter().any(|&(_, other)| other < best)));
    }
    assert!(known > 20 && less > 20, "{known} {less}");
    let mut wide = sketch_of::<u64>(9, 2);
    wide.insert_many("a", u64::MAX);
    assert_eq!(wide.inner_product(&sketch_of(9, 2)).unwrap().error, f64::INFINITY);
}

/// A total at its limit gives no lower bound: the true total may be any greater number.
#[test]
fn case_35_a_saturated_total_gives_no_lower_bound() {
    let mut sketch = sketch_of::<u64>(1, 1);
    (0..3).for_each(|_| _ = sketch.insert_many("others", u64::MAX / 2));
    let mut shared = CountMinSketch::builder().params(shape(1, 1)).counters::<u64>().build_atomic();
    let shared = shared.as_mut().unwrap();
    (0..3).for_each(|_| _ = shared.insert_many("others", u64::MAX / 2));
    let bytes = sketch.to_bytes();
    let view = CountMinSketchView::<_, _, u64>::open(&bytes).unwrap();
    for interval in [
        sketch.estimate_interval("never"),
        shared.estimate_interval("never"),
        view.estimate_interval("never"),
    ] {
        assert_eq!((interval.truth_at_least, interval.truth_at_most), (0, None));
    }
    // The estimate of a wide sketch whose counters are not saturated gives none either.
    let mut wide = sketch_of::<u64>(1_000, 4);
    (0..9u64).for_each(|key| _ = wide.insert_many(&key, u64::MAX / 8));
    let interval = wide.estimate_interval(&3u64);
    assert_eq!((interval.truth_at_least, interval.truth_at_most), (0, Some(u64::MAX / 8)));
    assert_eq!(CountMinSketch::<_, u64>::from_bytes(&bytes).unwrap(), sketch);
}

/// An increment of 0 changes no byte, for any earlier counts.
#[test]
fn case_36_an_increment_of_zero_changes_nothing() {
    for seed in 0..50 {
        let hasher = DefaultHashBuilder::with_seed(seed);
        let mut signed = CountSketch::from_params(
            CountSketchParams::from_width_and_depth(2, 2).unwrap(),
            hasher,
        )
        .unwrap();
        let mut plain =
            CountMinSketch::builder().params(shape(2, 2)).counters::<u8>().hasher(hasher).build();
        let plain = plain.as_mut().unwrap();
        let mut careful = CountMinSketch::builder()
            .params(shape(2, 9))
            .counters::<u8>()
            .update(Update::Conservative)
            .hasher(hasher)
            .build();
        let careful = careful.as_mut().unwrap();
        let shared = CountMinSketch::builder()
            .params(shape(2, 2))
            .counters::<u8>()
            .hasher(hasher)
            .build_atomic()
            .unwrap();
        let mut bytes = Vec::new();
        for (key, count) in
            [("never", 0), ("foo", 10), ("bar", 42), ("bar", 0), ("never", 0), ("foo", 0)]
        {
            signed.insert_many(key, count);
            signed.remove_many(key, count);
            signed.insert_many(key, count);
            plain.insert_many(key, count);
            careful.insert_many(key, count);
            shared.insert_many(key, count);
            plain.insert_batch::<&str>(&[]);
            careful.insert_batch::<&str>(&[]);
            signed.insert_batch::<&str>(&[]);
            let after =
                [signed.to_bytes(), plain.to_bytes(), careful.to_bytes(), shared.to_bytes()];
            assert!(count > 0 || bytes.is_empty() || bytes == after, "seed {seed}: {key}");
            bytes = after.to_vec();
        }
    }
}

/// An empty operand on the right changes no byte. On the left it gives the bytes of the other.
#[test]
fn case_29_an_empty_operand_is_the_identity_of_merging() {
    for (seed, inserts) in (0..30).zip([0, 1, 3, 40, 400].into_iter().cycle()) {
        let hasher = DefaultHashBuilder::with_seed(seed);
        macro_rules! identity {
            ($build:expr, $insert:expr) => {
                let mut some = $build;
                (0..inserts).map(|i| i * i % 31).for_each(|key: u64| _ = $insert(&mut some, key));
                let (mut left, mut right) = ($build, some.clone());
                left.merge(&some).unwrap();
                right.merge(&$build).unwrap();
                assert!(right.to_bytes() == some.to_bytes(), "empty on the right, {seed}");
                assert!(left.to_bytes() == some.to_bytes(), "empty on the left, {seed}");
                assert!(left == some && right == some);
            };
        }
        for update in [Update::Plain, Update::Conservative] {
            identity!(
                CountMinSketch::builder()
                    .params(shape(5, 3))
                    .counters::<u8>()
                    .update(update)
                    .hasher(hasher)
                    .build()
                    .unwrap(),
                |sketch: &mut CountMinSketch<_, u8>, key| sketch.insert(&key)
            );
        }
        let signed = CountSketchParams::from_width_and_depth(5, 3).unwrap();
        identity!(
            CountSketch::from_params(signed, hasher).unwrap(),
            |sketch: &mut CountSketch, key| { sketch.insert(&key) }
        );
    }
}

/// Each full counter is rounded up and the total only once, and the sketch is read again all the same.
#[test]
fn full_counters_that_are_halved_are_read_again() {
    let mut sketch =
        CountMinSketch::builder().params(shape(64, 1)).counters::<u8>().build().unwrap();
    (0..40).for_each(|key| _ = sketch.insert_many(&key, 255));
    for halvings in 0..12 {
        let read = CountMinSketch::<_, u8>::from_bytes(&sketch.to_bytes());
        assert!(read.unwrap() == sketch, "after {halvings} halvings");
        sketch.halve();
    }
}
