//! Filters that grow without a known number of keys, beside the peer that does, with the keys hashed by each.

use core::error::Error;
use core::hint::black_box;

use growable_bloom_filter::GrowableBloom;
use pds::ScalableBloomFilter;

use crate::contest::Whole;
use crate::keys::{Keys, key};
use crate::suite::{Bench, Outcome, Suite};

/// Growth from a first layer of 1,000 keys, at a rate of 1 %.
pub const SUITE: Suite = Suite { name: "scalable", peers: &[PEER], run };

const PEER: &str = "growable-bloom-filter";

const SMALL: &str = "10^5 keys";
const LARGE: &str = "4 10^6 keys";

const RATE: f64 = 0.01;
const FIRST: u64 = 1_000;

/// Keys per block.
const BLOCK: usize = 1 << 14;

fn run(bench: &mut Bench<'_>) -> Outcome {
    for (keys, case) in [(100_000, SMALL), (4_000_000, LARGE)] {
        compare(bench, case, keys)?;
    }
    Ok(())
}

/// A filter under test. The loops are provided methods, so both contenders have the same ones.
trait Filter {
    fn insert(&mut self, key: u64) -> bool;

    fn has(&self, key: u64) -> bool;

    fn insert_all(&mut self, keys: &[u64]) -> u64 {
        keys.iter().map(|&key| u64::from(black_box(&mut *self).insert(key))).sum()
    }

    fn count(&self, keys: &[u64]) -> u64 {
        keys.iter().map(|&key| u64::from(black_box(self).has(key))).sum()
    }
}

impl Filter for ScalableBloomFilter {
    fn insert(&mut self, key: u64) -> bool {
        self.insert(&key).expect("memory")
    }

    fn has(&self, key: u64) -> bool {
        self.contains(&key)
    }
}

// It hashes keys itself, by XXH3 as ours does, and takes no hasher and no hash.
impl Filter for GrowableBloom {
    fn insert(&mut self, key: u64) -> bool {
        self.insert(key)
    }

    fn has(&self, key: u64) -> bool {
        self.contains(key)
    }
}

fn compare(bench: &mut Bench<'_>, case: &str, keys: u64) -> Result<(), Box<dyn Error>> {
    let mut ours = ScalableBloomFilter::new(FIRST, RATE)?;
    let mut theirs = GrowableBloom::new(RATE, usize::try_from(FIRST)?);
    let stored: Vec<u64> = (0..keys).map(key).collect();
    Filter::insert_all(&mut ours, &stored);
    Filter::insert_all(&mut theirs, &stored);
    assert_eq!([Filter::count(&ours, &stored), theirs.count(&stored)], [keys; 2], "{case}");
    for (operation, is_hit) in [("hit", true), ("miss", false)] {
        let asked = if is_hit { &stored[stored.len() - BLOCK..] } else { &[] };
        let mut contenders = [&ours as &dyn Filter, &theirs].map(|filter| {
            Whole(move |keys: &[u64]| filter.count(if is_hit { asked } else { keys }))
        });
        let [ours, theirs] = &mut contenders;
        let row = bench.duel([case, operation], PEER, (BLOCK, Keys::absent()), [ours, theirs]);
        bench.add(row);
    }
    let (mut ours, mut theirs) = (
        Whole(|keys: &[u64]| Filter::insert_all(&mut ours, keys)),
        Whole(|keys: &[u64]| Filter::insert_all(&mut theirs, keys)),
    );
    let row = bench.duel([case, "insert"], PEER, (BLOCK, Keys::absent()), [&mut ours, &mut theirs]);
    bench.add(row);
    Ok(())
}
