//! The shared filter, with several threads.
#![cfg(feature = "std")]

use core::sync::atomic::{AtomicU32, Ordering};
use std::sync::Barrier;
use std::thread;

use bloom_core::{AtomicBloomFilter, BloomFilter};

const THREADS: u32 = 4;

/// Runs `work(0)` to `work(THREADS - 1)` at the same time and collects what they return.
fn together<T: Send>(work: impl Fn(u32) -> T + Sync) -> Vec<T> {
    let start = Barrier::new(THREADS as usize);
    let run = |thread| {
        start.wait();
        work(thread)
    };
    thread::scope(|scope| {
        let handles: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || run(thread))).collect();
        handles.into_iter().map(|handle| handle.join().unwrap()).collect()
    })
}

fn plain(bits: u64, keys: impl IntoIterator<Item = u32>) -> BloomFilter {
    let mut filter = BloomFilter::builder().bits(bits).hashes(5).build().unwrap();
    filter.extend(keys);
    filter
}

/// Two threads set bits of the same few words at the same time, again and again.
///
/// They wait for each other by spinning. A sleeping thread would wake up long after the other has finished its few
/// inserts, and nothing would be tested.
#[test]
fn no_insert_is_lost() {
    const ROUNDS: u32 = 10_000;
    let keys = |round: u32, thread: u32| (0..8).map(move |key| (round * 2 + thread) * 8 + key);
    let filters: Vec<_> = (0..ROUNDS).map(|_| AtomicBloomFilter::from(plain(100, []))).collect();
    let arrived = AtomicU32::new(0);
    let run = |thread| {
        for (round, mut filter) in (0..).zip(&filters) {
            arrived.fetch_add(1, Ordering::AcqRel);
            while arrived.load(Ordering::Acquire) < (round + 1) * 2 {
                thread::yield_now();
            }
            filter.extend(keys(round, thread));
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| run(0));
        run(1);
    });
    for (round, filter) in (0..).zip(filters) {
        let expected = plain(100, keys(round, 0).chain(keys(round, 1)));
        assert_eq!(filter.into_plain().bits().words(), expected.bits().words(), "round {round}");
    }
}

#[test]
fn no_insert_is_lost_in_batches() {
    let keys = |thread: u32| (thread * 50_000..(thread + 1) * 50_000).collect::<Vec<u32>>();
    let shared = AtomicBloomFilter::from(plain(2_000_000, []));
    together(|thread| shared.insert_batch(&keys(thread)));
    assert_eq!(shared.into_plain(), plain(2_000_000, 0..THREADS * 50_000));
}

/// Only one thread sets a bit. Therefore at least as many keys are new as with one thread, and exactly as many with one
/// bit per key.
#[test]
fn each_new_key_is_told_to_one_thread_at_least() {
    for round in 0..100 {
        let keys = || (0..1_000).map(move |key| round * 1_000 + key);
        let empty = || BloomFilter::builder().bits(100_000).hashes(1).build().unwrap();
        let mut alone = empty();
        let new = keys().filter(|key| alone.insert(key)).count();
        let shared = AtomicBloomFilter::from(empty());
        let told: usize =
            together(|_| keys().filter(|key| shared.insert(key)).count()).iter().sum();
        assert_eq!(told, new);

        let (mut alone, shared) = (plain(100_000, []), AtomicBloomFilter::from(plain(100_000, [])));
        let new = keys().filter(|key| alone.insert(key)).count();
        let told: usize =
            together(|_| keys().filter(|key| shared.insert(key)).count()).iter().sum();
        assert!(told >= new, "{told} of {new}");
    }
}

#[test]
fn a_union_and_inserts_at_the_same_time_lose_nothing() {
    for round in 0..200 {
        let keys = |thread: u32| (0..100).map(move |key| (round * THREADS + thread) * 100 + key);
        let shared = AtomicBloomFilter::from(plain(5_000, []));
        together(|thread| {
            if thread % 2 == 0 {
                shared.union_with(&plain(5_000, keys(thread))).unwrap();
            } else {
                (&shared).extend(keys(thread));
            }
        });
        assert_eq!(shared.into_plain(), plain(5_000, (0..THREADS).flat_map(keys)));
    }
}

#[test]
fn conversion_copies_nothing() {
    let filter = plain(10_000, 0..100);
    let (address, before) = (filter.bits().words().as_ptr(), filter.clone());
    let after = AtomicBloomFilter::from(filter).into_plain();
    assert_eq!(after.bits().words().as_ptr(), address);
    assert_eq!(after, before);
}

#[test]
fn a_copy_taken_during_inserts_holds_what_was_there_before() {
    let shared = AtomicBloomFilter::from(plain(100_000, 0..1_000));
    together(|thread| {
        if thread == 0 {
            let copy = shared.to_plain().unwrap();
            assert!((0..1_000u32).all(|key| copy.contains(&key)));
            assert_eq!(copy.num_bits(), shared.num_bits());
        } else {
            (&shared).extend(thread * 1_000..(thread + 1) * 1_000);
        }
    });
}

#[test]
fn clearing_forgets_all() {
    let shared = AtomicBloomFilter::from(plain(1_000, 0..50));
    shared.clear();
    assert_eq!((shared.count_ones(), shared.approx_len().value), (0, 0.0));
    assert!(shared.insert(&1u32));
    assert_eq!(shared.try_clone().unwrap().into_plain(), shared.into_plain());
}
