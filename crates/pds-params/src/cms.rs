//! Counting sketches: count-min, count sketch, and the counters of heavy hitters.
//!
//! A sketch has `depth` rows of `width` counters; N is the total of all counts. Every formula here is
//! for rows that hash independently.

pub(crate) mod count_min;
pub(crate) mod count_sketch;
pub(crate) mod heavy_hitters;
mod product;

pub use product::floor_product;

use crate::ParamError;
use crate::check::{check_probability, check_range};

/// The most rows of a sketch.
///
/// 64 rows miss their bound with probability e^-64, below the 2^-64 at which whole hashes collide.
pub const MAX_DEPTH: u32 = 64;

/// The most counters of a sketch, 2^60: eight bytes each still fit the address space.
pub const MAX_COUNTERS: u64 = 1 << 60;

/// The most keys that a summary of heavy hitters keeps.
pub const MAX_TRACKED: u64 = 1 << 31;

/// Checks width and depth as they are given.
fn check_shape(width: u64, depth: u32) -> Result<(), ParamError> {
    check_range("depth", depth.into(), 1, MAX_DEPTH.into())?;
    check_range("width", width, 1, MAX_COUNTERS / u64::from(depth))
}

/// Refuses an error bound that is not above 0, infinite or not a number. It may exceed 1, as that of a single counter does.
fn check_bound(parameter: &'static str, value: f64) -> Result<(), ParamError> {
    if value == f64::INFINITY {
        return Err(ParamError::TooLarge { parameter, value, max: f64::MAX });
    }
    if value > 0.0 { Ok(()) } else { Err(ParamError::NotAProbability { parameter, value }) }
}

/// The bytes of a word, whole numbers of which counters are stored in.
const WORD_BYTES: u64 = 8;

/// The counters that so many bytes hold.
const fn counters_in(bytes: u64, counter_bytes: u64) -> u64 {
    bytes / WORD_BYTES * WORD_BYTES / counter_bytes
}

/// The error of a budget that is out of range: below that of the least shape, where a row needs more counters than
/// `widest` of the depth, or above all.
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
    ParamError::OutOfRange {
        parameter: "bytes",
        value: bytes,
        min: min.div_ceil(WORD_BYTES).saturating_mul(WORD_BYTES),
        max: MAX_COUNTERS * counter_bytes,
    }
}

/// Rounds a width up and checks that so many counters a row can be had.
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
    Err(ParamError::TooLarge { parameter: "width", value: width, max })
}
