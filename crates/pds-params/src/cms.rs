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

/// Refuses what is infinite; what is no number is refused with the shape that it does not fit.
fn check_finite(parameter: &'static str, value: f64) -> Result<(), ParamError> {
    if value < f64::INFINITY || value.is_nan() {
        return Ok(());
    }
    Err(ParamError::TooLarge { parameter, value, max: f64::MAX })
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
    if width <= max {
        return Ok(width as u64);
    }
    Err(ParamError::TooLarge { parameter: "width", value: width, max })
}
