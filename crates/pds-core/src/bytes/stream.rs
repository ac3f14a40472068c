use core::fmt;
use std::io::{self, Read, Write};

use super::envelope::check_length;
use super::reader::{Input, Reader};
use super::writer::{Output, Writer};
use super::{Header, OpenEnvelope, Portable, SecretKey, ToEnvelope};
use crate::error::{DecodeError, ReadError};
use crate::internal::DecodeFault;

/// Writes the envelope of a structure, 16 KiB at a time.
///
/// # Errors
/// Those of the writer.
pub(super) fn write_to<P: ToEnvelope>(
    structure: &P,
    key: SecretKey,
    writer: impl Write,
) -> io::Result<()> {
    Writer::write(structure, key, Io(writer))?.0.flush()
}

/// An envelope in a stream whose head has been read, for code that learns from it what to decode.
///
/// [`ByteOptions::open_stream`](crate::bytes::ByteOptions::open_stream) and
/// [`open_file`](crate::bytes::ByteOptions::open_file) return it.
///
/// # Examples
/// ```
/// use pds_core::bytes::ByteOptions;
///
/// let stream: &[u8] = b"GET / HTTP/1.1";
/// let error = ByteOptions::new().open_stream(stream).err();
/// assert!(error.is_some_and(|error| error.to_string().starts_with("the 8 bytes at offset 0")));
/// ```
pub struct EnvelopeReader<R> {
    reader: Reader<Io<R>>,
    header: Header,
    max_bytes: u64,
    /// Whether the envelope must end at the end of the input.
    is_whole: bool,
}

impl<R> fmt::Debug for EnvelopeReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnvelopeReader").field("header", &self.header).finish_non_exhaustive()
    }
}

impl<R: Read> EnvelopeReader<R> {
    /// Reads a head and no more. The rest may be decoded if the envelope has at most `max_bytes`.
    pub(super) fn open(reader: R, max_bytes: u64) -> Result<Self, ReadError> {
        let mut reader = Reader::new(Io(reader), 0, 0);
        let header = reader.head()?;
        Ok(Self { reader, header, max_bytes, is_whole: false })
    }

    /// Reads the head of an envelope behind which nothing may follow.
    ///
    /// If the reader's length is known, a head that claims another one is refused before anything is allocated for it.
    pub(super) fn open_whole(
        reader: R,
        length: Option<u64>,
        max_bytes: u64,
    ) -> Result<Self, ReadError> {
        let opened = Self { is_whole: true, ..Self::open(reader, max_bytes)? };
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

    /// Reads the rest of the envelope, which must hold a `P`. Leaves what follows it in the reader.
    ///
    /// # Errors
    /// [`ReadError`] if reading fails, or if the bytes are wrong.
    pub fn decode<P: Portable>(mut self, hasher: Option<P::Hasher>) -> Result<P, ReadError> {
        self.header.expect::<P>()?;
        self.header.expect_at_most(self.max_bytes)?;
        let structure = self.reader.structure(&self.header, hasher)?;
        // One byte is enough to know: the reader may be endless.
        if self.is_whole && self.reader.fill(&mut [0])? > 0 {
            let offset = self.header.envelope_bytes();
            return Err(DecodeError(DecodeFault::Trailing { offset, found: 1 }).into());
        }
        Ok(structure)
    }
}

impl<R: Read> OpenEnvelope for EnvelopeReader<R> {
    type Error = ReadError;

    fn header(&self) -> &Header {
        &self.header
    }

    fn into_structure<P: Portable>(self, hasher: Option<P::Hasher>) -> Result<P, ReadError> {
        self.decode(hasher)
    }
}

/// Stream to read from or to write to.
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
