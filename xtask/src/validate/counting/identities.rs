//! Counting filters that are merged with an empty one.

use super::NAME;
use crate::validate::identity::{KEYS, identity, with};
use crate::validate::schedule::Job;
use pds::{BlockedCountingBloomFilter, CountingBloomFilter};

pub(super) fn jobs<'a>(seed: u64) -> Vec<Job<'a>> {
    fn plain() -> CountingBloomFilter {
        CountingBloomFilter::new(KEYS, 0.01).expect("sound")
    }
    fn lines() -> BlockedCountingBloomFilter {
        BlockedCountingBloomFilter::new(KEYS, 0.01).expect("sound")
    }
    vec![
        identity!("plain", |seed| with(plain(), seed, KEYS), plain(), |f: CountingBloomFilter| [f
            .approx_len()
            .value])
        .job(NAME, seed),
        identity!(
            "blocked",
            |seed| with(lines(), seed, KEYS),
            lines(),
            |f: BlockedCountingBloomFilter| [f.fill_ratio()]
        )
        .job(NAME, seed),
    ]
}
