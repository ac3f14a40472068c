//! The blocked Bloom filter that threads share.

mod blocks;

use core::hash::Hash;

use pds_core::internal::{Words, atomic_twin};
use pds_core::storage::{AtomicWords, OwnedWords};
use pds_core::{AllocError, DefaultHashBuilder, Incompatible, KeyHasher};
use pds_params::BlockedBloomParams;

use crate::BlockedBloomFilter;
use crate::blocks::Blocks;
use crate::reading::reading_methods;
use blocks::AtomicBlocks;

/// A [`BlockedBloomFilter`] that threads fill and ask at the same time, without locks.
///
/// Choose it where several threads insert into one filter. An insert of a new key makes a locked
/// operation for each of its bits that is clear, some 5 ns apiece, and none for bits that are set; a
/// query costs two to three times that of the plain filter, whose vector instructions have no atomic
/// form. Both have the same bits for the same keys and turn into each other without a copy.
///
/// # Guarantees
/// - No insert is lost. A key whose insert *happened before* a query (by a join, a channel, a lock) is
///   found by it; during an insert another thread may or may not find the key.
/// - When several threads insert the same new key at the same time, at least one of them is told that it was new,
///   unless other keys cover it. All of them may be.
/// - Rates and memory: those of [`BlockedBloomFilter`].
/// - Operations are relaxed: seeing a key says nothing about other memory that its inserter wrote.
/// - Counts and copies taken during inserts show each word at some moment, not all at the same one.
///
/// # Examples
/// ```
/// use bloom_blocked::{AtomicBlockedBloomFilter, BlockedBloomFilter};
///
/// let seen = AtomicBlockedBloomFilter::new(10_000, 0.01)?;
/// std::thread::scope(|s| {
///     s.spawn(|| (&seen).extend(0..5_000u32));
///     s.spawn(|| (&seen).extend(5_000..9_000u32));
/// });
/// assert!((0..9_000u32).all(|key| seen.contains(&key)));
///
/// let plain: BlockedBloomFilter = seen.into_plain();
/// assert!(plain.contains(&8_999u32));
/// # Ok::<(), bloom_blocked::BuildError>(())
/// ```
pub struct AtomicBlockedBloomFilter<S = DefaultHashBuilder> {
    blocks: AtomicBlocks<AtomicWords>,
    params: BlockedBloomParams,
    hasher: S,
}

reading_methods!([S] AtomicBlockedBloomFilter<S>, "AtomicBlockedBloomFilter");
atomic_twin!(AtomicBlockedBloomFilter of BlockedBloomFilter, BlockedBloomParams);

impl<S> AtomicBlockedBloomFilter<S> {
    /// Returns the same filter for one owner, without a copy.
    #[must_use]
    pub fn into_plain(self) -> BlockedBloomFilter<S> {
        let blocks = Blocks::from_words(Words::from(self.blocks.into_words()), &self.params);
        BlockedBloomFilter::from_parts(blocks, self.params, self.hasher)
    }

    /// Inserts a key by its hash; see [`insert`](Self::insert).
    ///
    /// The hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
    #[inline]
    pub fn insert_hash(&self, hash: u64) -> bool {
        self.blocks.insert(hash)
    }

    /// Inserts many hashes. Returns for how many [`insert`](Self::insert) would have returned `true`.
    ///
    /// Each hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
    pub fn insert_hash_batch(&self, hashes: &[u64]) -> usize {
        self.blocks.insert_many(hashes, |&hash| hash)
    }

    /// Forgets all items. Exclusive, so that no insert can fall between two words.
    pub fn clear(&mut self) {
        self.blocks.words_mut().clear();
    }

    /// The bits, each word at some moment.
    pub(crate) fn words(&self) -> impl Iterator<Item = u64> {
        self.blocks.words()
    }
}

impl<S: KeyHasher> AtomicBlockedBloomFilter<S> {
    /// Inserts `key`. Returns `true` when this call set at least one of its bits.
    ///
    /// - `true`: no insert of this key *happened before* this call. Threads that insert the same new key at the same time
    ///   may each get `true`; at least one of them does, unless other keys cover it.
    /// - `false`: the key's bits were all set, by this key or by others, perhaps at the same time.
    ///
    /// To do something once per key, decide by a lock or a map; this filter only rules out most repetitions.
    ///
    /// # Complexity
    /// O(1), lock-free and without allocation.
    #[inline]
    pub fn insert<K: Hash + ?Sized>(&self, key: &K) -> bool {
        self.insert_hash(self.hasher.hash_key(key))
    }

    /// Inserts many keys. Returns for how many [`insert`](Self::insert) would have returned `true`.
    ///
    /// Several threads that insert the same new keys may count the same key more than once.
    pub fn insert_batch<K: Hash>(&self, keys: &[K]) -> usize {
        self.blocks.insert_many(keys, |key| self.hasher.hash_key(key))
    }

    /// Makes `self` the filter of the keys of both, while other threads insert into either.
    ///
    /// # Errors
    /// [`Incompatible`] when blocks, hashes or hashers differ; nothing is changed then.
    pub fn union_with(&self, other: &Self) -> Result<(), Incompatible> {
        self.check_compatible(other)?;
        self.blocks.union_with(&other.blocks);
        Ok(())
    }

    /// Keeps the bits that both filters have; see [`BlockedBloomFilter::intersect_with`].
    ///
    /// Exclusive, since it clears bits: an insert at the same time could be lost.
    ///
    /// # Errors
    /// [`Incompatible`] when blocks, hashes or hashers differ; nothing is changed then.
    pub fn intersect_with(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.check_compatible(other)?;
        self.blocks.words_mut().combine(other.words(), |word, theirs| word & theirs);
        Ok(())
    }
}

impl<S: Clone> AtomicBlockedBloomFilter<S> {
    /// Copies the filter into a plain one, while other threads may insert.
    ///
    /// Every insert that happened before is in the copy; of those at the same time, some of their bits.
    ///
    /// # Errors
    /// [`AllocError`] when memory is refused.
    pub fn to_plain(&self) -> Result<BlockedBloomFilter<S>, AllocError> {
        let mut blocks = Blocks::zeroed(&self.params)?;
        blocks.words_mut().iter_mut().zip(self.words()).for_each(|(copy, word)| *copy = word);
        Ok(BlockedBloomFilter::from_parts(blocks, self.params, self.hasher.clone()))
    }
}

impl<S> From<BlockedBloomFilter<S>> for AtomicBlockedBloomFilter<S> {
    /// Opens the filter to other threads, without a copy.
    fn from(plain: BlockedBloomFilter<S>) -> Self {
        let (blocks, params, hasher) = plain.into_parts();
        let layout = blocks.layout();
        let blocks = AtomicBlocks::from_words(AtomicWords::from(blocks.into_words()), layout);
        Self { blocks, params, hasher }
    }
}
