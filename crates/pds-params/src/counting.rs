//! Counting Bloom filters: counters in the place of bits, so that keys can be removed.
//!
//! The rate and the size in counters are those of the Bloom filter with as many bits
//! ([`BloomParams`](crate::BloomParams)). What is added here is how often small counters overflow, the
//! filter with all counters of a key in one cache line, and what both cost beside a cuckoo filter.

pub(crate) mod blocked;
mod memory;
mod overflow;

pub use blocked::{LINE_COUNTERS, MAX_LINES, blocked_rate};
pub use memory::{Memory, Removal};
pub use overflow::{any_overflow_probability, mean_count, overflow_bound, overflow_probability};
