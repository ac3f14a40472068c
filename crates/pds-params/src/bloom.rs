//! The standard Bloom filter: m bits, k positions a key, n keys.
//!
//! Every function takes them in this order, `(bits, items, hashes)`, is pure, and answers for every
//! input: an empty filter has rate 0, a filter without bits or hashes has rate 1, and no result is
//! NaN. The positions are taken to be independent and uniform; what a real scheme adds to that is
//! [`scheme_excess`].
//!
//! There are three formulas for the false-positive rate. [`rate_asymptotic`] is the textbook's,
//! [`rate_finite`] is a lower bound, and [`rate_exact`] is the mean over all filters, which sizes
//! are computed from.

mod exact;
mod fill;
pub(crate) mod params;
mod rate;
mod sizing;

pub use exact::rate_exact;
pub(crate) use fill::{NOTHING, fewest_items};
pub use fill::{
    SetBits, cardinality, expected_fill, expected_set_bits, intersection_cardinality,
    set_bits_standard_deviation,
};
pub use rate::{
    Overlap, information_bound, instance_rate_relative_spread, intersection_rate, overfill_rate,
    rate_asymptotic, rate_finite, rate_from_fill, union_rate,
};
pub use sizing::{HASH_COLLISION, scheme_excess};

/// The most hash functions, or positions a key, that a filter can have.
///
/// A filter that is best at 255 hashes has a rate of 2^-255, far below what 64-bit hashes can tell
/// apart; the bound lets the count be stored in one byte and the exact rate work without a heap.
pub const MAX_HASHES: u32 = 255;

/// The most bits that a filter can have: 2^63, or 2^60 bytes.
///
/// No address space is larger, and every sum of two sizes still fits 64 bits.
pub const MAX_BITS: u64 = 1 << 63;
