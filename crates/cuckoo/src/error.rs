//! What can go wrong here only.

use core::{error, fmt};

use pds_core::{AllocError, Incompatible};

/// No place was found for a key. It is not in, and every key inserted before still is.
///
/// Other keys may fit still. Near the capacity this tells that the filter is full; long before it, that
/// one key was inserted more than eight times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Full {
    /// How many slots are taken.
    pub len: u64,
    /// How many slots there are.
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

/// Why two filters were not merged. Neither was changed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum MergeError {
    /// They differ in shape or hasher.
    Incompatible(Incompatible),
    /// The fingerprints of both do not fit into one; the numbers are those at the first that did not.
    Full(Full),
    /// There is no memory for the copy that is filled.
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

/// The inner error is shown as this one, so it is not a source of it.
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
