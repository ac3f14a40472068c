//! Filters that grow without a known number of keys, beside the peer that does, with the keys hashed by each.

use growable_bloom_filter::GrowableBloom;
use pds::ScalableBloomFilter;

use crate::filter::{Filter, Operation, Task, filter};
use crate::keys::Keys;
use crate::suite::{Bench, Outcome};

const RATE: f64 = 0.01;
const FIRST: u64 = 1_000;

/// Keys per block.
const BLOCK: u64 = 1 << 14;

/// Measures growth from a first layer of 1,000 keys, at a rate of 1 %.
pub(crate) fn run(bench: &mut Bench<'_>) -> Outcome {
    for (keys, case) in [(100_000, "10^5 keys"), (4_000_000, "4 10^6 keys")] {
        let ours = &mut ScalableBloomFilter::new(FIRST, RATE)?;
        let theirs = &mut GrowableBloom::new(RATE, usize::try_from(FIRST)?);
        for filter in [ours as &mut dyn Filter, theirs] {
            filter.fill(0..keys);
            let mut stored = vec![0; usize::try_from(keys)?];
            Keys::stored(keys).fill(&mut stored);
            assert_eq!(filter.contains_each(&stored), keys, "{case}");
        }
        for (operation, keys) in [
            (Operation::Hit, Keys::of(keys - BLOCK..keys)),
            (Operation::Miss, Keys::absent()),
            (Operation::Insert, Keys::absent()),
        ] {
            let [mut ours, mut theirs] = Task::pair([ours, theirs], operation);
            let (peer, block) = ("growable-bloom-filter", (usize::try_from(BLOCK)?, keys));
            bench.add(bench.duel([case, operation.name()], peer, block, [&mut ours, &mut theirs]));
        }
    }
    Ok(())
}

filter!(ScalableBloomFilter => {
    insert(filter, key) => filter.insert(&key).expect("memory"),
    contains(filter, key) => filter.contains(&key),
});

// It hashes keys itself, by XXH3 as ours does, and takes no hasher and no hash.
filter!(GrowableBloom => {
    insert(filter, key) => filter.insert(key),
    contains(filter, key) => (*filter).contains(key),
});
