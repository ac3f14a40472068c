//! Errors of parameters.

use core::fmt;
use core::ops::RangeInclusive;

/// A parameter, or a combination of parameters, that no structure can be built from.
///
/// The message names the parameter, gives its value, and states what is allowed. Values are never clamped.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ParamError(#[doc(hidden)] pub ParamFault);

impl ParamError {
    /// Returns the name of the parameter.
    #[must_use]
    pub const fn parameter(&self) -> &'static str {
        self.0.parameter()
    }

    /// Returns the least and the greatest number allowed, if the parameter is a whole number outside this range.
    ///
    /// # Examples
    /// ```
    /// let refused = pds_params::CuckooParams::for_memory(9, 1_000).unwrap_err();
    /// assert_eq!(refused.parameter(), "bytes");
    /// assert!(refused.allowed().is_some_and(|allowed| *allowed.start() > 9));
    /// ```
    #[must_use]
    pub const fn allowed(&self) -> Option<RangeInclusive<u64>> {
        match self.0 {
            ParamFault::OutOfRange { min, max, .. } => Some(min..=max),
            _ => None,
        }
    }
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl core::error::Error for ParamError {}

/// The fault of a parameter. The crates of the family make it; users see the message.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum ParamFault {
    /// A rate that is not above 0 and below 1: out of range, infinite or not a number.
    NotAProbability {
        /// Name of the parameter.
        parameter: &'static str,
        /// The value given.
        value: f64,
    },
    /// A whole number outside its range.
    OutOfRange {
        /// Name of the parameter.
        parameter: &'static str,
        /// The value given.
        value: u64,
        /// Least value allowed.
        min: u64,
        /// Greatest value allowed.
        max: u64,
    },
    /// The other parameters require more than is possible.
    TooLarge {
        /// Name of the derived parameter.
        parameter: &'static str,
        /// The least value that would be required.
        value: f64,
        /// Greatest value allowed.
        max: f64,
    },
    /// A number below the least possible one.
    TooLow {
        /// Name of the parameter.
        parameter: &'static str,
        /// The value given.
        value: f64,
        /// The least possible value.
        min: f64,
    },
    /// A rate that no size can reach, because whole 64-bit hashes collide more often.
    BelowCollisions {
        /// Name of the parameter.
        parameter: &'static str,
        /// The value given.
        value: f64,
        /// The share of absent keys whose hash equals a stored one. The rate must be above it.
        collisions: f64,
    },
    /// A whole number that must be even.
    NotEven {
        /// Name of the parameter.
        parameter: &'static str,
        /// The value given.
        value: u64,
    },
    /// A whole number that must divide another one.
    NotADivisor {
        /// Name of the parameter.
        parameter: &'static str,
        /// The value given.
        value: u64,
        /// The number that it must divide.
        of: u64,
    },
    /// A whole number that must be a power of two.
    NotAPower {
        /// Name of the parameter.
        parameter: &'static str,
        /// The value given.
        value: u64,
        /// Least value allowed.
        min: u64,
        /// Greatest value allowed.
        max: u64,
    },
    /// One of a few named choices, where another is needed.
    Choice {
        /// Name of the parameter.
        parameter: &'static str,
        /// The choice made.
        value: &'static str,
        /// The choice needed.
        allowed: &'static str,
    },
    /// A required parameter that was not given and cannot be derived from the others.
    Missing {
        /// Name of the parameter.
        parameter: &'static str,
    },
    /// A parameter that was given although the others already determine it.
    Conflict {
        /// Name of the parameter.
        parameter: &'static str,
    },
}

impl ParamFault {
    const fn parameter(&self) -> &'static str {
        match self {
            Self::NotAProbability { parameter, .. }
            | Self::OutOfRange { parameter, .. }
            | Self::TooLarge { parameter, .. }
            | Self::TooLow { parameter, .. }
            | Self::BelowCollisions { parameter, .. }
            | Self::NotEven { parameter, .. }
            | Self::NotADivisor { parameter, .. }
            | Self::NotAPower { parameter, .. }
            | Self::Choice { parameter, .. }
            | Self::Missing { parameter }
            | Self::Conflict { parameter } => parameter,
        }
    }
}

impl fmt::Display for ParamFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NotAProbability { parameter, value } => {
                write!(f, "{parameter} is {value:?}, but must be above 0 and below 1")
            }
            Self::OutOfRange { parameter, value, min, max: u64::MAX } => {
                write!(f, "{parameter} is {value}, but must be at least {min}")
            }
            Self::OutOfRange { parameter, value, min, max } => {
                write!(f, "{parameter} is {value}, but must be from {min} to {max}")
            }
            Self::TooLarge { parameter, value, max } => {
                let (value, max) = (Number(value), Number(max));
                write!(f, "{parameter} would have to be {value}, but must be at most {max}")
            }
            Self::TooLow { parameter, value, min } => {
                write!(f, "{parameter} is {value:?}, but must be at least {min:?}")
            }
            Self::BelowCollisions { parameter, value, collisions } => write!(
                f,
                "{parameter} is {value:?}, but must be above {collisions:?}, \
                 the collision rate of 64-bit hashes for so many items"
            ),
            Self::NotEven { parameter, value } => {
                write!(f, "{parameter} is {value}, but must be even")
            }
            Self::NotADivisor { parameter, value, of } => {
                write!(f, "{parameter} is {value}, but must divide {of}")
            }
            Self::NotAPower { parameter, value, min, max } => {
                write!(f, "{parameter} is {value}, but must be a power of two from {min} to {max}")
            }
            Self::Choice { parameter, value, allowed } => {
                write!(f, "{parameter} is {value}, but must be {allowed}")
            }
            Self::Missing { parameter } => {
                write!(f, "{parameter} is missing and cannot be derived from the other parameters")
            }
            Self::Conflict { parameter } => {
                write!(f, "{parameter} is given, but the other parameters already determine it")
            }
        }
    }
}

/// A size for people: whole with at most seven digits, otherwise four digits and a power of ten.
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
