//! Errors that all structures share.

#[cfg(feature = "alloc")]
mod apply;
pub(crate) mod decode;
pub(crate) mod incompatible;
mod merge;

use core::convert::Infallible;
use core::{error, fmt};

#[cfg(feature = "alloc")]
pub use apply::ApplyError;
pub use decode::{DecodeError, DecodeErrorKind};
#[cfg(feature = "std")]
pub use decode::{FileError, ReadError};
pub use incompatible::Incompatible;
pub use merge::MergeError;
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
    /// No free slot was found for the key. It is not in; all keys inserted before still are.
    ///
    /// Other keys may still fit. Near the capacity, the structure is full. A cuckoo filter far below it got more than
    /// eight copies of one key.
    Full {
        /// Number of slots in use.
        len: u64,
        /// Number of slots.
        capacity: u64,
    },
    /// The allocator refused the memory that the insert needs.
    Alloc(AllocError),
    /// The structure was built from all of its keys at once.
    Static,
    /// A counting structure would have to count the key more often than it can.
    Count {
        /// The greatest count.
        max: u64,
    },
    /// A value has more bits than the structure stores.
    Value {
        /// The value.
        value: u64,
        /// The greatest value.
        max: u64,
    },
}

impl fmt::Display for InsertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full { len, capacity } => {
                write!(f, "no free slot for the key: {len} of {capacity} slots are used")
            }
            Self::Alloc(e) => e.fmt(f),
            Self::Static => f.write_str(
                "the structure takes no more keys: it is built from all of them at once",
            ),
            Self::Count { max } => {
                write!(f, "the count of the key would be above {max}, the greatest one")
            }
            Self::Value { value, max } => {
                write!(f, "the value {value} is above {max}, the greatest one that fits its bits")
            }
        }
    }
}

impl error::Error for InsertError {}

impl From<Infallible> for InsertError {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}
