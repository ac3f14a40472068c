//! Blocks in any storage: the contents of a filter, without keys and hashers.

use pds_core::error::AllocError;
use pds_core::internal::{AHEAD, Backend, StoredWord, reduced, reduced_mut};
use pds_core::storage::{OwnedWords, WordSource, Words};
use pds_params::BlockedBloomParams;

use crate::arch::Choice;
use crate::batch::{Answers, ContainsMany, InsertMany};
use crate::kernel::load;
use crate::layout::{Block, LANES, Layout, Positions};

/// Least number of keys of a batch that are prefetched. For fewer, single calls are faster.
// Single calls take 2 ns per key in a filter of 64 KiB and 5 ns in one of 8 MiB. Batches of 1, 8, 16 and 32 keys take 30, 52, 62
// and 90 ns, and 32, 98, 106 and 136 ns (2026-11-28, busy machine). Nothing overlaps before the second chunk.
pub(crate) const LEAST_BATCH: usize = AHEAD;

/// Blocks of eight words, and how keys are placed in them.
#[derive(Clone)]
pub(crate) struct Blocks<W = Words> {
    words: W,
    layout: Layout,
    choice: Choice,
}

impl<W: WordSource> Blocks<W> {
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
        mut answers: impl Answers,
    ) {
        if keys.len() < LEAST_BATCH {
            for (index, key) in keys.iter().enumerate() {
                answers.put(index, self.contains(hash(key)));
            }
            return answers.end(keys.len());
        }
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
        if keys.len() < LEAST_BATCH {
            return keys.iter().filter(|key| self.insert(hash(key))).count();
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;

    /// Counts the answers.
    struct Counter<'a>(&'a Cell<usize>);

    impl Answers for Counter<'_> {
        fn put(&mut self, index: usize, answer: bool) {
            assert!(!answer && index < AHEAD);
            self.0.set(self.0.get() + 1);
        }

        fn end(&mut self, _len: usize) {}
    }

    /// A batch of few keys answers each before it hashes the next one, as single calls do.
    #[test]
    fn case_46_few_keys_are_asked_one_by_one() {
        let params = BlockedBloomParams::from_blocks_and_hashes(10, 8).unwrap();
        let blocks = Blocks::zeroed(&params).unwrap();
        for len in [1, 2, LEAST_BATCH - 1, LEAST_BATCH, 100] {
            let keys: alloc::vec::Vec<u64> = (0..len as u64).collect();
            let (hashed, answered, alternating) = (Cell::new(0), Cell::new(0), Cell::new(true));
            let hash = |&key: &u64| {
                alternating.set(alternating.get() && answered.get() == hashed.get());
                hashed.set(hashed.get() + 1);
                key
            };
            blocks.contains_many(&keys, hash, Counter(&answered));
            assert_eq!((hashed.get(), answered.get()), (len, len));
            assert_eq!(alternating.get(), len < LEAST_BATCH, "{len} keys");
        }
    }
}
