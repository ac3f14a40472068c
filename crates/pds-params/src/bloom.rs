//! The standard Bloom filter: m bits, k positions per key, n keys.
//!
//! Every function is pure and takes these numbers in the order `(bits, items, hashes)`. It answers for every input:
//! an empty filter has rate 0, a filter without bits or hashes has rate 1, and no result is NaN. Positions are assumed
//! to be independent and uniform. [`scheme_excess`] bounds the rate that double hashing adds.
//!
//! There are three formulas for the false-positive rate:
//!
//! - [`rate_asymptotic`] is the textbook formula.
//! - [`rate_finite`] is a lower bound.
//! - [`rate_exact`] is the mean over all filters. Sizes are computed from it.

mod exact;
mod fill;
pub(crate) mod params;
mod rate;
mod sizing;
mod transfer;

// The methods of the parameters answer the same. The family's crates and the proofs call these.
#[doc(hidden)]
pub use exact::rate_exact;
pub use fill::SetBits;
pub(crate) use fill::{NOTHING, fewest_items};
#[doc(hidden)]
pub use fill::{
    cardinality, expected_fill, expected_set_bits, intersection_cardinality,
    set_bits_standard_deviation,
};
#[doc(hidden)]
pub use rate::instance_rate_relative_spread;
pub use rate::{
    Overlap, information_bound, intersection_rate, overfill_rate, rate_asymptotic, rate_finite,
    rate_from_fill, union_rate,
};
#[doc(hidden)]
pub use sizing::HASH_COLLISION;
pub use sizing::scheme_excess;

/// The greatest number of hash functions, which is the number of positions per key.
///
/// A filter whose optimum is 255 hashes has a rate of 2^-255, far below the resolution of 64-bit hashes.
// The limit lets the count be stored in one byte, and lets the exact rate be computed without a heap.
#[doc(hidden)]
pub const MAX_HASHES: u32 = 255;

/// The greatest number of bits of a filter: 2^63, or 2^60 bytes.
///
/// No address space is larger.
// Every sum of two sizes still fits 64 bits.
#[doc(hidden)]
pub const MAX_BITS: u64 = 1 << 63;
