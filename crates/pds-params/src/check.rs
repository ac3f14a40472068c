//! Validation of parameters.

use crate::ParamError;
use crate::bloom::HASH_COLLISION;
use crate::internal::ParamFault;

/// Returns an error if `value` is not in `min..=max`.
pub(crate) fn check_range(
    parameter: &'static str,
    value: u64,
    min: u64,
    max: u64,
) -> Result<(), ParamError> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(ParamError(ParamFault::OutOfRange { parameter, value, min, max }))
}

/// Returns an error if `value` is not above 0 and below 1.
pub(crate) fn check_probability(parameter: &'static str, value: f64) -> Result<(), ParamError> {
    if is_probability(value) {
        return Ok(());
    }
    Err(ParamError(ParamFault::NotAProbability { parameter, value }))
}

pub(crate) fn is_probability(value: f64) -> bool {
    value > 0.0 && value < 1.0
}

/// Returns an error if `value` is not from `min` to `max`.
pub(crate) fn check_real(
    parameter: &'static str,
    value: f64,
    min: f64,
    max: f64,
) -> Result<(), ParamError> {
    if value > max {
        return Err(ParamError(ParamFault::TooLarge { parameter, value, max }));
    }
    // Not a number is neither.
    if value >= min {
        Ok(())
    } else {
        Err(ParamError(ParamFault::TooLow { parameter, value, min }))
    }
}

/// Returns an error if there are no items.
pub(crate) fn check_items(items: u64) -> Result<(), ParamError> {
    check_range("expected_items", items, 1, u64::MAX)
}

/// Returns an error if the false-positive rate is not above 0 and below 1.
pub(crate) fn check_rate(rate: f64) -> Result<(), ParamError> {
    check_probability("false_positive_rate", rate)
}

/// Returns an error if `rate` is at or below the share of absent keys whose whole 64-bit hash equals a stored one.
pub(crate) fn check_collisions(items: u64, rate: f64) -> Result<(), ParamError> {
    let collisions = items as f64 * HASH_COLLISION;
    if rate > collisions {
        return Ok(());
    }
    Err(ParamError(ParamFault::BelowCollisions {
        parameter: "false_positive_rate",
        value: rate,
        collisions,
    }))
}
