//! Single bits of words, chosen by hashes: the reads and writes of every Bloom filter.

#[cfg(target_has_atomic = "64")]
use super::{AtomicU64, set_bits};
use super::{OwnedWords, StoredWord, WordSource, Words, prefetch};
use crate::hash::reduce;

/// A storage and the number of bits in it.
// Invariant: when `words` was taken, it held as many bits, and at least one word. A fixed storage still does: nobody can
// replace it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BitWords<W> {
    words: W,
    num_bits: u64,
}

impl<W: WordSource> BitWords<W> {
    /// Takes the first `num_bits` bits of `words`.
    ///
    /// # Panics
    /// If the words have fewer, or if there is no word.
    #[must_use]
    pub fn new(words: W, num_bits: u64) -> Self {
        check(words.as_words().len(), num_bits);
        Self { words, num_bits }
    }

    /// Returns the bits.
    ///
    /// # Panics
    /// If the storage is a view of bytes that became fewer.
    #[inline(always)]
    pub fn as_bits(&self) -> Bits<'_, W::Word> {
        let (words, num_bits) = (self.words.as_words(), self.num_bits);
        if !W::IS_FIXED {
            return Bits::new(words, num_bits);
        }
        debug_assert!(are_in(num_bits, words.len()));
        Bits { words, num_bits }
    }
}

impl<W> BitWords<W> {
    /// Returns the storage.
    pub const fn words(&self) -> &W {
        &self.words
    }

    /// Returns the number of bits.
    #[inline(always)]
    pub const fn num_bits(&self) -> u64 {
        self.num_bits
    }

    /// Gives the storage back.
    pub fn into_words(self) -> W {
        self.words
    }
}

impl<W: OwnedWords> BitWords<W> {
    /// Replaces each word as [`OwnedWords::combine`] does.
    pub fn combine(&mut self, others: impl Iterator<Item = u64>, f: impl Fn(u64, u64) -> u64) {
        self.words.combine(others, f);
    }
}

impl BitWords<Words> {
    /// Returns the bits to change them.
    #[inline(always)]
    pub fn as_bits_mut(&mut self) -> BitsMut<'_> {
        debug_assert!(are_in(self.num_bits, self.words.len()));
        BitsMut { words: &mut self.words, num_bits: self.num_bits }
    }

    /// Returns the words to change them.
    #[inline]
    pub fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }
}

/// The first `num_bits` bits of words, counted from the least significant of the first word. A hash chooses one of them.
///
/// No choice is checked: bit `reduce(x, num_bits)` is there for every `x`.
// Invariant: the words hold as many bits, and there is at least one word.
#[derive(Debug)]
pub struct Bits<'a, W> {
    words: &'a [W],
    num_bits: u64,
}

impl<W> Copy for Bits<'_, W> {}

impl<W> Clone for Bits<'_, W> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<'a, W> Bits<'a, W> {
    /// Takes the first `num_bits` bits of `words`.
    ///
    /// # Panics
    /// If the words have fewer, or if there is no word.
    #[inline(always)]
    #[must_use]
    pub fn new(words: &'a [W], num_bits: u64) -> Self {
        check(words.len(), num_bits);
        Self { words, num_bits }
    }

    /// Returns the number of bits.
    #[inline(always)]
    #[must_use]
    pub const fn num_bits(self) -> u64 {
        self.num_bits
    }

    /// Returns the position that `x` falls on: `reduce(x, num_bits)`.
    #[inline(always)]
    #[must_use]
    pub fn position(self, x: u64) -> u64 {
        reduce(x, self.num_bits)
    }

    /// Prefetches the word of a position.
    #[inline(always)]
    pub fn prefetch(self, position: u64) {
        prefetch(self.words, word_index(position));
    }

    /// Returns the word that `x` chooses, and the number of the bit in it.
    #[inline(always)]
    fn locate(self, x: u64) -> (&'a W, u64) {
        let (index, shift) = locate(self.words.len(), self.num_bits, x);
        // SAFETY: by the invariant, `locate` returns an index below the number of words.
        (unsafe { self.words.get_unchecked(index) }, shift)
    }
}

impl<W: StoredWord> Bits<'_, W> {
    /// Returns the bit at a position, as 0 or 1.
    ///
    /// # Panics
    /// If the position is beyond the words.
    #[inline(always)]
    #[must_use]
    pub fn at(self, position: u64) -> u64 {
        (self.words[word_index(position)].value() >> (position % 64)) & 1
    }

    /// Returns bit `reduce(x, num_bits)` as 0 or 1.
    // An integer, because compilers turn `bool`s that are joined by `&` into branches.
    #[inline(always)]
    #[must_use]
    pub fn get(self, x: u64) -> u64 {
        let (word, shift) = self.locate(x);
        (word.value() >> shift) & 1
    }
}

#[cfg(target_has_atomic = "64")]
impl Bits<'_, AtomicU64> {
    /// Sets bit `reduce(x, num_bits)`. Returns whether this call did.
    #[inline(always)]
    pub fn set(self, x: u64) -> bool {
        let (word, shift) = self.locate(x);
        set_bits(word, 1 << shift) != 0
    }

    /// Sets the bit at a position. Returns whether this call did.
    ///
    /// # Panics
    /// If the position is beyond the words.
    #[inline(always)]
    pub fn set_at(self, position: u64) -> bool {
        set_bits(&self.words[word_index(position)], 1 << (position % 64)) != 0
    }
}

/// [`Bits`] that can be changed.
// Invariant: as that of `Bits`.
#[derive(Debug)]
pub struct BitsMut<'a> {
    words: &'a mut [u64],
    num_bits: u64,
}

impl BitsMut<'_> {
    /// Returns the same bits to read them.
    #[inline(always)]
    #[must_use]
    pub fn as_bits(&self) -> Bits<'_, u64> {
        Bits { words: self.words, num_bits: self.num_bits }
    }

    /// Sets the bit at a position. Returns whether it was clear.
    ///
    /// # Panics
    /// If the position is beyond the words.
    #[inline(always)]
    pub fn set_at(&mut self, position: u64) -> bool {
        set_bit(&mut self.words[word_index(position)], position % 64)
    }

    /// Sets bit `reduce(x, num_bits)`. Returns whether it was clear.
    #[inline(always)]
    pub fn set(&mut self, x: u64) -> bool {
        let (index, shift) = locate(self.words.len(), self.num_bits, x);
        // SAFETY: by the invariant, `locate` returns an index below the number of words.
        let word = unsafe { self.words.get_unchecked_mut(index) };
        set_bit(word, shift)
    }
}

#[inline(always)]
fn set_bit(word: &mut u64, shift: u64) -> bool {
    let was_clear = (*word >> shift) & 1 == 0;
    *word |= 1 << shift;
    was_clear
}

#[inline(always)]
fn check(words: usize, num_bits: u64) {
    assert!(are_in(num_bits, words), "bits beyond the words");
}

/// Returns whether there are as many bits in some words, and at least one word.
#[inline(always)]
const fn are_in(num_bits: u64, words: usize) -> bool {
    words != 0 && num_bits.div_ceil(64) <= words as u64
}

/// Returns the index of a word and the number of a bit in it.
// The position is below `num_bits`, because x / 2^64 is below 1, or it is 0.
#[inline(always)]
fn locate(words: usize, num_bits: u64, x: u64) -> (usize, u64) {
    let position = reduce(x, num_bits);
    let index = word_index(position);
    debug_assert!(index < words);
    (index, position % 64)
}

/// Returns the index of the word that holds a bit.
// The cast loses nothing: there are no more words than a `usize` counts.
#[inline(always)]
const fn word_index(position: u64) -> usize {
    (position / 64) as usize
}
