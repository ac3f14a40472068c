//! Errors of construction.

use core::{error, fmt};

use pds_core::error::{AllocError, ParamError};

/// Why a structure could not be built from its keys.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ConstructionError {
    /// A parameter is out of its range.
    Param(ParamError),
    /// The allocator refused the memory.
    Alloc(AllocError),
    /// The progress callback asked to stop.
    Cancelled,
    /// One key was given with two different values.
    Contradiction {
        /// Hash of the key.
        hash: u64,
        /// Both values, the lesser one first.
        values: [u64; 2],
    },
    /// A value does not fit into the bits of a value.
    ValueTooLarge {
        /// Hash of the key.
        hash: u64,
        /// The value given.
        value: u64,
        /// Greatest value allowed.
        max: u64,
    },
    /// One key is in the set to include and in the set to exclude.
    InBoth {
        /// Hash of the key.
        hash: u64,
    },
}

impl fmt::Display for ConstructionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Param(e) => e.fmt(f),
            Self::Alloc(e) => e.fmt(f),
            Self::Cancelled => f.write_str("the progress callback cancelled the construction"),
            Self::Contradiction { hash, values: [first, second] } => write!(
                f,
                "the key with the hash {hash:016x} has two values, {first} and {second}, but must have one"
            ),
            Self::ValueTooLarge { hash, value, max } => write!(
                f,
                "the value of the key with the hash {hash:016x} is {value}, but must be at most {max}"
            ),
            Self::InBoth { hash } => {
                write!(f, "the key with the hash {hash:016x} is in both sets, but must be in one")
            }
        }
    }
}

// `Display` shows the inner error, so `source` does not return it.
impl error::Error for ConstructionError {}

impl From<ParamError> for ConstructionError {
    fn from(e: ParamError) -> Self {
        Self::Param(e)
    }
}

impl From<AllocError> for ConstructionError {
    fn from(e: AllocError) -> Self {
        Self::Alloc(e)
    }
}
