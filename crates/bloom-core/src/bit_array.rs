//! Bits in 64-bit words, as many as there is memory for.

use core::fmt;

use pds_core::error::{AllocError, Incompatible};
use pds_core::internal::{BitWords, Bits, BitsMut};
use pds_core::storage::{OwnedWords, WordSource, Words};

/// A fixed number of bits, all clear at first.
///
/// Bit `i` is bit `i % 64` of word `i / 64`, counted from the least significant. Positions are `u64` on every platform.
/// Memory that was never written costs address space only.
///
/// `W` is the [storage](pds_core::storage) of the words.
///
/// # Examples
/// ```
/// use bloom_core::BitArray;
///
/// let mut bits = BitArray::zeroed(100)?;
/// assert!(bits.set(99));
/// assert!(!bits.set(99), "it is set already");
/// assert_eq!((bits.get(99), bits.get(98), bits.count_ones()), (true, false, 1));
/// # Ok::<(), pds_core::error::AllocError>(())
/// ```
// Invariant of words in memory: the bits of the last one beyond `num_bits` are clear.
#[derive(Clone, PartialEq, Eq)]
pub struct BitArray<W = Words> {
    bits: BitWords<W>,
}

impl BitArray {
    /// Allocates `num_bits` clear bits.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    ///
    /// # Complexity
    /// Constant if the system hands out zeroed pages, O(`num_bits`) otherwise.
    pub fn zeroed(num_bits: u64) -> Result<Self, AllocError> {
        Ok(Self::from_words(Words::zeroed(num_bits.div_ceil(64).max(1))?, num_bits))
    }

    /// Copies words, of which all bits count.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    ///
    /// # Examples
    /// ```
    /// use bloom_core::BitArray;
    ///
    /// let bits = BitArray::of_words([1, 1 << 63].into_iter())?;
    /// assert_eq!((bits.num_bits(), bits.get(0), bits.get(127)), (128, true, true));
    /// # Ok::<(), pds_core::error::AllocError>(())
    /// ```
    pub fn of_words(words: impl ExactSizeIterator<Item = u64>) -> Result<Self, AllocError> {
        let mut bits = Self::zeroed(words.len() as u64 * 64)?;
        bits.bits.words_mut().iter_mut().zip(words).for_each(|(bit, word)| *bit = word);
        Ok(bits)
    }

    /// Sets one bit. Returns `true` if it was clear.
    ///
    /// # Panics
    /// If `position` is not below the number of bits.
    #[inline]
    pub fn set(&mut self, position: u64) -> bool {
        self.check(position);
        self.bits.as_bits_mut().set_at(position)
    }

    /// Clears all bits.
    pub fn clear(&mut self) {
        self.bits.words_mut().fill(0);
    }

    /// Returns the words. The unused upper bits of the last one are clear.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        self.bits.words()
    }

    /// Sets every bit that is set in `other`.
    ///
    /// # Errors
    /// [`Incompatible`] if the lengths differ. Nothing is changed then.
    pub fn union_with(&mut self, other: &BitArray<impl WordSource>) -> Result<(), Incompatible> {
        self.check_length(other)?;
        self.bits.combine(other.values(), |left, right| left | right);
        Ok(())
    }

    /// Returns the bits as a slice of the `bitvec` crate.
    ///
    /// # Panics
    /// If there are more bits than that crate can address: 2^61 on 64-bit machines, 2^29 on 32-bit.
    #[cfg(feature = "bitvec")]
    #[must_use]
    pub fn as_bitslice(&self) -> &bitvec::slice::BitSlice<u64, bitvec::order::Lsb0> {
        let words = bitvec::slice::BitSlice::from_slice(self.words());
        &words[..usize::try_from(self.num_bits()).expect("`usize` counts the bits")]
    }

    /// Asks the system to back the bits with huge pages. Returns whether it agreed to try.
    #[cfg(feature = "huge-pages")]
    pub(crate) fn advise_huge_pages(&self) -> bool {
        self.bits.words().advise_huge_pages()
    }

    #[inline(always)]
    pub(crate) fn as_bits_mut(&mut self) -> BitsMut<'_> {
        self.bits.as_bits_mut()
    }

    /// Makes an array whose bit `j` is the union of `factor` neighbours, bit `j * factor` the first.
    ///
    /// `factor` must divide the length.
    pub(crate) fn fold(&self, factor: u64) -> Result<Self, AllocError> {
        debug_assert!(self.num_bits().is_multiple_of(factor));
        let mut folded = Self::zeroed(self.num_bits() / factor)?;
        self.for_each_one(|position| {
            folded.set(position / factor);
        });
        Ok(folded)
    }

    fn for_each_one(&self, mut visit: impl FnMut(u64)) {
        for (base, &word) in (0..).step_by(64).zip(self.words()) {
            let mut rest = word;
            while rest != 0 {
                visit(base + u64::from(rest.trailing_zeros()));
                rest &= rest - 1;
            }
        }
    }
}

impl<W: WordSource> BitArray<W> {
    pub(crate) fn into_words(self) -> W {
        self.bits.into_words()
    }

    pub(crate) const fn storage(&self) -> &W {
        self.bits.words()
    }

    /// Returns the words. The unused bits of the last one are clear, also in bytes that nobody verified.
    pub(crate) fn values(&self) -> impl Iterator<Item = u64> {
        self.storage().values_within(self.num_bits())
    }

    /// Returns the number of bits.
    #[inline]
    #[must_use]
    pub const fn num_bits(&self) -> u64 {
        self.bits.num_bits()
    }

    fn check_length<V: WordSource>(&self, other: &BitArray<V>) -> Result<(), Incompatible> {
        Incompatible::check_shape("number of bits", self.num_bits(), other.num_bits())
    }

    #[inline]
    fn check(&self, position: u64) {
        assert!(position < self.num_bits(), "bit {position} of {}", self.num_bits());
    }

    pub(crate) fn from_words(words: W, num_bits: u64) -> Self {
        Self { bits: BitWords::new(words, num_bits) }
    }

    /// Returns whether the bit is set.
    ///
    /// # Panics
    /// If `position` is not below the number of bits.
    #[inline]
    #[must_use]
    pub fn get(&self, position: u64) -> bool {
        self.check(position);
        self.as_bits().at(position) != 0
    }

    /// Counts the set bits, in O(`num_bits`).
    #[must_use]
    pub fn count_ones(&self) -> u64 {
        self.values().map(ones).sum()
    }

    /// Counts the bits that are set here or in `other`.
    ///
    /// # Errors
    /// [`Incompatible`] if the lengths differ.
    pub fn count_union_ones(&self, other: &BitArray<impl WordSource>) -> Result<u64, Incompatible> {
        self.check_length(other)?;
        let words = self.values().zip(other.values());
        Ok(words.map(|(left, right)| ones(left | right)).sum())
    }

    #[inline(always)]
    pub(crate) fn as_bits(&self) -> Bits<'_, W::Word> {
        self.bits.as_bits()
    }
}

impl<W: OwnedWords> BitArray<W> {
    /// Copies the bits. `clone` does the same, but aborts if the allocator refuses the memory.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub fn try_clone(&self) -> Result<Self, AllocError> {
        Ok(Self::from_words(W::copied(self.storage())?, self.num_bits()))
    }

    /// Clears every bit that is clear in `other`.
    ///
    /// # Errors
    /// [`Incompatible`] if the lengths differ. Nothing is changed then.
    pub fn intersect_with(
        &mut self,
        other: &BitArray<impl WordSource>,
    ) -> Result<(), Incompatible> {
        self.check_length(other)?;
        self.bits.combine(other.values(), |left, right| left & right);
        Ok(())
    }
}

impl<W: WordSource> fmt::Debug for BitArray<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BitArray")
            .field("num_bits", &self.num_bits())
            .field("count_ones", &self.count_ones())
            .finish_non_exhaustive()
    }
}

/// Counts the set bits of a word.
#[inline]
const fn ones(word: u64) -> u64 {
    word.count_ones() as u64
}
