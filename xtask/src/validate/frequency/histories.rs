//! Histories of sketches of frequencies and of summaries: what came is counted here, apart from the library.

use crate::validate::prelude::*;
use crate::validate::proofs::{Claims, History};
use core::fmt::Debug;
use pds::cms::Update;
use pds::hash::DefaultHashBuilder;
use pds::heavy_hitters::Hitter;
use pds::params::{CountMinParams, HeavyHittersParams};
use pds::traits::Merge;
use pds::{CountMinSketch, CountSketch, HeavyHitters, SketchedHeavyHitters, TopK};
use std::collections::HashMap;

pub(super) const HISTORIES: [History; 5] = [
    History { name: "count-min", run: count_min },
    History { name: "count sketch", run: count_sketch },
    History { name: "heavy hitters", run: heavy_hitters },
    History { name: "sketched heavy hitters", run: sketched },
    History { name: "top k", run: top_k },
];

/// A stream of some hundred keys, with weights from 0 to beyond what a counter of 32 bits holds.
fn stream(random: Random<'_>) -> Vec<(u64, u64)> {
    (0..some(random, 8)).map(|_| (some(random, 8), some(random, 34) / 2)).collect()
}

fn totals(stream: &[(u64, u64)]) -> (HashMap<u64, u64>, u64) {
    let mut counts: HashMap<u64, u64> = HashMap::new();
    stream.iter().for_each(|&(key, weight)| *counts.entry(key).or_default() += weight);
    let total = counts.values().sum();
    (counts, total)
}

/// Splits a stream between two structures, and merges them. Returns the merge, the counts of the keys, and their total.
fn merged_halves<T: Merge<Error: Debug>>(
    random: Random<'_>,
    build: impl Fn() -> T,
    insert: impl Fn(&mut T, u64, u64),
) -> (T, HashMap<u64, u64>, u64) {
    let stream = stream(random);
    let (first, second) = stream.split_at(stream.len() / 2);
    let [mut left, right] = [first, second].map(|half| {
        let mut structure = build();
        half.iter().for_each(|&(key, weight)| insert(&mut structure, key, weight));
        structure
    });
    left.merge(&right).expect("one shape");
    let (counts, total) = totals(&stream);
    (left, counts, total)
}

fn count_min(random: Random<'_>, claims: &mut Claims) {
    let params = CountMinParams::from_width_and_depth(64, 3).expect("sound");
    let update = if next(random).is_multiple_of(2) { Update::Plain } else { Update::Conservative };
    let build = || {
        let builder = CountMinSketch::builder().params(params).counters::<u32>();
        builder.update(update).build().expect("memory")
    };
    let (merged, counts, total) = merged_halves(random, build, |structure, key, weight| {
        structure.insert_many(&key, weight);
    });
    counts
        .iter()
        .for_each(|(key, &count)| claims.count(merged.estimate_interval(key), count, total));
}

/// No estimate exceeds the sum of all weights, and a key that came alone is estimated exactly.
fn count_sketch(random: Random<'_>, claims: &mut Claims) {
    let mut sketch = CountSketch::new(0.3, 0.05).expect("sound");
    let stream = stream(random);
    stream.iter().for_each(|(key, weight)| {
        sketch.insert_many(key, *weight);
    });
    let (counts, total) = totals(&stream);
    for (key, &count) in &counts {
        let estimate = sketch.estimate(key).value();
        claims.hold(
            estimate.unsigned_abs() <= total
                && (counts.len() > 1 || estimate.unsigned_abs() == count),
        );
    }
}

fn heavy_hitters(random: Random<'_>, claims: &mut Claims) {
    let params = HeavyHittersParams::new(0.05).expect("sound");
    let build = || {
        let hasher = DefaultHashBuilder::default();
        HeavyHitters::<u64>::from_params(params, hasher).expect("memory")
    };
    let (merged, counts, total) = merged_halves(random, build, |structure, key, weight| {
        structure.insert_many(&key, weight);
    });
    for (key, &count) in &counts {
        let interval = merged.estimate_interval(key);
        claims.count(interval, count, total);
        claims.hold(interval.truth_at_least <= count);
    }
    // The certain parts of the counts are at most the total.
    claims.hold(merged.iter().map(|hitter| hitter.interval().truth_at_least).sum::<u64>() <= total);
}

/// Each listed key came, and its count lies in its interval.
fn listed(top: &[Hitter<'_, u64>], stream: &[(u64, u64)], claims: &mut Claims) {
    let (counts, total) = totals(stream);
    for hitter in top {
        let count = counts.get(hitter.key).copied().unwrap_or(0);
        claims.count(hitter.interval(), count, total);
        claims.hold(count > 0);
    }
}

fn sketched(random: Random<'_>, claims: &mut Claims) {
    let mut summary = SketchedHeavyHitters::<u64>::new(0.05, 0.02, 0.01).expect("sound");
    let stream = stream(random);
    stream.iter().for_each(|(key, weight)| {
        summary.insert_many(key, *weight);
    });
    listed(&summary.top(), &stream, claims);
}

fn top_k(random: Random<'_>, claims: &mut Claims) {
    let mut summary = TopK::<u64>::new(1 + next(random) % 8).expect("sound");
    let stream = stream(random);
    stream.iter().for_each(|(key, weight)| {
        summary.insert_many(key, *weight);
    });
    listed(&summary.top(), &stream, claims);
}
