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
        /// Offset of the bytes.
        offset: u64,
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
    KeyMissing {
        /// Offset in bytes at which it would be stored.
        offset: u64,
    },
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
    /// A section of the head that is not as it must be.
    Section {
        /// Offset of the section in bytes.
        offset: u64,
        /// Its tag: 1 for the hasher, 2 for the design, 3 for the shape.
        tag: u16,
        /// What is wrong with it.
        fault: SectionFault,
    },
    /// A shape of more or fewer numbers than the kind has.
    Numbers {
        /// Offset of the first number in bytes; of the first section where there is none.
        offset: u64,
        /// How many numbers the kind has.
        expected: u64,
        /// How many there are.
        found: u64,
    },
    /// A shape that no structure can have.
    Shape {
        /// Offset of the number that holds the parameter, in bytes; of the first number where none does.
        offset: u64,
        /// The parameter, its value and its range.
        error: ParamError,
    },
    /// A payload length that the shape does not allow.
    PayloadLength {
        /// Offset of the envelope's length in bytes, from which that of the payload follows.
        offset: u64,
        /// The least length that the shape allows, in bytes.
        min: u64,
        /// The greatest one.
        max: u64,
        /// The length found.
        found: u64,
    },
    /// The payload ends inside of something that it holds.
    PayloadEnd {
        /// Offset of that in bytes.
        offset: u64,
        /// How many bytes it needs.
        needed: u64,
        /// How many the payload has left.
        left: u64,
    },
    /// The payload goes on behind the structure.
    Unread {
        /// Where the structure ends, in bytes.
        offset: u64,
        /// How many bytes of payload follow.
        found: u64,
    },
    /// An envelope that lies in too many others.
    Nesting {
        /// Offset of the envelope in bytes, zeros in front of it included.
        offset: u64,
        /// In how many others it can lie.
        limit: usize,
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
    /// Bits that mean nothing are not zero.
    Padding {
        /// Offset in bytes of the byte that holds them, or of the word where they are the rest of a word.
        offset: u64,
        /// The byte or word found.
        found: u64,
    },
    /// Bytes follow where nothing may.
    Trailing {
        /// Where the structure ends, in bytes.
        offset: u64,
        /// How many bytes follow; 1 for a source whose length is not known.
        found: u64,
    },
    /// The envelope is longer than the caller allows.
    Limit {
        /// Offset of the envelope's length in bytes.
        offset: u64,
        /// The limit in bytes.
        limit: u64,
        /// The envelope's length in bytes.
        found: u64,
    },
    /// Memory for the structure could not be had.
    Alloc(AllocError),
}

/// What is wrong with a section of a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SectionFault {
    /// No section with this tag is known.
    Unknown,
    /// The section before it has the same tag.
    Repeated,
    /// The section before it has a greater tag; tags ascend.
    After {
        /// The tag of the section before it.
        tag: u16,
    },
    /// It is longer than what the head has left.
    TooLong {
        /// Its length in bytes.
        found: u64,
        /// How many bytes are left.
        left: u64,
    },
    /// It has another length than sections with this tag have.
    Length {
        /// Its length in bytes.
        found: u64,
        /// What the length may be.
        allowed: &'static str,
    },
    /// The structure needs it, and it is not there.
    Missing,
    /// The structure has no such section.
    Unexpected,
}

impl fmt::Display for SectionFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("is not known"),
            Self::Repeated => f.write_str("is there twice"),
            Self::After { tag } => write!(f, "stands behind section {tag}, but tags must ascend"),
            Self::TooLong { found, left } => {
                write!(f, "has {found} bytes, but the head has {left} left")
            }
            Self::Length { found, allowed } => {
                write!(f, "has {found} bytes, but must have {allowed}")
            }
            Self::Missing => f.write_str("is missing"),
            Self::Unexpected => f.write_str("is there, but the structure has none"),
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { offset, expected } => {
                write!(
                    f,
                    "the input ends too early: {offset} of at least {expected} bytes are there"
                )
            }
            Self::Magic { offset, found } => write!(
                f,
                "the 8 bytes at offset {offset} are {found:02x?}, with which no pds structure starts"
            ),
            Self::Version { offset, expected, found } => {
                write!(
                    f,
                    "format version {found} at offset {offset} is not known, only those up to {expected} are"
                )
            }
            Self::Kind { offset, expected, found } => {
                let (found, expected) = (found.numbered(), expected.numbered());
                write!(f, "the kind at offset {offset} is {found}, expected {expected}")
            }
            Self::OtherKind { offset, found, allowed } => {
                write!(f, "the kind at offset {offset} is {}, expected {allowed}", found.numbered())
            }
            Self::Hasher { offset, expected, found } => {
                let (found, expected) = (HasherId(*found), HasherId(*expected));
                write!(f, "hasher {found} at offset {offset}, where {expected} was expected")
            }
            Self::KeyMissing { offset } => write!(
                f,
                "the secret key of the hasher is not stored at offset {offset}; \
                 pass the hasher to `ByteOptions::hasher`"
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
                write!(
                    f,
                    "{name} at offset {offset} is {meaning} (number {found}), but must be {allowed}"
                )
            }
            Self::Section { offset, tag, fault } => {
                write!(f, "section {tag} of the head at offset {offset} {fault}")
            }
            Self::Numbers { offset, expected, found } => {
                write!(
                    f,
                    "the shape at offset {offset} has {found} numbers, but must have {expected}"
                )
            }
            Self::Shape { offset, error } => {
                write!(f, "impossible shape at offset {offset}: {error}")
            }
            Self::PayloadLength { offset, min, max, found } => {
                write!(
                    f,
                    "by the length at offset {offset} the payload has {found} bytes, but the shape "
                )?;
                match max {
                    max if max == min => write!(f, "needs {min}"),
                    max => write!(f, "allows {min} to {max}"),
                }
            }
            Self::PayloadEnd { offset, needed, left } => write!(
                f,
                "{needed} bytes are needed at offset {offset}, but the payload has {left} left"
            ),
            Self::Unread { offset, found } => {
                write!(
                    f,
                    "the structure ends at offset {offset}, but {found} bytes of its payload follow"
                )
            }
            Self::Nesting { offset, limit } => {
                write!(f, "the envelope at offset {offset} lies in more than {limit} others")
            }
            Self::Checksum { part, offset, expected, found } => write!(
                f,
                "the {part} checksum at offset {offset} is {found:016x}, but the {part} has {expected:016x}"
            ),
            Self::Padding { offset, found } => {
                write!(f, "unused bits at offset {offset} are not zero: {found:#x}")
            }
            Self::Trailing { offset, found: 1 } => {
                write!(f, "at least one byte follows the end at offset {offset}")
            }
            Self::Trailing { offset, found } => {
                write!(f, "{found} bytes follow the end at offset {offset}")
            }
            Self::Limit { offset, limit, found } => write!(
                f,
                "the length of the envelope at offset {offset} is {found} bytes, above the limit of {limit}"
            ),
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

/// Why a file cannot be saved or loaded: the path, and the reason.
#[cfg(feature = "std")]
#[derive(Debug)]
#[non_exhaustive]
pub struct FileError {
    /// The file.
    pub path: std::path::PathBuf,
    /// The reason. Saving has no other than [`ReadError::Io`].
    pub error: ReadError,
}

#[cfg(feature = "std")]
impl FileError {
    pub(crate) fn new(path: &std::path::Path, error: impl Into<ReadError>) -> Self {
        Self { path: path.into(), error: error.into() }
    }
}

#[cfg(feature = "std")]
impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.error {
            ReadError::Io(error) => write!(f, "{path}: {error}"),
            ReadError::Decode(error) => write!(f, "{path}: {error}"),
        }
    }
}

/// Keeps the kind of an error of the file system. Wrong bytes are [`InvalidData`](std::io::ErrorKind::InvalidData).
#[cfg(feature = "std")]
impl From<FileError> for std::io::Error {
    fn from(error: FileError) -> Self {
        let kind = match &error.error {
            ReadError::Io(error) => error.kind(),
            ReadError::Decode(_) => std::io::ErrorKind::InvalidData,
        };
        Self::new(kind, error)
    }
}

#[cfg(feature = "std")]
impl error::Error for FileError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.error.source()
    }
}
