//! Quotient maps.

mod api;
mod bodies;
mod format;

use pds_core::hash::DefaultHashBuilder;
use pds_testkit::mutate::inputs;
use quotient::{QuotientMap, QuotientParams};

/// Returns an empty map of exactly this shape, which may be one slot.
fn shaped(slots: u64, bits: u32, value_bits: u32) -> QuotientMap {
    let params = QuotientParams::from_slots_and_remainder_bits(slots, bits).unwrap();
    QuotientMap::from_params(params, value_bits, DefaultHashBuilder::with_seed(0)).unwrap()
}

#[test]
fn case_17_forged_bytes_are_refused_or_come_back_unchanged() {
    inputs(1, 8_000).for_each(|input| bodies::mutate(&input));
}

#[test]
fn operations_with_bytes_in_between_keep_what_is_promised() {
    inputs(3, 4_000).for_each(|input| bodies::ops(&input));
}
