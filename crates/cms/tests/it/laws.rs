//! Laws that hold for every stream and every shape.
#![cfg(feature = "std")]

use std::collections::HashMap;

use crate::histories::{Step, Weight, follow};
use cms::{
    Count, CountMinParams, CountMinSketch, CountMinSketchView, CountSketch, CountSketchParams,
    CountSketchView, Counter, SignedCount, Update,
};
use pds_core::hash::DefaultHashBuilder;
use quickcheck::{Arbitrary, Gen, quickcheck};

/// A small sketch, in which keys meet.
#[derive(Clone, Copy, Debug)]
struct Shape {
    params: CountMinParams,
    update: Update,
}

impl Arbitrary for Shape {
    fn arbitrary(g: &mut Gen) -> Self {
        let (width, depth) =
            (1 + u64::from(u8::arbitrary(g)) % 70, 1 + u32::from(u8::arbitrary(g)) % 9);
        let update = *g.choose(&[Update::Plain, Update::Conservative]).unwrap();
        Self { params: CountMinParams::from_width_and_depth(width, depth).unwrap(), update }
    }
}

/// Sketches with 8-bit counters, so that keys come often and counters saturate.
type Narrow = CountMinSketch<DefaultHashBuilder, u8>;

fn sketch(shape: Shape, stream: &[(u8, u8)]) -> Narrow {
    let mut sketch = empty(shape);
    for (key, count) in stream {
        sketch.insert_many(key, (*count).into());
    }
    sketch
}

fn counting<C: Counter>(shape: Shape) -> CountMinSketch<DefaultHashBuilder, C> {
    let builder = CountMinSketch::builder().params(shape.params).update(shape.update);
    builder.counters().build().unwrap()
}

fn empty(shape: Shape) -> Narrow {
    counting(shape)
}

fn truth<'a>(stream: impl IntoIterator<Item = &'a (u8, u8)>) -> HashMap<u8, u64> {
    let mut counts = HashMap::new();
    stream
        .into_iter()
        .for_each(|&(key, count)| *counts.entry(key).or_default() += u64::from(count));
    counts
}

/// Returns whether an answer is correct for a count: an upper bound, or saturated.
fn bounds(count: Count, truth: u64) -> bool {
    count.value() >= truth || count.is_saturated()
}

fn sketch_keeps_bounds<C: Counter>(shape: Shape, steps: Vec<Step>) -> bool {
    type Sketch<C> = CountMinSketch<DefaultHashBuilder, C>;
    let build = || counting::<C>(shape);
    let halve = |sketch: &mut Sketch<C>| {
        sketch.halve();
        true
    };
    let (sketch, exact) = follow!(steps, build(), Sketch::<C>::from_bytes, halve);
    let bytes = sketch.to_bytes();
    let view = CountMinSketchView::<_, _, C>::open(&bytes).unwrap();
    (0..13).all(|key| {
        let (estimate, interval) = (sketch.estimate(&key), sketch.estimate_interval(&key));
        exact.is_bounded(key, estimate, interval, false)
            && (view.estimate(&key), view.estimate_interval(&key)) == (estimate, interval)
            && interval.truth_at_most.is_none_or(|most| most <= sketch.total())
    })
}

quickcheck! {
    fn histories_of_narrow_sketches_keep_their_bounds(shape: Shape, steps: Vec<Step>) -> bool {
        sketch_keeps_bounds::<u8>(shape, steps)
    }

    fn histories_of_sketches_keep_their_bounds(shape: Shape, steps: Vec<Step>) -> bool {
        sketch_keeps_bounds::<u32>(shape, steps.clone()) && sketch_keeps_bounds::<u64>(shape, steps)
    }

    /// A count sketch of a few keys with a row each: exact, or saturated.
    fn histories_of_signed_sketches_are_exact_or_saturated(steps: Vec<(bool, u8, Weight)>) -> bool {
        let params = CountSketchParams::from_width_and_depth(1 << 14, 5).unwrap();
        let build = || CountSketch::from_params(params, DefaultHashBuilder::default()).unwrap();
        let (mut sketch, mut parts, mut exact) = (build(), [build(), build()], HashMap::<u8, i128>::new());
        for &(removed, key, Weight(count)) in &steps {
            let key = key % 5;
            let truth = exact.entry(key).or_default();
            for sketch in [&mut sketch, &mut parts[usize::from(key % 2)]] {
                if removed { sketch.remove_many(&key, count) } else { sketch.insert_many(&key, count) };
            }
            *truth += if removed { -i128::from(count) } else { i128::from(count) };
        }
        let [mut merged, other] = parts;
        merged.merge(&other).unwrap();
        merged == sketch && exact.iter().all(|(key, &truth)| {
            let estimate = sketch.estimate(key);
            estimate.is_saturated() || i128::from(estimate.value()) == truth
        })
    }

    fn no_estimate_is_below_the_truth(shape: Shape, stream: Vec<(u8, u8)>) -> bool {
        let sketch = sketch(shape, &stream);
        let counts = truth(&stream);
        sketch.total() == counts.values().sum::<u64>()
            && counts.iter().all(|(key, &count)| {
                let most = sketch.estimate_interval(key).truth_at_most;
                bounds(sketch.estimate(key), count) && most.is_none_or(|most| most >= count)
            })
    }

    fn a_merge_is_the_sketch_of_both(shape: Shape, left: Vec<(u8, u8)>, right: Vec<(u8, u8)>) -> bool {
        let mut merged = sketch(shape, &left);
        merged.merge(&sketch(shape, &right)).unwrap();
        let both = sketch(shape, &[left.clone(), right.clone()].concat());
        let counts = truth(left.iter().chain(&right));
        let exact = shape.update == Update::Conservative || merged.to_bytes() == both.to_bytes();
        exact && counts.iter().all(|(key, &count)| bounds(merged.estimate(key), count))
    }

    fn order_makes_no_difference_to_a_plain_sketch(shape: Shape, stream: Vec<(u8, u8)>) -> bool {
        let plain = Shape { update: Update::Plain, ..shape };
        let reversed: Vec<_> = stream.iter().rev().copied().collect();
        sketch(plain, &stream) == sketch(plain, &reversed)
    }

    fn a_batch_is_one_by_one(shape: Shape, keys: Vec<u8>) -> bool {
        let keys: Vec<u8> = keys.iter().cycle().take(keys.len() * 5).copied().collect();
        let (mut batch, mut single) = (empty(shape), empty(shape));
        batch.insert_batch(&keys);
        single.extend(&keys);
        let mut counts = vec![Count::default(); keys.len()];
        batch.estimate_batch(&keys, &mut counts);
        batch == single && keys.iter().zip(counts).all(|(key, count)| count == single.estimate(key))
    }

    fn halving_keeps_the_bound(shape: Shape, before: Vec<(u8, u8)>, after: Vec<(u8, u8)>) -> bool {
        let mut sketch = sketch(shape, &before);
        let full = sketch.halve();
        assert!(Narrow::from_bytes(&sketch.to_bytes()).is_ok_and(|read| read == sketch));
        after.iter().for_each(|(key, count)| { sketch.insert_many(key, (*count).into()); });
        let (before, after) = (truth(&before), truth(&after));
        full > 0 || (0..=255).all(|key| {
            let count = |counts: &HashMap<u8, u64>| counts.get(&key).copied().unwrap_or(0);
            bounds(sketch.estimate(&key), count(&before) / 2 + count(&after))
        })
    }

    fn decoding_then_merging_is_merging(shape: Shape, left: Vec<(u8, u8)>, right: Vec<(u8, u8)>) -> bool {
        let (left, right) = (sketch(shape, &left), sketch(shape, &right));
        let mut decoded = Narrow::from_bytes(&left.to_bytes()).unwrap();
        let mut merged = left;
        merged.merge(&right).unwrap();
        decoded.merge(&right).unwrap();
        decoded.to_bytes() == merged.to_bytes()
    }

    fn a_view_answers_as_the_sketch(shape: Shape, stream: Vec<(u8, u8)>, offset: u8) -> bool {
        let sketch = sketch(shape, &stream);
        // At any address, odd ones too.
        let offset = usize::from(offset % 16);
        let mut bytes = vec![0; offset];
        bytes.extend(sketch.to_bytes());
        let view = CountMinSketchView::<_, _, u8>::open(&bytes[offset..]).unwrap();
        view.verify().is_ok()
            && view.total() == sketch.total()
            && (0..=255u8).all(|key| view.estimate(&key) == sketch.estimate(&key))
            && (0..=255u8).all(|key| view.estimate_interval(&key) == sketch.estimate_interval(&key))
            && view.to_sketch().unwrap() == sketch
    }

    fn a_damaged_payload_never_panics(shape: Shape, garbage: Vec<u8>) -> bool {
        let mut bytes = empty(shape).to_bytes();
        for (byte, &damage) in bytes[128..].iter_mut().zip(garbage.iter().cycle()) {
            *byte = damage;
        }
        let view = CountMinSketchView::<_, _, u8>::open(&bytes).unwrap();
        (0..=255u8).all(|key| view.estimate(&key) <= 255)
    }

    fn a_shared_sketch_has_the_bytes_of_a_plain_one(shape: Shape, stream: Vec<(u8, u8)>) -> bool {
        let plain = Shape { update: Update::Plain, ..shape };
        let hasher = DefaultHashBuilder::default();
        let shared = CountMinSketch::builder().params(shape.params).counters::<u8>().hasher(hasher).build_atomic().unwrap();
        stream.iter().for_each(|(key, count)| { shared.insert_many(key, (*count).into()); });
        shared.to_bytes() == sketch(plain, &stream).to_bytes()
    }

    fn an_inner_product_is_an_upper_bound(shape: Shape, left: Vec<u8>, right: Vec<u8>) -> bool {
        let build = |keys: &[u8]| {
            let mut sketch = CountMinSketch::builder().params(shape.params).build().unwrap();
            sketch.extend(keys);
            sketch
        };
        let count = |keys: &[u8], key| keys.iter().filter(|&&k| k == key).count() as u128;
        let truth: u128 = (0..=255).map(|key| count(&left, key) * count(&right, key)).sum();
        build(&left).inner_product(&build(&right)).unwrap().value >= truth
    }

    fn removing_undoes_inserting(width: u8, depth: u8, keys: Vec<(u8, u8)>, other: Vec<u8>) -> bool {
        let params = CountSketchParams::from_width_and_depth(
            u64::from(width) + 1, u32::from(depth) % 9 + 1).unwrap();
        let build = || CountSketch::from_params(params, DefaultHashBuilder::default()).unwrap();
        let (mut sketch, mut alone) = (build(), build());
        keys.iter().for_each(|(key, count)| { sketch.insert_many(key, (*count).into()); });
        sketch.extend(&other);
        alone.extend(&other);
        keys.iter().rev().for_each(|(key, count)| { sketch.remove_many(key, (*count).into()); });
        sketch == alone
    }

    fn a_signed_view_answers_as_the_sketch(width: u8, depth: u8, keys: Vec<(u8, i64)>) -> bool {
        let params = CountSketchParams::from_width_and_depth(
            u64::from(width) + 1, u32::from(depth) % 9 + 1).unwrap();
        let mut sketch = CountSketch::from_params(params, DefaultHashBuilder::default()).unwrap();
        keys.iter().for_each(|&(hash, count)| { sketch.add_hash(hash.into(), count); });
        let bytes = sketch.to_bytes();
        let view = CountSketchView::open(&bytes).unwrap();
        view.verify().is_ok()
            && (0..=255).all(|hash| view.estimate_hash(hash) == sketch.estimate_hash(hash))
            && view.to_sketch().unwrap() == sketch
    }

    fn count_sketch_batches_are_one_by_one(width: u8, keys: Vec<u64>) -> bool {
        let params = CountSketchParams::from_width_and_depth(u64::from(width) + 1, 5).unwrap();
        let build = || CountSketch::from_params(params, DefaultHashBuilder::default()).unwrap();
        let keys: Vec<u64> = keys.iter().cycle().take(keys.len() * 5).map(|key| key % 50).collect();
        let (mut batch, mut single) = (build(), build());
        batch.insert_hash_batch(&keys);
        keys.iter().for_each(|&hash| { single.insert_hash(hash); });
        let mut counts = vec![SignedCount::default(); keys.len()];
        batch.estimate_hash_batch(&keys, &mut counts);
        batch == single && keys.iter().zip(counts).all(|(&h, count)| count == single.estimate_hash(h))
    }
}
