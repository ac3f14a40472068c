//! Why a bank takes no filter.

use core::{error, fmt};

use pds_core::error::{AllocError, Incompatible};

/// Why a [`FilterBank`](crate::FilterBank) does not take a filter. Nothing is changed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum PushError {
    /// The filter differs from those of the bank. The message gives both values.
    Incompatible(Incompatible),
    /// The allocator refused the memory.
    Alloc(AllocError),
}

impl fmt::Display for PushError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Incompatible(e) => e.fmt(f),
            Self::Alloc(e) => e.fmt(f),
        }
    }
}

// `Display` shows the inner error, so `source` does not return it.
impl error::Error for PushError {}

impl From<Incompatible> for PushError {
    fn from(e: Incompatible) -> Self {
        Self::Incompatible(e)
    }
}

impl From<AllocError> for PushError {
    fn from(e: AllocError) -> Self {
        Self::Alloc(e)
    }
}
