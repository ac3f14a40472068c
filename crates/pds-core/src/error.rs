//! Errors that all structures share.

mod decode;

use core::convert::Infallible;
use core::{error, fmt};

pub use decode::{DecodeError, SectionFault};
#[cfg(feature = "std")]
pub use decode::{FileError, ReadError};
pub use pds_params::ParamError;

/// The allocator refused memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocError {
    /// The size asked for, in bytes.
    pub bytes: u64,
}

impl fmt::Display for AllocError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "memory of {} bytes was refused", self.bytes)
    }
}

impl error::Error for AllocError {}

/// Why a structure could not be built.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum BuildError {
    /// A parameter is out of its range.
    Param(ParamError),
    /// The parameters are valid, but the allocator refused the memory.
    Alloc(AllocError),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Param(e) => e.fmt(f),
            Self::Alloc(e) => e.fmt(f),
        }
    }
}

// `Display` shows the inner error, so `source` does not return it.
impl error::Error for BuildError {}

impl From<ParamError> for BuildError {
    fn from(e: ParamError) -> Self {
        Self::Param(e)
    }
}

impl From<AllocError> for BuildError {
    fn from(e: AllocError) -> Self {
        Self::Alloc(e)
    }
}

/// Why a structure does not take a key. Nothing is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InsertError {
    /// No place was found for the key. It is not in; all keys inserted before still are.
    ///
    /// Other keys may still fit. Near the capacity, the structure is full. A cuckoo filter far below it got more than eight
    /// copies of one key.
    Full {
        /// Number of places in use.
        len: u64,
        /// Number of places.
        capacity: u64,
    },
    /// It needs more memory, which could not be had.
    Alloc(AllocError),
}

impl fmt::Display for InsertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full { len, capacity } => {
                write!(f, "no place for the key was found, with {len} of {capacity} places taken")
            }
            Self::Alloc(e) => e.fmt(f),
        }
    }
}

impl error::Error for InsertError {}

impl From<Infallible> for InsertError {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

/// Why two structures cannot be combined. Neither is changed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Incompatible {
    /// They differ in a number that fixes their shape.
    Shape {
        /// What differs, such as `"number of bits"`.
        parameter: &'static str,
        /// Its value in `self`.
        left: u64,
        /// Its value in the other.
        right: u64,
    },
    /// They differ in a share, which is above 0 and below 1.
    Share {
        /// What differs, such as `"phi"`.
        parameter: &'static str,
        /// Its value in `self`.
        left: f64,
        /// Its value in the other.
        right: f64,
    },
    /// They differ in a mode, which is one of a few named choices.
    Mode {
        /// What differs, such as `"update"`.
        parameter: &'static str,
        /// Its name in `self`.
        left: &'static str,
        /// Its name in the other.
        right: &'static str,
    },
    /// They hash differently: the hasher, its seed or its key differs.
    Hasher {
        /// The [`probe`](crate::hash::probe) hash of `self`.
        left: u64,
        /// The probe hash of the other.
        right: u64,
    },
}

impl Incompatible {
    /// Compares one parameter of two shapes.
    ///
    /// # Errors
    /// [`Incompatible::Shape`] if the values differ.
    #[doc(hidden)]
    pub fn check_shape(parameter: &'static str, left: u64, right: u64) -> Result<(), Self> {
        if left == right { Ok(()) } else { Err(Self::Shape { parameter, left, right }) }
    }

    /// Compares one share of two structures.
    ///
    /// # Errors
    /// [`Incompatible::Share`] if the values differ.
    #[doc(hidden)]
    pub fn check_share(parameter: &'static str, left: f64, right: f64) -> Result<(), Self> {
        if left == right { Ok(()) } else { Err(Self::Share { parameter, left, right }) }
    }

    /// Compares one mode of two structures, by its name.
    ///
    /// # Errors
    /// [`Incompatible::Mode`] if the names differ.
    #[doc(hidden)]
    pub fn check_mode(
        parameter: &'static str,
        left: &'static str,
        right: &'static str,
    ) -> Result<(), Self> {
        if left == right { Ok(()) } else { Err(Self::Mode { parameter, left, right }) }
    }

    /// Compares two hashers by their [`probe`](crate::hash::probe).
    ///
    /// # Errors
    /// [`Incompatible::Hasher`] if they hash differently.
    #[doc(hidden)]
    pub fn check_hasher<S: crate::hash::KeyHasher>(left: &S, right: &S) -> Result<(), Self> {
        let (left, right) = (crate::hash::probe(left), crate::hash::probe(right));
        if left == right { Ok(()) } else { Err(Self::Hasher { left, right }) }
    }
}

impl fmt::Display for Incompatible {
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
            Self::Hasher { left, right } => write!(
                f,
                "the hasher or its seed differs: a probe key hashes to {left:016x} here, to {right:016x} in the other"
            ),
        }
    }
}

impl error::Error for Incompatible {}
