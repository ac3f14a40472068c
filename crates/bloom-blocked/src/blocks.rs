//! Blocks in memory, and what can be asked of them wherever they lie.

use core::borrow::Borrow;

use pds_core::AllocError;
use pds_core::memory::{Words, prefetch};
use pds_params::BlockedBloomParams;

use crate::arch::Backend;
use crate::layout::{Block, LANES, Layout};

/// Blocks that can be asked.
pub(crate) trait BlockSource {
    fn layout(&self) -> &Layout;

    /// What asks them.
    fn backend(&self) -> Backend;

    /// Asks for a block to be brought near.
    fn prefetch(&self, index: usize);

    /// A block, where it lies or copied.
    ///
    /// # Panics
    /// When there is none of this number.
    fn block(&self, index: usize) -> impl Borrow<Block>;

    /// All blocks in order.
    fn blocks(&self) -> impl Iterator<Item = Block>;
}

/// Blocks that are owned.
#[derive(Clone)]
pub(crate) struct Blocks {
    words: Words,
    layout: Layout,
    backend: Backend,
}

impl Blocks {
    pub(crate) fn zeroed(params: &BlockedBloomParams) -> Result<Self, AllocError> {
        let bytes = params.size_in_bytes();
        Ok(Self::from_words(Words::zeroed(bytes / 8)?, params))
    }

    pub(crate) fn from_words(words: Words, params: &BlockedBloomParams) -> Self {
        debug_assert_eq!(words.size_in_bytes(), params.size_in_bytes());
        Self { words, layout: Layout::new(params), backend: Backend::best() }
    }

    pub(crate) fn into_words(self) -> Words {
        self.words
    }

    pub(crate) fn try_clone(&self) -> Result<Self, AllocError> {
        Ok(Self { words: self.words.try_clone()?, ..*self })
    }

    pub(crate) fn set_backend(&mut self, backend: Backend) {
        self.backend = backend;
    }

    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// The shape beside the blocks, so that neither need be copied to change a block.
    #[inline(always)]
    pub(crate) fn layout_and_blocks(&mut self) -> (&Layout, &mut [Block]) {
        (&self.layout, self.words.as_chunks_mut().0)
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
    #[inline(always)]
    fn layout(&self) -> &Layout {
        &self.layout
    }

    #[inline(always)]
    fn backend(&self) -> Backend {
        self.backend
    }

    #[inline(always)]
    fn prefetch(&self, index: usize) {
        prefetch(&self.words, index * LANES);
    }

    #[inline(always)]
    fn block(&self, index: usize) -> impl Borrow<Block> {
        &self.words.as_chunks().0[index]
    }

    fn blocks(&self) -> impl Iterator<Item = Block> {
        self.words.as_chunks().0.iter().copied()
    }
}
