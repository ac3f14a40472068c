//! Bits in 64-bit words, as many as there is memory for.

use core::fmt;

use pds_core::internal::{Words, prefetch};
use pds_core::{AllocError, Incompatible};

use crate::probing::{BitSource, BitTarget};

/// A fixed number of bits, all clear at first.
///
/// Bit `i` is bit `i % 64`, counted from the least significant, of word `i / 64`. Positions are `u64`
/// on every platform. Memory that was never written costs address space only.
///
/// # Examples
/// ```
/// use bloom_core::BitArray;
///
/// let mut bits = BitArray::zeroed(100)?;
/// assert!(bits.set(99));
/// assert!(!bits.set(99), "it is set already");
/// assert_eq!((bits.get(99), bits.get(98), bits.count_ones()), (true, false, 1));
/// # Ok::<(), pds_core::AllocError>(())
/// ```
// Invariant: the words are `num_bits.div_ceil(64)`, and the bits of the last one beyond `num_bits` are clear.
#[derive(Clone, PartialEq, Eq)]
pub struct BitArray {
    words: Words,
    num_bits: u64,
}

impl BitArray {
    /// Allocates `num_bits` clear bits.
    ///
    /// # Errors
    /// [`AllocError`] when the address space or the allocator cannot provide them.
    ///
    /// # Complexity
    /// Constant where the system hands out zeroed pages, O(`num_bits`) otherwise.
    pub fn zeroed(num_bits: u64) -> Result<Self, AllocError> {
        Ok(Self { words: Words::zeroed(num_bits.div_ceil(64))?, num_bits })
    }

    /// Copies the bits, or reports that there is no memory for a second set.
    ///
    /// # Errors
    /// [`AllocError`] when memory is refused.
    pub fn try_clone(&self) -> Result<Self, AllocError> {
        Ok(Self { words: self.words.try_clone()?, num_bits: self.num_bits })
    }

    /// Sets one bit. Returns `true` when it was clear before.
    ///
    /// # Panics
    /// When `position` is not below the number of bits.
    #[inline]
    pub fn set(&mut self, position: u64) -> bool {
        self.check(position);
        self.set_bit(position)
    }

    /// Clears all bits.
    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Returns whether the bit is set.
    ///
    /// # Panics
    /// When `position` is not below the number of bits.
    #[inline]
    #[must_use]
    pub fn get(&self, position: u64) -> bool {
        self.check(position);
        self.bit(position) != 0
    }

    /// Counts the set bits, in O(`num_bits`).
    #[must_use]
    pub fn count_ones(&self) -> u64 {
        self.words.iter().map(|&word| ones(word)).sum()
    }

    /// Returns the number of bits.
    #[inline]
    #[must_use]
    pub fn num_bits(&self) -> u64 {
        self.num_bits
    }

    /// Returns the size of the words in bytes.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.words.size_in_bytes()
    }

    /// Returns the words; the unused upper bits of the last one are clear.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Sets every bit that is set in `other`.
    ///
    /// # Errors
    /// [`Incompatible::Shape`] when the lengths differ; nothing is changed then.
    pub fn union_with(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.combine(other, |left, right| left | right)
    }

    /// Clears every bit that is clear in `other`.
    ///
    /// # Errors
    /// [`Incompatible::Shape`] when the lengths differ; nothing is changed then.
    pub fn intersect_with(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.combine(other, |left, right| left & right)
    }

    /// Counts the bits that are set here or in `other`.
    ///
    /// # Errors
    /// [`Incompatible::Shape`] when the lengths differ.
    pub fn count_union_ones(&self, other: &Self) -> Result<u64, Incompatible> {
        self.check_length(other)?;
        Ok(self.words.iter().zip(&*other.words).map(|(left, right)| ones(left | right)).sum())
    }

    /// Returns the bits as a slice of the `bitvec` crate.
    ///
    /// # Panics
    /// When there are more bits than that crate can address: 2^61 on 64-bit machines, 2^29 on 32-bit.
    #[cfg(feature = "bitvec")]
    #[must_use]
    pub fn as_bitslice(&self) -> &bitvec::slice::BitSlice<u64, bitvec::order::Lsb0> {
        let words = bitvec::slice::BitSlice::from_slice(&self.words);
        &words[..usize::try_from(self.num_bits).expect("`usize` counts the bits")]
    }

    /// Asks the system to back the bits with huge pages. Returns whether it agreed to try.
    #[cfg(feature = "huge-pages")]
    pub fn advise_huge_pages(&self) -> bool {
        self.words.advise_huge_pages()
    }

    /// Makes an array whose bit `j` is the union of `factor` neighbours, bit `j * factor` the first.
    ///
    /// `factor` must divide the length.
    pub(crate) fn fold(&self, factor: u64) -> Result<Self, AllocError> {
        debug_assert!(self.num_bits.is_multiple_of(factor));
        let mut folded = Self::zeroed(self.num_bits / factor)?;
        self.for_each_one(|position| {
            folded.set_bit(position / factor);
        });
        Ok(folded)
    }

    #[cfg(target_has_atomic = "64")]
    pub(crate) fn from_words(words: Words, num_bits: u64) -> Self {
        debug_assert_eq!(words.len() as u64, num_bits.div_ceil(64));
        Self { words, num_bits }
    }

    #[cfg(target_has_atomic = "64")]
    pub(crate) fn into_words(self) -> Words {
        self.words
    }

    fn for_each_one(&self, mut visit: impl FnMut(u64)) {
        for (base, &word) in (0..).step_by(64).zip(&*self.words) {
            let mut rest = word;
            while rest != 0 {
                visit(base + u64::from(rest.trailing_zeros()));
                rest &= rest - 1;
            }
        }
    }

    fn combine(&mut self, other: &Self, f: impl Fn(u64, u64) -> u64) -> Result<(), Incompatible> {
        self.check_length(other)?;
        for (left, &right) in self.words.iter_mut().zip(&*other.words) {
            *left = f(*left, right);
        }
        Ok(())
    }

    fn check_length(&self, other: &Self) -> Result<(), Incompatible> {
        Incompatible::check_shape("number of bits", self.num_bits, other.num_bits)
    }

    #[inline]
    fn check(&self, position: u64) {
        assert!(position < self.num_bits, "bit {position} of {}", self.num_bits);
    }
}

impl BitSource for BitArray {
    #[inline]
    fn num_bits(&self) -> u64 {
        self.num_bits
    }

    #[inline]
    fn bit(&self, position: u64) -> u64 {
        debug_assert!(position < self.num_bits);
        (self.words[word_index(position)] >> (position % 64)) & 1
    }

    #[inline]
    fn reduced_bit(&self, x: u64) -> u64 {
        self.words.reduced_bit(x, self.num_bits)
    }

    #[inline]
    fn prefetch(&self, position: u64) {
        prefetch(&self.words, word_index(position));
    }

    fn words(&self) -> impl Iterator<Item = u64> {
        self.words.iter().copied()
    }
}

impl BitTarget for BitArray {
    #[inline]
    fn set_bit(&mut self, position: u64) -> bool {
        debug_assert!(position < self.num_bits);
        let word = &mut self.words[word_index(position)];
        let was_clear = *word & mask(position) == 0;
        *word |= mask(position);
        was_clear
    }

    #[inline]
    fn set_reduced_bit(&mut self, x: u64) -> bool {
        self.words.set_reduced_bit(x, self.num_bits)
    }
}

impl fmt::Debug for BitArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BitArray")
            .field("num_bits", &self.num_bits)
            .field("count_ones", &self.count_ones())
            .finish_non_exhaustive()
    }
}

/// The word that holds a bit. The cast comes last and loses nothing: an array that was allocated has no
/// more words than `usize` can count.
#[inline]
pub(crate) const fn word_index(position: u64) -> usize {
    (position / 64) as usize
}

/// The bit within its word.
#[inline]
pub(crate) const fn mask(position: u64) -> u64 {
    1 << (position % 64)
}

/// The set bits of a word.
#[inline]
pub(crate) const fn ones(word: u64) -> u64 {
    word.count_ones() as u64
}
