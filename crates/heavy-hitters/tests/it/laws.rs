//! Laws that hold for every stream and every shape.
#![cfg(feature = "std")]

use std::collections::HashMap;

use crate::histories::{Step, follow};
use cms::CountMinParams;
use heavy_hitters::hash::DefaultHashBuilder;
use heavy_hitters::{HeavyHitters, HeavyHittersParams, SketchedHeavyHitters, TopK};
use quickcheck::quickcheck;

fn truth<'a>(stream: impl IntoIterator<Item = &'a (u8, u8)>) -> HashMap<u8, u64> {
    let mut counts = HashMap::new();
    stream
        .into_iter()
        .for_each(|&(key, count)| *counts.entry(key).or_default() += u64::from(count));
    counts
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
    fn histories_of_summaries_keep_their_bounds(capacity: u8, steps: Vec<Step>) -> bool {
        let params = HeavyHittersParams::with_capacity(0.5, u64::from(capacity) % 9 + 2).unwrap();
        let build = || HeavyHitters::<u8>::from_params(params, DefaultHashBuilder::default()).unwrap();
        let (summary, exact) = follow!(steps, build(), HeavyHitters::<u8>::from_bytes, |_| false);
        let halved = steps.iter().any(|step| matches!(step, Step::Halve));
        let exact_total: u128 = exact.0.values().sum();
        // Halving rounds the total up, and widens an error by one at most.
        let total = if halved { exact_total.max(summary.total().into()) } else { exact_total };
        let rounding = u128::from(halved);
        let capacity = u128::from(summary.capacity());
        let heavy = (0..12).filter(|&key| 2 * exact.count(key) > total);
        let top = summary.top();
        // Without a saturated floor a heavy key is listed and no error exceeds its share.
        (total >= capacity << 64 || heavy.clone().all(|key| top.iter().any(|hit| *hit.key == key)))
            && u128::from(summary.total()) == total.min(u64::MAX.into())
            && top.iter().all(|hit| hit.interval() == summary.estimate_interval(hit.key))
            && top.iter().all(|hit| halved || exact.count(*hit.key) > 0)
            && top.is_sorted_by(|a, b| a.estimate >= b.estimate)
            && (0..13).all(|key| {
                let estimate = summary.estimate(&key);
                exact.is_bounded(key, estimate, summary.estimate_interval(&key), true)
                    && u128::from(estimate.value()) <= exact.count(key) + total / capacity + rounding
                    && u128::from(estimate.value()) <= total
            })
    }

    /// Small counts, where the rounding of halves matters most.
    fn histories_of_halved_summaries_keep_their_bounds(capacity: u8, steps: Vec<(u8, u8)>) -> bool {
        let params = HeavyHittersParams::with_capacity(0.6, u64::from(capacity) % 4 + 2).unwrap();
        let mut summary = HeavyHitters::<u8>::from_params(params, DefaultHashBuilder::default()).unwrap();
        let mut exact = [0u64; 9];
        steps.iter().all(|&(key, count)| {
            let key = key % 9;
            if count % 8 == 0 {
                assert_eq!(summary.halve(), 0);
                exact.iter_mut().for_each(|count| *count /= 2);
            } else {
                summary.insert_many(&key, (count % 4).into());
                exact[usize::from(key)] += u64::from(count % 4);
            }
            let most = summary.total() / summary.capacity() + 1;
            HeavyHitters::<u8>::from_bytes(&summary.to_bytes()).is_ok_and(|read| read == summary)
                && (0..).zip(&exact).all(|(key, &count)| {
                    summary.estimate_interval(&key).contains(count) && summary.estimate(&key) <= count + most
                })
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

    fn histories_of_detectors_keep_their_bounds(width: u8, depth: u8, steps: Vec<Step>) -> bool {
        let params = CountMinParams::from_width_and_depth(1 + u64::from(width) % 70, 1 + u32::from(depth) % 9).unwrap();
        let build = || SketchedHeavyHitters::<u8>::builder().phi(0.2).params(params).build().unwrap();
        let (detector, exact) = follow!(steps, build(), SketchedHeavyHitters::<u8>::from_bytes, |_| false);
        let top = detector.top();
        let heavy = (0..12).filter(|&key| 5 * exact.count(key) > exact.0.values().sum());
        // No more keys than candidates came, so that none was forgotten.
        let complete = heavy.clone().all(|key| top.iter().any(|hit| *hit.key == key));
        complete
            && top.iter().all(|hit| exact.count(*hit.key) > 0)
            && top.iter().all(|hit| exact.is_bounded(*hit.key, hit.estimate, hit.interval(), false))
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
