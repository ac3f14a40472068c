//! From bytes whose header says what they hold to a filter of that kind.

#[cfg(feature = "std")]
use alloc::vec::Vec;

use pds_core::Kind;
use pds_core::bytes::{Header, Portable, from_slice};
#[cfg(feature = "std")]
use pds_core::{
    ReadError,
    bytes::{ReadLimits, load, read_from},
};
#[cfg(feature = "std")]
use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use super::DynFilter;
use crate::{DecodeError, PortableHasher};

/// Where the kind stands in a header, in bytes.
const KIND_AT: u64 = 10;

/// The filter that a header announces, as a variant of an enum: `$open` is asked for the type that this variant holds.
macro_rules! by_kind {
    ($header:expr, $enum:ident, $open:expr) => {
        match $header.kind {
            #[cfg(feature = "bloom")]
            Kind::Bloom => $open.map($enum::Bloom),
            #[cfg(feature = "blocked")]
            Kind::BlockedBloom => $open.map($enum::BlockedBloom),
            // The third number of the shape is the width of a counter.
            #[cfg(feature = "counting")]
            Kind::CountingBloom if $header.shape.numbers[2] == 8 => {
                $open.map($enum::WideCountingBloom)
            }
            #[cfg(feature = "counting")]
            Kind::CountingBloom => $open.map($enum::CountingBloom),
            #[cfg(feature = "counting")]
            Kind::BlockedCountingBloom => $open.map($enum::BlockedCountingBloom),
            #[cfg(feature = "cuckoo")]
            Kind::Cuckoo => $open.map($enum::Cuckoo),
            kind => Err($crate::dyn_filter::open::not_a_filter(kind).into()),
        }
    };
}
pub(super) use by_kind;

/// What is wrong with bytes that hold another structure, or one whose feature is off.
pub(super) fn not_a_filter(kind: Kind) -> DecodeError {
    let allowed = match kind {
        Kind::Bloom => "a filter whose feature is on (of `pds`, `bloom` is off)",
        Kind::BlockedBloom => "a filter whose feature is on (of `pds`, `blocked` is off)",
        Kind::CountingBloom | Kind::BlockedCountingBloom => {
            "a filter whose feature is on (of `pds`, `counting` is off)"
        }
        Kind::Cuckoo => "a filter whose feature is on (of `pds`, `cuckoo` is off)",
        _ => {
            "a membership filter (Bloom, blocked Bloom, counting Bloom, blocked counting Bloom or cuckoo)"
        }
    };
    DecodeError::OtherKind { offset: KIND_AT, found: kind, allowed }
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
        open(&Header::peek(bytes)?, Slice(bytes, None))
    }

    /// Reads portable bytes with this hasher: for those from which a secret key was left out.
    ///
    /// # Errors
    /// As [`from_bytes`](DynFilter::from_bytes), and [`KeyMismatch`](DecodeError::KeyMismatch) when `hasher` is not
    /// the one that built the filter.
    pub fn from_bytes_with_hasher(bytes: &[u8], hasher: S) -> Result<Self, DecodeError> {
        open(&Header::peek(bytes)?, Slice(bytes, Some(hasher)))
    }

    /// Reads one filter and its hasher's key from a stream.
    ///
    /// # Errors
    /// [`ReadError`]: reading failed, or what was read is wrong.
    #[cfg(feature = "std")]
    pub fn read_from_with_key(reader: impl Read, limits: ReadLimits) -> Result<Self, ReadError> {
        read(reader, limits, None)
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
        read(reader, limits, Some(hasher))
    }

    /// Loads a file that holds the hasher's key.
    ///
    /// # Errors
    /// [`ReadError`]: reading failed, or the file is wrong.
    #[cfg(feature = "std")]
    pub fn load_with_key(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        load_file(path.as_ref(), None)
    }

    /// Loads a file with this hasher.
    ///
    /// # Errors
    /// [`ReadError`]: reading failed, or the file is wrong.
    #[cfg(feature = "std")]
    pub fn load_with_hasher(path: impl AsRef<Path>, hasher: S) -> Result<Self, ReadError> {
        load_file(path.as_ref(), Some(hasher))
    }
}

/// Where a filter comes from, once its type is known.
trait Opener<S> {
    type Error: From<DecodeError>;

    fn open<P: Portable<Hasher = S>>(self) -> Result<P, Self::Error>;
}

/// Opens what a header announces.
fn open<S: PortableHasher, O: Opener<S>>(
    header: &Header,
    opener: O,
) -> Result<DynFilter<S>, O::Error> {
    by_kind!(header, DynFilter, opener.open())
}

struct Slice<'a, S>(&'a [u8], Option<S>);

impl<S: PortableHasher> Opener<S> for Slice<'_, S> {
    type Error = DecodeError;

    fn open<P: Portable<Hasher = S>>(self) -> Result<P, DecodeError> {
        from_slice(self.0, self.1)
    }
}

#[cfg(feature = "std")]
struct Stream<R, S>(R, ReadLimits, Option<S>);

#[cfg(feature = "std")]
impl<R: Read, S: PortableHasher> Opener<S> for Stream<R, S> {
    type Error = ReadError;

    fn open<P: Portable<Hasher = S>>(self) -> Result<P, ReadError> {
        read_from(self.0, self.1, self.2)
    }
}

#[cfg(feature = "std")]
struct Named<'a, S>(&'a Path, Option<S>);

#[cfg(feature = "std")]
impl<S: PortableHasher> Opener<S> for Named<'_, S> {
    type Error = ReadError;

    fn open<P: Portable<Hasher = S>>(self) -> Result<P, ReadError> {
        load(self.0, self.1)
    }
}

#[cfg(feature = "std")]
fn read<S: PortableHasher>(
    mut reader: impl Read,
    limits: ReadLimits,
    hasher: Option<S>,
) -> Result<DynFilter<S>, ReadError> {
    let start = header_bytes(&mut reader)?;
    let header = Header::peek(&start)?;
    open(&header, Stream(start.chain(reader), limits, hasher))
}

/// Opens the file twice: should another one take its place in between, it is refused unless it is of the same kind.
#[cfg(feature = "std")]
fn load_file<S: PortableHasher>(path: &Path, hasher: Option<S>) -> Result<DynFilter<S>, ReadError> {
    let header = Header::peek(&header_bytes(&mut File::open(path)?)?)?;
    open(&header, Named(path, hasher))
}

/// As many bytes of a header as there are.
#[cfg(feature = "std")]
fn header_bytes(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(Header::BYTES);
    reader.take(Header::BYTES as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}
