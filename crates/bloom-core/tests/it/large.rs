//! A filter of more than 2^32 bits, which takes a gigabyte of address space and little memory.
//!
//! One test allocates the space, once. The other needs only positions.
#![cfg(feature = "std")]

use bloom_core::{AtomicBloomFilter, BloomFilter, DoubleHash};
use pds_core::internal::Words;
use pds_testkit::keys;
use pds_testkit::stats::normal_quantile;

const NUM_BITS: u64 = (1 << 33) + 12_347;
const NUM_HASHES: u32 = 7;
const ITEMS: usize = 2_000;
const PARTS: usize = 64;

#[test]
fn case_02_a_filter_beyond_32_bits_uses_all_of_its_bits() {
    if Words::zeroed(NUM_BITS / 64).is_err() {
        assert_eq!(usize::BITS, 32, "a 64-bit machine has room for a gigabyte of zero pages");
        return;
    }
    let mut filter = BloomFilter::builder().bits(NUM_BITS).hashes(NUM_HASHES).build().unwrap();
    assert_eq!(filter.insert_batch(&stored()), ITEMS);
    assert!(stored().iter().all(|key| filter.contains(key)));
    let mut answers = vec![true; 100_000];
    let absent: Vec<u64> = keys::consecutive(ITEMS as u64).take(answers.len()).collect();
    filter.contains_batch(&absent, &mut answers);
    assert!(!answers.contains(&true), "the rate is 1e-40");

    let ones = ones_of_parts(filter.bits().words());
    let set: u64 = ones.iter().sum();
    // 14,000 positions of 8.6 billion: one pair meets with probability 1 %, three pairs with 1e-7.
    assert!(set + 2 >= ITEMS as u64 * u64::from(NUM_HASHES) && set == filter.count_ones());
    assert!(chi_square(&ones) < chi_square_limit(ones.len()), "{ones:?}");

    let shared = AtomicBloomFilter::from(filter);
    assert!(stored().iter().all(|key| shared.contains(key)));
}

/// Each probe by itself reaches all bits: no part of its position determines another.
///
/// A sum of a hash and the same hash rotated by half a word has equal halves. Its positions spread evenly
/// over any equal parts, and are 2^32 different ones all the same.
#[test]
fn case_02_each_probe_reaches_all_bits() {
    const POSITION_BITS: u32 = 40;
    let mut probes: Vec<_> = keys::random(2).take(1 << 20).map(DoubleHash::new).collect();
    for probe in 0..12 {
        let positions: Vec<u64> =
            probes.iter_mut().map(|p| p.next_position(1 << POSITION_BITS)).collect();
        for shift in [0, 8, 16, 24] {
            let mut cells = vec![0; 1 << 16];
            for position in &positions {
                let (top, below) = (position >> (POSITION_BITS - 8), (position >> shift) & 0xff);
                cells[usize::try_from(top << 8 | below).unwrap()] += 1;
            }
            let excess = chi_square(&cells) / chi_square_limit(cells.len());
            assert!(excess < 1.0, "probe {probe}, bits from {shift}: {excess} times the limit");
        }
    }
}

fn stored() -> Vec<u64> {
    keys::consecutive(0).take(ITEMS).collect()
}

/// Counts the set bits of equal parts of the words.
fn ones_of_parts(words: &[u64]) -> Vec<u64> {
    let ones = |part: &[u64]| part.iter().map(|word| u64::from(word.count_ones())).sum();
    words.chunks(words.len().div_ceil(PARTS)).map(ones).collect()
}

#[expect(clippy::cast_precision_loss, reason = "counts of a test are far below 2^53")]
fn chi_square(counts: &[u64]) -> f64 {
    let mean = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    counts.iter().map(|&count| (count as f64 - mean).powi(2) / mean).sum()
}

/// Returns the value that chi-square over this number of cells exceeds with probability 1e-8, by Wilson and Hilferty's
/// cube root.
#[expect(clippy::cast_precision_loss, reason = "a small number")]
fn chi_square_limit(cells: usize) -> f64 {
    let freedom = (cells - 1) as f64;
    let spread = 2.0 / (9.0 * freedom);
    freedom * (1.0 - spread + normal_quantile(1e-8) * spread.sqrt()).powi(3)
}
