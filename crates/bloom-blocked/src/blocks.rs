//! Blocks in memory, and what can be asked of them wherever they lie.

use pds_core::AllocError;
use pds_core::internal::{Words, prefetch_reduced, reduced, reduced_mut};
use pds_params::BlockedBloomParams;

use crate::arch::{Backend, Choice};
use crate::layout::{Block, LANES, Layout, Positions};

/// A block as it is stored.
pub(crate) trait StoredBlock {
    /// The bits, in the order of this processor.
    fn load(&self) -> Block;
}

impl StoredBlock for Block {
    #[inline(always)]
    fn load(&self) -> Block {
        *self
    }
}

/// In bytes, each of whose lanes is little endian.
impl StoredBlock for [u8; 8 * LANES] {
    #[inline(always)]
    fn load(&self) -> Block {
        let lanes = self.as_chunks().0;
        core::array::from_fn(|lane| u64::from_le_bytes(lanes[lane]))
    }
}

/// Whoever has blocks that can be asked.
pub(crate) trait BlockSource {
    type Stored: StoredBlock;

    /// Which of the kernels is theirs.
    fn dispatch(&self) -> (Backend, Positions);

    /// The blocks and their shape.
    ///
    /// A loop takes them before it starts: what it writes elsewhere could else, for all that the compiler knows, be
    /// where they are kept.
    fn blocks(&self) -> BlockSlice<'_, Self::Stored>;

    /// Whether all bits of a hash are set in its block.
    fn contains(&self, hash: u64) -> bool;
}

/// Blocks that are borrowed.
pub(crate) struct BlockSlice<'a, B> {
    pub(crate) all: &'a [B],
    pub(crate) layout: &'a Layout,
}

impl<'a, B: StoredBlock> BlockSlice<'a, B> {
    /// Asks for the block of a hash to be brought near. Returns its number.
    #[inline(always)]
    pub(crate) fn prefetch(&self, hash: u64) -> usize {
        prefetch_reduced(self.all, hash)
    }

    /// The block of this number.
    #[inline(always)]
    pub(crate) fn at(&self, number: usize) -> Block {
        self.all[number].load()
    }

    /// Where the block of a hash is.
    #[inline(always)]
    pub(crate) fn stored(&self, hash: u64) -> &'a B {
        reduced(self.all, hash)
    }

    /// The block of a hash.
    #[inline(always)]
    pub(crate) fn block(&self, hash: u64) -> Block {
        self.stored(hash).load()
    }

    /// All blocks in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Block> {
        self.all.iter().map(StoredBlock::load)
    }
}

/// Blocks that are owned.
#[derive(Clone)]
pub(crate) struct Blocks {
    words: Words,
    layout: Layout,
    choice: Choice,
}

impl Blocks {
    pub(crate) fn zeroed(params: &BlockedBloomParams) -> Result<Self, AllocError> {
        let bytes = params.size_in_bytes();
        Ok(Self::from_words(Words::zeroed(bytes / 8)?, params))
    }

    pub(crate) fn from_words(words: Words, params: &BlockedBloomParams) -> Self {
        debug_assert_eq!(words.size_in_bytes(), params.size_in_bytes());
        let layout = Layout::new(params);
        Self { words, layout, choice: Choice::best(layout.positions()) }
    }

    pub(crate) fn into_words(self) -> Words {
        self.words
    }

    pub(crate) fn try_clone(&self) -> Result<Self, AllocError> {
        Ok(Self { words: self.words.try_clone()?, ..*self })
    }

    pub(crate) fn set_backend(&mut self, backend: Backend) {
        self.choice = Choice::new(backend, self.layout.positions());
    }

    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }

    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// Sets all bits of a hash. Returns whether any was clear.
    #[inline(always)]
    pub(crate) fn insert(&mut self, hash: u64) -> bool {
        let choice = self.choice;
        let (blocks, layout) = self.blocks_mut();
        choice.insert(layout, hash, reduced_mut(blocks, hash))
    }

    /// The blocks to change, and their shape.
    #[inline(always)]
    pub(crate) fn blocks_mut(&mut self) -> (&mut [Block], &Layout) {
        (self.words.as_chunks_mut().0, &self.layout)
    }

    #[cfg(feature = "huge-pages")]
    pub(crate) fn advise_huge_pages(&self) -> bool {
        self.words.advise_huge_pages()
    }
}

/// The shape is that of the filters, which is compared before.
impl PartialEq for Blocks {
    fn eq(&self, other: &Self) -> bool {
        self.words == other.words
    }
}

impl BlockSource for Blocks {
    type Stored = Block;

    #[inline(always)]
    fn dispatch(&self) -> (Backend, Positions) {
        (self.choice.backend(), self.layout.positions())
    }

    #[inline(always)]
    fn blocks(&self) -> BlockSlice<'_, Block> {
        BlockSlice { all: self.words.as_chunks().0, layout: &self.layout }
    }

    #[inline(always)]
    fn contains(&self, hash: u64) -> bool {
        self.choice.contains(self.blocks(), hash)
    }
}
