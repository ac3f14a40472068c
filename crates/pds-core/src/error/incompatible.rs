//! Error of structures that differ.

use core::{error, fmt};

/// Why two structures cannot be combined. Neither is changed.
///
/// The message gives both values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Incompatible(#[doc(hidden)] pub Difference);

impl Incompatible {
    /// Returns the name of what differs. It is `"hasher"` if the hasher, its seed or its key differs.
    #[must_use]
    pub const fn parameter(&self) -> &'static str {
        match self.0 {
            Difference::Shape { parameter, .. }
            | Difference::Share { parameter, .. }
            | Difference::Mode { parameter, .. }
            | Difference::Ratio { parameter, .. }
            | Difference::TooLow { parameter, .. }
            | Difference::Unfit { parameter, .. } => parameter,
            Difference::Hasher { .. } => "hasher",
        }
    }

    /// Compares one parameter of two shapes.
    ///
    /// # Errors
    /// If the values differ.
    #[doc(hidden)]
    pub fn check_shape(parameter: &'static str, left: u64, right: u64) -> Result<(), Self> {
        if left == right { Ok(()) } else { Err(Self(Difference::Shape { parameter, left, right })) }
    }

    /// Compares one share of two structures.
    ///
    /// # Errors
    /// If the values differ.
    #[doc(hidden)]
    pub fn check_share(parameter: &'static str, left: f64, right: f64) -> Result<(), Self> {
        if left == right { Ok(()) } else { Err(Self(Difference::Share { parameter, left, right })) }
    }

    /// Compares one mode of two structures, by its name.
    ///
    /// # Errors
    /// If the names differ.
    #[doc(hidden)]
    pub fn check_mode(
        parameter: &'static str,
        left: &'static str,
        right: &'static str,
    ) -> Result<(), Self> {
        if left == right { Ok(()) } else { Err(Self(Difference::Mode { parameter, left, right })) }
    }

    /// Compares two hashers by their [`probe`](crate::hash::probe).
    ///
    /// # Errors
    /// If they hash differently.
    #[doc(hidden)]
    pub fn check_hasher<S: crate::hash::KeyHasher>(left: &S, right: &S) -> Result<(), Self> {
        let (left, right) = (crate::hash::probe(left), crate::hash::probe(right));
        if left == right { Ok(()) } else { Err(Self(Difference::Hasher { left, right })) }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shape { parameter, left, right } => {
                write!(f, "the {parameter} differs: {left} here, {right} in the other")
            }
            Self::Share { parameter, left, right } => {
                write!(f, "{parameter} differs: {left:?} here, {right:?} in the other")
            }
            Self::Mode { parameter, left, right } => {
                write!(f, "the {parameter} differs: {left} here, {right} in the other")
            }
            Self::Ratio { parameter, left, right } => write!(
                f,
                "the {parameter} is {left} here and {right} in the other, but one must be a power of two times the other: build both with the same `grows_to` and rate"
            ),
            Self::TooLow { parameter, smaller, needed } => write!(
                f,
                "the {parameter} of the smaller one, {smaller}, is too low: its growth to the size of the other takes {needed}"
            ),
            Self::Unfit { parameter, both, needed } => {
                write!(f, "the {parameter} of both is {both}, but must be {needed}")
            }
            Self::Hasher { left, right } => write!(
                f,
                "the hasher or its seed differs: a probe key hashes to {left:016x} here, to {right:016x} in the other"
            ),
        }
    }
}

impl fmt::Display for Incompatible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl error::Error for Incompatible {}

/// How two structures differ. The crates of the family make it; users see the message.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Difference {
    /// They differ in a number that fixes their shape.
    Shape {
        /// The parameter that differs, such as `"number of bits"`.
        parameter: &'static str,
        /// Its value in `self`.
        left: u64,
        /// Its value in the other.
        right: u64,
    },
    /// They differ in a share, which is above 0 and below 1.
    Share {
        /// The parameter that differs, such as `"phi"`.
        parameter: &'static str,
        /// Its value in `self`.
        left: f64,
        /// Its value in the other.
        right: f64,
    },
    /// They differ in a mode, which is one of a few named choices.
    Mode {
        /// The parameter that differs, such as `"update"`.
        parameter: &'static str,
        /// Its name in `self`.
        left: &'static str,
        /// Its name in the other.
        right: &'static str,
    },
    /// Neither of two numbers is a power of two times the other.
    Ratio {
        /// The parameter of both numbers, such as `"number of slots"`.
        parameter: &'static str,
        /// The number of `self`.
        left: u64,
        /// The number of the other.
        right: u64,
    },
    /// The smaller one cannot grow to the size of the other.
    TooLow {
        /// The parameter that is too small, such as `"number of remainder bits"`.
        parameter: &'static str,
        /// How much it has.
        smaller: u64,
        /// The least number that suffices.
        needed: u64,
    },
    /// They have the same mode, which cannot be combined.
    Unfit {
        /// The mode, such as `"update"`.
        parameter: &'static str,
        /// Its name in both.
        both: &'static str,
        /// The mode that is needed.
        needed: &'static str,
    },
    /// They hash differently: the hasher, its seed or its key differs.
    Hasher {
        /// The [`probe`](crate::hash::probe) hash of `self`.
        left: u64,
        /// The probe hash of the other.
        right: u64,
    },
}
