//! The split-block filter that threads share.

use core::iter;

use pds_core::error::Incompatible;
use pds_core::internal::{AtomicU64, Visitor, set_bits, visit_chunks};
use pds_core::storage::{AtomicWords, WordSource as _, Words};

use super::{BLOCK_WORDS, SplitBlockBloomFilter, block_of, fetch, masks};
use crate::batch::Place;

/// A [`SplitBlockBloomFilter`] that several threads fill and query at the same time, without locks.
///
/// It converts from and to a plain filter in constant time, with the same
/// bits.
///
/// # Guarantees
/// - No insert is lost. A query finds every item whose insert *happened before* it (by a join, a channel, a lock).
/// - If several threads insert the same new item at the same time, at least one of them is told that it was new, unless
///   other items have set all of its bits. All of them may be told so.
///
/// # Examples
/// ```
/// use bloom_blocked::hash::finalize;
/// use bloom_blocked::{AtomicSplitBlockBloomFilter, SplitBlockBloomFilter};
///
/// let filter: AtomicSplitBlockBloomFilter = SplitBlockBloomFilter::new(10_000, 0.01)?.into();
/// let insert = |item: u64| _ = filter.insert_hash(finalize(item));
/// std::thread::scope(|s| {
///     s.spawn(|| (0..5_000).for_each(insert));
///     s.spawn(|| (5_000..9_000).for_each(insert));
/// });
/// let plain = filter.into_plain();
/// assert!((0..9_000).all(|item| plain.contains_hash(finalize(item))));
/// # Ok::<(), bloom_blocked::error::BuildError>(())
/// ```
pub type AtomicSplitBlockBloomFilter = SplitBlockBloomFilter<AtomicWords>;

impl AtomicSplitBlockBloomFilter {
    /// Returns the same filter for one owner, in constant time.
    #[must_use]
    pub fn into_plain(self) -> SplitBlockBloomFilter {
        SplitBlockBloomFilter::from_words(Words::from(self.words))
    }

    /// Inserts an item by its hash, of 64 uniform bits. Returns `true` if this call set at least one of its bits.
    #[inline]
    pub fn insert_hash(&self, hash: u64) -> bool {
        let blocks = self.stored();
        insert(&blocks[block_of(blocks, hash)], hash)
    }

    /// Inserts many items by their hashes. Returns for how many of them [`insert_hash`](Self::insert_hash) would have returned
    /// `true`.
    pub fn insert_hash_batch(&self, hashes: &[u64]) -> usize {
        visit_chunks(hashes, |&hash| hash, Inserts { blocks: self.stored(), new: 0 }).new
    }

    /// Inserts all that `other` contains, while other threads insert into either.
    ///
    /// # Errors
    /// [`Incompatible`] if the numbers of blocks differ. `self` is unchanged then.
    pub fn union_with(&self, other: &Self) -> Result<(), Incompatible> {
        self.check_compatible(other)?;
        self.words.unite(other.words.values());
        Ok(())
    }

    /// Removes all items. Of an item that another thread inserts at the same time, some bits may remain.
    pub fn clear(&self) {
        self.words.clear();
    }
}

type Block = [AtomicU64; BLOCK_WORDS];

fn insert(block: &Block, hash: u64) -> bool {
    iter::zip(block, masks(hash)).fold(0, |new, (word, mask)| new | set_bits(word, mask)) != 0
}

struct Inserts<'a> {
    blocks: &'a [Block],
    new: usize,
}

impl Visitor for Inserts<'_> {
    type Place = Place;

    #[inline(always)]
    fn prefetch(&self, hash: u64) -> Place {
        fetch(self.blocks, hash)
    }

    #[inline(always)]
    fn visit(&mut self, _: usize, place: Place) {
        self.new += usize::from(insert(&self.blocks[place.block], place.hash));
    }
}

/// Opens the filter to other threads, in constant time.
impl From<SplitBlockBloomFilter> for AtomicSplitBlockBloomFilter {
    fn from(plain: SplitBlockBloomFilter) -> Self {
        Self::from_words(plain.words.into())
    }
}
