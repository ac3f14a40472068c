//! Bits that threads set and ask at the same time.

use core::ops::Deref;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use pds_core::memory::prefetch;

use crate::bit_array::{mask, word_index};
use crate::probing::{BitSource, BitTarget};

/// A word that threads share; a trait so that `loom` can put its own in the place of the real one.
///
/// Every operation is relaxed. No thread draws conclusions from one bit about memory outside the
/// filter, and bits are only ever set, so the order in which they become visible is of no account.
pub(crate) trait AtomicWord: 'static {
    fn load(&self) -> u64;

    /// Sets the bits of `mask` and returns the word as it was.
    fn fetch_or(&self, mask: u64) -> u64;
}

impl AtomicWord for AtomicU64 {
    #[inline]
    fn load(&self) -> u64 {
        self.load(Relaxed)
    }

    #[inline]
    fn fetch_or(&self, mask: u64) -> u64 {
        self.fetch_or(mask, Relaxed)
    }
}

/// The shared counterpart of a [`BitArray`](crate::BitArray), bit for bit.
pub(crate) struct AtomicBits<W> {
    words: W,
    num_bits: u64,
}

impl<W> AtomicBits<W> {
    pub(crate) fn from_words(words: W, num_bits: u64) -> Self {
        Self { words, num_bits }
    }

    pub(crate) fn into_words(self) -> W {
        self.words
    }

    pub(crate) fn words_mut(&mut self) -> &mut W {
        &mut self.words
    }
}

impl<A: AtomicWord, W: Deref<Target = [A]>> AtomicBits<W> {
    /// Sets every bit that is set in `other`, which has the same length.
    pub(crate) fn union_with(&self, other: &Self) {
        for (word, theirs) in self.words.iter().zip(other.words()) {
            set_all(word, theirs);
        }
    }
}

/// Sets the bits of `mask` and returns those of them that were clear.
///
/// A locked operation takes the line for this core alone, at 8 to 10 ns; a load shares it. Most bits
/// that are set again and again need no more than the load.
#[inline]
fn set_all(word: &impl AtomicWord, mask: u64) -> u64 {
    let missing = mask & !word.load();
    if missing == 0 { 0 } else { missing & !word.fetch_or(missing) }
}

impl<A: AtomicWord, W: Deref<Target = [A]>> BitSource for AtomicBits<W> {
    #[inline]
    fn num_bits(&self) -> u64 {
        self.num_bits
    }

    #[inline]
    fn bit(&self, position: u64) -> u64 {
        debug_assert!(position < self.num_bits);
        (self.words[word_index(position)].load() >> (position % 64)) & 1
    }

    #[inline]
    fn prefetch(&self, position: u64) {
        prefetch(&self.words, word_index(position));
    }

    fn words(&self) -> impl Iterator<Item = u64> {
        self.words.iter().map(AtomicWord::load)
    }
}

/// Through a shared reference: what makes the array atomic is that it needs no exclusive one.
impl<A: AtomicWord, W: Deref<Target = [A]>> BitSource for &AtomicBits<W> {
    #[inline]
    fn num_bits(&self) -> u64 {
        self.num_bits
    }

    #[inline]
    fn bit(&self, position: u64) -> u64 {
        (**self).bit(position)
    }

    #[inline]
    fn prefetch(&self, position: u64) {
        (**self).prefetch(position);
    }

    fn words(&self) -> impl Iterator<Item = u64> {
        (**self).words()
    }
}

impl<A: AtomicWord, W: Deref<Target = [A]>> BitTarget for &AtomicBits<W> {
    #[inline]
    fn set_bit(&mut self, position: u64) -> bool {
        debug_assert!(position < self.num_bits);
        set_all(&self.words[word_index(position)], mask(position)) != 0
    }
}

/// Every interleaving of a few operations, and every value that a relaxed load may see.
///
/// What this leaves unproven: more threads and longer histories than these, the cast from plain to
/// atomic memory (AddressSanitizer and valgrind watch it), and the compiler's and the processor's own
/// keeping of the memory model.
#[cfg(all(test, loom))]
mod loom_tests {
    use alloc::vec::Vec;

    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    use loom::thread;

    use super::*;
    use crate::probing::{contains, insert};

    impl AtomicWord for AtomicU64 {
        fn load(&self) -> u64 {
            self.load(Ordering::Relaxed)
        }

        fn fetch_or(&self, mask: u64) -> u64 {
            self.fetch_or(mask, Ordering::Relaxed)
        }
    }

    /// Two positions a key, in one word so that threads meet in it.
    const NUM_HASHES: u32 = 2;

    fn shared() -> Arc<AtomicBits<Vec<AtomicU64>>> {
        Arc::new(AtomicBits::from_words([AtomicU64::new(0)].into(), 64))
    }

    #[test]
    fn no_insert_is_lost() {
        loom::model(|| {
            let bits = shared();
            let other = bits.clone();
            let thread = thread::spawn(move || insert(&mut &*other, NUM_HASHES, 1));
            insert(&mut &*bits, NUM_HASHES, 2);
            thread.join().unwrap();
            assert!(contains(&*bits, NUM_HASHES, 1) && contains(&*bits, NUM_HASHES, 2));
        });
    }

    #[test]
    fn at_least_one_of_two_is_told_that_a_key_was_new() {
        loom::model(|| {
            let bits = shared();
            let other = bits.clone();
            let thread = thread::spawn(move || insert(&mut &*other, NUM_HASHES, 1));
            let here = insert(&mut &*bits, NUM_HASHES, 1);
            let there = thread.join().unwrap();
            assert!(here || there);
        });
    }

    #[test]
    fn what_happened_before_is_seen() {
        loom::model(|| {
            let bits = shared();
            let ready = Arc::new(AtomicBool::new(false));
            let (other, flag) = (bits.clone(), ready.clone());
            let thread = thread::spawn(move || {
                insert(&mut &*other, NUM_HASHES, 1);
                flag.store(true, Ordering::Release);
            });
            if ready.load(Ordering::Acquire) {
                assert!(contains(&*bits, NUM_HASHES, 1));
            }
            thread.join().unwrap();
        });
    }

    #[test]
    fn a_union_loses_no_concurrent_insert() {
        loom::model(|| {
            let (bits, source) = (shared(), shared());
            insert(&mut &*source, NUM_HASHES, 1);
            let other = bits.clone();
            let thread = thread::spawn(move || other.union_with(&source));
            insert(&mut &*bits, NUM_HASHES, 2);
            thread.join().unwrap();
            assert!(contains(&*bits, NUM_HASHES, 1) && contains(&*bits, NUM_HASHES, 2));
        });
    }
}
