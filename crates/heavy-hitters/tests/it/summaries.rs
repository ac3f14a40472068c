//! Heavy hitters and top-k on long streams: what is found, and how much is listed wrongly.
#![cfg(feature = "std")]

use pds_core::hash::finalize;
use std::collections::HashMap;

use heavy_hitters::{HeavyHitters, HeavyHittersParams, SketchedHeavyHitters, TopK};
use pds_core::hash::{Avalanching, DefaultHashBuilder};
use pds_core::internal::GOLDEN_RATIO;
use pds_testkit::ThreadTime;
use pds_testkit::hashers::IdentityBuilder;
use pds_testkit::zipf::{Zipf, counts};

const ITEMS: usize = 100_000;
const EVENTS: usize = 500_000;

/// A skewed stream in three orders: as it comes, heavy keys first, and heavy keys last.
fn orders(exponent: f64, seed: u64) -> [Vec<usize>; 3] {
    let stream: Vec<_> = Zipf::new(ITEMS, exponent).stream(seed).take(EVENTS).collect();
    let mut falling = stream.clone();
    falling.sort_unstable();
    let rising = falling.iter().rev().copied().collect();
    [stream, falling, rising]
}

/// Recall is exactly 1, every interval holds the truth, and no key of less than half the share is
/// listed where the error is half of it.
#[test]
fn no_key_above_the_share_is_missed() {
    for (seed, (exponent, phi)) in (0..).zip([(0.0, 1e-4), (1.0, 1e-3), (1.1, 1e-3), (1.5, 1e-4)]) {
        for stream in orders(exponent, seed) {
            let counts = counts(ITEMS, &stream);
            let params = HeavyHittersParams::with_error(phi, phi / 2.0).unwrap();
            let hasher = DefaultHashBuilder::default();
            let mut summary = HeavyHitters::<u64>::from_params(params, hasher).unwrap();
            let mut detector = SketchedHeavyHitters::<u64>::new(phi, phi / 4.0, 0.01).unwrap();
            for &rank in &stream {
                summary.insert(&(rank as u64));
                detector.insert(&(rank as u64));
            }
            let threshold = summary.threshold();
            for hitters in [summary.top(), detector.top()] {
                let listed: HashMap<u64, _> = hitters.iter().map(|h| (*h.key, h)).collect();
                for (rank, &count) in counts.iter().enumerate() {
                    let found = listed.get(&(rank as u64));
                    assert!(count <= threshold || found.is_some(), "zipf {exponent}: rank {rank}");
                    assert!(
                        found.is_none_or(|h| h.estimate >= count && 2 * count >= threshold - 1)
                    );
                }
            }
            for hitter in summary.iter() {
                let rank = usize::try_from(*hitter.key).unwrap();
                assert!(hitter.interval().contains(counts[rank]));
                assert!(hitter.error <= summary.total() / summary.capacity());
            }
        }
    }
}

/// Parts that are counted apart and merged miss nothing either.
#[test]
fn merged_parts_miss_nothing() {
    let [stream, falling, _] = orders(1.1, 9);
    for stream in [stream, falling] {
        let build = || HeavyHitters::<u64>::new(1e-3).unwrap();
        let mut merged = build();
        for part in stream.chunks(EVENTS / 7) {
            let mut summary = build();
            part.iter().for_each(|&rank| {
                summary.insert(&(rank as u64));
            });
            merged.merge(&summary).unwrap();
        }
        let counts = counts(ITEMS, &stream);
        let listed: Vec<u64> = merged.top().iter().map(|hitter| *hitter.key).collect();
        let heavy = (0..ITEMS).filter(|&rank| counts[rank] > merged.threshold());
        assert!(heavy.clone().count() > 50);
        assert!(heavy.into_iter().all(|rank| listed.contains(&(rank as u64))));
        assert!(merged.iter().all(|hitter| {
            hitter.error <= merged.total() / merged.capacity()
                && hitter.interval().contains(counts[usize::try_from(*hitter.key).unwrap()])
        }));
    }
}

/// A detector of merged parts misses none either, and its estimates stay upper bounds.
#[test]
fn merged_detectors_miss_nothing() {
    let [stream, falling, _] = orders(1.1, 12);
    for stream in [stream, falling] {
        let build = || SketchedHeavyHitters::<u64>::new(1e-3, 2.5e-4, 0.01).unwrap();
        let mut merged = build();
        for part in stream.chunks(EVENTS / 5) {
            let mut detector = build();
            part.iter().for_each(|&rank| {
                detector.insert(&(rank as u64));
            });
            merged.merge(&detector).unwrap();
        }
        let counts = counts(ITEMS, &stream);
        let top = merged.top();
        let heavy = (0..ITEMS).filter(|&rank| counts[rank] > merged.threshold());
        assert!(heavy.clone().count() > 50 && merged.sketch().total() == EVENTS as u64);
        for rank in heavy {
            let found = top.iter().find(|hitter| *hitter.key == rank as u64);
            assert!(found.is_some_and(|hitter| hitter.estimate >= counts[rank]), "rank {rank}");
        }
        assert!(top.iter().all(|hitter| hitter.estimate > merged.threshold()));
    }
}

/// The share of the listed keys that are truly among the first k; ties count as either.
fn recall(k: usize, stream: &[usize]) -> f64 {
    let mut list = TopK::<usize>::new(k as u64).unwrap();
    let mut counts = HashMap::new();
    for key in stream {
        list.insert(key);
        *counts.entry(key).or_insert(0u64) += 1;
    }
    let mut sorted: Vec<u64> = counts.values().copied().collect();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let top = list.top();
    assert!(top.iter().all(|hitter| hitter.estimate >= counts[hitter.key]));
    top.iter().filter(|hitter| counts[hitter.key] >= sorted[k - 1]).count() as f64 / k as f64
}

#[test]
fn the_first_k_are_found_on_zipf_streams() {
    for (seed, exponent) in (20..).zip([1.0, 1.1, 1.25, 1.5]) {
        let stream: Vec<_> = Zipf::new(ITEMS, exponent).stream(seed).take(EVENTS).collect();
        for k in [10, 100] {
            let recall = recall(k, &stream);
            assert!(recall >= 0.99, "zipf {exponent}, k = {k}: {recall}");
        }
    }
}

/// Keys of either part stay, by the counts of both.
#[test]
fn merged_lists_rank_by_both() {
    let (mut left, mut right) = (TopK::<u64>::new(3).unwrap(), TopK::<u64>::new(3).unwrap());
    for (key, here, there) in [(1, 10, 0), (2, 6, 6), (3, 0, 11), (4, 5, 1), (5, 7, 5)] {
        left.insert_many(&key, here);
        right.insert_many(&key, there);
    }
    left.merge(&right).unwrap();
    let top: Vec<_> =
        left.top().iter().map(|hitter| (*hitter.key, hitter.estimate.value())).collect();
    assert_eq!((top[2], left.total()), ((3, 11), 51));
    assert!(top.contains(&(2, 12)) && top.contains(&(5, 12)));
    left.halve();
    assert_eq!(
        left.top().iter().map(|hitter| hitter.estimate.value()).collect::<Vec<_>>(),
        [6, 6, 5]
    );
}

/// Forgotten counts fade as listed ones do. Otherwise no new key would come in for long.
#[test]
fn a_halved_list_takes_new_keys() {
    let mut list = TopK::<u64>::new(2).unwrap();
    // Three keys have room; the fourth raises the floor to 800.
    for (key, count) in [(1, 1_000), (2, 900), (3, 800), (4, 850)] {
        list.insert_many(&key, count);
    }
    (0..8).for_each(|_| _ = list.halve());
    list.insert_many(&5, 20);
    let top: Vec<_> =
        list.top().iter().map(|hitter| (*hitter.key, hitter.estimate.value())).collect();
    assert_eq!(top, [(5, 20), (1, 3)]);
}

/// Each key's parent in the heap was once sought from the first key on, in a time that grew with the square.
#[test]
fn a_summary_is_read_in_a_time_like_that_of_filling_it() {
    let params = HeavyHittersParams::with_capacity(0.5, 200_000).unwrap();
    let start = ThreadTime::now();
    let mut summary =
        HeavyHitters::<u64>::from_params(params, DefaultHashBuilder::default()).unwrap();
    (0..200_000).for_each(|key| _ = summary.insert(&key));
    let (filling, bytes) = (start.elapsed(), summary.to_bytes());
    let start = ThreadTime::now();
    let read = HeavyHitters::<u64>::from_bytes(&bytes).unwrap();
    let reading = start.elapsed();
    assert!(reading < 50 * filling, "{reading:?} to read, {filling:?} to fill");
    assert_eq!(read, summary);
}

/// Keys whose searches would all start in one 4,096th of the table, if it began them where anybody can compute.
#[test]
fn chosen_keys_are_found_as_fast_as_others() {
    const KEYS: usize = 10_000;
    let time = |keys: &mut dyn Iterator<Item = u64>| {
        let keys: Vec<u64> = keys.take(KEYS).collect();
        let params = HeavyHittersParams::with_capacity(0.001, KEYS as u64).unwrap();
        let insert = |_| {
            let start = ThreadTime::now();
            let mut heavy =
                HeavyHitters::from_params(params, Avalanching(IdentityBuilder)).unwrap();
            keys.iter().for_each(|key| _ = heavy.insert(key));
            (start.elapsed(), heavy.estimate(&keys[0]))
        };
        let (least, count) = (0..5).map(insert).min().unwrap();
        assert_eq!(count, 1);
        least
    };
    let starts_first = |hash: &u64| {
        let product = u128::from(*hash) * u128::from(GOLDEN_RATIO);
        ((product >> 64) ^ product) >> 52 & 0xFFF == 0
    };
    let (others, chosen) = (time(&mut (0..).map(finalize)), time(&mut (0..).filter(starts_first)));
    assert!(chosen < 10 * others, "{chosen:?} for chosen keys, {others:?} for others");
}
