use alloc::vec::Vec;
use core::convert::Infallible;

use xxhash_rust::xxh3::Xxh3;

use super::source::Source;

/// How many words are converted at once: 16 KiB, half of a first-level cache.
const CHUNK_WORDS: usize = 2048;

/// Takes bytes one piece after another.
pub trait Sink {
    /// Why bytes cannot be taken.
    type Error;

    /// Takes these bytes.
    ///
    /// # Errors
    /// As the sink says.
    fn put(&mut self, bytes: &[u8]) -> Result<(), Self::Error>;

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

impl Sink for Vec<u8> {
    type Error = Infallible;

    fn put(&mut self, bytes: &[u8]) -> Result<(), Infallible> {
        self.extend_from_slice(bytes);
        Ok(())
    }
}

/// Passes bytes on and computes their checksum.
pub(super) struct Summing<'a, S> {
    inner: &'a mut S,
    sum: Xxh3,
    /// How many bytes were put.
    length: u64,
}

impl<'a, S> Summing<'a, S> {
    pub(super) fn new(inner: &'a mut S) -> Self {
        Self { inner, sum: Xxh3::new(), length: 0 }
    }

    pub(super) fn sum(&self) -> u64 {
        self.sum.digest()
    }

    pub(super) const fn length(&self) -> u64 {
        self.length
    }
}

impl<S: Sink> Sink for Summing<'_, S> {
    type Error = S::Error;

    fn put(&mut self, bytes: &[u8]) -> Result<(), S::Error> {
        self.sum.update(bytes);
        self.length += bytes.len() as u64;
        self.inner.put(bytes)
    }
}

impl<S: Source> Source for Summing<'_, S> {
    type Error = S::Error;

    fn take(&mut self, into: &mut [u8]) -> Result<(), S::Error> {
        self.inner.take(into)?;
        self.sum.update(into);
        Ok(())
    }
}
