use super::Words;
use super::lanes::lanes_of;
use crate::error::AllocError;

/// Words that a structure can read, wherever they are: in its own memory, shared by threads, or in portable bytes.
///
/// It is the bound of the methods that read. Its own methods are internal, and no other crate can implement it.
pub trait WordSource: sealed::Sealed {
    /// A word as it is stored.
    #[doc(hidden)]
    type Word: StoredWord;

    /// Whether [`as_words`](Self::as_words) returns the same number of words every time.
    // Code without bounds checks relies on it.
    #[doc(hidden)]
    const IS_FIXED: bool = false;

    /// Returns the words as they are stored.
    ///
    /// Call it once per operation or batch. A view asks its bytes for them each time, and checks the length.
    #[doc(hidden)]
    fn as_words(&self) -> &[Self::Word];

    /// Returns the bytes after the last word as the lowest ones of a word. 0 if there are none.
    #[doc(hidden)]
    fn tail(&self) -> u64 {
        0
    }

    /// Returns the values of all words in order, each at some moment if threads change them.
    #[doc(hidden)]
    #[inline]
    fn values(&self) -> impl Iterator<Item = u64> {
        self.as_words().iter().map(StoredWord::value)
    }

    /// Returns the values of all words as [`values`](Self::values), without the bits after the first `num_bits`.
    // In memory they are clear by the invariant of every structure. In bytes that nobody verified they may be set.
    #[doc(hidden)]
    #[inline]
    fn values_within(&self, num_bits: u64) -> impl Iterator<Item = u64> {
        let (full, rest) = (num_bits / 64, !(u64::MAX << (num_bits % 64)));
        let is_full = move |index| Self::IS_FIXED || (index as u64) < full;
        // Not zipped with a range of numbers: compilers make vectors of `enumerate`.
        let words = self.values().enumerate();
        words.map(move |(index, word)| if is_full(index) { word } else { word & rest })
    }

    /// Returns the name of a structure in this storage, out of its names when it is owned, shared, and a view.
    #[doc(hidden)]
    fn name_of(owned_shared_view: [&'static str; 3]) -> &'static str;
}

/// Words in memory of the structure's own: [`Words`], or [`AtomicWords`](super::AtomicWords), which threads share.
///
/// It is the bound of what the two have in common. Its own methods are internal, and no other crate can implement it.
pub trait OwnedWords: WordSource + From<Words> + Into<Words> + Sized {
    /// Replaces each word by `f` of itself and of the word of `others` at its place.
    #[doc(hidden)]
    fn combine(&mut self, others: impl Iterator<Item = u64>, f: impl Fn(u64, u64) -> u64);

    /// Copies the words of any storage.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    #[doc(hidden)]
    fn copied(source: &impl WordSource) -> Result<Self, AllocError> {
        let mut words = Words::zeroed(source.as_words().len() as u64)?;
        words.iter_mut().zip(source.values()).for_each(|(copy, word)| *copy = word);
        Ok(words.into())
    }
}

pub(super) mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Words {}
    #[cfg(target_has_atomic = "64")]
    impl Sealed for crate::memory::AtomicWords {}
    impl<B: AsRef<[u8]>> Sealed for crate::bytes::stored::Stored<B> {}
}

/// A word as a storage keeps it: an integer, an atomic integer, or eight bytes.
pub trait StoredWord: Sized {
    /// Whether nobody changes the word while it is borrowed, and its bytes are those of a `u64` on little-endian machines.
    // Code that reads several words by one instruction relies on it.
    const IS_PLAIN: bool;

    /// Returns the number that it stands for.
    fn value(&self) -> u64;

    /// Returns the half of a word: of number 2i the lower one of word i, of 2i + 1 the upper one.
    ///
    /// # Panics
    /// If there is none.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the lower half is what is asked for")]
    fn half(words: &[Self], number: usize) -> u32 {
        (words[number / 2].value() >> (number % 2 * 32)) as u32
    }

    /// Returns 16 bits of a word: of number 4i the lowest ones of word i.
    ///
    /// # Panics
    /// If there are none.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the lowest bits are what is asked for")]
    fn quarter(words: &[Self], number: usize) -> u16 {
        (words[number / 4].value() >> (number % 4 * 16)) as u16
    }

    /// Returns a byte of a word: of number 8i the lowest one of word i.
    ///
    /// # Panics
    /// If there is none.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the lowest byte is what is asked for")]
    fn byte(words: &[Self], number: usize) -> u8 {
        (words[number / 8].value() >> (number % 8 * 8)) as u8
    }

    /// Returns the bytes from this one on, if they are all there and lie in order.
    ///
    /// They do not on big-endian machines, nor in atomic words.
    #[inline(always)]
    fn bytes<const N: usize>(_words: &[Self], _start: usize) -> Option<&[u8; N]> {
        None
    }

    /// Returns the 64 bits from this byte on, as [`bytes`](Self::bytes).
    #[inline(always)]
    fn unaligned(words: &[Self], byte: usize) -> Option<u64> {
        Self::bytes(words, byte).copied().map(u64::from_le_bytes)
    }
}

impl StoredWord for u64 {
    const IS_PLAIN: bool = true;

    #[inline(always)]
    fn value(&self) -> u64 {
        *self
    }

    #[inline(always)]
    fn half(words: &[Self], number: usize) -> u32 {
        lanes_of::<u32>(words)[number ^ usize::from(cfg!(target_endian = "big"))]
    }

    #[inline(always)]
    fn quarter(words: &[Self], number: usize) -> u16 {
        let reversed = if cfg!(target_endian = "big") { 3 } else { 0 };
        lanes_of::<u16>(words)[number ^ reversed]
    }

    #[inline(always)]
    fn byte(words: &[Self], number: usize) -> u8 {
        let reversed = if cfg!(target_endian = "big") { 7 } else { 0 };
        lanes_of::<u8>(words)[number ^ reversed]
    }

    #[inline(always)]
    fn bytes<const N: usize>(words: &[Self], start: usize) -> Option<&[u8; N]> {
        let in_order = cfg!(target_endian = "little");
        in_order.then(|| lanes_of(words).get(start..)?.first_chunk()).flatten()
    }
}

/// Little-endian, at any address.
impl StoredWord for [u8; 8] {
    const IS_PLAIN: bool = true;

    #[inline(always)]
    fn value(&self) -> u64 {
        u64::from_le_bytes(*self)
    }

    #[inline(always)]
    fn half(words: &[Self], number: usize) -> u32 {
        u32::from_le_bytes(words.as_flattened().as_chunks().0[number])
    }

    #[inline(always)]
    fn quarter(words: &[Self], number: usize) -> u16 {
        u16::from_le_bytes(words.as_flattened().as_chunks().0[number])
    }

    #[inline(always)]
    fn byte(words: &[Self], number: usize) -> u8 {
        words.as_flattened()[number]
    }

    #[inline(always)]
    fn bytes<const N: usize>(words: &[Self], start: usize) -> Option<&[u8; N]> {
        words.as_flattened().get(start..)?.first_chunk()
    }
}

impl WordSource for Words {
    type Word = u64;
    const IS_FIXED: bool = true;

    #[inline(always)]
    fn as_words(&self) -> &[u64] {
        self
    }

    fn name_of([owned, ..]: [&'static str; 3]) -> &'static str {
        owned
    }
}

impl OwnedWords for Words {
    fn combine(&mut self, others: impl Iterator<Item = u64>, f: impl Fn(u64, u64) -> u64) {
        self.iter_mut().zip(others).for_each(|(word, other)| *word = f(*word, other));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn halves<W: StoredWord>(words: &[W]) -> [u32; 6] {
        core::array::from_fn(|half| W::half(words, half))
    }

    fn quarters<W: StoredWord>(words: &[W]) -> [u16; 12] {
        core::array::from_fn(|quarter| W::quarter(words, quarter))
    }

    #[test]
    fn every_storage_has_the_same_words_in_all_their_parts() {
        let mut words = Words::zeroed(3).unwrap();
        (1..).zip(words.iter_mut()).for_each(|(i, word)| *word = 0x0123_4567_89ab_cdef * i);
        let bytes: alloc::vec::Vec<[u8; 8]> = words.iter().map(|word| word.to_le_bytes()).collect();
        let expected = core::array::from_fn(|half| {
            u32::try_from(words[half / 2] >> (half % 2 * 32) & u64::from(u32::MAX)).unwrap()
        });
        assert_eq!(halves(words.as_words()), expected);
        assert_eq!(halves(&bytes), expected);
        let pairs = bytes.as_flattened().as_chunks().0;
        let expected = core::array::from_fn(|quarter| u16::from_le_bytes(pairs[quarter]));
        assert_eq!(quarters(words.as_words()), expected);
        assert_eq!(quarters(&bytes), expected);
        for number in 0..24 {
            let expected = bytes[number / 8][number % 8];
            assert_eq!(StoredWord::byte(words.as_words(), number), expected);
            assert_eq!(StoredWord::byte(&bytes, number), expected);
        }
        let words = words.as_words();
        for byte in 0..=16 {
            let (low, shift) = (words[byte / 8], byte % 8 * 8);
            let high = words.get(byte / 8 + 1).map_or(0, |high| (high << 1) << (63 - shift));
            let expected = Some(low >> shift | high);
            assert_eq!(StoredWord::unaligned(&bytes, byte), expected);
            let in_order = cfg!(target_endian = "little");
            assert_eq!(StoredWord::unaligned(words, byte), expected.filter(|_| in_order));
        }
        for byte in [17, 18, usize::MAX - 7, usize::MAX] {
            assert_eq!(StoredWord::unaligned(&bytes, byte), None);
            assert_eq!(StoredWord::unaligned(words, byte), None);
        }
    }

    #[cfg(all(target_has_atomic = "64", not(loom)))]
    #[test]
    fn atomic_words_have_the_halves_of_plain_ones_and_no_unaligned_parts() {
        let mut words = Words::zeroed(3).unwrap();
        (1..).zip(words.iter_mut()).for_each(|(i, word)| *word = 0x0123_4567_89ab_cdef * i);
        let expected = halves(words.as_words());
        let expected_quarters = quarters(words.as_words());
        let shared = crate::memory::AtomicWords::from(words);
        assert_eq!(halves(shared.as_words()), expected);
        assert_eq!(quarters(shared.as_words()), expected_quarters);
        assert_eq!(StoredWord::unaligned(shared.as_words(), 0), None);
        let bytes = expected.map(u32::to_le_bytes);
        for (number, &byte) in bytes.as_flattened().iter().enumerate() {
            assert_eq!(StoredWord::byte(shared.as_words(), number), byte);
        }
    }
}
