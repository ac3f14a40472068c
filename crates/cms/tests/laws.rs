//! What holds for every stream and every shape.
#![cfg(feature = "std")]

use std::collections::HashMap;

use cms::{
    AtomicCountMinSketch, Count, CountMinParams, CountMinSketch, CountMinSketchView, CountSketch,
    CountSketchParams, CountSketchView, HeavyHitters, HeavyHittersParams, SignedCount, TopK,
    Update,
};
use pds_core::DefaultHashBuilder;
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

/// Sketches of bytes, so that keys come often and counters fill up.
type Narrow = CountMinSketch<DefaultHashBuilder, u8>;

fn sketch(shape: Shape, stream: &[(u8, u8)]) -> Narrow {
    let mut sketch = empty(shape);
    for (key, count) in stream {
        sketch.insert_many(key, (*count).into());
    }
    sketch
}

fn empty(shape: Shape) -> Narrow {
    CountMinSketch::from_params(shape.params, shape.update, DefaultHashBuilder::default()).unwrap()
}

fn truth<'a>(stream: impl IntoIterator<Item = &'a (u8, u8)>) -> HashMap<u8, u64> {
    let mut counts = HashMap::new();
    stream
        .into_iter()
        .for_each(|&(key, count)| *counts.entry(key).or_default() += u64::from(count));
    counts
}

/// Whether an answer is right for a count: an upper bound, or full.
fn bounds(count: Count, truth: u64) -> bool {
    count.value() >= truth || count.is_saturated()
}

fn summary(capacity: u64, stream: &[(u8, u8)]) -> HeavyHitters<u8> {
    let params = HeavyHittersParams::with_capacity(0.5, capacity).unwrap();
    let mut summary = HeavyHitters::from_params(params, DefaultHashBuilder::default()).unwrap();
    for (key, count) in stream {
        summary.insert_many(key, (*count).into());
    }
    summary
}

/// All that a summary promises of a stream.
fn keeps_its_promise(summary: &HeavyHitters<u8>, counts: &HashMap<u8, u64>) -> bool {
    let total: u64 = counts.values().sum();
    let most = total / summary.capacity();
    let exact = |key: &u8| counts.get(key).copied().unwrap_or(0);
    let bounded = summary
        .iter()
        .all(|hitter| hitter.error <= most && hitter.interval().contains(exact(hitter.key)));
    let complete = counts.iter().filter(|&(_, &count)| count > summary.threshold());
    let top = summary.top();
    summary.total() == total
        && bounded
        && (0..=255).all(|key| summary.estimate_interval(&key).contains(exact(&key)))
        && (0..=255).all(|key| summary.estimate(&key) <= exact(&key) + most)
        && complete.clone().all(|(key, _)| top.iter().any(|hitter| hitter.key == key))
        && top.is_sorted_by(|a, b| a.estimate >= b.estimate)
}

quickcheck! {
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
        let view = CountMinSketchView::<_, u8>::from_bytes(&bytes[offset..]).unwrap();
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
        let view = CountMinSketchView::<_, u8>::from_bytes(&bytes).unwrap();
        (0..=255u8).all(|key| view.estimate(&key) <= 255)
    }

    fn a_shared_sketch_has_the_bytes_of_a_plain_one(shape: Shape, stream: Vec<(u8, u8)>) -> bool {
        let plain = Shape { update: Update::Plain, ..shape };
        let hasher = DefaultHashBuilder::default();
        let shared = AtomicCountMinSketch::<_, u8>::from_params(shape.params, hasher).unwrap();
        stream.iter().for_each(|(key, count)| { shared.insert_many(key, (*count).into()); });
        shared.to_bytes() == sketch(plain, &stream).to_bytes()
    }

    fn an_inner_product_is_an_upper_bound(shape: Shape, left: Vec<u8>, right: Vec<u8>) -> bool {
        let build = |keys: &[u8]| {
            let mut sketch = CountMinSketch::builder(shape.params).build().unwrap();
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
        let view = CountSketchView::from_bytes(&bytes).unwrap();
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

    fn a_summary_keeps_its_promise(capacity: u8, stream: Vec<(u8, u8)>) -> bool {
        let capacity = u64::from(capacity) % 20 + 2;
        keeps_its_promise(&summary(capacity, &stream), &truth(&stream))
    }

    fn a_merged_summary_keeps_its_promise(capacity: u8, streams: Vec<Vec<(u8, u8)>>) -> bool {
        // Few keys, so that each comes in several streams and is forgotten in some.
        let few = |&(key, count): &(u8, u8)| (key % 16, count % 8);
        let streams: Vec<Vec<_>> = streams.iter().map(|stream| stream.iter().map(few).collect()).collect();
        let capacity = u64::from(capacity) % 12 + 2;
        let mut merged = summary(capacity, &[]);
        streams.iter().for_each(|stream| merged.merge(&summary(capacity, stream)).unwrap());
        let whole = streams.concat();
        keeps_its_promise(&merged, &truth(&whole)) && {
            // And it goes on keeping it.
            whole.iter().for_each(|(key, count)| { merged.insert_many(key, (*count).into()); });
            keeps_its_promise(&merged, &truth(whole.iter().chain(&whole)))
        }
    }

    fn a_decoded_summary_goes_on_as_the_original(capacity: u8, first: Vec<(u8, u8)>, then: Vec<(u8, u8)>) -> bool {
        let capacity = u64::from(capacity) % 20 + 2;
        let mut original = summary(capacity, &first);
        let mut decoded = HeavyHitters::<u8>::from_bytes(&original.to_bytes()).unwrap();
        let same = decoded == original;
        for (key, count) in &then {
            original.insert_many(key, (*count).into());
            decoded.insert_many(key, (*count).into());
        }
        same && decoded.to_bytes() == original.to_bytes()
    }

    fn a_short_list_is_exact(keys: Vec<u8>, k: u8) -> bool {
        let k = u64::from(k) % 4 + 1;
        let keys: Vec<u8> = keys.iter().map(|key| key % 8).collect();
        let mut list = TopK::<u8>::new(k).unwrap();
        keys.iter().for_each(|key| { list.insert(key); });
        let mut counts: Vec<u64> = (0..8)
            .map(|key| keys.iter().filter(|&&other| other == key).count() as u64)
            .filter(|&count| count > 0)
            .collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        counts.truncate(usize::try_from(k).unwrap());
        // No more different keys come than are tracked.
        list.top().iter().map(|hitter| hitter.estimate.value()).eq(counts)
    }
}
