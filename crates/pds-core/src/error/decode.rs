use core::{error, fmt};

use super::{AllocError, ParamError};
use crate::hash::{DefaultHashBuilder, PortableHasher, SipHashBuilder};
use crate::kind::Kind;

/// Why bytes cannot be decoded: what is wrong, at which offset, and what was expected.
///
/// Offsets count bytes from the start of the outermost envelope.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DecodeError(#[doc(hidden)] pub DecodeFault);

impl DecodeError {
    /// Returns the error of an impossible value in bytes: what has it, where, which, and the values allowed.
    ///
    /// For the payload of a structure or of a key of your own.
    #[must_use]
    pub const fn invalid(
        name: &'static str,
        offset: u64,
        found: u64,
        allowed: &'static str,
    ) -> Self {
        Self(DecodeFault::Field { name, offset, found, allowed })
    }

    /// Returns what a program may act on. The message says more.
    #[must_use]
    pub const fn kind(&self) -> DecodeErrorKind {
        use DecodeErrorKind as Kind;
        match self.0 {
            DecodeFault::Truncated { .. } => Kind::Truncated,
            DecodeFault::Magic { .. } | DecodeFault::Signature { .. } => Kind::Magic,
            DecodeFault::Version { .. } => Kind::Version,
            DecodeFault::Kind { .. } | DecodeFault::OtherKind { .. } => Kind::Kind,
            DecodeFault::Hasher { .. } => Kind::Hasher,
            DecodeFault::KeyMissing { .. } => Kind::KeyMissing,
            DecodeFault::KeyMismatch { .. } | DecodeFault::Seed { .. } => Kind::KeyMismatch,
            DecodeFault::Checksum { .. } => Kind::Checksum,
            DecodeFault::Trailing { .. } => Kind::Trailing,
            DecodeFault::Limit { .. } => Kind::Limit,
            DecodeFault::Alloc(_) => Kind::Alloc,
            DecodeFault::Field { .. }
            | DecodeFault::Choice { .. }
            | DecodeFault::Section { .. }
            | DecodeFault::Numbers { .. }
            | DecodeFault::Shape { .. }
            | DecodeFault::PayloadLength { .. }
            | DecodeFault::PayloadEnd { .. }
            | DecodeFault::Unread { .. }
            | DecodeFault::Nesting { .. }
            | DecodeFault::Chunk { .. }
            | DecodeFault::Padding { .. } => Kind::Invalid,
        }
    }

    /// Returns the offset of what is wrong. `None` if the bytes are not at fault.
    #[must_use]
    pub const fn offset(&self) -> Option<u64> {
        match self.0 {
            DecodeFault::Truncated { offset, .. }
            | DecodeFault::Magic { offset, .. }
            | DecodeFault::Signature { offset, .. }
            | DecodeFault::Version { offset, .. }
            | DecodeFault::Kind { offset, .. }
            | DecodeFault::OtherKind { offset, .. }
            | DecodeFault::Hasher { offset, .. }
            | DecodeFault::KeyMissing { offset }
            | DecodeFault::KeyMismatch { offset, .. }
            | DecodeFault::Seed { offset, .. }
            | DecodeFault::Field { offset, .. }
            | DecodeFault::Choice { offset, .. }
            | DecodeFault::Section { offset, .. }
            | DecodeFault::Numbers { offset, .. }
            | DecodeFault::Shape { offset, .. }
            | DecodeFault::PayloadLength { offset, .. }
            | DecodeFault::PayloadEnd { offset, .. }
            | DecodeFault::Unread { offset, .. }
            | DecodeFault::Nesting { offset, .. }
            | DecodeFault::Chunk { offset, .. }
            | DecodeFault::Checksum { offset, .. }
            | DecodeFault::Padding { offset, .. }
            | DecodeFault::Trailing { offset, .. }
            | DecodeFault::Limit { offset, .. } => Some(offset),
            DecodeFault::Alloc(_) => None,
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl error::Error for DecodeError {}

impl From<AllocError> for DecodeError {
    fn from(error: AllocError) -> Self {
        Self(DecodeFault::Alloc(error))
    }
}

/// Kinds of decoding errors that a program may act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// The input ends too early: more bytes are needed.
    Truncated,
    /// The bytes are of another format.
    Magic,
    /// The format version is unknown: newer code wrote the bytes.
    Version,
    /// The bytes contain another kind of structure than requested.
    Kind,
    /// The structure was built with another hash function than requested.
    Hasher,
    /// The bytes do not contain the secret key. Pass the hasher to
    /// [`ByteOptions::hasher`](crate::bytes::ByteOptions::hasher).
    KeyMissing,
    /// The structure was built with another hasher, seed or key than the one given.
    KeyMismatch,
    /// A checksum is wrong: the bytes are damaged.
    Checksum,
    /// Bytes follow after the end of the envelope.
    Trailing,
    /// The envelope is longer than the caller allows.
    Limit,
    /// The allocator refused the memory for the structure.
    Alloc,
    /// A field has a value that no structure has.
    Invalid,
}

/// Why bytes cannot be decoded, in full. The crates of the family make it; users see the kind and the message.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum DecodeFault {
    /// The input ends too early.
    Truncated {
        /// Length of the input in bytes.
        offset: u64,
        /// Least number of bytes that are needed.
        expected: u64,
    },
    /// The first eight bytes are not the magic number of this family.
    Magic {
        /// Offset of the bytes.
        offset: u64,
        /// The bytes found.
        found: [u8; 8],
    },
    /// The first four bytes are not those of another system's format.
    Signature {
        /// Offset of the bytes.
        offset: u64,
        /// The bytes found.
        found: [u8; 4],
        /// The bytes needed.
        allowed: &'static str,
    },
    /// The format version is unknown.
    Version {
        /// Offset of the field.
        offset: u64,
        /// The latest known version.
        expected: u16,
        /// The version found.
        found: u16,
    },
    /// The bytes contain another kind of structure than requested.
    Kind {
        /// Offset of the field.
        offset: u64,
        /// The kind requested.
        expected: Kind,
        /// The kind found.
        found: Kind,
    },
    /// The bytes contain a structure of none of the kinds requested.
    OtherKind {
        /// Offset of the field.
        offset: u64,
        /// The kind found.
        found: Kind,
        /// The kinds allowed.
        allowed: &'static str,
    },
    /// The structure was built with another hash function than requested.
    Hasher {
        /// Offset of the field.
        offset: u64,
        /// Id of the hasher requested.
        expected: u16,
        /// Id found.
        found: u16,
    },
    /// The bytes do not contain the secret key. Pass the hasher to
    /// [`ByteOptions::hasher`](crate::bytes::ByteOptions::hasher).
    KeyMissing {
        /// Offset at which the key would be stored.
        offset: u64,
    },
    /// The structure was built with another hasher, seed or key: the hash of the probe key differs.
    KeyMismatch {
        /// Offset of the stored hash.
        offset: u64,
        /// Hash of the probe key by the given hasher.
        expected: u64,
        /// Hash stored.
        found: u64,
    },
    /// The structure was built with another seed, of which another system's format stores a hash.
    Seed {
        /// Offset of the stored hash.
        offset: u64,
        /// Hash of the given seed.
        expected: u16,
        /// Hash stored.
        found: u16,
    },
    /// A field has an impossible value.
    Field {
        /// Name of the field.
        name: &'static str,
        /// Offset of the field.
        offset: u64,
        /// The value found.
        found: u64,
        /// The values allowed.
        allowed: &'static str,
    },
    /// A field stands for another of a few named choices than requested.
    Choice {
        /// Name of the field.
        name: &'static str,
        /// Offset of the field.
        offset: u64,
        /// The number found.
        found: u64,
        /// Meaning of that number. `None` if it is unknown.
        meaning: Option<&'static str>,
        /// The meaning required.
        allowed: &'static str,
    },
    /// A section of the head is wrong.
    Section {
        /// Offset of the section.
        offset: u64,
        /// Tag of the section: 1 for the hasher, 2 for the design, 3 for the shape.
        tag: u16,
        /// The fault of the section.
        fault: SectionFault,
    },
    /// The shape has more or fewer numbers than the kind needs.
    Numbers {
        /// Offset of the first number, or of the first section if there is no number.
        offset: u64,
        /// Count of numbers that the kind needs.
        expected: u64,
        /// Count found.
        found: u64,
    },
    /// No structure can have this shape.
    Shape {
        /// Offset of the number with the parameter, or of the first number if there is none.
        offset: u64,
        /// The parameter, its value and its range.
        error: ParamError,
    },
    /// The shape does not allow this payload length.
    PayloadLength {
        /// Offset of the length of the envelope, which determines the length of the payload.
        offset: u64,
        /// Least length that the shape allows, in bytes.
        min: u64,
        /// Greatest length that the shape allows, in bytes.
        max: u64,
        /// Length found, in bytes.
        found: u64,
    },
    /// The payload ends too early.
    PayloadEnd {
        /// Offset of the item that does not fit.
        offset: u64,
        /// Bytes that the item needs.
        needed: u64,
        /// Bytes that the payload has left.
        left: u64,
    },
    /// Payload follows after the end of the structure.
    Unread {
        /// Offset of the end of the structure.
        offset: u64,
        /// Bytes of payload that follow.
        found: u64,
    },
    /// An envelope is nested too deeply.
    Nesting {
        /// Offset of the envelope, or of the zeros before it.
        offset: u64,
        /// Greatest depth allowed.
        limit: usize,
    },
    /// The bytes of a compressed chunk are no code, or not the code of their chunk.
    Chunk {
        /// Offset of the bytes.
        offset: u64,
        /// Number of the chunk.
        chunk: u64,
        /// Number of its bytes.
        found: u64,
    },
    /// A checksum is wrong.
    Checksum {
        /// The part that it covers: `"header"` or `"payload"`.
        part: &'static str,
        /// Offset of the checksum.
        offset: u64,
        /// Checksum of the bytes found.
        expected: u64,
        /// Checksum stored.
        found: u64,
    },
    /// Unused bits are not zero.
    Padding {
        /// Offset of the byte or of the 8-byte word with these bits.
        offset: u64,
        /// The byte or word found.
        found: u64,
    },
    /// Bytes follow after the end of the envelope.
    Trailing {
        /// Offset of the end of the structure.
        offset: u64,
        /// Number of bytes that follow. 1 if the length of the source is unknown.
        found: u64,
    },
    /// The envelope is longer than the caller allows.
    Limit {
        /// Offset of the length of the envelope.
        offset: u64,
        /// The limit in bytes.
        limit: u64,
        /// Length of the envelope in bytes.
        found: u64,
    },
    /// The allocator refused the memory for the structure.
    Alloc(AllocError),
}

/// Fault of a section of the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SectionFault {
    /// The tag is unknown.
    Unknown,
    /// The section before has the same tag.
    Repeated,
    /// The section before has a greater tag. Tags must ascend.
    After {
        /// Tag of the section before.
        tag: u16,
    },
    /// The section is longer than the rest of the head.
    TooLong {
        /// Length of the section in bytes.
        found: u64,
        /// Bytes left in the head.
        left: u64,
    },
    /// The section has the wrong length.
    Length {
        /// Length of the section in bytes.
        found: u64,
        /// The lengths allowed.
        allowed: &'static str,
    },
    /// The structure needs this section, but it is missing.
    Missing,
    /// The structure has no section with this tag.
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

impl fmt::Display for DecodeFault {
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
                "the 8 bytes at offset {offset} are {found:02x?}, not the magic number of pds"
            ),
            Self::Signature { offset, found, allowed } => {
                write!(f, "the 4 bytes at offset {offset} are {found:02x?}, but must be {allowed}")
            }
            Self::Version { offset, expected, found } => {
                write!(
                    f,
                    "format version {found} at offset {offset} is not known, the latest that is known is {expected}"
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
            Self::Seed { offset, expected, found } => write!(
                f,
                "the seed is not the one that built the structure: \
                 the seed hash at offset {offset} is {found:04x}, expected {expected:04x}"
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
            Self::Chunk { offset, chunk, found } => {
                write!(f, "the {found} bytes of chunk {chunk} at offset {offset} are no valid code")
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

/// Id of a hasher and, if the family has it, its name.
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

/// Why a structure could not be read from a stream or a file.
#[cfg(feature = "std")]
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// Reading failed. An early end of the stream is a [`DecodeErrorKind::Truncated`] instead.
    Io(std::io::Error),
    /// The bytes are wrong.
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
