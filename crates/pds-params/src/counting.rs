//! Counting Bloom filters: counters instead of bits, so that keys can be removed.
//!
//! The rate and the number of counters are those of the Bloom filter with as many bits
//! ([`BloomParams`](crate::BloomParams)). This module adds:
//!
//! - the overflow probability of small counters,
//! - the filter with all counters of a key in one cache line,
//! - the memory of both in comparison with a cuckoo filter.

pub(crate) mod blocked;
mod overflow;

// The methods of the parameters answer the same. The family's crates and the proofs call these.
#[doc(hidden)]
pub use blocked::{LINE_COUNTERS, MAX_LINES, blocked_rate};
pub use overflow::{any_overflow_probability, mean_count, overflow_bound, overflow_probability};
