//! An array of small counters, and what is done with those of a key.

use core::marker::PhantomData;
use core::slice;

use bloom_core::DoubleHash;
use pds_core::error::{AllocError, DecodeError};
use pds_core::internal::{self, StoredWord, Visitor, prefetch, visit_chunks};
use pds_core::storage::{WordSource, Words};

use crate::counter::{self, Counter};
use crate::positions::{all, for_each_distinct};

/// Least number of keys of a batch that are prefetched. For fewer, single calls are faster.
const LEAST_BATCH: usize = 8;

/// Most words of counters (512 KiB) that are asked one by one in any case, because they stay in the cache.
// Prefetching gains nothing there and costs instructions: lookups take 15 to 19 ns in batches and 10 to 15 ns one by one.
const IN_CACHE: usize = 1 << 16;

/// Number of probes that a lookup makes before it looks at what they found, as in a Bloom filter.
const PROBES_PER_BRANCH: u32 = 3;

/// Counters side by side in words, the first in the least significant bits.
// Invariant of words in memory: the bits of the last one beyond the last counter are zero.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Counters<C, W = Words> {
    words: W,
    len: u64,
    width: PhantomData<C>,
}

impl<C: Counter, W: WordSource> Counters<C, W> {
    /// Number of counters per word.
    const PER_WORD: u64 = 64 / C::BITS as u64;

    /// Takes as many words as [`words_for`](Self::words_for) says. There is at least one counter.
    pub(crate) fn from_words(words: W, len: u64) -> Self {
        Self { words, len, width: PhantomData }
    }

    /// Returns how many words hold `len` counters.
    pub(crate) const fn words_for(len: u64) -> u64 {
        len.div_ceil(Self::PER_WORD)
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

    /// Returns the counters to read those of keys with so many hash functions.
    #[inline(always)]
    pub(crate) fn reader(&self, num_hashes: u32) -> Reader<'_, C, W::Word> {
        Reader { words: self.words.as_words(), len: self.len, num_hashes, width: PhantomData }
    }

    /// Counts the counters that are not zero.
    pub(crate) fn count_raised(&self) -> u64 {
        self.count(counter::raised::<C>)
    }

    /// Counts the counters that are saturated.
    pub(crate) fn count_saturated(&self) -> u64 {
        self.count(counter::saturated::<C>)
    }

    /// Counts the counters that `mark` marks.
    fn count(&self, mark: impl Fn(u64) -> u64) -> u64 {
        self.values().map(|word| u64::from(mark(word).count_ones())).sum()
    }

    /// Returns the words. The bits beyond the last counter are zero, also in bytes that nobody verified.
    fn values(&self) -> impl Iterator<Item = u64> {
        self.words.values_within(self.len * u64::from(C::BITS))
    }

    /// Returns the fraction of counters that are not zero.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a ratio needs no more than the 53 bits of both"
    )]
    pub(crate) fn fill_ratio(&self) -> f64 {
        self.count_raised() as f64 / self.len as f64
    }

    /// Checks the bits beyond the last counter, in bytes that end at offset `end`.
    ///
    /// # Errors
    /// [`DecodeError`] if one of them is set.
    pub(crate) fn check_padding(&self, end: u64) -> Result<(), DecodeError> {
        let used = self.len % Self::PER_WORD * u64::from(C::BITS);
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

    /// Increments all counters of a hash that are not saturated, each once. Returns whether one of them was zero.
    #[inline]
    pub(crate) fn insert(&mut self, num_hashes: u32, hash: u64) -> bool {
        let mut new = false;
        for_each_distinct(hash, num_hashes, self.len, |position| {
            let (word, shift) = place::<C>(position);
            let word = &mut self.words[word];
            new |= counter::value::<C>(*word, shift) == 0;
            *word = counter::raise::<C>(*word, shift);
        });
        new
    }

    /// Decrements all counters of a hash that are not saturated, unless one is zero. Returns whether none was.
    #[inline]
    pub(crate) fn remove(&mut self, num_hashes: u32, hash: u64) -> bool {
        let contained = self.reader(num_hashes).contains(hash);
        if contained {
            for_each_distinct(hash, num_hashes, self.len, |position| {
                let (word, shift) = place::<C>(position);
                let word = &mut self.words[word];
                *word = counter::lower::<C>(*word, shift);
            });
        }
        contained
    }

    /// Inserts many keys as [`insert`](Self::insert) does. Returns for how many of them a counter was zero.
    pub(crate) fn insert_each<K>(
        &mut self,
        num_hashes: u32,
        keys: &[K],
        hash: impl Fn(&K) -> u64,
    ) -> usize {
        if !self.reader(num_hashes).batch_pays(keys.len()) {
            return keys.iter().filter(|key| self.insert(num_hashes, hash(key))).count();
        }
        visit_chunks(keys, hash, Inserting { counters: self, num_hashes, new: 0 }).new
    }

    /// Adds the counters of another array of equal length, each to its limit.
    pub(crate) fn add<V: WordSource>(&mut self, other: &Counters<C, V>) {
        debug_assert_eq!(self.len, other.len);
        for (word, more) in self.words.iter_mut().zip(other.values()) {
            *word = counter::add::<C>(*word, more);
        }
    }

    /// Lists the positions of the counters that are not zero.
    pub(crate) fn raised(&self) -> impl Iterator<Item = u64> {
        (0..).zip(self.words.iter()).flat_map(|(number, &word)| {
            let mut rest = counter::raised::<C>(word);
            core::iter::from_fn(move || {
                let place = u64::from((rest != 0).then(|| rest.trailing_zeros())? / C::BITS);
                rest &= rest - 1;
                Some(number * Self::PER_WORD + place)
            })
        })
    }
}

/// Counters that are read, and the number of hash functions of their keys.
pub(crate) struct Reader<'a, C, W> {
    words: &'a [W],
    len: u64,
    num_hashes: u32,
    width: PhantomData<C>,
}

impl<C, W> Copy for Reader<'_, C, W> {}

impl<C, W> Clone for Reader<'_, C, W> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: Counter, W: StoredWord> Reader<'_, C, W> {
    /// Returns whether all counters of a hash are above zero.
    // The numbers of hashes for the rates 1 % and 0.1 % are constants, as in the Bloom filter: their loops are unrolled.
    #[inline]
    pub(crate) fn contains(self, hash: u64) -> bool {
        match self.num_hashes {
            7 => self.contains_of(7, hash),
            10 => self.contains_of(10, hash),
            _ => self.contains_uncommon(hash),
        }
    }

    #[inline(never)]
    fn contains_uncommon(self, hash: u64) -> bool {
        self.contains_of(self.num_hashes, hash)
    }

    // Few branches, because whether an absent key's counter is zero cannot be predicted.
    #[inline(always)]
    fn contains_of(self, num_hashes: u32, hash: u64) -> bool {
        let mut probes = DoubleHash::new(hash);
        let mut zeros = |count| -> u32 {
            let is_zero = |_| u32::from(self.value(probes.next_position(self.len)) == 0);
            (0..count).map(is_zero).sum()
        };
        let mut left = num_hashes;
        while left >= PROBES_PER_BRANCH {
            if zeros(PROBES_PER_BRANCH) != 0 {
                return false;
            }
            left -= PROBES_PER_BRANCH;
        }
        zeros(left) == 0
    }

    /// Returns the least counter of a hash.
    #[inline]
    pub(crate) fn least(self, hash: u64) -> u64 {
        let values = all(hash, self.num_hashes, self.len).map(|position| self.value(position));
        values.min().unwrap_or(0)
    }

    /// Tests many keys as [`contains`](Self::contains) does.
    pub(crate) fn contains_each<K>(
        self,
        keys: &[K],
        hash: impl Fn(&K) -> u64,
        answers: &mut [bool],
    ) {
        if self.batch_pays(keys.len()) {
            visit_chunks(keys, hash, Asking { reader: self, answers: answers.iter_mut() });
        } else {
            let keys = answers.iter_mut().zip(keys);
            keys.for_each(|(answer, key)| *answer = self.contains(hash(key)));
        }
    }

    fn batch_pays(self, keys: usize) -> bool {
        keys >= LEAST_BATCH && self.words.len() > IN_CACHE
    }

    #[inline(always)]
    fn value(self, position: u64) -> u64 {
        let (word, shift) = place::<C>(position);
        counter::value::<C>(self.words[word].value(), shift)
    }

    /// Prefetches the first counters of a hash.
    #[inline(always)]
    fn prefetch(self, hash: u64, counters: u32) {
        let positions = all(hash, counters.min(self.num_hashes), self.len);
        positions.for_each(|position| prefetch(self.words, place::<C>(position).0));
    }
}

/// Tests the keys of a batch.
struct Asking<'a, C, W> {
    reader: Reader<'a, C, W>,
    answers: slice::IterMut<'a, bool>,
}

impl<C: Counter, W: StoredWord> Visitor for Asking<'_, C, W> {
    type Place = u64;

    // Only the probes before the first branch: most absent keys read no further.
    #[inline(always)]
    fn prefetch(&self, hash: u64) -> u64 {
        self.reader.prefetch(hash, PROBES_PER_BRANCH);
        hash
    }

    #[inline(always)]
    fn visit(&mut self, _: usize, hash: u64) {
        if let Some(answer) = self.answers.next() {
            *answer = self.reader.contains(hash);
        }
    }
}

/// Inserts the keys of a batch.
struct Inserting<'a, C> {
    counters: &'a mut Counters<C>,
    num_hashes: u32,
    new: usize,
}

impl<C: Counter> Visitor for Inserting<'_, C> {
    type Place = u64;

    #[inline(always)]
    fn prefetch(&self, hash: u64) -> u64 {
        self.counters.reader(self.num_hashes).prefetch(hash, self.num_hashes);
        hash
    }

    #[inline(always)]
    fn visit(&mut self, _: usize, hash: u64) {
        self.new += usize::from(self.counters.insert(self.num_hashes, hash));
    }
}

/// Returns the index of a counter's word, and the bit at which the counter starts.
#[inline(always)]
#[expect(
    clippy::cast_possible_truncation,
    reason = "words in memory are counted by `usize`, bits by `u32`"
)]
fn place<C: Counter>(position: u64) -> (usize, u32) {
    let in_word = u64::from(64 / C::BITS);
    ((position / in_word) as usize, (position % in_word) as u32 * C::BITS)
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;
    use crate::Bits4;
    use pds_testkit::words::{Counted, are_asked_one_by_one};

    /// A batch of few keys, or in a small filter, does what single calls do. Another one hashes its keys first.
    #[test]
    fn case_46_few_keys_are_asked_one_by_one() {
        let words = |len| -> Vec<Counted> { (0..len).map(|_| Counted(0)).collect() };
        let (small, large) = (words(IN_CACHE), words(IN_CACHE + 1));
        for (words, keys, expected) in [
            (&large, 1, true),
            (&large, LEAST_BATCH - 1, true),
            (&large, LEAST_BATCH, false),
            (&small, 100, true),
        ] {
            let (len, width) = (16 * words.len() as u64, PhantomData::<Bits4>);
            let reader = Reader { words, len, num_hashes: 7, width };
            let keys: Vec<u64> = (0..keys as u64).collect();
            let mut answers = vec![true; keys.len()];
            let one_by_one = are_asked_one_by_one(&keys, |hash| {
                reader.contains_each(&keys, hash, &mut answers);
            });
            assert_eq!(one_by_one, expected, "{} keys in {} words", keys.len(), words.len());
            assert!(answers.iter().all(|&answer| !answer));
        }
    }
}
