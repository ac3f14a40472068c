use crate::error::DecodeError;
use crate::memory::Words;

/// How many words are converted at once: 16 KiB, half of a first-level cache.
const CHUNK_WORDS: usize = 2048;

/// Gives bytes one piece after another.
pub trait Source {
    /// Why bytes cannot be given, or what is wrong with them.
    type Error: From<DecodeError>;

    /// Fills `into` with the next bytes.
    ///
    /// # Errors
    /// As the source says; a source that ends too early says so.
    fn take(&mut self, into: &mut [u8]) -> Result<(), Self::Error>;

    /// Allocates `len` words and fills them from 8 bytes each, in little-endian order.
    ///
    /// The words are touched only as their bytes arrive.
    ///
    /// # Errors
    /// As [`take`](Self::take), and [`DecodeError::Alloc`] when memory is refused.
    fn take_words(&mut self, len: u64) -> Result<Words, Self::Error> {
        let mut words = Words::zeroed(len).map_err(DecodeError::from)?;
        let mut buffer = [0; 8 * CHUNK_WORDS];
        for chunk in words.chunks_mut(CHUNK_WORDS) {
            let bytes = &mut buffer[..8 * chunk.len()];
            self.take(bytes)?;
            for (word, bytes) in chunk.iter_mut().zip(bytes.as_chunks().0) {
                *word = u64::from_le_bytes(*bytes);
            }
        }
        Ok(words)
    }
}

/// A byte slice is read from its front; whoever calls has checked its length.
impl Source for &[u8] {
    type Error = DecodeError;

    fn take(&mut self, into: &mut [u8]) -> Result<(), DecodeError> {
        let Some((front, rest)) = self.split_at_checked(into.len()) else {
            let offset = self.len() as u64;
            return Err(DecodeError::Truncated { offset, expected: into.len() as u64 });
        };
        into.copy_from_slice(front);
        *self = rest;
        Ok(())
    }
}
