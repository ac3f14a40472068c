//! Errors specific to cuckoo filters.

use core::{error, fmt};

use pds_core::{AllocError, Incompatible, InsertError};

/// No slot was found for a key. The key is not in. All keys inserted before still are.
///
/// Other keys may still fit. Near the capacity, this error means that the filter is full. Far below it, the error means
/// that one key was inserted more than eight times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Full {
    /// Number of slots in use.
    pub len: u64,
    /// Number of slots.
    pub num_slots: u64,
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no place for the key was found, with {} of {} slots taken",
            self.len, self.num_slots
        )
    }
}

impl error::Error for Full {}

impl From<Full> for InsertError {
    fn from(full: Full) -> Self {
        Self::Full { len: full.len, capacity: full.num_slots }
    }
}

/// Error of a merge. Both filters are unchanged.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum MergeError {
    /// The filters differ in shape or hasher.
    Incompatible(Incompatible),
    /// The fingerprints of both do not fit into one filter. The numbers are those at the first that did not fit.
    Full(Full),
    /// The allocator refused the memory for the temporary copy.
    Alloc(AllocError),
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Incompatible(e) => e.fmt(f),
            Self::Full(e) => write!(f, "both filters do not fit into one: {e}"),
            Self::Alloc(e) => e.fmt(f),
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

impl From<Full> for MergeError {
    fn from(e: Full) -> Self {
        Self::Full(e)
    }
}

impl From<AllocError> for MergeError {
    fn from(e: AllocError) -> Self {
        Self::Alloc(e)
    }
}
