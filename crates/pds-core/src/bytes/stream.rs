use std::io::{self, Read, Write};

use super::decode::{check_length, check_shape, decode};
use super::encode::encode;
use super::sink::Sink;
use super::source::Source;
use super::{Header, Portable, SecretKey};
use crate::error::{DecodeError, ReadError};

/// How much a reader may make the process allocate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// The largest payload accepted, in bytes.
    pub max_payload_bytes: u64,
}

impl ReadLimits {
    /// Accepts payloads of up to this many bytes.
    #[must_use]
    pub const fn payload(max_payload_bytes: u64) -> Self {
        Self { max_payload_bytes }
    }

    /// Accepts any payload that memory can be had for: for streams that are trusted.
    pub const UNLIMITED: Self = Self::payload(u64::MAX);
}

/// Writes the envelope of a structure, buffering 16 KiB at a time.
///
/// # Errors
/// Those of the writer.
pub fn write_to<P: Portable>(structure: &P, key: SecretKey, writer: impl Write) -> io::Result<()> {
    let mut sink = Writer(writer);
    encode(structure, key, &mut sink)?;
    sink.0.flush()
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
    let mut source = Reader { inner: reader, offset: 0 };
    let header = source.take_header()?;
    check_shape::<P>(&header)?;
    if header.payload_bytes > limits.max_payload_bytes {
        let limit = limits.max_payload_bytes;
        return Err(DecodeError::Limit { limit, found: header.payload_bytes }.into());
    }
    decode(&header, hasher, &mut source)
}

/// Reads an envelope behind which nothing may follow.
///
/// Where the reader's length is known, a header that claims another one is refused before anything is
/// allocated for it.
pub(super) fn read_whole<P: Portable>(
    reader: impl Read,
    length: Option<u64>,
    hasher: Option<P::Hasher>,
) -> Result<P, ReadError> {
    let mut source = Reader { inner: reader, offset: 0 };
    let header = source.take_header()?;
    if let Some(length) = length {
        check_length(&header, length)?;
    }
    check_shape::<P>(&header)?;
    let structure = decode(&header, hasher, &mut source)?;
    source.expect_end()?;
    Ok(structure)
}

struct Writer<W>(W);

impl<W: Write> Sink for Writer<W> {
    type Error = io::Error;

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }
}

struct Reader<R> {
    inner: R,
    /// How many bytes were read.
    offset: u64,
}

impl<R: Read> Reader<R> {
    /// Reads as much of a header as there is, so that a stream of something else is recognised as that.
    fn take_header(&mut self) -> Result<Header, ReadError> {
        let mut bytes = [0; Header::BYTES];
        let found = self.fill(&mut bytes)?;
        Ok(Header::peek(&bytes[..found])?)
    }

    /// Refuses a byte more. How many there are is not counted: the reader may be endless.
    fn expect_end(&mut self) -> Result<(), ReadError> {
        let offset = self.offset;
        match self.fill(&mut [0])? {
            0 => Ok(()),
            _ => Err(DecodeError::Trailing { offset, found: 1 }.into()),
        }
    }

    /// Reads until `into` is full or the stream ends. Returns how many bytes were read.
    fn fill(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < into.len() {
            match self.inner.read(&mut into[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.offset += filled as u64;
        Ok(filled)
    }
}

impl<R: Read> Source for Reader<R> {
    type Error = ReadError;

    fn take(&mut self, into: &mut [u8]) -> Result<(), ReadError> {
        let expected = self.offset + into.len() as u64;
        if self.fill(into)? < into.len() {
            return Err(DecodeError::Truncated { offset: self.offset, expected }.into());
        }
        Ok(())
    }
}
