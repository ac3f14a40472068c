use core::{error, fmt};

use super::{AllocError, ParamError};
use crate::hash::{DefaultHashBuilder, PortableHasher, SipHashBuilder};
use crate::kind::Kind;

/// Why bytes are not a structure: what is wrong, at which offset, and what was expected.
///
/// Nothing is ever answered from bytes that failed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum DecodeError {
    /// The input ends too early.
    Truncated {
        /// Where it ends: its length in bytes.
        offset: u64,
        /// How many bytes there must be at the least.
        expected: u64,
    },
    /// The first eight bytes are not those of this family.
    Magic {
        /// What they are instead.
        found: [u8; 8],
    },
    /// A format version that this code does not know.
    Version {
        /// Offset of the field in bytes.
        offset: u64,
        /// The latest version known.
        expected: u16,
        /// The version found.
        found: u16,
    },
    /// Another structure than the one asked for.
    Kind {
        /// Offset of the field in bytes.
        offset: u64,
        /// The kind asked for.
        expected: Kind,
        /// The kind found.
        found: Kind,
    },
    /// A structure of a kind that is none of those asked for.
    OtherKind {
        /// Offset of the field in bytes.
        offset: u64,
        /// The kind found.
        found: Kind,
        /// Which kinds there may be.
        allowed: &'static str,
    },
    /// Another hash function than the one asked for.
    Hasher {
        /// Offset of the field in bytes.
        offset: u64,
        /// The id of the hasher asked for.
        expected: u16,
        /// The id found.
        found: u16,
    },
    /// The secret key was left out of the bytes, and must be given.
    KeyMissing,
    /// The hasher is not the one that built the structure: the hash of the probe key differs.
    ///
    /// For a keyed hasher this is a wrong key.
    KeyMismatch {
        /// Offset of the stored hash in bytes.
        offset: u64,
        /// The hash under the hasher given.
        expected: u64,
        /// The hash stored.
        found: u64,
    },
    /// A field that holds an impossible value.
    Field {
        /// What the field is.
        name: &'static str,
        /// Its offset in bytes.
        offset: u64,
        /// The value found.
        found: u64,
        /// What it may be.
        allowed: &'static str,
    },
    /// A field that stands for one of a few named choices, and not for the one asked for.
    Choice {
        /// What the field is.
        name: &'static str,
        /// Its offset in bytes.
        offset: u64,
        /// The number found.
        found: u64,
        /// What that number stands for; `None` where it stands for nothing known.
        meaning: Option<&'static str>,
        /// What it must stand for.
        allowed: &'static str,
    },
    /// A shape that no structure can have.
    Shape {
        /// Offset of the first field of the shape in bytes.
        offset: u64,
        /// The parameter, its value and its range.
        error: ParamError,
    },
    /// A payload length that does not follow from the shape.
    PayloadLength {
        /// Offset of the field in bytes.
        offset: u64,
        /// The length that follows from the shape, in bytes.
        expected: u64,
        /// The length found.
        found: u64,
    },
    /// A checksum that does not fit what it covers.
    Checksum {
        /// What it covers: `"header"` or `"payload"`.
        part: &'static str,
        /// Offset of the checksum in bytes.
        offset: u64,
        /// The checksum of what is there.
        expected: u64,
        /// The checksum stored.
        found: u64,
    },
    /// Bits that the shape leaves unused are not zero.
    Padding {
        /// Offset of the word that holds them, in bytes.
        offset: u64,
        /// The word found.
        found: u64,
    },
    /// Bytes follow where nothing may.
    Trailing {
        /// Where the structure ends, in bytes.
        offset: u64,
        /// How many bytes follow; 1 for a source whose length is not known.
        found: u64,
    },
    /// The payload is larger than the caller allows.
    Limit {
        /// The limit in bytes.
        limit: u64,
        /// The payload's length in bytes.
        found: u64,
    },
    /// Memory for the structure could not be had.
    Alloc(AllocError),
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { offset, expected } => {
                write!(f, "the input ends too early: {offset} of at least {expected} bytes are there")
            }
            Self::Magic { found } => {
                write!(f, "the first 8 bytes are {found:02x?}, which no pds structure starts with")
            }
            Self::Version { offset, expected, found } => {
                write!(f, "format version {found} at offset {offset} is not known, only those up to {expected} are")
            }
            Self::Kind { offset, expected, found } => {
                let (number, other) = (found.id(), expected.id());
                let ((a, found), (an, expected)) = (found.with_article(), expected.with_article());
                write!(f, "{a} {found} where {an} {expected} was expected: kind {number} at offset {offset}, not {other}")
            }
            Self::OtherKind { offset, found, allowed } => {
                let (article, number) = (found.with_article().0, found.id());
                write!(f, "{article} {found} where {allowed} was expected: kind {number} at offset {offset}")
            }
            Self::Hasher { offset, expected, found } => {
                let (found, expected) = (HasherId(*found), HasherId(*expected));
                write!(f, "hasher {found} at offset {offset}, where {expected} was expected")
            }
            Self::KeyMissing => f.write_str(
                "the secret key of the hasher is not in the bytes; give the hasher, as in `from_bytes_with_hasher`",
            ),
            Self::KeyMismatch { offset, expected, found } => write!(
                f,
                "the hasher or its key is not the one that built the structure: \
                 the probe hash at offset {offset} is {found:016x}, expected {expected:016x}"
            ),
            Self::Field { name, offset, found, allowed } => {
                write!(f, "{name} at offset {offset} is {found}, but must be {allowed}")
            }
            Self::Choice { name, offset, found, meaning, allowed } => {
                let meaning = meaning.unwrap_or("unknown");
                write!(f, "{name} at offset {offset} is {meaning} (number {found}), but must be {allowed}")
            }
            Self::Shape { offset, error } => write!(f, "impossible shape at offset {offset}: {error}"),
            Self::PayloadLength { offset, expected, found } => write!(
                f,
                "payload length at offset {offset} is {found} bytes, but the shape needs {expected}"
            ),
            Self::Checksum { part, offset, expected, found } => write!(
                f,
                "the {part} checksum at offset {offset} is {found:016x}, but the {part} has {expected:016x}"
            ),
            Self::Padding { offset, found } => {
                write!(f, "unused bits of the word at offset {offset} are not zero: {found:016x}")
            }
            Self::Trailing { offset, found: 1 } => {
                write!(f, "at least one byte follows the end at offset {offset}")
            }
            Self::Trailing { offset, found } => {
                write!(f, "{found} bytes follow the end at offset {offset}")
            }
            Self::Limit { limit, found } => {
                write!(f, "the payload has {found} bytes, above the limit of {limit}")
            }
            Self::Alloc(error) => error.fmt(f),
        }
    }
}

/// The id of a hasher and, where it is ours, its name.
struct HasherId(u16);

impl fmt::Display for HasherId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            DefaultHashBuilder::ID => write!(f, "id {} (XXH3-64)", self.0),
            SipHashBuilder::ID => write!(f, "id {} (SipHash-1-3)", self.0),
            id => write!(f, "id {id}"),
        }
    }
}

impl error::Error for DecodeError {}

impl From<AllocError> for DecodeError {
    fn from(error: AllocError) -> Self {
        Self::Alloc(error)
    }
}

/// Why a structure could not be read from a stream or a file.
#[cfg(feature = "std")]
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// Reading failed; an early end of the stream is a [`DecodeError::Truncated`] instead.
    Io(std::io::Error),
    /// What was read is not the structure.
    Decode(DecodeError),
}

#[cfg(feature = "std")]
impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "reading failed: {error}"),
            Self::Decode(error) => error.fmt(f),
        }
    }
}

#[cfg(feature = "std")]
impl error::Error for ReadError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Decode(_) => None,
        }
    }
}

#[cfg(feature = "std")]
impl From<DecodeError> for ReadError {
    fn from(error: DecodeError) -> Self {
        Self::Decode(error)
    }
}

#[cfg(feature = "std")]
impl From<std::io::Error> for ReadError {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}
