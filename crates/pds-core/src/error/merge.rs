//! Error of a merge that may find no place.

use core::{error, fmt};

use super::{Incompatible, InsertError};

/// Error of a merge. Both filters are unchanged.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum MergeError {
    /// The filters differ in shape or hasher.
    Incompatible(Incompatible),
    /// The fingerprints of both do not fit into one filter, or the allocator refused the memory for the temporary copy.
    ///
    /// The numbers of [`InsertError::Full`] are those at the first fingerprint that did not fit. Quotient filters know before
    /// how many places both need: `len` is that number then, above the capacity.
    Insert(InsertError),
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Incompatible(e) => e.fmt(f),
            Self::Insert(InsertError::Full { len, capacity }) if len > capacity => write!(
                f,
                "both filters do not fit into one: they need {len} places, but there are {capacity}"
            ),
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
