use alloc::vec::Vec;
use core::convert::Infallible;

use super::header::{ALIGNMENT, Header};
use super::level::{Levels, padding_at};
use super::{Portable, SecretKey, ToEnvelope};

/// How many words are converted at once: 16 KiB, half of a first-level cache.
pub(super) const CHUNK_WORDS: usize = 2048;

/// Takes the bytes of a payload one piece after another.
///
/// [`Portable::write_payload`] is given one; nothing outside this module implements it.
pub trait Sink: sealed::Sealed {
    /// Why bytes cannot be taken.
    type Error;

    /// Takes these bytes.
    ///
    /// # Errors
    /// As the sink says.
    fn put(&mut self, bytes: &[u8]) -> Result<(), Self::Error>;

    /// Takes a structure as an envelope of its own, at the next multiple of 64 bytes of the payload.
    ///
    /// Its secret key is written where that of the structure around it is.
    ///
    /// # Errors
    /// As the sink says.
    ///
    /// # Panics
    /// When the envelope would lie more than [`MAX_NESTING`](crate::bytes::MAX_NESTING) deep, where no reader accepts
    /// it.
    fn put_envelope<P: Portable>(&mut self, structure: &P) -> Result<(), Self::Error>;

    /// Takes a number as 8 bytes in little-endian order.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    fn put_u64(&mut self, number: u64) -> Result<(), Self::Error> {
        self.put(&number.to_le_bytes())
    }

    /// Takes words, each as 8 bytes in little-endian order.
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
}

/// Returns the length of a structure's envelope in bytes.
#[must_use]
pub(super) fn envelope_bytes<P: Portable>(structure: &P) -> u64 {
    // A key that is left out leaves its room behind, so that the length does not depend on the choice.
    Header::of(structure, SecretKey::Omit).envelope_bytes()
}

/// Returns how long a payload is that has `position` bytes and then the envelope of a structure.
///
/// What [`Portable::payload_bytes`] counts for [`Sink::put_envelope`], zeros in front of the envelope included.
#[must_use]
pub fn after_envelope<P: Portable>(position: u64, structure: &P) -> u64 {
    position + padding_at(position) as u64 + envelope_bytes(structure)
}

/// Where envelopes are written to.
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

/// Writes an envelope, and those nested in it.
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
        // A user's `Portable` or `PortableKey` can be wrong about its length: nobody could read the bytes.
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
pub(super) fn to_vec<P: ToEnvelope>(structure: &P, key: SecretKey) -> Vec<u8> {
    let length = usize::try_from(structure.envelope_bytes()).unwrap_or(usize::MAX);
    let Ok(bytes) = Writer::write(structure, key, Vec::with_capacity(length));
    bytes
}
