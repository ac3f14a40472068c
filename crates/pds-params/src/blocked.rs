//! The blocked Bloom filter: all bits of a key in one block of 512, eight lanes of 64.
//!
//! Every function takes its numbers in this order, `(blocks, items, hashes)`, is pure, and answers
//! for every input: an empty filter has rate 0, a filter without blocks has rate 1, and no result is
//! NaN. Keys and positions are taken to be independent and uniform.
//!
//! # The layout
//! A key chooses one block. Each half of it, four lanes, takes half of the key's positions: the same
//! whole number in every lane, and one more in the lanes that remain, which are neighbours (the last
//! is the first one's) and start at one of the four lanes, chosen by the key. So a key with six
//! hashes has one bit in three of the four lanes of each half, one with eight a bit in every lane,
//! one with twelve a second bit in two lanes of each half. The second may coincide with the first.
//!
//! # The rate
//! Blocks hold different numbers of keys, and full ones err far more often than sparse ones make up
//! for. The load of a block is binomial, Poisson where there are many (Felix Putze, Peter Sanders and
//! Johannes Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", WEA 2007, section 3). Given
//! the load, the two halves are independent and alike, and the probability that one holds all of a
//! query's bits follows by inclusion and exclusion over these bits. Nothing is approximated.

mod fill;
mod half;
mod load;
pub(crate) mod params;
mod rate;
mod sizing;

pub use fill::{
    cardinality, expected_fill, expected_set_bits, intersection_cardinality,
    set_bits_standard_deviation,
};
pub use rate::{
    instance_rate_relative_spread, rate, rate_asymptotic, split_block_bits, split_block_rate,
    split_block_rate_with_collisions,
};
pub use sizing::split_blocks;

/// The bits of a block: one cache line of today's machines.
pub const BLOCK_BITS: u64 = 512;

/// The most hashes, or positions a key: two in every lane.
///
/// More would help below a rate of 10^-6 only, where a filter that spreads a key's bits over all of
/// its memory needs far less of it.
pub const MAX_HASHES: u32 = 16;

/// The most blocks that a filter can have: 2^63 bits.
pub const MAX_BLOCKS: u64 = crate::bloom::MAX_BITS / BLOCK_BITS;

/// The most blocks of Parquet's filter: half of the hash, 32 bits, chooses one.
pub const MAX_SPLIT_BLOCKS: u64 = 1 << 32;

/// Asserts that a number of hashes is one that the layout has.
#[track_caller]
fn assert_hashes(hashes: u32) {
    assert!(
        hashes.is_multiple_of(2) && (2..=MAX_HASHES).contains(&hashes),
        "{hashes} hashes, but blocks take an even number from 2 to {MAX_HASHES}"
    );
}
