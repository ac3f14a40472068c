//! Blocked filters that are merged with an empty one.

use super::NAME;
use crate::validate::identity::{Identity, KEYS, and, hashes, identity, with};
use crate::validate::schedule::Job;
use pds::blocked::Preference;
use pds::hash::DefaultHashBuilder;
use pds::params::BlockedBloomParams;
use pds::{AtomicBlockedBloomFilter, BlockedBloomFilter, SplitBlockBloomFilter};

pub(super) fn jobs<'a>(seed: u64) -> Vec<Job<'a>> {
    fn plain() -> BlockedBloomFilter {
        let params = BlockedBloomParams::new(KEYS, 0.01, Preference::Fastest).expect("sound");
        BlockedBloomFilter::from_params(params, DefaultHashBuilder::default()).expect("memory")
    }
    fn split() -> SplitBlockBloomFilter {
        SplitBlockBloomFilter::new(KEYS, 0.01).expect("sound")
    }
    let split = Identity::<SplitBlockBloomFilter> {
        name: "split-block",
        full: |seed| {
            let mut filter = split();
            hashes(seed, KEYS).for_each(|hash| {
                filter.insert_hash(hash);
            });
            filter
        },
        empty: split,
        says: |f| and(f.to_bitset(), &[f.fill_ratio()]),
        left: true,
        merge: |left, right| left.union_with(right).is_err(),
    };
    vec![
        identity!("plain", |seed| with(plain(), seed, KEYS), plain(), |f: BlockedBloomFilter| [f
            .approx_len()
            .value])
        .job(NAME, seed),
        identity!(
            "atomic",
            |seed| with(plain(), seed, KEYS).into(),
            plain().into(),
            |f: AtomicBlockedBloomFilter| [f.approx_len().value]
        )
        .job(NAME, seed),
        split.job(NAME, seed),
    ]
}
