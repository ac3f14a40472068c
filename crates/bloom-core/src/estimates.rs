//! What a filter can tell of itself, from its count of set bits.

use pds_core::Estimate;
use pds_params::BloomParams;
use pds_params::bloom::{self, SetBits};

/// The rate from which a filter counts as saturated.
pub(crate) const SATURATION_RATE: f64 = 0.5;

pub(crate) fn approx_len(params: &BloomParams, ones: u64) -> Estimate {
    bloom::cardinality(params.num_bits(), params.num_hashes(), ones)
}

pub(crate) fn approx_intersection_len(params: &BloomParams, ones: SetBits) -> Estimate {
    bloom::intersection_cardinality(params.num_bits(), params.num_hashes(), ones)
}

#[expect(clippy::cast_precision_loss, reason = "a ratio needs no more than the 53 bits of both")]
pub(crate) fn fill_ratio(params: &BloomParams, ones: u64) -> f64 {
    ones as f64 / params.num_bits() as f64
}

pub(crate) fn rate_from_ones(params: &BloomParams, ones: u64) -> f64 {
    bloom::rate_from_fill(fill_ratio(params, ones), params.num_hashes())
}
