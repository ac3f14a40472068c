//! From bytes whose header says what they hold to a filter of that kind.

use pds_core::Kind;
use pds_core::bytes::{Envelope, Header, Portable};
#[cfg(feature = "std")]
use pds_core::{
    ReadError,
    bytes::{EnvelopeReader, ReadLimits},
};
#[cfg(feature = "std")]
use std::{io::Read, path::Path};

use super::DynFilter;
use crate::{DecodeError, PortableHasher};

/// The filter that a header announces, as a variant of an enum: `$open` is asked for the type that this variant holds.
macro_rules! by_kind {
    ($header:expr, $enum:ident, $open:expr) => {
        match $header.kind {
            #[cfg(feature = "bloom")]
            kind if kind == Kind::BLOOM => $open.map($enum::Bloom),
            #[cfg(feature = "blocked")]
            kind if kind == Kind::BLOCKED_BLOOM => $open.map($enum::BlockedBloom),
            // The third number of the shape is the width of a counter.
            #[cfg(feature = "counting")]
            kind if kind == Kind::COUNTING_BLOOM && $header.shape.as_slice().get(2) == Some(&8) => {
                $open.map($enum::WideCountingBloom)
            }
            #[cfg(feature = "counting")]
            kind if kind == Kind::COUNTING_BLOOM => $open.map($enum::CountingBloom),
            #[cfg(feature = "counting")]
            kind if kind == Kind::BLOCKED_COUNTING_BLOOM => $open.map($enum::BlockedCountingBloom),
            #[cfg(feature = "cuckoo")]
            kind if kind == Kind::CUCKOO => $open.map($enum::Cuckoo),
            _ => Err($crate::dyn_filter::open::not_a_filter(&$header).into()),
        }
    };
}
pub(super) use by_kind;

/// What is wrong with bytes that hold another structure, or one whose feature is off.
pub(super) fn not_a_filter(header: &Header) -> DecodeError {
    const COUNTING: &str = "a filter whose feature is on (of `pds`, `counting` is off)";
    const FEATURES: [(Kind, &str); 5] = [
        (Kind::BLOOM, "a filter whose feature is on (of `pds`, `bloom` is off)"),
        (Kind::BLOCKED_BLOOM, "a filter whose feature is on (of `pds`, `blocked` is off)"),
        (Kind::COUNTING_BLOOM, COUNTING),
        (Kind::BLOCKED_COUNTING_BLOOM, COUNTING),
        (Kind::CUCKOO, "a filter whose feature is on (of `pds`, `cuckoo` is off)"),
    ];
    let feature = FEATURES.iter().find(|(kind, _)| *kind == header.kind);
    let allowed = feature.map_or(
        "a membership filter (Bloom, blocked Bloom, counting Bloom, blocked counting Bloom or cuckoo)",
        |(_, allowed)| allowed,
    );
    DecodeError::OtherKind { offset: header.kind_offset(), found: header.kind, allowed }
}

impl DynFilter {
    /// Reads portable bytes that hold a filter of any kind and nothing else.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong and where: [`OtherKind`](DecodeError::OtherKind) where the bytes hold no filter, or
    /// one whose feature is off.
    ///
    /// # Complexity
    /// O(length of the bytes); never allocates more than they justify.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        Self::from_bytes_with_key(bytes)
    }

    /// Reads exactly one filter from a stream; what follows it stays in the reader.
    ///
    /// # Errors
    /// [`ReadError`]: reading failed, or what was read is wrong.
    #[cfg(feature = "std")]
    pub fn read_from(reader: impl Read, limits: ReadLimits) -> Result<Self, ReadError> {
        Self::read_from_with_key(reader, limits)
    }

    /// Loads a file that holds a filter of any kind and nothing else.
    ///
    /// # Errors
    /// [`ReadError`]: reading failed, or the file is wrong.
    #[cfg(feature = "std")]
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        Self::load_with_key(path)
    }
}

impl<S: PortableHasher> DynFilter<S> {
    /// Reads portable bytes that hold the hasher's key or seed.
    ///
    /// # Errors
    /// As [`from_bytes`](DynFilter::from_bytes), and [`KeyMissing`](DecodeError::KeyMissing) when the key was left
    /// out.
    pub fn from_bytes_with_key(bytes: &[u8]) -> Result<Self, DecodeError> {
        open(Envelope::open(bytes)?, None)
    }

    /// Reads portable bytes with this hasher: for those from which a secret key was left out.
    ///
    /// # Errors
    /// As [`from_bytes`](DynFilter::from_bytes), and [`KeyMismatch`](DecodeError::KeyMismatch) when `hasher` is not
    /// the one that built the filter.
    pub fn from_bytes_with_hasher(bytes: &[u8], hasher: S) -> Result<Self, DecodeError> {
        open(Envelope::open(bytes)?, Some(hasher))
    }

    /// Reads one filter and its hasher's key from a stream.
    ///
    /// # Errors
    /// [`ReadError`]: reading failed, or what was read is wrong.
    #[cfg(feature = "std")]
    pub fn read_from_with_key(reader: impl Read, limits: ReadLimits) -> Result<Self, ReadError> {
        open(EnvelopeReader::open(reader, limits)?, None)
    }

    /// Reads one filter from a stream with this hasher.
    ///
    /// # Errors
    /// [`ReadError`]: reading failed, or what was read is wrong.
    #[cfg(feature = "std")]
    pub fn read_from_with_hasher(
        reader: impl Read,
        limits: ReadLimits,
        hasher: S,
    ) -> Result<Self, ReadError> {
        open(EnvelopeReader::open(reader, limits)?, Some(hasher))
    }

    /// Loads a file that holds the hasher's key.
    ///
    /// # Errors
    /// [`ReadError`]: reading failed, or the file is wrong.
    #[cfg(feature = "std")]
    pub fn load_with_key(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        open(EnvelopeReader::open_file(path.as_ref())?, None)
    }

    /// Loads a file with this hasher.
    ///
    /// # Errors
    /// [`ReadError`]: reading failed, or the file is wrong.
    #[cfg(feature = "std")]
    pub fn load_with_hasher(path: impl AsRef<Path>, hasher: S) -> Result<Self, ReadError> {
        open(EnvelopeReader::open_file(path.as_ref())?, Some(hasher))
    }
}

/// An envelope whose head was read, and whose type is known once it was looked at.
trait Opened {
    type Error: From<DecodeError>;

    fn head(&self) -> Header;

    fn finish<P: Portable>(self, hasher: Option<P::Hasher>) -> Result<P, Self::Error>;
}

/// Decodes what a header announces.
fn open<S: PortableHasher, O: Opened>(
    opened: O,
    hasher: Option<S>,
) -> Result<DynFilter<S>, O::Error> {
    by_kind!(opened.head(), DynFilter, opened.finish(hasher))
}

impl Opened for Envelope<&[u8]> {
    type Error = DecodeError;

    fn head(&self) -> Header {
        *self.header()
    }

    fn finish<P: Portable>(self, hasher: Option<P::Hasher>) -> Result<P, DecodeError> {
        self.decode(hasher)
    }
}

#[cfg(feature = "std")]
impl<R: Read> Opened for EnvelopeReader<R> {
    type Error = ReadError;

    fn head(&self) -> Header {
        *self.header()
    }

    fn finish<P: Portable>(self, hasher: Option<P::Hasher>) -> Result<P, ReadError> {
        self.decode(hasher)
    }
}
