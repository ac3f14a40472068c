//! Blocks that threads fill and ask at the same time.

use core::borrow::Borrow;
use core::ops::Deref;

use pds_core::memory::{AtomicWord, load_words, prefetch, union_words};

use crate::arch::{Backend, Portable, masks};
use crate::batch::Ahead;
use crate::blocks::BlockSource;
use crate::layout::{Block, LANES, Layout};

/// The shared counterpart of [`Blocks`](crate::blocks::Blocks), bit for bit.
pub(super) struct AtomicBlocks<W> {
    words: W,
    layout: Layout,
}

impl<W> AtomicBlocks<W> {
    pub(super) fn from_words(words: W, layout: Layout) -> Self {
        Self { words, layout }
    }

    pub(super) fn into_words(self) -> W {
        self.words
    }

    pub(super) fn words_mut(&mut self) -> &mut W {
        &mut self.words
    }
}

impl<A: AtomicWord, W: Deref<Target = [A]>> AtomicBlocks<W> {
    #[inline]
    pub(super) fn insert(&self, mixed: u64) -> bool {
        let block = &self.words.as_chunks::<LANES>().0[self.layout.block_of(mixed)];
        let masks = masks(&self.layout, mixed);
        block.iter().zip(masks).fold(0, |new, (word, mask)| new | word.set_all(mask)) != 0
    }

    pub(super) fn insert_many(&self, len: usize, hash: impl Fn(usize) -> u64) -> usize {
        let mut ahead = Ahead::new(self, len, hash);
        (0..len).filter(|&index| self.insert(ahead.next(self, index))).count()
    }

    /// Sets every bit that is set in `other`, which has as many blocks.
    pub(super) fn union_with(&self, other: &Self) {
        union_words(&self.words, other.words());
    }

    /// The bits, each word at some moment.
    pub(super) fn words(&self) -> impl Iterator<Item = u64> {
        load_words(&self.words)
    }
}

impl<A: AtomicWord, W: Deref<Target = [A]>> BlockSource for AtomicBlocks<W> {
    #[inline(always)]
    fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Words that were loaded one by one would have to be put together for a vector.
    #[inline(always)]
    fn backend(&self) -> Backend {
        Backend::Portable(Portable)
    }

    #[inline(always)]
    fn prefetch(&self, index: usize) {
        prefetch(&self.words, index * LANES);
    }

    #[inline(always)]
    fn block(&self, index: usize) -> impl Borrow<Block> {
        load(&self.words.as_chunks().0[index])
    }

    fn blocks(&self) -> impl Iterator<Item = Block> {
        self.words.as_chunks().0.iter().map(load)
    }
}

#[inline(always)]
fn load(block: &[impl AtomicWord; LANES]) -> Block {
    block.each_ref().map(AtomicWord::load)
}

/// Every interleaving of a few operations, and every value that a relaxed load may see.
///
/// What this leaves unproven: more threads and longer histories than these, keys of more than two
/// positions, the cast from plain to atomic memory, and the compiler's and the processor's own keeping
/// of the memory model.
#[cfg(all(test, loom))]
mod loom_tests {
    use alloc::vec::Vec;

    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    use loom::thread;
    use pds_params::BlockedBloomParams;

    use super::*;
    use crate::arch::Kernel;
    use crate::layout::mix;

    type Shared = AtomicBlocks<Vec<AtomicU64>>;

    /// One block and two positions a key, one in each half.
    fn shared() -> Arc<Shared> {
        let layout = layout();
        let words = (0..LANES).map(|_| AtomicU64::new(0)).collect();
        Arc::new(AtomicBlocks::from_words(words, layout))
    }

    fn layout() -> Layout {
        Layout::new(&BlockedBloomParams::from_blocks_and_hashes(1, 2).unwrap())
    }

    /// Two keys with other bits in the same two lanes, so that threads meet in both.
    fn keys() -> (u64, u64) {
        let used = |mixed| masks(&layout(), mixed).map(|mask| mask != 0);
        let meets = |&other: &u64| used(other) == used(mix(0)) && meets_nowhere(other, mix(0));
        (mix(0), (1..).map(mix).find(meets).unwrap())
    }

    fn meets_nowhere(left: u64, right: u64) -> bool {
        let (left, right) = (masks(&layout(), left), masks(&layout(), right));
        left.iter().zip(right).all(|(left, right)| left & right == 0)
    }

    fn contains(blocks: &Shared, mixed: u64) -> bool {
        Portable.contains(blocks.layout(), mixed, blocks.block(0).borrow())
    }

    #[test]
    fn no_insert_is_lost() {
        let (one, two) = keys();
        loom::model(move || {
            let blocks = shared();
            let other = blocks.clone();
            let thread = thread::spawn(move || other.insert(one));
            blocks.insert(two);
            thread.join().unwrap();
            assert!(contains(&blocks, one) && contains(&blocks, two));
        });
    }

    #[test]
    fn at_least_one_of_two_is_told_that_a_key_was_new() {
        let (key, _) = keys();
        loom::model(move || {
            let blocks = shared();
            let other = blocks.clone();
            let thread = thread::spawn(move || other.insert(key));
            let here = blocks.insert(key);
            let there = thread.join().unwrap();
            assert!(here || there);
        });
    }

    #[test]
    fn what_happened_before_is_seen() {
        let (key, _) = keys();
        loom::model(move || {
            let blocks = shared();
            let ready = Arc::new(AtomicBool::new(false));
            let (other, flag) = (blocks.clone(), ready.clone());
            let thread = thread::spawn(move || {
                other.insert(key);
                flag.store(true, Ordering::Release);
            });
            if ready.load(Ordering::Acquire) {
                assert!(contains(&blocks, key));
            }
            thread.join().unwrap();
        });
    }

    #[test]
    fn a_union_loses_no_concurrent_insert() {
        let (one, two) = keys();
        loom::model(move || {
            let (blocks, source) = (shared(), shared());
            source.insert(one);
            let other = blocks.clone();
            let thread = thread::spawn(move || other.union_with(&source));
            blocks.insert(two);
            thread.join().unwrap();
            assert!(contains(&blocks, one) && contains(&blocks, two));
        });
    }
}
