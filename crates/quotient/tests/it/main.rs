//! The tests of the crate, in one program.
#![cfg(feature = "std")]

mod api;
mod format;
mod laws;
mod mutations;
#[cfg(feature = "serde")]
mod serde;
mod statistics;

use pds_core::hash::finalize;
use quotient::QuotientFilter;

/// Returns an empty filter of exactly this shape.
fn shaped(slots: u64, bits: u32) -> QuotientFilter {
    QuotientFilter::builder().slots(slots).remainder_bits(bits).build().unwrap()
}

/// Returns a filter of the hashes of the numbers below its capacity.
fn full(slots: u64, bits: u32) -> QuotientFilter {
    let mut filter = shaped(slots, bits);
    (0..filter.capacity()).for_each(|key| filter.insert_hash(finalize(key)).unwrap());
    filter
}
