use alloc::vec::Vec;
use core::convert::Infallible;

use super::header::{ALIGNMENT, Header};
use super::level::{Levels, padding_at};
use super::{Portable, SecretKey, ToEnvelope};

/// Number of words that are converted at once: 16 KiB, half of a first-level cache.
pub(super) const CHUNK_WORDS: usize = 2048;

/// Output of [`Portable::write_payload`]: takes the bytes of a payload in order.
///
/// Nothing outside this module implements it.
pub trait Sink: sealed::Sealed {
    /// Why writing fails.
    type Error;

    /// Writes bytes.
    ///
    /// # Errors
    /// Those of the sink.
    fn put(&mut self, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Writes a structure as a nested envelope, at the next multiple of 64 bytes of the payload.
    ///
    /// Its secret key is written if the key of the outermost structure is.
    ///
    /// # Errors
    /// Those of the sink.
    ///
    /// # Panics
    /// If the envelope would be nested deeper than [`MAX_NESTING`](crate::bytes::MAX_NESTING). No reader would accept
    /// it.
    fn put_envelope<P: Portable>(&mut self, structure: &P) -> Result<(), Self::Error>;

    /// Writes a number as 8 bytes in little-endian order.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    fn put_u64(&mut self, number: u64) -> Result<(), Self::Error> {
        self.put(&number.to_le_bytes())
    }

    /// Writes words, each as 8 bytes in little-endian order.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    fn put_words(&mut self, mut words: impl Iterator<Item = u64>) -> Result<(), Self::Error> {
        let mut buffer = [0; 8 * CHUNK_WORDS];
        loop {
            let mut filled = 0;
            for (bytes, word) in buffer.as_chunks_mut().0.iter_mut().zip(words.by_ref()) {
                *bytes = word.to_le_bytes();
                filled += 8;
            }
            self.put(&buffer[..filled])?;
            if filled < buffer.len() {
                return Ok(());
            }
        }
    }
}

mod sealed {
    pub trait Sealed {}
    impl<O: super::Output> Sealed for super::Writer<O> {}
    impl Sealed for super::Count {}
}

/// Returns the length of a structure's envelope in bytes.
#[must_use]
pub(super) fn envelope_bytes<P: Portable>(structure: &P) -> u64 {
    // An omitted key leaves its space unused, so the length does not depend on the choice.
    Header::of(structure, SecretKey::Omit).envelope_bytes()
}

/// Returns the number of bytes in the payload of a structure.
pub(super) fn count_payload<P: Portable>(structure: &P) -> u64 {
    let mut count = Count(0);
    let Ok(()) = structure.write_payload(&mut count);
    count.0
}

/// Sink that only counts.
struct Count(u64);

impl Sink for Count {
    type Error = Infallible;

    fn put(&mut self, bytes: &[u8]) -> Result<(), Infallible> {
        self.0 += bytes.len() as u64;
        Ok(())
    }

    fn put_envelope<P: Portable>(&mut self, structure: &P) -> Result<(), Infallible> {
        self.0 += padding_at(self.0) as u64 + envelope_bytes(structure);
        Ok(())
    }

    // If the number of words is known, none is read. Those of a shared structure would be loaded one by one.
    fn put_words(&mut self, words: impl Iterator<Item = u64>) -> Result<(), Infallible> {
        let (least, most) = words.size_hint();
        let count = if most == Some(least) { least } else { words.count() };
        self.0 += 8 * count as u64;
        Ok(())
    }
}

/// Destination of bytes of an envelope: a vector or a stream.
pub(super) trait Output {
    type Error;

    fn write(&mut self, bytes: &[u8]) -> Result<(), Self::Error>;
}

impl Output for Vec<u8> {
    type Error = Infallible;

    fn write(&mut self, bytes: &[u8]) -> Result<(), Infallible> {
        self.extend_from_slice(bytes);
        Ok(())
    }
}

/// Writer of an envelope and of the envelopes nested in it.
pub(super) struct Writer<O> {
    output: O,
    key: SecretKey,
    offset: u64,
    levels: Levels,
}

impl<O: Output> Writer<O> {
    /// Writes the envelope of a structure. Returns the output.
    pub(super) fn write<P: ToEnvelope>(
        structure: &P,
        key: SecretKey,
        output: O,
    ) -> Result<O, O::Error> {
        let mut writer = Self { output, key, offset: 0, levels: Levels::default() };
        structure.put_in(&mut writer)?;
        Ok(writer.output)
    }

    fn envelope<P: Portable>(&mut self, structure: &P) -> Result<(), O::Error> {
        let header = Header::of(structure, self.key);
        header.write(|head| self.put(head))?;
        let (start, length) = (self.offset, header.payload_bytes);
        self.levels.push(start, start + length);
        structure.write_payload(self)?;
        let (sum, written) = (self.levels.pop(), self.offset - start);
        // A `Portable` of a user may state a wrong length. Nobody could read the bytes, so this must not pass silently.
        assert!(written == length, "{}: {written} bytes of payload, not {length}", P::KIND);
        self.put_u64(sum)
    }
}

impl<O: Output> Sink for Writer<O> {
    type Error = O::Error;

    fn put(&mut self, bytes: &[u8]) -> Result<(), O::Error> {
        self.output.write(bytes)?;
        self.offset += bytes.len() as u64;
        self.levels.update(bytes);
        Ok(())
    }

    fn put_envelope<P: Portable>(&mut self, structure: &P) -> Result<(), O::Error> {
        assert!(!self.levels.is_full(), "{}: an envelope nested too deep", P::KIND);
        let start = self.levels.innermost().map_or(0, |level| level.start);
        let zeros = [0; ALIGNMENT];
        self.put(&zeros[..padding_at(self.offset - start)])?;
        self.envelope(structure)
    }
}

/// Returns the envelope of a structure as a vector.
pub(crate) fn to_vec<P: ToEnvelope>(structure: &P, key: SecretKey) -> Vec<u8> {
    let length = usize::try_from(structure.envelope_bytes()).unwrap_or(usize::MAX);
    let Ok(bytes) = Writer::write(structure, key, Vec::with_capacity(length));
    bytes
}
