//! Blocks in any storage: the contents of a filter, without keys and hashers.

use pds_core::AllocError;
use pds_core::internal::{Backend, StoredWord, reduced, reduced_mut};
use pds_core::storage::{OwnedWords, WordSource, Words};
use pds_params::BlockedBloomParams;

use crate::arch::Choice;
use crate::batch::{Answers, ContainsMany, InsertMany};
use crate::kernel::load;
use crate::layout::{Block, LANES, Layout, Positions};

/// Blocks of eight words, and how keys are placed in them.
#[derive(Clone)]
pub(crate) struct Blocks<W = Words> {
    words: W,
    layout: Layout,
    choice: Choice,
}

impl<W> Blocks<W> {
    pub(crate) const fn words(&self) -> &W {
        &self.words
    }

    pub(crate) const fn words_mut(&mut self) -> &mut W {
        &mut self.words
    }

    pub(crate) const fn layout(&self) -> &Layout {
        &self.layout
    }

    pub(crate) fn set_backend(&mut self, backend: Backend) {
        self.choice = Choice::new(backend, self.layout.positions());
    }
}

impl<W: WordSource> Blocks<W> {
    pub(crate) fn from_words(words: W, params: &BlockedBloomParams) -> Self {
        debug_assert_eq!(words.as_words().len() as u64 * 8, params.size_in_bytes());
        let layout = Layout::new(params);
        // Words that are loaded one by one would have to be collected for a vector.
        let backend = if W::Word::IS_PLAIN { Backend::best() } else { Backend::PORTABLE };
        Self { words, layout, choice: Choice::new(backend, layout.positions()) }
    }

    /// Returns the blocks as they are stored.
    // A loop calls it once, before it starts. Otherwise the compiler must assume that stores in the loop change where the
    // blocks are, and load it again.
    #[inline(always)]
    pub(crate) fn stored(&self) -> &[[W::Word; LANES]] {
        self.words.as_words().as_chunks().0
    }

    /// Returns whether all bits of a hash are set in its block.
    #[inline(always)]
    pub(crate) fn contains(&self, hash: u64) -> bool {
        self.choice.contains(&self.layout, hash, reduced(self.stored(), hash))
    }

    /// Tests many keys as [`contains`](Self::contains) does.
    pub(crate) fn contains_many<K>(
        &self,
        keys: &[K],
        hash: impl Fn(&K) -> u64,
        answers: impl Answers,
    ) {
        let (blocks, layout) = (self.stored(), &self.layout);
        self.choice.backend().run(ContainsMany { blocks, layout, keys, hash, answers });
    }

    /// Lists all blocks in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Block> {
        self.stored().iter().map(load)
    }

    /// Counts the set bits.
    pub(crate) fn count_ones(&self) -> u64 {
        ones(self.words.values())
    }

    /// Counts the bits that are set in one or both of two filters of one size.
    pub(crate) fn count_union_ones(&self, other: &Blocks<impl WordSource>) -> u64 {
        ones(self.words.values().zip(other.words.values()).map(|(left, right)| left | right))
    }

    /// Returns the fraction of absent keys that these bits answer `true`.
    pub(crate) fn rate(&self) -> f64 {
        let sum: f64 = self.iter().map(|block| rate_of(&self.layout, &block)).sum();
        #[expect(clippy::cast_precision_loss, reason = "a mean needs no more than 53 bits")]
        let mean = sum / self.stored().len() as f64;
        mean.min(1.0)
    }
}

impl<W: OwnedWords> Blocks<W> {
    pub(crate) fn try_clone(&self) -> Result<Self, AllocError> {
        Ok(Self { words: W::copied(&self.words)?, ..*self })
    }

    /// Moves the blocks into another storage.
    pub(crate) fn into_storage<T: OwnedWords>(self, params: &BlockedBloomParams) -> Blocks<T> {
        let words: Words = self.words.into();
        Blocks::from_words(words.into(), params)
    }
}

impl Blocks {
    pub(crate) fn zeroed(params: &BlockedBloomParams) -> Result<Self, AllocError> {
        Ok(Self::from_words(Words::zeroed(params.size_in_bytes() / 8)?, params))
    }

    /// Sets all bits of a hash. Returns whether any was clear.
    #[inline(always)]
    pub(crate) fn insert(&mut self, hash: u64) -> bool {
        let block = reduced_mut(self.words.as_chunks_mut().0, hash);
        self.choice.insert(&self.layout, hash, block)
    }

    /// Inserts many keys. Returns how many were not contained before.
    pub(crate) fn insert_many<K>(&mut self, keys: &[K], hash: impl Fn(&K) -> u64) -> usize {
        let (blocks, layout) = (self.words.as_chunks_mut().0, &self.layout);
        self.choice.backend().run(InsertMany { blocks, layout, keys, hash })
    }
}

/// Equal bits. The shapes are compared before.
impl PartialEq for Blocks {
    fn eq(&self, other: &Self) -> bool {
        self.words == other.words
    }
}

fn ones(words: impl Iterator<Item = u64>) -> u64 {
    words.map(|word| u64::from(word.count_ones())).sum()
}

/// Returns the mean over all choices of lanes of the product of the fills of the lanes.
// The halves of a block choose their lanes independently, so their rates multiply.
fn rate_of(layout: &Layout, block: &Block) -> f64 {
    let fills = block.map(|lane| f64::from(lane.count_ones()) / 64.0);
    fills.as_chunks::<4>().0.iter().map(|half| rate_of_half(layout, half)).product()
}

fn rate_of_half(layout: &Layout, fills: &[f64; 4]) -> f64 {
    let every: f64 = fills.iter().product();
    let chosen = || {
        let of = |lanes: u8| {
            (0..4).filter(|lane| lanes >> lane & 1 == 1).map(|lane| fills[lane]).product::<f64>()
        };
        layout.rotations().map(of).iter().sum::<f64>() / 4.0
    };
    match layout.positions() {
        Positions::Chosen => chosen(),
        Positions::Every => every,
        Positions::Second => every * chosen(),
    }
}
