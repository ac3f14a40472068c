//! The blocked Bloom filter: all bits of a key in one block of 512 bits, which has eight lanes of 64.
//!
//! Every function is pure and takes its numbers in the order `(blocks, items, hashes)`. It answers for every input: an
//! empty filter has rate 0, a filter without blocks has rate 1, and no result is NaN. Keys and positions are assumed to
//! be independent and uniform.
//!
//! # Layout
//! A key chooses one block. Each half of the block has four lanes and takes half of the key's positions. Every lane
//! takes the same whole number of them. The remaining positions go to neighbouring lanes, one per lane, starting at a
//! lane that the key chooses. The last lane is followed by the first.
//!
//! - A key with six hashes has one bit in three of the four lanes of each half.
//! - A key with eight hashes has one bit in every lane.
//! - A key with twelve hashes has a second bit in two lanes of each half. It may coincide with the first bit.
//!
//! # Rate
//! Blocks hold different numbers of keys. Full blocks err far more often, and sparse blocks do not compensate for them.
//! The load of a block is binomial, and Poisson if there are many blocks (Felix Putze, Peter Sanders and Johannes
//! Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", WEA 2007, section 3). Given the load, the two halves are
//! independent and identically distributed. The probability that a half has all bits of a query follows by inclusion
//! and exclusion over these bits. Nothing is approximated.

mod fill;
mod half;
mod load;
pub(crate) mod params;
mod rate;
mod sizing;

// The methods of the parameters answer the same. The family's crates and the proofs call these.
#[doc(hidden)]
pub use fill::{
    cardinality, expected_fill, expected_set_bits, intersection_cardinality,
    set_bits_standard_deviation,
};
#[doc(hidden)]
pub use rate::{instance_rate_relative_spread, rate, split_block_rate_with_collisions};
pub use rate::{rate_asymptotic, split_block_bits, split_block_rate};
pub use sizing::split_blocks;

/// The bits per block: one cache line of current machines.
#[doc(hidden)]
pub const BLOCK_BITS: u64 = 512;

/// The greatest number of hashes, which is the number of positions per key: two in every lane.
///
/// More hashes would help only below a rate of 10^-6. There, a filter that spreads a key's bits over its whole memory
/// needs far less memory.
#[doc(hidden)]
pub const MAX_HASHES: u32 = 16;

/// The greatest number of blocks: 2^63 bits.
#[doc(hidden)]
pub const MAX_BLOCKS: u64 = crate::bloom::MAX_BITS / BLOCK_BITS;

/// The greatest number of blocks of Parquet's filter. Half of the hash, 32 bits, chooses one.
#[doc(hidden)]
pub const MAX_SPLIT_BLOCKS: u64 = 1 << 32;

/// Panics if the layout does not support this number of hashes.
#[track_caller]
fn assert_hashes(hashes: u32) {
    assert!(
        hashes.is_multiple_of(2) && (2..=MAX_HASHES).contains(&hashes),
        "{hashes} hashes, but blocks take an even number from 2 to {MAX_HASHES}"
    );
}
