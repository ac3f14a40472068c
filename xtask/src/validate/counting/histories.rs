//! Histories of counting filters: copies are inserted and removed.

use crate::validate::proofs::{Claims, History, Random, next, some};
use pds::{BlockedCountingBloomFilter, CountingBloomFilter};
use std::collections::HashMap;

pub(super) const HISTORIES: [History; 2] = [
    History { name: "counting", run: counting },
    History { name: "blocked counting", run: blocked_counting },
];

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
