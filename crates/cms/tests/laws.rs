//! What holds for every stream and every shape.
#![cfg(feature = "std")]

use std::collections::HashMap;

use cms::{
    AtomicCountMinSketch, Count, CountInterval, CountMinParams, CountMinSketch, CountMinSketchView,
    CountSketch, CountSketchParams, CountSketchView, Counter, HeavyHitters, HeavyHittersParams,
    SignedCount, SketchedHeavyHitters, TopK, Update,
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

/// A weight: mostly small, and now and then one with which counters of every width are full.
#[derive(Clone, Copy, Debug)]
struct Weight(u64);

impl Arbitrary for Weight {
    fn arbitrary(g: &mut Gen) -> Self {
        let small = u64::from(u8::arbitrary(g)) % 9;
        let choices =
            [0, 1, small, small, small, small, small, 1 << 32, 1 << 40, 1 << 63, u64::MAX];
        Self(*g.choose(&choices).unwrap())
    }
}

/// What happens to a structure.
#[derive(Clone, Debug)]
enum Step {
    Insert(u8, Weight),
    /// Another one of such a stream is merged in.
    Merge(Vec<(u8, Weight)>),
    MergeEmpty,
    MergeItself,
    /// Halved, by those that can be.
    Halve,
    Clear,
    /// Written down and read again.
    Bytes,
}

impl Arbitrary for Step {
    fn arbitrary(g: &mut Gen) -> Self {
        match u8::arbitrary(g) % 16 {
            0 => Self::Merge(Vec::arbitrary(g)),
            1 => Self::MergeEmpty,
            2 => Self::MergeItself,
            3 => Self::Halve,
            4 if bool::arbitrary(g) => Self::Clear,
            5 => Self::Bytes,
            _ => Self::Insert(u8::arbitrary(g) % 12, Weight::arbitrary(g)),
        }
    }
}

/// The exact counts beside a structure.
#[derive(Default)]
struct Exact(HashMap<u8, u128>);

impl Exact {
    fn add(&mut self, stream: &[(u8, Weight)]) {
        for &(key, Weight(count)) in stream {
            *self.0.entry(key % 12).or_default() += u128::from(count);
        }
    }

    fn count(&self, key: u8) -> u128 {
        self.0.get(&key).copied().unwrap_or_default()
    }

    fn total(&self) -> u128 {
        self.0.values().sum()
    }

    /// Whether the certain ends of an interval keep what they say, and do not contradict one another or the estimate.
    fn is_bounded(&self, key: u8, estimate: Count, interval: CountInterval, both: bool) -> bool {
        let (truth, least) = (self.count(key), interval.truth_at_least);
        let most = interval.truth_at_most.map(u128::from);
        most.is_none_or(|most| truth <= most && u128::from(least) <= most)
            && (!both || u128::from(least) <= truth)
            && most == (!estimate.is_saturated()).then_some(estimate.value().into())
            && least <= estimate.value()
    }
}

/// Does to a structure, and to the counts beside it, what a history says.
macro_rules! follow {
    ($steps:expr, $build:expr, $read:expr, $halve:expr) => {{
        let (mut it, mut exact) = ($build, Exact::default());
        for step in &$steps {
            match step {
                Step::Insert(key, Weight(count)) => {
                    it.insert_many(key, *count);
                    exact.add(&[(*key, Weight(*count))]);
                }
                Step::Merge(stream) => {
                    let mut other = $build;
                    stream.iter().for_each(|(key, count)| {
                        other.insert_many(&(key % 12), count.0);
                    });
                    it.merge(&other).unwrap();
                    exact.add(stream);
                }
                Step::MergeEmpty => {
                    let (before, mut empty) = (it.to_bytes(), $build);
                    empty.merge(&it).unwrap();
                    it.merge(&$build).unwrap();
                    if it.to_bytes() != before || empty.to_bytes() != before {
                        return false;
                    }
                }
                Step::MergeItself => {
                    it.merge(&it.clone()).unwrap();
                    exact.0.values_mut().for_each(|count| *count *= 2);
                }
                Step::Halve => {
                    if $halve(&mut it) {
                        exact.0.values_mut().for_each(|count| *count /= 2);
                    }
                }
                Step::Clear => {
                    it.clear();
                    exact = Exact::default();
                }
                Step::Bytes => {
                    let read = $read(&it.to_bytes()).unwrap();
                    if read != it {
                        return false;
                    }
                    it = read;
                }
            }
        }
        (it, exact)
    }};
}

fn sketch_keeps_bounds<C: Counter>(shape: Shape, steps: Vec<Step>) -> bool {
    type Sketch<C> = CountMinSketch<DefaultHashBuilder, C>;
    let build = || {
        Sketch::<C>::from_params(shape.params, shape.update, DefaultHashBuilder::default()).unwrap()
    };
    let halve = |sketch: &mut Sketch<C>| {
        sketch.halve();
        true
    };
    let (sketch, exact) = follow!(steps, build(), Sketch::<C>::from_bytes, halve);
    let bytes = sketch.to_bytes();
    let view = CountMinSketchView::<_, C>::open(&bytes).unwrap();
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

    fn histories_of_summaries_keep_their_bounds(capacity: u8, steps: Vec<Step>) -> bool {
        let params = HeavyHittersParams::with_capacity(0.5, u64::from(capacity) % 9 + 2).unwrap();
        let build = || HeavyHitters::<u8>::from_params(params, DefaultHashBuilder::default()).unwrap();
        let (summary, exact) = follow!(steps, build(), HeavyHitters::<u8>::from_bytes, |_| false);
        let total = exact.total();
        let capacity = u128::from(summary.capacity());
        let heavy = (0..12).filter(|&key| 2 * exact.count(key) > total);
        let top = summary.top();
        // Without a saturated floor a heavy key is listed and no error exceeds its share.
        (total >= capacity << 64 || heavy.clone().all(|key| top.iter().any(|hit| *hit.key == key)))
            && u128::from(summary.total()) == total.min(u64::MAX.into())
            && top.iter().all(|hit| hit.interval() == summary.estimate_interval(hit.key) && exact.count(*hit.key) > 0)
            && top.is_sorted_by(|a, b| a.estimate >= b.estimate)
            && (0..13).all(|key| {
                let estimate = summary.estimate(&key);
                exact.is_bounded(key, estimate, summary.estimate_interval(&key), true)
                    && u128::from(estimate.value()) <= exact.count(key) + total / capacity
                    && u128::from(estimate.value()) <= total
            })
    }

    fn histories_of_lists_keep_their_bounds(k: u8, steps: Vec<Step>) -> bool {
        let k = u64::from(k) % 4 + 1;
        let halve = |list: &mut TopK<u8>| {
            list.halve();
            true
        };
        let (list, exact) = follow!(steps, TopK::<u8>::new(k).unwrap(), TopK::<u8>::from_bytes, halve);
        let top = list.top();
        top.len() as u64 <= k
            && top.is_sorted_by(|a, b| a.estimate >= b.estimate)
            && top.iter().all(|hit| exact.is_bounded(*hit.key, hit.estimate, hit.interval(), false))
            && (0..13).all(|key| exact.is_bounded(key, list.estimate(&key), list.estimate_interval(&key), false))
    }

    fn histories_of_detectors_keep_their_bounds(shape: Shape, steps: Vec<Step>) -> bool {
        let build = || SketchedHeavyHitters::<u8>::from_params(0.2, shape.params, DefaultHashBuilder::default()).unwrap();
        let (detector, exact) = follow!(steps, build(), SketchedHeavyHitters::<u8>::from_bytes, |_| false);
        let top = detector.top();
        let heavy = (0..12).filter(|&key| 5 * exact.count(key) > exact.total());
        // No more keys than candidates came, so that none was forgotten.
        let complete = heavy.clone().all(|key| top.iter().any(|hit| *hit.key == key));
        complete
            && top.iter().all(|hit| exact.count(*hit.key) > 0)
            && top.iter().all(|hit| exact.is_bounded(*hit.key, hit.estimate, hit.interval(), false))
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
        let view = CountMinSketchView::<_, u8>::open(&bytes[offset..]).unwrap();
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
        let view = CountMinSketchView::<_, u8>::open(&bytes).unwrap();
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
