//! Histories of cardinality sketches: a register that is occupied proves a key.

use crate::validate::prelude::*;
use crate::validate::proofs::{Claims, History};
use pds::formats::redis::RedisHyperLogLog;
use pds::hll::{HyperLogLogView, UltraLogLogView};
use pds::{AtomicHyperLogLog, HyperLogLog, UltraLogLog};
use std::collections::HashSet;

pub(super) const HISTORIES: [History; 4] = [
    History { name: "plain, atomic and view", run: plain },
    History { name: "ultra and view", run: ultra },
    History { name: "redis", run: redis },
    History { name: "overlap", run: overlap },
];

/// An UltraLogLog whose intervals begin at half of the lower end.
pub(super) const LOW_END: [History; 1] = [History {
    name: "ultra",
    run: |random, claims| {
        let (sketch, floor) = some_ultra(random);
        let interval = sketch.estimate_interval(0.95).expect("a confidence");
        claims.interval(&(0.5 * interval.start()..=*interval.end()), floor);
    },
}];

fn confidence(random: Random<'_>) -> f64 {
    [0.5, 0.95, 0.9973, 0.99999, 0.999_999_9][index(next(random) % 5)]
}

fn precision(random: Random<'_>) -> u32 {
    4 + u32::try_from(next(random) % 9).expect("below 9")
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
