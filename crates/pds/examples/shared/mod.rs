//! Helpers of the examples: repeatable random numbers, sizes, times, and readable numbers.
#![allow(dead_code, reason = "each example uses its own part of this module")]

pub(crate) mod access_log;

use core::hint::black_box;
use std::collections::HashSet;
use std::time::Instant;

use pds::BloomFilter;
use pds::hash::{DefaultHashBuilder, KeyHasher};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Random numbers that are the same on every run.
pub(crate) fn random(seed: u64) -> impl Iterator<Item = u64> {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
    core::iter::repeat_with(move || generator.next_u64())
}

/// Picks an item by a random number.
pub(crate) fn pick<T>(items: &[T], random: u64) -> &T {
    let index = random % items.len() as u64;
    &items[usize::try_from(index).expect("an index into a slice")]
}

/// Copies `items` in a random order, so that memory is not read in the order in which it was filled.
pub(crate) fn shuffled<T: Clone>(items: &[T], seed: u64) -> Vec<T> {
    let mut order: Vec<_> = random(seed).zip(items).collect();
    order.sort_unstable_by_key(|(number, _)| *number);
    order.into_iter().map(|(_, item)| item.clone()).collect()
}

/// The exact set, with the hasher of the filter: structures are compared, not hash functions.
pub(crate) type ExactSet<T> = HashSet<T, DefaultHashBuilder>;

/// The accounting of the two functions below.
pub(crate) const MEMORY_OF_SETS: &str =
    "Memory of a set: capacity x (slot + 1 control byte) + text, without the allocator's overhead.";

/// Returns the bytes of the table of a hash set: a slot and a control byte per place.
///
/// This favours the set: slots that it keeps free, and the overhead of the allocator, are not counted.
pub(crate) fn table_bytes<T, S>(set: &HashSet<T, S>) -> u64 {
    (set.capacity() * (size_of::<T>() + 1)) as u64
}

/// Returns the bytes of a set of strings: its table, and the text that it owns.
pub(crate) fn string_set_bytes<S>(set: &HashSet<String, S>) -> u64 {
    table_bytes(set) + set.iter().map(|text| text.capacity() as u64).sum::<u64>()
}

/// The number of items that were answered `true`, and the time of one answer.
pub(crate) struct Asked {
    pub(crate) yes: usize,
    pub(crate) nanoseconds: f64,
}

/// Queries every item in turn, three times. The fastest round counts.
pub(crate) fn ask<T>(items: &[T], answer: impl Fn(&T) -> bool) -> Asked {
    let round = || {
        let start = Instant::now();
        let yes = items.iter().filter(|item| black_box(answer(item))).count();
        (start.elapsed(), yes)
    };
    let (elapsed, yes) = [round(), round(), round()].into_iter().min().expect("three rounds");
    Asked { yes, nanoseconds: elapsed.as_nanos() as f64 / items.len().max(1) as f64 }
}

/// Compares the wrong answers of a filter with the rate of its fill, and with the promise.
///
/// Five standard errors are allowed, and five answers if they are few. The promise is for the mean: the rate of a
/// single filter differs from it by 0.55 k / sqrt(m) for k hashes and m bits. The fill gives the rate of independent
/// positions. Below 1,000 bits a filter has another law, and nothing is checked.
pub(crate) fn assert_rate<S: KeyHasher>(filter: &BloomFilter<S>, wrong: usize, asked: usize) {
    if filter.num_bits() < 1_000 {
        return;
    }
    let expected = asked as f64 * filter.false_positive_rate();
    let noise = 5.0 * expected.sqrt() + 5.0;
    assert!(
        (wrong as f64 - expected).abs() <= noise,
        "{wrong} wrong, {expected:.1} ± {noise:.1} expected"
    );
    let spread = 5.0 * 0.55 * f64::from(filter.num_hashes()) / (filter.num_bits() as f64).sqrt();
    let promised = asked as f64 * filter.promised_rate().expect("built from a rate");
    assert!(
        wrong as f64 <= promised * (1.0 + spread) + noise,
        "{wrong} wrong, {promised:.1} promised"
    );
}

/// Writes `1234567` as `1,234,567`.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

/// Writes a number of bytes with three digits and a decimal unit.
pub(crate) fn size(bytes: u64) -> String {
    match bytes as f64 {
        small if small < 1e3 => format!("{bytes} B"),
        middle if middle < 1e6 => format!("{:.1} kB", middle / 1e3),
        large => format!("{:.1} MB", large / 1e6),
    }
}

/// Writes a fraction as a percentage.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.3} %", 100.0 * share)
}
