use super::{Words, prefetch};

/// Words that a structure can read, wherever they are: in its own memory or in portable bytes.
///
/// It is the bound of the methods that read. Its own methods are internal, and no other crate can implement it.
pub trait WordSource: sealed::Sealed {
    /// A word as it is stored.
    #[doc(hidden)]
    type Stored: StoredWord;

    /// Whether a structure in this storage is a view, which `Debug` tells.
    #[doc(hidden)]
    const IS_VIEW: bool = true;

    /// Returns the word of this index.
    ///
    /// # Panics
    /// When there is none.
    #[doc(hidden)]
    fn word(&self, index: usize) -> u64;

    /// Returns the half of a word: of number 2i the lower one of word i, of 2i + 1 the upper one.
    ///
    /// # Panics
    /// When there is none.
    #[doc(hidden)]
    fn half(&self, number: usize) -> u32;

    /// Returns the 64 bits from this byte on, where they are all there and lie in one piece.
    ///
    /// On big-endian machines words do not, and there is no answer.
    #[doc(hidden)]
    fn unaligned(&self, byte: usize) -> Option<u64>;

    /// Returns all words in order.
    #[doc(hidden)]
    fn words(&self) -> impl Iterator<Item = u64>;

    /// Returns all words in order as they are stored, `N` at a time; fewer left over are left out.
    #[doc(hidden)]
    fn stored<const N: usize>(&self) -> &[[Self::Stored; N]];

    /// Asks for a word to be brought near.
    #[doc(hidden)]
    fn prefetch(&self, index: usize);
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Words {}
    impl Sealed for &[[u8; 8]] {}
    impl<B: AsRef<[u8]>> Sealed for crate::bytes::stored::Stored<B> {}
}

/// A word that is owned, or eight borrowed bytes.
pub trait StoredWord: Copy {
    /// Returns the number that it stands for.
    fn value(self) -> u64;
}

impl StoredWord for u64 {
    #[inline(always)]
    fn value(self) -> u64 {
        self
    }
}

impl StoredWord for [u8; 8] {
    #[inline(always)]
    fn value(self) -> u64 {
        u64::from_le_bytes(self)
    }
}

impl WordSource for Words {
    type Stored = u64;
    const IS_VIEW: bool = false;

    #[inline(always)]
    fn word(&self, index: usize) -> u64 {
        self[index]
    }

    #[inline(always)]
    fn half(&self, number: usize) -> u32 {
        self.lanes::<u32>()[number ^ usize::from(cfg!(target_endian = "big"))]
    }

    #[inline(always)]
    fn unaligned(&self, byte: usize) -> Option<u64> {
        let in_order = cfg!(target_endian = "little");
        in_order.then(|| word_from(self.lanes(), byte)).flatten()
    }

    fn words(&self) -> impl Iterator<Item = u64> {
        self.iter().copied()
    }

    #[inline(always)]
    fn stored<const N: usize>(&self) -> &[[u64; N]] {
        self.as_chunks().0
    }

    #[inline(always)]
    fn prefetch(&self, index: usize) {
        prefetch(self, index);
    }
}

/// Little-endian words at any address.
impl WordSource for &[[u8; 8]] {
    type Stored = [u8; 8];

    #[inline(always)]
    fn word(&self, index: usize) -> u64 {
        u64::from_le_bytes(self[index])
    }

    #[inline(always)]
    fn half(&self, number: usize) -> u32 {
        u32::from_le_bytes(self.as_flattened().as_chunks().0[number])
    }

    #[inline(always)]
    fn unaligned(&self, byte: usize) -> Option<u64> {
        word_from(self.as_flattened(), byte)
    }

    fn words(&self) -> impl Iterator<Item = u64> {
        self.iter().map(|bytes| u64::from_le_bytes(*bytes))
    }

    #[inline(always)]
    fn stored<const N: usize>(&self) -> &[[[u8; 8]; N]] {
        self.as_chunks().0
    }

    #[inline(always)]
    fn prefetch(&self, index: usize) {
        prefetch(self, index);
    }
}

#[inline(always)]
pub(crate) fn word_from(bytes: &[u8], start: usize) -> Option<u64> {
    let bytes = bytes.get(start..start.wrapping_add(8))?;
    bytes.try_into().ok().map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borrowed_bytes_are_the_words_in_all_their_parts() {
        let mut words = Words::zeroed(3).unwrap();
        (1..).zip(words.iter_mut()).for_each(|(i, word)| *word = 0x0123_4567_89ab_cdef * i);
        let bytes: alloc::vec::Vec<[u8; 8]> = words.iter().map(|word| word.to_le_bytes()).collect();
        let bytes = &bytes[..];
        for half in 0..6 {
            let expected = (words[half / 2] >> (half % 2 * 32)) & u64::from(u32::MAX);
            assert_eq!(u64::from(words.half(half)), expected);
            assert_eq!(u64::from(bytes.half(half)), expected);
        }
        for byte in 0..=16 {
            let (low, shift) = (words[byte / 8], byte % 8 * 8);
            let high = words.get(byte / 8 + 1).map_or(0, |high| (high << 1) << (63 - shift));
            assert_eq!(bytes.unaligned(byte), Some(low >> shift | high));
            let in_order = cfg!(target_endian = "little");
            assert_eq!(words.unaligned(byte), bytes.unaligned(byte).filter(|_| in_order));
        }
        assert_eq!((bytes.unaligned(17), words.unaligned(17)), (None, None));
    }
}
