//! Filters that forget keys by their age, beside the plain filter that forgets nothing, with hashes handed in.

use pds::{BloomFilter, TimedBloomFilter, WindowBloomFilter};

use crate::filter::{Filter, HashIn, Operation, Task, filter};
use crate::keys::Keys;
use crate::report::{Row, Unit};
use crate::suite::{Bench, Outcome};

const RATE: f64 = 0.01;

/// Keys per block.
const BLOCK: u64 = 1 << 16;

/// Measures windows at a rate of 1 % and a slack of 10 %, against a plain filter of as many keys.
pub(crate) fn run(bench: &mut Bench<'_>) -> Outcome {
    for (keys, name) in [(10_000, "10^4"), (1_000_000, "10^6")] {
        let window = &mut HashIn(WindowBloomFilter::new(keys, RATE)?);
        compare(bench, &format!("window of {name} keys"), keys, window)?;
        let timed = &mut Clocked(TimedBloomFilter::new(keys, keys, RATE)?);
        compare(bench, &format!("ticks of {name} keys"), keys, timed)?;
    }
    Ok(())
}

/// A filter whose clock ticks once per key.
struct Clocked(TimedBloomFilter);

filter!(Clocked => {
    insert(filter, hash) => {
        let later = filter.0.now() + 1;
        filter.0.advance(later).is_ok() && filter.0.insert_hash(hash)
    },
    contains(filter, hash) => filter.0.contains_hash(hash),
    bytes(filter) => filter.0.size_in_bytes(),
});

filter!(HashIn<BloomFilter>, HashIn<WindowBloomFilter> => {
    insert(filter, hash) => filter.0.insert_hash(hash),
    contains(filter, hash) => filter.0.contains_hash(hash),
    bytes(filter) => filter.0.size_in_bytes(),
});

fn compare(bench: &mut Bench<'_>, case: &str, keys: u64, ours: &mut dyn Filter) -> Outcome {
    let (plain, peer) = (&mut HashIn(BloomFilter::new(keys, RATE)?), "bloom-core");
    // Ours goes once around all generations, and keeps the youngest keys.
    ours.fill(0..2 * keys);
    plain.fill(keys..2 * keys);
    let mut youngest = vec![0; usize::try_from(keys)?];
    Keys::of(keys..2 * keys).fill(&mut youngest);
    assert_eq!(ours.contains_each(&youngest), keys, "{case}: a key is missing");
    let bits = [ours.bytes(), plain.bytes()].map(|bytes| bytes as f64 * 8.0 / keys as f64);
    bench.add(Row::exact([case, "memory"], peer, Unit::BitsPerItem, bits));
    let block = keys.min(BLOCK);
    for (operation, keys) in [
        (Operation::Hit, Keys::of(2 * keys - block..2 * keys)),
        (Operation::Miss, Keys::absent()),
        // The plain filter fills up, which changes nothing about the time of an insert.
        (Operation::Insert, Keys::absent()),
    ] {
        let [mut ours, mut theirs] = Task::pair([ours, plain], operation);
        let block = (usize::try_from(block)?, keys);
        bench.add(bench.duel([case, operation.name()], peer, block, [&mut ours, &mut theirs]));
    }
    Ok(())
}
