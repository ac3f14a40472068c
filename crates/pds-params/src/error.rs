//! What can be wrong with parameters.

use core::fmt;

/// A parameter, or a combination of them, that no structure can be built from.
///
/// Each variant names the parameter, carries its value and says what is allowed. Nothing is ever
/// clamped instead.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum ParamError {
    /// A rate outside the open interval (0, 1), infinite or not a number.
    NotAProbability {
        /// Name of the parameter.
        parameter: &'static str,
        /// What was given.
        value: f64,
    },
    /// A whole number outside its range.
    OutOfRange {
        /// Name of the parameter.
        parameter: &'static str,
        /// What was given.
        value: u64,
        /// Least value allowed.
        min: u64,
        /// Greatest value allowed.
        max: u64,
    },
    /// The other parameters ask for more than can be had.
    TooLarge {
        /// Name of the derived parameter.
        parameter: &'static str,
        /// What it would have to be, at least.
        value: f64,
        /// Greatest value allowed.
        max: f64,
    },
    /// A number below the least that can be had.
    TooLow {
        /// Name of the parameter.
        parameter: &'static str,
        /// What was given.
        value: f64,
        /// Least value that can be had.
        min: f64,
    },
    /// A rate that collisions of whole 64-bit hashes exceed at any size.
    BelowCollisions {
        /// Name of the parameter.
        parameter: &'static str,
        /// What was given.
        value: f64,
        /// The share of absent keys whose hash equals a stored one; the rate must be above it.
        collisions: f64,
    },
    /// A whole number that has to be even.
    NotEven {
        /// Name of the parameter.
        parameter: &'static str,
        /// What was given.
        value: u64,
    },
    /// A whole number that has to divide another one.
    NotADivisor {
        /// Name of the parameter.
        parameter: &'static str,
        /// What was given.
        value: u64,
        /// What it has to divide.
        of: u64,
    },
    /// A parameter that was not given and does not follow from the others.
    Missing {
        /// Name of the parameter.
        parameter: &'static str,
    },
    /// A parameter that was given although the others fix it already.
    Conflict {
        /// Name of the parameter.
        parameter: &'static str,
    },
}

impl ParamError {
    /// Returns the name of the parameter.
    #[must_use]
    pub const fn parameter(&self) -> &'static str {
        match self {
            Self::NotAProbability { parameter, .. }
            | Self::OutOfRange { parameter, .. }
            | Self::TooLarge { parameter, .. }
            | Self::TooLow { parameter, .. }
            | Self::BelowCollisions { parameter, .. }
            | Self::NotEven { parameter, .. }
            | Self::NotADivisor { parameter, .. }
            | Self::Missing { parameter }
            | Self::Conflict { parameter } => parameter,
        }
    }
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NotAProbability { parameter, value } => {
                write!(f, "{parameter} is {value:?}, but must be above 0 and below 1")
            }
            Self::OutOfRange { parameter, value, min, max } => {
                write!(f, "{parameter} is {value}, but must be from {min} to {max}")
            }
            Self::TooLarge { parameter, value, max } => {
                let (value, max) = (Number(value), Number(max));
                write!(f, "{parameter} would have to be {value}, but can be {max} at most")
            }
            Self::TooLow { parameter, value, min } => {
                write!(f, "{parameter} is {value:e}, but can be {min:e} at least")
            }
            Self::BelowCollisions { parameter, value, collisions } => write!(
                f,
                "{parameter} is {value:e}, but must be above {collisions:e}, \
                 the rate at which 64-bit hashes of so many items collide"
            ),
            Self::NotEven { parameter, value } => {
                write!(f, "{parameter} is {value}, but must be even")
            }
            Self::NotADivisor { parameter, value, of } => {
                write!(f, "{parameter} is {value}, but must divide {of}")
            }
            Self::Missing { parameter } => {
                write!(f, "{parameter} is not given and does not follow from what is")
            }
            Self::Conflict { parameter } => {
                write!(f, "{parameter} is given, but follows from what else is given")
            }
        }
    }
}

impl core::error::Error for ParamError {}

/// A size as people read it: whole where it has at most seven digits, else four digits and a power of ten.
struct Number(f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 1e7 {
            write!(f, "{:.0}", libm::ceil(self.0))
        } else {
            write!(f, "{:.3e}", self.0)
        }
    }
}
