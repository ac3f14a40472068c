//! Bits that threads set and ask at the same time.

use core::ops::Deref;

use pds_core::internal::{AtomicWord, load_words, prefetch, union_words};

use crate::bit_array::{mask, word_index};
use crate::probing::{BitSource, BitTarget};

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
        union_words(&self.words, other.words());
    }
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
        load_words(&self.words)
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
        self.words[word_index(position)].set_all(mask(position)) != 0
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
