//! Error of a merge that may find no place.

use core::{error, fmt};

use super::{Incompatible, InsertError};

/// Error of a merge. Both filters are unchanged.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum MergeError {
    /// The filters differ in shape or hasher.
    Incompatible(Incompatible),
    /// The fingerprints of both do not fit into one filter, and the numbers are those at the first that did not fit; or the
    /// allocator refused the memory for the temporary copy.
    Insert(InsertError),
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Incompatible(e) => e.fmt(f),
            Self::Insert(e @ InsertError::Full { .. }) => {
                write!(f, "both filters do not fit into one: {e}")
            }
            Self::Insert(e) => e.fmt(f),
        }
    }
}

// The message is that of the inner error, so the inner error is not a `source` too.
impl error::Error for MergeError {}

impl From<Incompatible> for MergeError {
    fn from(e: Incompatible) -> Self {
        Self::Incompatible(e)
    }
}
