//! Counting sketches: count-min, count sketch, and summaries of heavy hitters.
//!
//! A sketch has `depth` rows of `width` counters. N is the total of all counts. All formulas assume that rows hash
//! independently.

pub(crate) mod count_min;
pub(crate) mod count_sketch;
pub(crate) mod heavy_hitters;
mod product;

pub use product::floor_product;

use crate::ParamError;
use crate::check::{check_probability, check_range};
use crate::internal::ParamFault;

/// The greatest number of rows of a sketch.
///
/// 64 rows miss their bound with probability e^-64. This is below 2^-64, the collision probability of whole hashes.
pub const MAX_DEPTH: u32 = 64;

/// The greatest number of counters of a sketch, 2^60. With eight bytes each, they still fit the address space.
pub const MAX_COUNTERS: u64 = 1 << 60;

/// The greatest number of keys in a summary of heavy hitters.
pub const MAX_TRACKED: u64 = 1 << 31;

/// Returns an error if the width or the depth is out of range.
fn check_shape(width: u64, depth: u32) -> Result<(), ParamError> {
    check_range("depth", depth.into(), 1, MAX_DEPTH.into())?;
    check_range("width", width, 1, MAX_COUNTERS / u64::from(depth))
}

/// Returns an error if an error bound is not above 0, infinite or not a number.
// A bound may exceed 1: that of a single counter does.
fn check_bound(parameter: &'static str, value: f64) -> Result<(), ParamError> {
    if value == f64::INFINITY {
        return Err(ParamError(ParamFault::TooLarge { parameter, value, max: f64::MAX }));
    }
    if value > 0.0 {
        Ok(())
    } else {
        Err(ParamError(ParamFault::NotAProbability { parameter, value }))
    }
}

/// Bytes per word. Counters are stored in whole words.
const WORD_BYTES: u64 = 8;

/// Returns the number of counters that fit in this many bytes.
const fn counters_in(bytes: u64, counter_bytes: u64) -> u64 {
    bytes / WORD_BYTES * WORD_BYTES / counter_bytes
}

/// Returns the error for a budget that is out of range.
///
/// The least number of bytes allowed is that of the least shape. A row of it has more counters than `widest` of its
/// depth.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn too_few_bytes(
    bytes: u64,
    counter_bytes: u64,
    mut depths: impl Iterator<Item = u32>,
    widest: impl Fn(u32) -> f64,
) -> ParamError {
    let counters = |depth| (widest(depth) as u64).saturating_add(1).saturating_mul(depth.into());
    let first = depths.next().map_or(u64::MAX, counters);
    let min = depths.map(counters).fold(first, u64::min).saturating_mul(counter_bytes);
    ParamError(ParamFault::OutOfRange {
        parameter: "bytes",
        value: bytes,
        min: min.div_ceil(WORD_BYTES).saturating_mul(WORD_BYTES),
        max: MAX_COUNTERS * counter_bytes,
    })
}

/// Rounds a width up, and returns an error if a row cannot have so many counters.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be in range"
)]
fn width_from(real: f64, depth: u32) -> Result<u64, ParamError> {
    let max = MAX_COUNTERS as f64 / f64::from(depth);
    let width = libm::ceil(real).max(1.0);
    // The quotient may have been rounded up.
    if width <= max && width as u64 <= MAX_COUNTERS / u64::from(depth) {
        return Ok(width as u64);
    }
    Err(ParamError(ParamFault::TooLarge { parameter: "width", value: width, max }))
}
