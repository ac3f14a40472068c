//! Blocks that threads fill and ask at the same time.

use core::ops::Deref;

use pds_core::internal::{AtomicU64, AtomicWord, load_words, union_words};

use crate::arch::{Backend, Portable, covers, masks};
use crate::batch::{Fetched, Hashing, Visitor, fetching_ahead};
use crate::blocks::{BlockSlice, BlockSource, StoredBlock};
use crate::layout::{Block, LANES, Layout, Positions};

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

impl<A: AtomicWord, W: Deref<Target = [A]>> AtomicBlocks<W>
where
    [A; LANES]: StoredBlock,
{
    #[inline]
    pub(super) fn insert(&self, hash: u64) -> bool {
        insert(&self.layout, self.blocks().stored(hash), hash)
    }

    pub(super) fn insert_many<K>(&self, keys: &[K], hash: impl Fn(&K) -> u64) -> usize {
        let inserting = Inserting { blocks: self.blocks(), new: 0 };
        fetching_ahead(Hashing::OneByOne, keys, hash, inserting).new
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

struct Inserting<'a, A> {
    blocks: BlockSlice<'a, [A; LANES]>,
    new: usize,
}

impl<A: AtomicWord> Visitor for Inserting<'_, A>
where
    [A; LANES]: StoredBlock,
{
    #[inline(always)]
    fn fetch(&self, hash: u64) -> usize {
        self.blocks.prefetch(hash)
    }

    #[inline(always)]
    fn visit(&mut self, _: usize, key: Fetched) {
        let block = &self.blocks.all[key.block];
        self.new += usize::from(insert(self.blocks.layout, block, key.hash));
    }
}

fn insert<A: AtomicWord>(layout: &Layout, block: &[A; LANES], hash: u64) -> bool {
    let masks = masks(layout, hash);
    block.iter().zip(masks).fold(0, |new, (word, mask)| new | word.set_all(mask)) != 0
}

impl StoredBlock for [AtomicU64; LANES] {
    #[inline(always)]
    fn load(&self) -> Block {
        self.each_ref().map(AtomicWord::load)
    }
}

impl<A: AtomicWord, W: Deref<Target = [A]>> BlockSource for AtomicBlocks<W>
where
    [A; LANES]: StoredBlock,
{
    type Stored = [A; LANES];

    /// Words that were loaded one by one would have to be put together for a vector.
    #[inline(always)]
    fn dispatch(&self) -> (Backend, Positions) {
        (Backend::Portable(Portable), self.layout.positions())
    }

    #[inline(always)]
    fn blocks(&self) -> BlockSlice<'_, Self::Stored> {
        BlockSlice { all: self.words.as_chunks().0, layout: &self.layout }
    }

    #[inline(always)]
    fn contains(&self, hash: u64) -> bool {
        covers(&self.blocks().block(hash), &masks(&self.layout, hash))
    }
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

    use super::{AtomicBlocks, LANES, Layout, Portable, masks};
    use crate::arch::Kernel;
    use crate::blocks::BlockSource;
    use crate::layout::Chosen;
    use pds_core::hash::finalize;

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
        let used = |hash| masks(&layout(), hash).map(|mask| mask != 0);
        let meets =
            |&other: &u64| used(other) == used(finalize(0)) && meets_nowhere(other, finalize(0));
        (finalize(0), (1..).map(finalize).find(meets).unwrap())
    }

    fn meets_nowhere(left: u64, right: u64) -> bool {
        let (left, right) = (masks(&layout(), left), masks(&layout(), right));
        left.iter().zip(right).all(|(left, right)| left & right == 0)
    }

    fn contains(blocks: &Shared, hash: u64) -> bool {
        Portable.contains::<Chosen>(&layout(), hash, &blocks.blocks().block(hash))
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
