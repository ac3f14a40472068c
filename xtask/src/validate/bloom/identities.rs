//! Bloom filters that are merged with an empty one.

use super::NAME;
use crate::validate::identity::{KEYS, identity, with};
use crate::validate::schedule::Job;
use pds::{AtomicBloomFilter, BloomFilter};

pub(super) fn jobs<'a>(seed: u64) -> Vec<Job<'a>> {
    fn plain() -> BloomFilter {
        BloomFilter::new(KEYS, 0.01).expect("sound")
    }
    vec![
        identity!("plain", |seed| with(plain(), seed, KEYS), plain(), |f: BloomFilter| [f
            .approx_len()
            .value])
        .job(NAME, seed),
        identity!(
            "atomic",
            |seed| with(plain(), seed, KEYS).into(),
            plain().into(),
            |f: AtomicBloomFilter| [f.approx_len().value]
        )
        .job(NAME, seed),
    ]
}
