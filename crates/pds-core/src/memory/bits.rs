//! Single bits of words, chosen by hashes: the reads and writes of every Bloom filter.

#[cfg(target_has_atomic = "64")]
use super::{AtomicU64, set_bits};
use super::{StoredWord, prefetch};
use crate::hash::reduce;

/// The first `num_bits` bits of words, counted from the least significant of the first word. A hash chooses one of them.
///
/// [`new`](Self::new) compares the numbers once. Afterwards no position is checked: bit `reduce(x, num_bits)` is there for
/// every `x`.
// Invariant: `num_bits` is not 0, and the words hold as many bits.
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
    /// If `num_bits` is 0, or more than the words have.
    #[inline(always)]
    #[must_use]
    pub fn new(words: &'a [W], num_bits: u64) -> Self {
        check(words.len(), num_bits);
        Self { words, num_bits }
    }

    /// Prefetches the word of bit `reduce(x, num_bits)`.
    #[inline(always)]
    pub fn prefetch(self, x: u64) {
        prefetch(core::slice::from_ref(self.locate(x).0), 0);
    }

    /// Returns the word that `x` chooses, and the number of the bit in it.
    #[inline(always)]
    fn locate(self, x: u64) -> (&'a W, u64) {
        let (index, shift) = locate(self.words.len(), self.num_bits, x);
        // SAFETY: `new` has checked the numbers, so `locate` returns an index below the number of words.
        (unsafe { self.words.get_unchecked(index) }, shift)
    }
}

impl<W: StoredWord> Bits<'_, W> {
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
}

/// [`Bits`] that can be changed.
// Invariant: as that of `Bits`.
#[derive(Debug)]
pub struct BitsMut<'a> {
    words: &'a mut [u64],
    num_bits: u64,
}

impl<'a> BitsMut<'a> {
    /// Takes the first `num_bits` bits of `words`.
    ///
    /// # Panics
    /// If `num_bits` is 0, or more than the words have.
    #[inline(always)]
    #[must_use]
    pub fn new(words: &'a mut [u64], num_bits: u64) -> Self {
        check(words.len(), num_bits);
        Self { words, num_bits }
    }

    /// Prefetches the word of bit `reduce(x, num_bits)`.
    #[inline(always)]
    pub fn prefetch(&self, x: u64) {
        Bits { words: self.words, num_bits: self.num_bits }.prefetch(x);
    }

    /// Sets bit `reduce(x, num_bits)`. Returns whether it was clear.
    #[inline(always)]
    pub fn set(&mut self, x: u64) -> bool {
        let (index, shift) = locate(self.words.len(), self.num_bits, x);
        // SAFETY: `new` has checked the numbers, so `locate` returns an index below the number of words.
        let word = unsafe { self.words.get_unchecked_mut(index) };
        let was_clear = (*word >> shift) & 1 == 0;
        *word |= 1 << shift;
        was_clear
    }
}

#[inline(always)]
fn check(words: usize, num_bits: u64) {
    assert!(num_bits != 0 && num_bits.div_ceil(64) <= words as u64, "bits beyond the words");
}

/// Returns the index of a word and the number of a bit in it.
// The position is below `num_bits`, because x / 2^64 is below 1. The cast loses nothing: there are no more words than a
// `usize` counts.
#[inline(always)]
fn locate(words: usize, num_bits: u64, x: u64) -> (usize, u64) {
    let position = reduce(x, num_bits);
    let index = (position / 64) as usize;
    debug_assert!(index < words);
    (index, position % 64)
}
