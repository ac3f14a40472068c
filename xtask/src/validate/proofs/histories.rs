//! The histories: random inserts, removals and merges, each followed by claims.

use super::super::judge::real;
use super::{Claims, History, Random};
use pds::cms::Update;
use pds::heavy_hitters::Hitter;
use pds::hll::redis::RedisHyperLogLog;
use pds::params::{CountMinParams, HeavyHittersParams};
use pds::{
    AtomicHyperLogLog, BlockedBloomFilter, BlockedCountingBloomFilter, BloomFilter, CountMinSketch,
    CountSketch, CountingBloomFilter, CuckooFilter, DefaultHashBuilder, Estimate, HeavyHitters,
    HyperLogLog, HyperLogLogView, SketchedHeavyHitters, TopK, UltraLogLog, UltraLogLogView,
};
use std::collections::{HashMap, HashSet};

/// A history of two filters of a hundred keys, with up to `most` bits of keys.
macro_rules! two_filters {
    ($type:ident, $most:literal) => {
        |random, claims| {
            let build = || $type::new(100, 0.01).expect("sound");
            let (mut left, mut right) = (build(), build());
            for _ in 0..some(random, $most) {
                left.insert_hash(next(random));
                right.insert_hash(next(random));
            }
            let least = real(left.count_ones()) / f64::from(left.params().num_hashes());
            let union = left.approx_union_len(&right).expect("one design");
            let shared = left.approx_intersection_len(&right).expect("one design");
            counts(claims, least, [left.approx_len(), right.approx_len(), union, shared]);
        }
    };
}

pub(super) const HISTORIES: [History; 14] = [
    History { structure: "bloom", name: "bloom", run: two_filters!(BloomFilter, 8) },
    History { structure: "blocked", name: "blocked", run: two_filters!(BlockedBloomFilter, 8) },
    History { structure: "counting", name: "counting", run: counting },
    History { structure: "counting", name: "blocked counting", run: blocked_counting },
    History { structure: "cuckoo", name: "cuckoo", run: cuckoo },
    History { structure: "hll", name: "plain, atomic and view", run: plain },
    History { structure: "hll", name: "ultra and view", run: ultra },
    History { structure: "hll", name: "redis", run: redis },
    History { structure: "hll", name: "overlap", run: overlap },
    History { structure: "cms", name: "count-min", run: count_min },
    History { structure: "cms", name: "count sketch", run: count_sketch },
    History { structure: "cms", name: "heavy hitters", run: heavy_hitters },
    History { structure: "cms", name: "sketched heavy hitters", run: sketched },
    History { structure: "cms", name: "top k", run: top_k },
];

/// An UltraLogLog whose intervals begin at half of the lower end.
pub(super) const LOW_END: History = History {
    structure: "sabotaged hll",
    name: "ultra",
    run: |random, claims| {
        let (sketch, floor) = some_ultra(random);
        let interval = sketch.estimate_interval(0.95).expect("a confidence");
        claims.interval(&(0.5 * interval.start()..=*interval.end()), floor);
    },
};

fn next(random: Random<'_>) -> u64 {
    random.next().expect("endless")
}

/// A number up to 2^bits, small ones as often as large ones.
fn some(random: Random<'_>, bits: u64) -> u64 {
    let bits = next(random) % (bits + 1);
    next(random) >> (64 - bits.max(1))
}

fn confidence(random: Random<'_>) -> f64 {
    [0.5, 0.95, 0.9973, 0.99999, 0.999_999_9][usize::try_from(next(random) % 5).expect("below 5")]
}

fn precision(random: Random<'_>) -> u32 {
    4 + u32::try_from(next(random) % 9).expect("below 9")
}

/// Numbers of keys of two filters: no fewer than the set bits of the left one prove, no more in both than in either.
fn counts(claims: &mut Claims, least: f64, [left, right, union, shared]: [Estimate; 4]) {
    claims.estimate(left, least, f64::INFINITY);
    claims.estimate(union, left.value.max(right.value), f64::INFINITY);
    claims.estimate(shared, 0.0, left.value.min(right.value));
}

/// A history of copies that are inserted and removed, and the copies that are left.
fn copies<F>(
    random: Random<'_>,
    filter: &mut F,
    change: impl Fn(&mut F, u64, bool),
) -> HashMap<u64, u64> {
    let mut copies: HashMap<u64, u64> = HashMap::new();
    for _ in 0..some(random, 8) {
        let key = next(random) % 64;
        let count = copies.entry(key).or_default();
        let removes = next(random).is_multiple_of(3) && *count > 0;
        change(filter, key, !removes);
        *count = if removes { *count - 1 } else { *count + 1 };
    }
    copies
}

/// No key is counted fewer times than it is in, but for counters of 4 bits that saturate.
fn counting(random: Random<'_>, claims: &mut Claims) {
    let mut filter = CountingBloomFilter::new(100, 0.01).expect("sound");
    let copies = copies(random, &mut filter, |filter, key, inserts| {
        if inserts {
            filter.insert(&key)
        } else {
            filter.remove(&key)
        };
    });
    copies.iter().for_each(|(key, &count)| claims.hold(filter.estimate(key) >= count.min(15)));
    claims.estimate(filter.approx_len(), 0.0, f64::INFINITY);
}

fn blocked_counting(random: Random<'_>, claims: &mut Claims) {
    let mut filter = BlockedCountingBloomFilter::new(100, 0.01).expect("sound");
    let copies = copies(random, &mut filter, |filter, key, inserts| {
        if inserts {
            filter.insert(&key)
        } else {
            filter.remove(&key)
        };
    });
    copies.iter().for_each(|(key, &count)| claims.hold(filter.estimate(key) >= count.min(15)));
}

/// As many keys as were inserted and not removed, exactly.
fn cuckoo(random: Random<'_>, claims: &mut Claims) {
    let mut filter = CuckooFilter::new(100, 0.01).expect("sound");
    let (mut length, keys) = (0, some(random, 6));
    for key in 0..keys {
        length += u64::from(filter.insert(&key).is_ok());
        if next(random).is_multiple_of(3) {
            length -= u64::from(filter.remove(&key));
        }
        claims.hold(filter.len() == length);
    }
}

/// How many different leading parts of so many bits the hashes have: each is a key at least.
fn prefixes(hashes: &[u64], bits: u32) -> u64 {
    let prefixes = hashes.iter().map(|&hash| hash >> (64 - bits));
    prefixes.collect::<HashSet<_>>().len() as u64
}

fn plain(random: Random<'_>, claims: &mut Claims) {
    /// Bits of a hash that a sparse sketch knows.
    const SPARSE_BITS: u32 = 26;
    let (precision, confidence) = (precision(random), confidence(random));
    let mut sketch = HyperLogLog::new(precision).expect("in range");
    let count = some(random, 11);
    let hashes: Vec<_> = (0..count).map(|_| next(random)).collect();
    sketch.insert_hash_batch(&hashes);
    let floor = prefixes(&hashes, if sketch.is_dense() { precision } else { SPARSE_BITS });
    let interval = sketch.estimate_interval(confidence).expect("a confidence");
    claims.interval(&interval, floor);
    let bytes = sketch.to_bytes();
    let view = HyperLogLogView::open(&bytes).expect("its own bytes");
    claims.hold(view.estimate_interval(confidence).as_ref() == Ok(&interval));
    let atomic = AtomicHyperLogLog::from(sketch);
    let interval = atomic.estimate_interval(confidence).expect("a confidence");
    claims.interval(&interval, prefixes(&hashes, precision));
}

/// A sketch of some keys, and how many keys its registers prove: a register knows of up to three ranks.
fn some_ultra(random: Random<'_>) -> (UltraLogLog, u64) {
    let mut sketch = UltraLogLog::new(precision(random)).expect("in range");
    (0..some(random, 11)).for_each(|_| {
        sketch.insert_hash(next(random));
    });
    let keys = |&register: &u8| u64::from(register >= 4) + u64::from((register & 3).count_ones());
    let floor = sketch.registers().iter().map(keys).sum();
    (sketch, floor)
}

fn ultra(random: Random<'_>, claims: &mut Claims) {
    let confidence = confidence(random);
    let (sketch, floor) = some_ultra(random);
    let interval = sketch.estimate_interval(confidence).expect("a confidence");
    claims.interval(&interval, floor);
    let bytes = sketch.to_bytes();
    let view = UltraLogLogView::open(&bytes).expect("its own bytes");
    claims.hold(view.estimate_interval(confidence).as_ref() == Ok(&interval));
}

fn redis(random: Random<'_>, claims: &mut Claims) {
    let mut sketch = RedisHyperLogLog::new();
    (0..some(random, 13)).for_each(|_| {
        sketch.insert_hash(next(random));
    });
    let floor = sketch.registers().iter().filter(|&&rank| rank > 0).count() as u64;
    let interval = sketch.estimate_interval(confidence(random)).expect("a confidence");
    claims.interval(&interval, floor);
}

/// Every part is a number from 0 to what its side may hold, with an error that is a number.
fn overlap(random: Random<'_>, claims: &mut Claims) {
    let mut sketches = [(); 2].map(|()| HyperLogLog::new(precision(random)).expect("in range"));
    let parts = [(); 3].map(|()| some(random, 10) * (next(random) % 2));
    for (count, takes) in parts.into_iter().zip([[true, false], [false, true], [true, true]]) {
        for _ in 0..count {
            let hash = next(random);
            for (sketch, takes) in sketches.iter_mut().zip(takes) {
                if takes {
                    sketch.insert_hash(hash);
                }
            }
        }
    }
    let overlap = sketches[0].overlap(&sketches[1]).expect("one hasher");
    for part in [overlap.only_left, overlap.only_right, overlap.both] {
        claims.estimate(part, 0.0, f64::MAX);
    }
}

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

fn count_min(random: Random<'_>, claims: &mut Claims) {
    let params = CountMinParams::from_width_and_depth(64, 3).expect("sound");
    let update = if next(random).is_multiple_of(2) { Update::Plain } else { Update::Conservative };
    let build =
        || CountMinSketch::builder().params(params).counters::<u32>().update(update).build();
    let (mut left, mut right) = (build().expect("memory"), build().expect("memory"));
    let stream = stream(random);
    let (first, second) = stream.split_at(stream.len() / 2);
    first.iter().for_each(|(key, weight)| {
        left.insert_many(key, *weight);
    });
    second.iter().for_each(|(key, weight)| {
        right.insert_many(key, *weight);
    });
    left.merge(&right).expect("one shape");
    let (counts, total) = totals(&stream);
    counts.iter().for_each(|(key, &count)| claims.count(left.estimate_interval(key), count, total));
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
    let build = || HeavyHitters::<u64>::from_params(params, DefaultHashBuilder::default());
    let (mut left, mut right) = (build().expect("memory"), build().expect("memory"));
    let stream = stream(random);
    let (first, second) = stream.split_at(stream.len() / 2);
    first.iter().for_each(|(key, weight)| {
        left.insert_many(key, *weight);
    });
    second.iter().for_each(|(key, weight)| {
        right.insert_many(key, *weight);
    });
    left.merge(&right).expect("one shape");
    let (counts, total) = totals(&stream);
    for (key, &count) in &counts {
        let interval = left.estimate_interval(key);
        claims.count(interval, count, total);
        claims.hold(interval.truth_at_least <= count);
    }
    // What is counted for certain came.
    claims.hold(left.iter().map(|hitter| hitter.interval().truth_at_least).sum::<u64>() <= total);
}

/// What is listed came, no oftener than its estimate.
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
