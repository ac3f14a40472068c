//! The tests of the crate, in one program.
#![cfg(feature = "std")]

mod api;
mod counting;
mod format;
mod laws;
mod map;
mod mutations;
#[cfg(feature = "serde")]
mod serde;
mod sharded;
mod statistics;

use pds_core::hash::{DefaultHashBuilder, finalize};
use quotient::{QuotientFilter, QuotientParams};

/// Returns an empty filter of exactly this shape, which may be one slot.
fn shaped(slots: u64, bits: u32) -> QuotientFilter {
    let params = QuotientParams::from_slots_and_remainder_bits(slots, bits).unwrap();
    QuotientFilter::from_params(params, DefaultHashBuilder::with_seed(0)).unwrap()
}

/// Returns a filter of the hashes of the numbers below its capacity.
fn full(slots: u64, bits: u32) -> QuotientFilter {
    let mut filter = shaped(slots, bits);
    (0..filter.capacity()).for_each(|key| filter.insert_hash(finalize(key)).unwrap());
    filter
}
