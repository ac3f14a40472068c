use core::fmt;
use std::io::{self, Read, Write};

use super::envelope::check_length;
use super::reader::{Input, Reader};
use super::writer::{Output, Writer};
use super::{Header, Portable, SecretKey};
use crate::error::{DecodeError, ReadError};

/// How much a reader may make the process allocate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// The longest envelope accepted, in bytes: with everything that it holds.
    pub max_bytes: u64,
}

impl ReadLimits {
    /// Accepts envelopes of up to this many bytes: what `to_bytes` of the greatest structure returns.
    #[must_use]
    pub const fn bytes(max_bytes: u64) -> Self {
        Self { max_bytes }
    }

    /// Accepts any envelope that memory can be had for: for streams that are trusted.
    pub const UNLIMITED: Self = Self::bytes(u64::MAX);
}

/// Writes the envelope of a structure, buffering 16 KiB at a time.
///
/// # Errors
/// Those of the writer.
pub fn write_to<P: Portable>(structure: &P, key: SecretKey, writer: impl Write) -> io::Result<()> {
    Writer::write(structure, key, Io(writer))?.0.flush()
}

/// Reads exactly one envelope; what follows it stays in the reader.
///
/// # Errors
/// [`ReadError::Io`] when reading fails, [`ReadError::Decode`] says what is wrong with what was read.
pub fn read_from<P: Portable>(
    reader: impl Read,
    limits: ReadLimits,
    hasher: Option<P::Hasher>,
) -> Result<P, ReadError> {
    EnvelopeReader::open(reader, limits)?.decode(hasher)
}

/// An envelope in a stream whose head was read, for code that learns from it what to decode.
///
/// # Examples
/// ```
/// use pds_core::bytes::{EnvelopeReader, ReadLimits};
///
/// let stream: &[u8] = b"GET / HTTP/1.1";
/// let error = EnvelopeReader::open(stream, ReadLimits::bytes(1 << 20)).err();
/// assert!(error.is_some_and(|error| error.to_string().starts_with("the 8 bytes at offset 0")));
/// ```
pub struct EnvelopeReader<R> {
    reader: Reader<Io<R>>,
    header: Header,
    limits: ReadLimits,
    /// Whether nothing may follow.
    is_whole: bool,
}

impl<R> fmt::Debug for EnvelopeReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnvelopeReader").field("header", &self.header).finish_non_exhaustive()
    }
}

impl<R: Read> EnvelopeReader<R> {
    /// Reads a head and no more.
    ///
    /// # Errors
    /// [`ReadError::Io`] when reading fails, [`ReadError::Decode`] says what is wrong with the head.
    pub fn open(reader: R, limits: ReadLimits) -> Result<Self, ReadError> {
        let mut reader = Reader::new(Io(reader), 0, 0);
        let header = reader.head()?;
        Ok(Self { reader, header, limits, is_whole: false })
    }

    /// Reads the head of an envelope behind which nothing may follow.
    ///
    /// Where the reader's length is known, a head that claims another one is refused before anything is
    /// allocated for it.
    pub(super) fn open_whole(reader: R, length: Option<u64>) -> Result<Self, ReadError> {
        let opened = Self { is_whole: true, ..Self::open(reader, ReadLimits::UNLIMITED)? };
        if let Some(length) = length {
            check_length(&opened.header, length)?;
        }
        Ok(opened)
    }

    /// Returns the header.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// Reads the rest of the envelope, which must hold a `P`; what follows it stays in the reader.
    ///
    /// # Errors
    /// [`ReadError::Io`] when reading fails, [`ReadError::Decode`] says what is wrong with what was read.
    pub fn decode<P: Portable>(mut self, hasher: Option<P::Hasher>) -> Result<P, ReadError> {
        self.header.expect::<P>()?;
        self.header.expect_at_most(self.limits.max_bytes)?;
        let structure = self.reader.structure(&self.header, hasher)?;
        // How many bytes follow is not counted: the reader may be endless.
        if self.is_whole && self.reader.fill(&mut [0])? > 0 {
            let offset = self.header.envelope_bytes();
            return Err(DecodeError::Trailing { offset, found: 1 }.into());
        }
        Ok(structure)
    }
}

/// A stream to read from or to write to.
struct Io<T>(T);

impl<W: Write> Output for Io<W> {
    type Error = io::Error;

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }
}

impl<R: Read> Input for Io<R> {
    type Error = ReadError;

    fn fill(&mut self, into: &mut [u8]) -> Result<usize, ReadError> {
        let mut filled = 0;
        while filled < into.len() {
            match self.0.read(&mut into[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(filled)
    }
}
