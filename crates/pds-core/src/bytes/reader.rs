use super::header::{ALIGNMENT, Header, MAX_HEAD, SUM_BYTES, check_sum};
use super::level::{Levels, MAX_NESTING, padding_at};
use super::section::check_zeros;
use super::writer::CHUNK_WORDS;
use super::{MaybeHasher, Portable};
use crate::error::DecodeError;
use crate::internal::DecodeFault;
use crate::memory::Words;

/// Input of [`Portable::read_payload`]: the bytes of a payload in order, with their offsets.
///
/// Nothing outside this module implements it.
pub trait Source: sealed::Sealed {
    /// Why reading fails, or what is wrong with the bytes.
    type Error: From<DecodeError>;

    /// Returns the offset of the next byte from the start of the outermost envelope.
    fn offset(&self) -> u64;

    /// Returns the number of bytes left in the payload.
    fn remaining(&self) -> u64;

    /// Fills `into` with the next bytes.
    ///
    /// # Errors
    /// [`Invalid`](crate::error::DecodeErrorKind::Invalid) if the payload has fewer bytes left, and those of the source.
    fn take(&mut self, into: &mut [u8]) -> Result<(), Self::Error>;

    /// Takes a structure that [`Sink::put_envelope`](crate::bytes::Sink::put_envelope) wrote, and verifies all of it.
    ///
    /// # Errors
    /// As [`take`](Self::take). [`Invalid`](crate::error::DecodeErrorKind::Invalid) if the envelope is nested deeper
    /// than
    /// [`MAX_NESTING`](crate::bytes::MAX_NESTING). [`KeyMissing`](crate::error::DecodeErrorKind::KeyMissing) if the bytes do not contain the secret key
    /// and `hasher` is `None`.
    fn take_envelope<P: Portable>(&mut self, hasher: Option<P::Hasher>) -> Result<P, Self::Error>;

    /// Takes 8 bytes in little-endian order as a number.
    ///
    /// # Errors
    /// As [`take`](Self::take).
    fn take_u64(&mut self) -> Result<u64, Self::Error> {
        let mut bytes = [0; 8];
        self.take(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }
}

mod sealed {
    pub trait Sealed {}
    impl<I: super::Input> Sealed for super::Reader<I> {}
}

/// Allocates `len` words and reads 8 bytes for each, in little-endian order.
///
/// Touches each page of the memory only when its bytes arrive.
///
/// # Errors
/// As [`Source::take`], and [`Alloc`](crate::error::DecodeErrorKind::Alloc) if the allocator refuses the memory.
pub fn take_words<R: Source>(source: &mut R, len: u64) -> Result<Words, R::Error> {
    let mut words = Words::zeroed(len).map_err(DecodeError::from)?;
    fill_words(source, &mut words)?;
    Ok(words)
}

/// Reads 8 bytes for each word, in little-endian order.
///
/// # Errors
/// As [`Source::take`].
pub fn fill_words<R: Source>(source: &mut R, words: &mut [u64]) -> Result<(), R::Error> {
    let mut buffer = [0; 8 * CHUNK_WORDS];
    for chunk in words.chunks_mut(CHUNK_WORDS) {
        let bytes = &mut buffer[..8 * chunk.len()];
        source.take(bytes)?;
        for (word, bytes) in chunk.iter_mut().zip(bytes.as_chunks().0) {
            *word = u64::from_le_bytes(*bytes);
        }
    }
    Ok(())
}

/// Source of bytes of an envelope: a slice or a stream.
pub(super) trait Input {
    type Error: From<DecodeError>;

    /// Reads until `into` is full or the input ends. Returns the number of bytes read.
    fn fill(&mut self, into: &mut [u8]) -> Result<usize, Self::Error>;
}

impl Input for &[u8] {
    type Error = DecodeError;

    fn fill(&mut self, into: &mut [u8]) -> Result<usize, DecodeError> {
        let (front, rest) = self.split_at(into.len().min(self.len()));
        into[..front.len()].copy_from_slice(front);
        *self = rest;
        Ok(front.len())
    }
}

/// Reader of an envelope and of the envelopes nested in it.
pub(super) struct Reader<I> {
    input: I,
    offset: u64,
    levels: Levels,
}

impl<I: Input> Reader<I> {
    /// Creates a reader of an input that starts at `offset` and lies in `depth` envelopes that are not read.
    pub(super) fn new(input: I, offset: u64, depth: usize) -> Self {
        Self { input, offset, levels: Levels::nested(depth) }
    }

    /// Reads a head. A short input that is no envelope is reported as such, not as truncated.
    pub(super) fn head(&mut self) -> Result<Header, I::Error> {
        let (at, mut bytes) = (self.offset, [0; MAX_HEAD]);
        let found = self.fill(&mut bytes[..Header::FIXED_BYTES])?;
        let head_bytes = Header::peek_head_bytes(&bytes[..found], at)?;
        let found = found + self.fill(&mut bytes[found..head_bytes])?;
        Ok(Header::parse(&bytes[..found], head_bytes, at)?)
    }

    /// Reads the head at the next multiple of 64 bytes of the payload. Its envelope must end within the payload.
    pub(super) fn nested_head(&mut self) -> Result<Header, I::Error> {
        if self.levels.is_full() {
            return Err(DecodeError(DecodeFault::Nesting {
                offset: self.offset,
                limit: MAX_NESTING,
            })
            .into());
        }
        let start = self.levels.innermost().map_or(0, |level| level.start);
        let (at, mut zeros) = (self.offset, [0; ALIGNMENT]);
        let zeros = &mut zeros[..padding_at(at - start)];
        self.take(zeros)?;
        check_zeros(zeros, at)?;
        let left = self.remaining();
        let header = self.head()?;
        header.expect_within(left)?;
        Ok(header)
    }

    /// Opens the payload of a head.
    pub(super) fn open(&mut self, header: &Header) {
        self.levels.push(header.payload_offset(), header.payload_end());
    }

    /// Reads the payload after a head, and its checksum. The head must have been checked.
    pub(super) fn structure<P: Portable>(
        &mut self,
        header: &Header,
        hasher: Option<P::Hasher>,
    ) -> Result<P, I::Error> {
        let hasher = P::Hasher::of_header(header, hasher)?;
        self.open(header);
        let structure = P::read_payload(&header.shape, hasher, self);
        let (offset, found) = (self.offset, self.remaining());
        let expected = self.levels.pop();
        let structure = structure?;
        if found > 0 {
            return Err(DecodeError(DecodeFault::Unread { offset, found }).into());
        }
        let sum = self.take_u64()?;
        check_sum("payload", offset, expected, sum)?;
        Ok(structure)
    }

    /// Reads until `into` is full or the input ends. Returns the number of bytes read. An end within a payload is an
    /// error.
    pub(super) fn fill(&mut self, into: &mut [u8]) -> Result<usize, I::Error> {
        let (needed, left) = (into.len() as u64, self.remaining());
        if needed > left {
            return Err(
                DecodeError(DecodeFault::PayloadEnd { offset: self.offset, needed, left }).into()
            );
        }
        let filled = self.input.fill(into)?;
        self.levels.update(&into[..filled]);
        self.offset += filled as u64;
        match self.levels.outermost() {
            Some(level) if filled < into.len() => {
                let (offset, expected) = (self.offset, level.end + SUM_BYTES as u64);
                Err(DecodeError(DecodeFault::Truncated { offset, expected }).into())
            }
            _ => Ok(filled),
        }
    }
}

impl<I: Input> Source for Reader<I> {
    type Error = I::Error;

    fn offset(&self) -> u64 {
        self.offset
    }

    fn remaining(&self) -> u64 {
        self.levels.innermost().map_or(u64::MAX, |level| level.end - self.offset)
    }

    fn take(&mut self, into: &mut [u8]) -> Result<(), I::Error> {
        let expected = self.offset + into.len() as u64;
        match self.fill(into)? {
            filled if filled == into.len() => Ok(()),
            _ => Err(DecodeError(DecodeFault::Truncated { offset: self.offset, expected }).into()),
        }
    }

    fn take_envelope<P: Portable>(&mut self, hasher: Option<P::Hasher>) -> Result<P, I::Error> {
        let header = self.nested_head()?;
        header.expect::<P>()?;
        self.structure(&header, hasher)
    }
}
