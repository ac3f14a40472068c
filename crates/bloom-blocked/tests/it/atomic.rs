//! The shared filter, with threads that change the same words.
#![cfg(feature = "std")]

use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Barrier;
use std::thread;

use bloom_blocked::{AtomicBlockedBloomFilter, BlockedBloomFilter, BlockedBloomFilterView};
use pds_core::traits::Insert;

const THREADS: usize = 4;

fn shared(blocks: u64, hashes: u32) -> AtomicBlockedBloomFilter {
    BlockedBloomFilter::builder().blocks(blocks).hashes(hashes).build().unwrap().into()
}

/// Threads insert overlapping ranges into few blocks, so that they change the same words.
#[test]
fn no_insert_is_lost() {
    for hashes in [6, 8, 12] {
        let filter = shared(40, hashes);
        let start = Barrier::new(THREADS);
        thread::scope(|s| {
            for thread in (0..500 * THREADS as u64).step_by(500) {
                let (filter, start) = (&filter, &start);
                s.spawn(move || {
                    start.wait();
                    let keys: Vec<u64> = (thread..thread + 1_000).collect();
                    filter.insert_batch(&keys[..500]);
                    keys[500..].iter().for_each(|key| {
                        filter.insert(key);
                    });
                });
            }
        });
        let mut plain = BlockedBloomFilter::builder().blocks(40).hashes(hashes).build().unwrap();
        plain.extend(0..500 * (THREADS as u64 + 1));
        assert_eq!(filter.into_plain(), plain);
    }
}

#[test]
fn at_least_one_thread_is_told_that_a_key_was_new() {
    const KEYS: u64 = 2_000;
    let filter = shared(1_000, 8);
    let news: Vec<AtomicUsize> = (0..KEYS).map(|_| AtomicUsize::new(0)).collect();
    let mut plain = filter.to_plain().unwrap();
    let start = Barrier::new(THREADS);
    thread::scope(|s| {
        for _ in 0..THREADS {
            s.spawn(|| {
                start.wait();
                for (key, news) in (0..KEYS).zip(&news) {
                    news.fetch_add(usize::from(filter.insert(&key)), Ordering::Relaxed);
                }
            });
        }
    });
    for (key, news) in (0..KEYS).zip(news) {
        // Keys whose bits are all set by others are new to no thread, in any order.
        assert!(!plain.insert(&key) || news.into_inner() >= 1, "key {key}");
    }
}

#[test]
fn what_happened_before_is_seen() {
    let filter = shared(100, 8);
    let (send, receive) = std::sync::mpsc::channel::<u64>();
    thread::scope(|s| {
        let filter = &filter;
        s.spawn(move || {
            for key in 0..2_000 {
                filter.insert(&key);
                send.send(key).unwrap();
            }
        });
        s.spawn(move || assert!(receive.iter().all(|key| filter.contains(&key))));
    });
}

#[test]
fn sets_of_shared_filters_are_those_of_plain_ones() {
    let (mut left, right) = (shared(10, 8), shared(10, 8));
    (&left).extend(0..300u32);
    (&right).extend(200..400u32);
    let (mut plain_union, plain_right) = (left.to_plain().unwrap(), right.to_plain().unwrap());
    let mut plain_common = plain_union.clone();
    plain_union.union_with(&plain_right).unwrap();
    plain_common.intersect_with(&plain_right).unwrap();
    let union = left.try_clone().unwrap();
    union.union_with(&right).unwrap();
    left.intersect_with(&right).unwrap();
    assert_eq!(union.into_plain(), plain_union);
    assert_eq!(left.to_plain().unwrap(), plain_common);
    left.clear();
    assert_eq!(left.count_ones(), 0);
}

/// Filters in different storages are combined and compared, and the result is that of plain ones.
#[test]
fn filters_in_any_storage_are_combined() {
    let (mut left, right) = (shared(10, 8).into_plain(), shared(10, 8));
    left.extend(0..300u32);
    (&right).extend(200..400u32);
    let plain = right.to_plain().unwrap();
    let view = BlockedBloomFilterView::open(right.to_bytes()).unwrap();
    let expected = left.approx_intersection_len(&plain).unwrap();
    assert_eq!(left.approx_intersection_len(&view).unwrap(), expected);
    assert_eq!(view.approx_intersection_len(&left).unwrap(), expected);
    assert_eq!(right.approx_union_len(&left).unwrap(), left.approx_union_len(&plain).unwrap());

    let [mut by_plain, mut by_view] = [left.clone(), left.clone()];
    by_plain.union_with(&plain).unwrap();
    by_view.union_with(&view).unwrap();
    assert_eq!(by_view, by_plain);
    let united = AtomicBlockedBloomFilter::from(left.clone());
    united.union_with(&view).unwrap();
    assert_eq!(united.into_plain(), by_plain);
    let [mut by_plain, mut by_shared] = [left.clone(), left];
    by_plain.intersect_with(&plain).unwrap();
    by_shared.intersect_with(&right).unwrap();
    assert_eq!(by_shared, by_plain);

    let other = BlockedBloomFilterView::open(shared(11, 8).to_bytes()).unwrap();
    assert!(by_plain.union_with(&other).is_err() && by_plain == by_shared);
}

/// Code that is generic over `Insert` fills a shared filter through a reference.
#[test]
fn a_reference_inserts() {
    fn fill(
        mut filter: impl Insert<Error = core::convert::Infallible>,
        keys: core::ops::Range<u32>,
    ) {
        keys.for_each(|key| assert!(filter.insert(&key).is_ok()));
    }
    let filter = shared(10, 8);
    thread::scope(|s| {
        s.spawn(|| fill(&filter, 0..100));
        s.spawn(|| fill(&filter, 100..200));
    });
    assert!((0..200u32).all(|key| filter.contains(&key)));
}
