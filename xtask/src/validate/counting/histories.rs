//! Histories of counting filters: copies are inserted and removed.

use crate::validate::prelude::*;
use crate::validate::proofs::{Claims, History};
use core::fmt::Debug;
use pds::traits::{Frequency, Insert, Remove};
use pds::{BlockedCountingBloomFilter, CountingBloomFilter};
use std::collections::HashMap;

/// The greatest number that a counter of 4 bits holds.
const SATURATED: u64 = 15;

pub(super) const HISTORIES: [History; 2] = [
    History {
        name: "counting",
        run: |random, claims| {
            let mut filter = CountingBloomFilter::new(100, 0.01).expect("sound");
            copies(random, &mut filter, claims);
            claims.estimate(filter.approx_len(), 0.0, f64::INFINITY);
        },
    },
    History {
        name: "blocked counting",
        run: |random, claims| {
            let mut filter = BlockedCountingBloomFilter::new(100, 0.01).expect("sound");
            copies(random, &mut filter, claims);
        },
    },
];

/// Inserts and removes copies of keys. No key is counted fewer times than it is in, unless its counters saturate.
fn copies<F>(random: Random<'_>, filter: &mut F, claims: &mut Claims)
where
    F: Insert<Error: Debug> + Remove + Frequency,
{
    let mut copies: HashMap<u64, u64> = HashMap::new();
    for _ in 0..some(random, 8) {
        let key = next(random) % 64;
        let count = copies.entry(key).or_default();
        let removes = next(random).is_multiple_of(3) && *count > 0;
        if removes {
            filter.remove(&key);
            *count -= 1;
        } else {
            filter.insert(&key).expect("a counting filter takes every key");
            *count += 1;
        }
    }
    copies.iter().for_each(|(key, &count)| {
        claims.hold(filter.estimate(key) >= count.min(SATURATED));
    });
}
