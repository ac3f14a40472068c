//! An array of small counters.

use core::marker::PhantomData;

use pds_core::internal::{self, StoredWord, WordSource, Words, prefetch};
use pds_core::{AllocError, DecodeError};

use crate::counter::{self, Counter};

/// Counters side by side in words, the first in the least significant bits.
// Invariant: what the last word has beyond the last counter is zero.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Counters<C, W = Words> {
    words: W,
    len: u64,
    width: PhantomData<C>,
}

impl<C: Counter, W: WordSource> Counters<C, W> {
    /// Counters a word.
    const IN_WORD: u64 = 64 / C::BITS as u64;

    /// Takes as many words as [`words_for`](Self::words_for) says; there is one counter at least.
    pub(crate) fn from_words(words: W, len: u64) -> Self {
        Self { words, len, width: PhantomData }
    }

    /// How many words hold `len` counters.
    pub(crate) const fn words_for(len: u64) -> u64 {
        len.div_ceil(Self::IN_WORD)
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    #[inline]
    pub(crate) const fn words(&self) -> &W {
        &self.words
    }

    pub(crate) fn size_in_bytes(&self) -> u64 {
        Self::words_for(self.len) * 8
    }

    #[inline]
    pub(crate) fn get(&self, position: u64) -> u64 {
        let (word, shift) = place::<C>(position);
        counter::value::<C>(self.words.as_words()[word].value(), shift)
    }

    #[inline]
    pub(crate) fn prefetch(&self, position: u64) {
        prefetch(self.words.as_words(), place::<C>(position).0);
    }

    /// How many counters are not zero.
    pub(crate) fn count_raised(&self) -> u64 {
        self.count(counter::raised::<C>)
    }

    /// How many counters stick.
    pub(crate) fn count_stuck(&self) -> u64 {
        self.count(counter::stuck::<C>)
    }

    /// How many counters `mark` marks, all of them at the most: of bytes that were not verified, the unused
    /// bits may be anything.
    fn count(&self, mark: impl Fn(u64) -> u64) -> u64 {
        let marked: u64 = self.words.values().map(|word| u64::from(mark(word).count_ones())).sum();
        marked.min(self.len)
    }

    /// The fraction of counters that are not zero.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a ratio needs no more than the 53 bits of both"
    )]
    pub(crate) fn fill_ratio(&self) -> f64 {
        self.count_raised() as f64 / self.len as f64
    }

    /// Refuses bits beyond the last counter, in bytes that end at offset `end`.
    pub(crate) fn check_padding(&self, end: u64) -> Result<(), DecodeError> {
        let used = self.len % Self::IN_WORD * u64::from(C::BITS);
        let (last, _) = place::<C>(self.len - 1);
        internal::check_padding(end - 8, used, self.words.as_words()[last].value())
    }
}

impl<C: Counter> Counters<C> {
    pub(crate) fn zeroed(len: u64) -> Result<Self, AllocError> {
        Ok(Self::from_words(Words::zeroed(Self::words_for(len))?, len))
    }

    pub(crate) fn try_clone(&self) -> Result<Self, AllocError> {
        Ok(Self::from_words(self.words.try_clone()?, self.len))
    }

    pub(crate) fn clear(&mut self) {
        self.words.fill(0);
    }

    /// For code that knows where the counters lie in the words.
    #[inline]
    pub(crate) const fn words_mut(&mut self) -> &mut Words {
        &mut self.words
    }

    /// Raises a counter, unless it sticks. Returns what it was.
    #[inline]
    pub(crate) fn raise(&mut self, position: u64) -> u64 {
        let (word, shift) = place::<C>(position);
        let before = counter::value::<C>(self.words[word], shift);
        self.words[word] = counter::raise::<C>(self.words[word], shift);
        before
    }

    /// Lowers a counter that is not zero, unless it sticks.
    #[inline]
    pub(crate) fn lower(&mut self, position: u64) {
        let (word, shift) = place::<C>(position);
        self.words[word] = counter::lower::<C>(self.words[word], shift);
    }

    /// Adds the counters of another array of equal length, each to its limit.
    pub(crate) fn add(&mut self, other: &Self) {
        debug_assert_eq!(self.len, other.len);
        for (word, &more) in self.words.iter_mut().zip(other.words.iter()) {
            *word = counter::add::<C>(*word, more);
        }
    }

    /// The positions of the counters that are not zero.
    pub(crate) fn raised(&self) -> impl Iterator<Item = u64> {
        (0..).zip(self.words.iter()).flat_map(|(number, &word)| {
            let mut rest = counter::raised::<C>(word);
            core::iter::from_fn(move || {
                let place = u64::from((rest != 0).then(|| rest.trailing_zeros())? / C::BITS);
                rest &= rest - 1;
                Some(number * Self::IN_WORD + place)
            })
        })
    }
}

/// The word of a counter, and the bit at which it starts.
#[inline(always)]
#[expect(
    clippy::cast_possible_truncation,
    reason = "words in memory are counted by `usize`, bits by `u32`"
)]
fn place<C: Counter>(position: u64) -> (usize, u32) {
    let in_word = u64::from(64 / C::BITS);
    ((position / in_word) as usize, (position % in_word) as u32 * C::BITS)
}
