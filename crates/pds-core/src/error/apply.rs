//! Error of a delta that cannot be applied.

use core::{error, fmt};

use super::DecodeError;

/// Why a [`Delta`](crate::bytes::Delta) cannot be applied to a structure. The structure is unchanged.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ApplyError {
    /// The structure is in the newer state already, which differs from the older one. A delta without changes applies
    /// again and again.
    Applied,
    /// The structure is in neither of the two states of the delta.
    Other {
        /// Fingerprint of the state that the delta starts from.
        expected: u64,
        /// Fingerprint of the structure.
        found: u64,
    },
    /// The delta is wrong, or the allocator refused the memory.
    ///
    /// [`KeyMissing`](crate::error::DecodeErrorKind::KeyMissing) if a structure does not pass its hasher on to a structure in it
    /// with a secret key.
    Decode(DecodeError),
}

impl fmt::Display for ApplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Applied => f.write_str("the delta has been applied to the structure already"),
            Self::Other { expected, found } => write!(
                f,
                "the delta starts from another state: its fingerprint is {expected:016x}, that of the structure {found:016x}"
            ),
            Self::Decode(e) => e.fmt(f),
        }
    }
}

// The message is that of the inner error, so the inner error is not a `source` too.
impl error::Error for ApplyError {}

impl From<DecodeError> for ApplyError {
    fn from(e: DecodeError) -> Self {
        Self::Decode(e)
    }
}
