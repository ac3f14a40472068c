//! Filters that forget keys by their age, beside the plain filter that forgets nothing, with hashes handed in.

use core::error::Error;
use core::hint::black_box;

use pds::{BloomFilter, TimedBloomFilter, WindowBloomFilter};

use crate::contest::Whole;
use crate::keys::{Keys, key};
use crate::report::{Row, Unit};
use crate::suite::{Bench, Outcome, Suite};

/// Windows at a rate of 1 % and a slack of 10 %, against a plain filter of as many keys.
pub const SUITE: Suite = Suite { name: "window", peers: &[PLAIN], run };

const PLAIN: &str = "bloom-core";

const SMALL: &str = "window of 10^4 keys";
const LARGE: &str = "window of 10^6 keys";
const SMALL_TIMED: &str = "ticks of 10^4 keys";
const LARGE_TIMED: &str = "ticks of 10^6 keys";

const RATE: f64 = 0.01;

/// Keys per block.
const BLOCK: usize = 1 << 16;

fn run(bench: &mut Bench<'_>) -> Outcome {
    for (keys, case, timed) in [(10_000, SMALL, SMALL_TIMED), (1_000_000, LARGE, LARGE_TIMED)] {
        let mut filter = WindowBloomFilter::new(keys, RATE)?;
        // Once around all generations.
        (0..2 * keys).for_each(|number| _ = filter.insert_hash(key(number)));
        compare(bench, case, keys, &mut filter)?;
        let mut filter = Clocked(TimedBloomFilter::new(keys, keys, RATE)?);
        (0..2 * keys).for_each(|number| _ = filter.insert(key(number)));
        compare(bench, timed, keys, &mut filter)?;
    }
    Ok(())
}

/// A filter under test. The loops are provided methods, so all contenders have the same ones.
trait Filter {
    fn insert(&mut self, hash: u64) -> bool;

    fn has(&self, hash: u64) -> bool;

    fn bytes(&self) -> u64;

    fn insert_all(&mut self, hashes: &[u64]) -> u64 {
        hashes.iter().map(|&hash| u64::from(black_box(&mut *self).insert(hash))).sum()
    }

    fn count(&self, hashes: &[u64]) -> u64 {
        hashes.iter().map(|&hash| u64::from(black_box(self).has(hash))).sum()
    }
}

macro_rules! filters {
    ($($filter:ty)*) => {$(
        impl Filter for $filter {
            fn insert(&mut self, hash: u64) -> bool {
                self.insert_hash(hash)
            }

            fn has(&self, hash: u64) -> bool {
                self.contains_hash(hash)
            }

            fn bytes(&self) -> u64 {
                self.size_in_bytes()
            }
        }
    )*};
}
filters!(BloomFilter WindowBloomFilter);

/// A filter whose clock ticks once per key.
struct Clocked(TimedBloomFilter);

impl Filter for Clocked {
    fn insert(&mut self, hash: u64) -> bool {
        let later = self.0.now() + 1;
        self.0.advance(later).is_ok() && self.0.insert_hash(hash)
    }

    fn has(&self, hash: u64) -> bool {
        self.0.contains_hash(hash)
    }

    fn bytes(&self) -> u64 {
        self.0.size_in_bytes()
    }
}

fn compare(
    bench: &mut Bench<'_>,
    case: &str,
    keys: u64,
    ours: &mut dyn Filter,
) -> Result<(), Box<dyn Error>> {
    let mut plain = BloomFilter::new(keys, RATE)?;
    // The youngest keys of the window.
    let stored: Vec<u64> = (keys..2 * keys).map(key).collect();
    plain.insert_hash_batch(&stored);
    assert_eq!(ours.count(&stored), keys, "{case}: a key is missing");
    let bits = [ours.bytes(), plain.size_in_bytes()].map(|bytes| bytes as f64 * 8.0 / keys as f64);
    bench.add(Row::exact([case, "memory"], PLAIN, Unit::BitsPerItem, bits));
    let block = stored.len().min(BLOCK);
    for (operation, is_hit) in [("hit", true), ("miss", false)] {
        let asked = if is_hit { &stored[stored.len() - block..] } else { &[] };
        let mut contenders = [&*ours as &dyn Filter, &plain].map(|filter| {
            Whole(move |hashes: &[u64]| filter.count(if is_hit { asked } else { hashes }))
        });
        let [ours, theirs] = &mut contenders;
        let row = bench.duel([case, operation], PLAIN, (block, Keys::absent()), [ours, theirs]);
        bench.add(row);
    }
    // The plain filter fills up, which changes nothing about the time of an insert.
    let (mut ours, mut theirs) = (
        Whole(|hashes: &[u64]| ours.insert_all(hashes)),
        Whole(|hashes: &[u64]| plain.insert_all(hashes)),
    );
    let row =
        bench.duel([case, "insert"], PLAIN, (block, Keys::absent()), [&mut ours, &mut theirs]);
    bench.add(row);
    Ok(())
}
