//! One sketch type in several storages: owned, shared by threads, and in bytes of any type.
#![cfg(all(feature = "std", target_has_atomic = "64"))]

extern crate alloc;

use alloc::sync::Arc;
use core::cell::Cell;
use core::panic::AssertUnwindSafe;
use pds_core::internal::{DecodeFault, Difference};
use std::panic::catch_unwind;
use std::thread;

use cms::bytes::ByteOptions;
use cms::error::{DecodeError, Incompatible, ParamError};
use cms::hash::{DefaultHashBuilder, KeyHasher, SipHashBuilder};
use cms::{
    AtomicCountMinSketch, Count, CountInterval, CountMinParams, CountMinSketch, CountMinSketchView,
    CountSketch, CountSketchView, Counter, CounterStorage, SignedCount, Update,
};
use pds_core::traits::Insert;
use pds_testkit::envelope::forged;

fn shape(width: u64, depth: u32) -> CountMinParams {
    CountMinParams::from_width_and_depth(width, depth).unwrap()
}

/// 2,000 inserts of 300 keys, some beyond a byte.
fn filled<C: Counter>(width: u64, depth: u32) -> CountMinSketch<DefaultHashBuilder, C> {
    let builder = CountMinSketch::builder().params(shape(width, depth)).counters::<C>();
    let mut sketch = builder.build().unwrap();
    (0..2_000u64).for_each(|i| _ = sketch.insert_many(&(i * i % 997 % 300), i % 7));
    sketch.insert_many(&0u64, 300);
    sketch
}

/// All answers of a sketch. It knows no storage.
fn answers<S: KeyHasher, C: Counter, W: CounterStorage>(
    sketch: &CountMinSketch<S, C, W>,
) -> Vec<(Count, CountInterval, f64)> {
    let keys: Vec<u64> = (0..400).collect();
    let mut counts = vec![Count::default(); keys.len()];
    sketch.estimate_batch(&keys, &mut counts);
    let single =
        |key| (sketch.estimate(key), sketch.estimate_interval(key), sketch.estimate_mean_min(key));
    let singles: Vec<_> = keys.iter().map(single).collect();
    assert!(singles.iter().map(|(count, ..)| *count).eq(counts), "batches are single calls");
    singles
}

/// Depths around the number of rows that are read at once, and counters of every width.
#[test]
fn every_storage_gives_the_same_answers() {
    fn check<C: Counter>() {
        for depth in [1, 3, 4, 5, 9] {
            let sketch = filled::<C>(97, depth);
            let (expected, bytes) = (answers(&sketch), sketch.to_bytes());
            let open = |bytes| CountMinSketchView::<_, _, C>::open(bytes).unwrap();
            assert_eq!(answers(&open(bytes.as_slice())), expected);
            let view = CountMinSketchView::<Arc<[u8]>, _, C>::open(bytes.clone().into()).unwrap();
            assert_eq!(answers(&view), expected);
            // At an odd address.
            let moved = [&[0], bytes.as_slice()].concat();
            assert_eq!(answers(&open(&moved[1..])), expected);
            let shared = AtomicCountMinSketch::try_from(sketch.clone()).unwrap();
            assert_eq!(answers(&shared), expected);
            assert_eq!(shared.to_bytes(), bytes);
            assert_eq!(answers(&shared.clone()), expected);
            assert!(shared.into_plain() == sketch);
            assert_eq!(view.get_ref()[..], bytes[..]);
            assert_eq!(view.size_in_bytes(), sketch.size_in_bytes());
        }
    }
    check::<u8>();
    check::<u16>();
    check::<u32>();
    check::<u64>();
}

#[test]
fn a_thousand_views_live_in_a_collection_without_lifetimes() {
    let bytes: Vec<Arc<[u8]>> = (1..=1_000u64)
        .map(|number| {
            let mut sketch = CountMinSketch::new(0.1, 0.1).unwrap();
            sketch.insert_many("key", number);
            sketch.to_bytes().into()
        })
        .collect();
    let views: Vec<CountMinSketchView<Arc<[u8]>>> =
        bytes.into_iter().map(|bytes| CountMinSketchView::open(bytes).unwrap()).collect();
    let copies = views.clone();
    let counts = move || copies.iter().map(|view| view.estimate("key").value()).sum::<u64>();
    assert_eq!(thread::spawn(counts).join().unwrap(), 500_500);
}

#[test]
fn views_of_count_sketches_own_their_bytes() {
    let mut sketch = CountSketch::new(0.1, 0.1).unwrap();
    (0..500u64).for_each(|i| _ = sketch.insert_many(&(i % 37), i));
    let view = CountSketchView::open(sketch.to_bytes()).unwrap();
    let keys: Vec<u64> = (0..100).collect();
    let mut counts = vec![SignedCount::default(); keys.len()];
    view.estimate_batch(&keys, &mut counts);
    assert!(keys.iter().map(|key| sketch.estimate(key)).eq(counts));
    assert_eq!((view.sum_of_squares(), view.width()), (sketch.sum_of_squares(), sketch.width()));
    assert!(view.verify().is_ok() && view.to_sketch().unwrap() == sketch);
    assert!(format!("{view:?}").starts_with("CountSketchView"));
}

/// Bytes that get shorter after they were opened.
struct Shrinking<'a> {
    bytes: &'a [u8],
    len: Cell<usize>,
}

impl AsRef<[u8]> for Shrinking<'_> {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.len.get()]
    }
}

#[test]
fn a_view_of_bytes_that_shrink_panics_instead_of_counting_less() {
    let bytes = filled::<u16>(97, 4).to_bytes();
    let shrinking = Shrinking { bytes: &bytes, len: Cell::new(bytes.len()) };
    let view = CountMinSketchView::<_, _, u16>::open(shrinking).unwrap();
    assert!(view.estimate(&0u64) > 0);
    for len in [0, 100, 200, bytes.len() - 33] {
        view.get_ref().len.set(len);
        let asked = catch_unwind(AssertUnwindSafe(|| view.estimate(&0u64)));
        assert!(asked.is_err(), "{len} bytes");
    }
}

/// A view verifies all that decoding checks.
#[test]
fn a_view_refuses_what_decoding_refuses() {
    let sketch = filled::<u32>(3, 1);
    let bytes = sketch.to_bytes();
    let tally = bytes.len() - 32;
    let forged = [
        forged(&bytes, tally, &1u64.to_le_bytes()),
        forged(&bytes, tally + 8, &(1u64 << 32).to_le_bytes()),
        forged(&bytes, tally + 8, &[0; 8]),
        forged(&bytes, tally + 16, &u64::MAX.to_le_bytes()),
        forged(&bytes, tally - 4, &[1]),
    ];
    for bytes in forged {
        let view: CountMinSketchView<_> = CountMinSketchView::open(&bytes).unwrap();
        let refused = view.verify().unwrap_err();
        assert!(matches!(
            refused,
            DecodeError(DecodeFault::Field { .. }) | DecodeError(DecodeFault::Padding { .. })
        ));
        let decoded: Result<CountMinSketch, _> = CountMinSketch::from_bytes(&bytes);
        assert_eq!(decoded.unwrap_err(), refused);
    }
    assert!(CountMinSketchView::<_, _, u32>::open(&bytes).unwrap().verify().is_ok());
}

/// With plain update, merging shared sketches gives the sketch of both streams, also at the limits.
#[test]
fn shared_sketches_merge_while_threads_insert() {
    fn check<C: Counter>() {
        let plain = filled::<C>(50, 3);
        let shared = AtomicCountMinSketch::try_from(plain.clone()).unwrap();
        let part = AtomicCountMinSketch::try_from(plain.clone()).unwrap();
        thread::scope(|scope| {
            scope.spawn(|| shared.merge(&part).unwrap());
            scope.spawn(|| (0..1_000u64).for_each(|key| _ = shared.insert(&(key % 90))));
        });
        let mut expected = plain.clone();
        expected.merge(&plain).unwrap();
        expected.extend((0..1_000u64).map(|key| key % 90));
        assert!(shared.clone().into_plain() == expected);
        // With itself.
        shared.merge(&shared).unwrap();
        expected.merge(&expected.clone()).unwrap();
        assert!(shared.into_plain() == expected);
    }
    check::<u8>();
    check::<u16>();
    check::<u32>();
    check::<u64>();
}

#[test]
fn a_shared_sketch_takes_over_what_the_other_has_lost() {
    let build = || CountMinSketch::builder().params(shape(64, 3)).counters::<u8>();
    let mut halved = build().build().unwrap();
    halved.insert_many("full", 1_000);
    halved.halve();
    let shared = build().build_atomic().unwrap();
    shared.merge(&AtomicCountMinSketch::try_from(halved.clone()).unwrap()).unwrap();
    assert!(shared.estimate("full").is_saturated() && shared.estimate("full") == 128);
    assert!(shared.into_plain() == halved);
}

#[test]
fn a_shared_sketch_refuses_others_and_can_be_cleared() {
    let build = |width| CountMinSketch::builder().params(shape(width, 2));
    let mut shared = build(50).build_atomic().unwrap();
    shared.extend(0..100);
    let before = shared.to_bytes();
    let refused = shared.merge(&build(51).build_atomic().unwrap());
    assert_eq!(
        refused,
        Err(Incompatible(Difference::Shape { parameter: "width", left: 50, right: 51 }))
    );
    let refused = shared.merge(&build(50).seed(1).build_atomic().unwrap());
    assert!(matches!(refused, Err(Incompatible(Difference::Hasher { .. }))));
    assert_eq!(shared.to_bytes(), before);
    shared.clear();
    assert_eq!(Insert::insert_hash(&mut &shared, 1 << 63), Ok(true));
    assert_eq!(Insert::insert_hash(&mut shared, 1 << 63), Ok(false));
    shared.clear();
    assert_eq!((shared.total(), shared.estimate(&1).value()), (0, 0));
    assert!(shared.into_plain() == build(50).build().unwrap());
}

#[test]
fn builders_say_what_they_miss() {
    let conservative = CountMinSketch::builder().error(0.1, 0.1).update(Update::Conservative);
    let refused = conservative.build_atomic().unwrap_err();
    let text = "update is conservative, but must be plain in a sketch that threads share";
    assert_eq!(refused.to_string(), text);
    let parameter = |error: ParamError| (error.parameter(), error.to_string());
    let missing = |error| match error {
        cms::error::BuildError::Param(error) => parameter(error),
        other => panic!("{other}"),
    };
    assert_eq!(missing(CountMinSketch::builder().build().unwrap_err()).0, "error");
    let twice = CountMinSketch::builder().error(0.1, 0.1).params(shape(9, 9));
    assert_eq!(missing(twice.build().unwrap_err()).0, "params");
    assert_eq!(missing(CountSketch::builder().build().unwrap_err()).0, "error");
    let hasher = SipHashBuilder::from_key([1; 16]);
    let sketch = CountSketch::builder().error(0.3, 0.3).hasher(hasher).build().unwrap();
    assert_eq!(sketch.hasher(), &hasher);
    let seeded = CountSketch::builder().error(0.3, 0.3).seed(5).build().unwrap();
    assert_eq!(seeded.hasher(), &DefaultHashBuilder::with_seed(5));
}

#[test]
fn a_view_takes_its_hasher_from_the_caller() {
    let hasher = SipHashBuilder::from_key([7; 16]);
    let builder = CountMinSketch::builder().error(0.1, 0.1).hasher(hasher).counters::<u8>();
    let mut sketch = builder.build().unwrap();
    sketch.insert_many("key", 9);
    let bytes = ByteOptions::new().without_key().to_bytes(&sketch);
    let view: CountMinSketchView<_, _, u8> = ByteOptions::new().hasher(hasher).open(bytes).unwrap();
    assert_eq!(view.estimate("key"), 9);
    assert!(format!("{view:?}").starts_with("CountMinSketchView"));
}
