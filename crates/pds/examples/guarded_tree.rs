//! A filter in front of a `BTreeMap`: when does it pay?
//!
//! ```text
//! cargo run --release -p pds --example guarded_tree
//! ```
//!
//! A lookup of an absent key ends at the filter, which is smaller and nearer than the tree. A lookup of a present key pays for
//! both. The keys of a Bloom filter cannot be removed, so the guard is built anew after some deletions. Until then
//! deleted keys are false positives, and cost a lookup in the tree.

#![expect(clippy::std_instead_of_alloc, reason = "an example has the standard library")]

mod shared;

use core::cell::Cell;
use core::error::Error;
use std::collections::BTreeMap;
use std::time::Instant;

use pds::BloomFilter;
use pds::error::BuildError;
use shared::{grouped, random};

/// Bits of the guard per key, and at least one word.
const BITS_PER_KEY: u64 = 10;
const LEAST_BITS: u64 = 64;

/// A map with a filter of its keys in front.
struct GuardedTree {
    tree: BTreeMap<u64, u64>,
    guard: BloomFilter,
    /// Number of deletions after which the guard is built anew.
    patience: usize,
    deletions: usize,
    false_positives: Cell<u64>,
}

/// Returns a guard of some keys.
fn guard_of<'a>(keys: impl ExactSizeIterator<Item = &'a u64>) -> Result<BloomFilter, BuildError> {
    let items = keys.len().max(1) as u64;
    let bits = (BITS_PER_KEY * items).max(LEAST_BITS);
    let mut guard = BloomFilter::builder().bits(bits).expected_items(items).build()?;
    guard.extend(keys);
    Ok(guard)
}

impl GuardedTree {
    fn new(tree: BTreeMap<u64, u64>, patience: usize) -> Result<Self, BuildError> {
        let guard = guard_of(tree.keys())?;
        Ok(Self { tree, guard, patience, deletions: 0, false_positives: Cell::new(0) })
    }

    fn get(&self, key: u64) -> Option<u64> {
        if !self.guard.contains(&key) {
            return None;
        }
        let found = self.tree.get(&key).copied();
        if found.is_none() {
            self.false_positives.set(self.false_positives.get() + 1);
        }
        found
    }

    fn remove(&mut self, key: u64) -> Result<Option<u64>, BuildError> {
        let removed = self.tree.remove(&key);
        self.deletions += usize::from(removed.is_some());
        if self.deletions >= self.patience {
            (self.guard, self.deletions) = (guard_of(self.tree.keys())?, 0);
        }
        Ok(removed)
    }
}

const LOOKUPS: usize = 200_000;
const SHARES: [usize; 5] = [0, 50, 75, 90, 99];

fn main() -> Result<(), Box<dyn Error>> {
    pds_testkit::pipe::end_quietly();
    println!(
        "Lookups: time without the guard over time with it, by the share of lookups that miss\n"
    );
    print!("{:>10} {:>12} {:>12}", "keys", "guard bytes", "false pos.");
    SHARES.iter().for_each(|share| print!(" {share:>7} %"));
    println!();
    let mut table = Vec::new();
    for keys in [6, 100, 3_000, 100_000, 1_000_000] {
        let gains = gains_of(keys)?;
        gains.iter().for_each(|gain| print!(" {gain:>9.2}"));
        println!();
        table.push((keys, gains));
    }
    println!("\nA bar ends left of | if the guard costs time, and right of it if the guard pays.");
    for (column, share) in SHARES.iter().enumerate() {
        println!("\n{share} % misses");
        for (keys, gains) in &table {
            println!("{:>10} {}", grouped(*keys), bar(gains[column]));
        }
    }
    deletions()
}

/// Prints the first columns of a row. Returns the gain for each share of misses.
fn gains_of(keys: usize) -> Result<[f64; SHARES.len()], Box<dyn Error>> {
    let stored: Vec<u64> = random(1).take(keys).collect();
    let tree: BTreeMap<u64, u64> = stored.iter().map(|&key| (key, !key)).collect();
    let guarded = GuardedTree::new(tree, usize::MAX)?;
    let absent: Vec<u64> = random(2).take(LOOKUPS).collect();
    assert!(stored.iter().all(|&key| guarded.get(key) == Some(!key)), "no key is lost");
    absent.iter().for_each(|&key| assert_eq!(guarded.get(key), None));
    let rate = guarded.false_positives.get() as f64 / LOOKUPS as f64;
    let expected = guarded.guard.false_positive_rate();
    assert!((rate - expected).abs() < 0.003, "{rate}, not {expected}");
    let bytes = grouped(usize::try_from(guarded.guard.size_in_bytes())?);
    print!("{:>10} {bytes:>12} {:>10.2} %", grouped(keys), 100.0 * rate);

    let order: Vec<u64> = random(3).take(LOOKUPS).collect();
    Ok(SHARES.map(|share| {
        let mixed: Vec<u64> = (0..LOOKUPS)
            .map(|i| {
                let choice = usize::try_from(order[i] >> 40).unwrap_or(0);
                if choice % 100 < share { absent[i] } else { stored[choice / 100 % keys] }
            })
            .collect();
        let plain = time(&mixed, |key| guarded.tree.get(&key).copied());
        let with_guard = time(&mixed, |key| guarded.get(key));
        assert_eq!(plain.1, with_guard.1, "the same answers");
        plain.0 / with_guard.0
    }))
}

/// Returns the least of five times in nanoseconds, and the sum of the answers.
fn time(keys: &[u64], get: impl Fn(u64) -> Option<u64>) -> (f64, u64) {
    let (mut least, mut sum) = (f64::INFINITY, 0);
    for _ in 0..5 {
        let start = Instant::now();
        sum = keys.iter().filter_map(|&key| get(key)).fold(0, u64::wrapping_add);
        least = least.min(start.elapsed().as_secs_f64() * 1e9);
    }
    (least, sum)
}

/// Returns a bar for a gain from 1/8 to 8 on a logarithmic scale, with a mark at 1.
fn bar(gain: f64) -> String {
    const HALF: usize = 24;
    let column = |place: usize| {
        let gain_there = ((place as f64 - HALF as f64) / 8.0).exp2();
        match place {
            HALF => '|',
            _ if gain_there < gain => '#',
            _ => ' ',
        }
    };
    format!("{} {gain:.2}", (0..=2 * HALF).map(column).collect::<String>())
}

/// Shows what patience costs: a tree of which half the keys are deleted.
fn deletions() -> Result<(), Box<dyn Error>> {
    const KEYS: usize = 100_000;
    println!("\nDeleting half of {} keys, each asked for once more\n", grouped(KEYS));
    println!("{:>22} {:>10} {:>16}", "deletions per rebuild", "rebuilds", "false positives");
    let stored: Vec<u64> = random(1).take(KEYS).collect();
    let mut last = 0;
    for patience in [KEYS / 1_000, KEYS / 100, KEYS / 10, KEYS] {
        let tree = stored.iter().map(|&key| (key, !key)).collect();
        let mut guarded = GuardedTree::new(tree, patience)?;
        for (i, &key) in stored[..KEYS / 2].iter().enumerate() {
            assert_eq!(guarded.remove(key)?, Some(!key));
            // One of the keys that were deleted before, by chance any of them.
            let asked = usize::try_from(key >> 40)? % (i + 1);
            assert_eq!(guarded.get(stored[asked]), None);
        }
        assert!(stored[KEYS / 2..].iter().all(|&key| guarded.get(key) == Some(!key)));
        let found = guarded.false_positives.get();
        assert!(found > last, "more deletions without a rebuild, more false positives");
        last = found;
        let rebuilds = KEYS / 2 / patience;
        println!(
            "{:>22} {:>10} {:>16}",
            grouped(patience),
            rebuilds,
            grouped(usize::try_from(found)?)
        );
    }
    Ok(())
}
