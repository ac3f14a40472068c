//! The blocked Bloom filter that threads share.

use core::convert::Infallible;
use core::hash::Hash;
use core::iter;

use pds_core::error::{AllocError, Incompatible};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::internal::{AtomicU64, Visitor, prefetch_reduced, reduced, set_bits, visit_ahead};
use pds_core::storage::{AtomicWords, WordSource};
use pds_core::traits::{Insert, Merge};

use crate::BlockedBloomFilter;
use crate::batch::Place;
use crate::blocks::LEAST_BATCH;
use crate::kernel::masks;
use crate::layout::{LANES, Layout};

/// A [`BlockedBloomFilter`] that several threads fill and query at the same time, without locks.
///
/// Build it with [`build_atomic`](crate::BlockedBloomFilterBuilder::build_atomic), or convert a plain filter with `from`.
/// The conversion takes constant time in both directions, and the bits are the same.
///
/// Use it if several threads insert into one filter. An insert of a new key needs one locked operation per clear bit,
/// about 5 ns each, and none for set bits. A query takes two to three times as long as in the plain filter, because vector
/// instructions have no atomic form.
///
/// # Guarantees
/// - No insert is lost. A query finds every key whose insert *happened before* it (by a join, a channel, a lock). A query
///   during an insert may or may not find the key.
/// - If several threads insert the same new key at the same time, at least one of them is told that it was new, unless
///   other keys have set all of its bits. All of them may be told so.
/// - Rates and memory are those of [`BlockedBloomFilter`].
/// - Operations are relaxed: finding a key says nothing about other memory that its inserter wrote.
/// - Counts and copies that are taken during inserts see each word at its own moment.
///
/// # Examples
/// ```
/// use bloom_blocked::{AtomicBlockedBloomFilter, BlockedBloomFilter};
///
/// let seen: AtomicBlockedBloomFilter = BlockedBloomFilter::new(10_000, 0.01)?.into();
/// std::thread::scope(|s| {
///     s.spawn(|| (&seen).extend(0..5_000u32));
///     s.spawn(|| (&seen).extend(5_000..9_000u32));
/// });
/// assert!((0..9_000u32).all(|key| seen.contains(&key)));
///
/// let plain: BlockedBloomFilter = seen.into_plain();
/// assert!(plain.contains(&8_999u32));
/// # Ok::<(), bloom_blocked::error::BuildError>(())
/// ```
pub type AtomicBlockedBloomFilter<S = DefaultHashBuilder> = BlockedBloomFilter<S, AtomicWords>;

impl<S: KeyHasher> AtomicBlockedBloomFilter<S> {
    /// Returns the same filter for one owner, in constant time.
    #[must_use]
    pub fn into_plain(self) -> BlockedBloomFilter<S> {
        let Self { blocks, params, hasher } = self;
        BlockedBloomFilter { blocks: blocks.into_storage(&params), params, hasher }
    }

    /// Copies the filter into a plain one, while other threads may insert.
    ///
    /// The copy has every key whose insert happened before. Of a key that is inserted at the same time, it may have some
    /// bits.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub fn to_plain(&self) -> Result<BlockedBloomFilter<S>, AllocError>
    where
        S: Clone,
    {
        self.try_clone().map(Self::into_plain)
    }

    /// Inserts a key by its hash, as [`insert`](Self::insert) does. See [`KeyHasher`] for the hash.
    #[inline]
    pub fn insert_hash(&self, hash: u64) -> bool {
        insert(self.blocks.layout(), reduced(self.blocks.stored(), hash), hash)
    }

    /// Inserts many hashes. Returns for how many of them [`insert`](Self::insert) would have returned `true`.
    ///
    /// See [`KeyHasher`] for the hashes.
    pub fn insert_hash_batch(&self, hashes: &[u64]) -> usize {
        self.insert_many(hashes, |&hash| hash)
    }

    fn insert_many<K>(&self, keys: &[K], hash: impl Fn(&K) -> u64) -> usize {
        if keys.len() < LEAST_BATCH {
            return keys.iter().filter(|key| self.insert_hash(hash(key))).count();
        }
        let (blocks, layout) = (self.blocks.stored(), self.blocks.layout());
        visit_ahead(keys, hash, Inserts { blocks, layout, new: 0 }).new
    }

    /// Removes all keys. Of a key that another thread inserts at the same time, some bits may remain.
    pub fn clear(&self) {
        self.blocks.words().clear();
    }

    /// Inserts `key`. Returns `true` if this call set at least one of its bits.
    ///
    /// - `true`: no insert of this key *happened before* this call. Threads that insert the same new key at the same time
    ///   may each get `true`. At least one of them does, unless other keys have set all of its bits.
    /// - `false`: all bits of the key were set, by this key or by others, perhaps at the same time.
    ///
    /// To do something once per key, decide by a lock or a map. This filter only excludes most repetitions.
    ///
    /// # Complexity
    /// O(1), lock-free and without allocation.
    #[inline]
    pub fn insert<K: Hash + ?Sized>(&self, key: &K) -> bool {
        self.insert_hash(self.hasher.hash_key(key))
    }

    /// Inserts many keys. Returns for how many of them [`insert`](Self::insert) would have returned `true`.
    ///
    /// Several threads that insert the same new key at the same time may each count it.
    pub fn insert_batch<K: Hash>(&self, keys: &[K]) -> usize {
        self.insert_many(keys, |key| self.hasher.hash_key(key))
    }

    /// Inserts all that `other`, in any storage, contains, while other threads insert into either.
    ///
    /// # Errors
    /// [`Incompatible`] if blocks, hashes or hashers differ. `self` is unchanged then.
    pub fn union_with(
        &self,
        other: &BlockedBloomFilter<S, impl WordSource>,
    ) -> Result<(), Incompatible> {
        self.check_compatible(other)?;
        self.blocks.words().unite(other.blocks.words().values());
        Ok(())
    }
}

struct Inserts<'a> {
    blocks: &'a [[AtomicU64; LANES]],
    layout: &'a Layout,
    new: usize,
}

impl Visitor for Inserts<'_> {
    type Place = Place;
    const HASHES_APART: bool = false;

    #[inline(always)]
    fn prefetch(&self, hash: u64) -> Place {
        Place { block: prefetch_reduced(self.blocks, hash), hash }
    }

    #[inline(always)]
    fn visit(&mut self, _: usize, place: Place) {
        self.new += usize::from(insert(self.layout, &self.blocks[place.block], place.hash));
    }
}

fn insert(layout: &Layout, block: &[AtomicU64; LANES], hash: u64) -> bool {
    let masks = masks::<false>(layout, hash);
    iter::zip(block, masks).fold(0, |new, (word, mask)| new | set_bits(word, mask)) != 0
}

/// Opens the filter to other threads, in constant time.
impl<S: KeyHasher> From<BlockedBloomFilter<S>> for AtomicBlockedBloomFilter<S> {
    fn from(BlockedBloomFilter { blocks, params, hasher }: BlockedBloomFilter<S>) -> Self {
        Self { blocks: blocks.into_storage(&params), params, hasher }
    }
}

impl<S: KeyHasher> Insert for AtomicBlockedBloomFilter<S> {
    type Error = Infallible;

    #[inline]
    fn insert_hash(&mut self, hash: u64) -> Result<bool, Infallible> {
        Ok((*self).insert_hash(hash))
    }
}

impl<S: KeyHasher> Insert for &AtomicBlockedBloomFilter<S> {
    type Error = Infallible;

    #[inline]
    fn insert_hash(&mut self, hash: u64) -> Result<bool, Infallible> {
        Ok(AtomicBlockedBloomFilter::insert_hash(self, hash))
    }
}

impl<S: KeyHasher> Merge for AtomicBlockedBloomFilter<S> {
    type Error = Incompatible;

    fn merge(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.union_with(other)
    }
}

/// Inserts keys, or references to keys: both have the same hash.
impl<K: Hash, S: KeyHasher> Extend<K> for AtomicBlockedBloomFilter<S> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        (&*self).extend(keys);
    }
}

/// Inserts keys through a shared reference, as `std::io::Write` is implemented for `&File`.
impl<K: Hash, S: KeyHasher> Extend<K> for &AtomicBlockedBloomFilter<S> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        keys.into_iter().for_each(|key| _ = self.insert(&key));
    }
}

/// Every interleaving of a few operations, and every value that a relaxed load may see.
///
/// This does not prove more threads, longer histories, keys of more than two positions, the cast from plain to atomic
/// memory, or that compiler and processor keep the memory model.
#[cfg(all(test, loom))]
mod loom_tests {
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicBool, Ordering};
    use loom::thread;
    use pds_core::hash::finalize;

    use super::AtomicBlockedBloomFilter;
    use crate::BlockedBloomFilter;
    use crate::kernel::masks;
    use crate::layout::Block;

    fn plain() -> BlockedBloomFilter {
        BlockedBloomFilter::builder().blocks(1).hashes(2).build().unwrap()
    }

    /// One block and two positions per key, one in each half.
    fn shared() -> Arc<AtomicBlockedBloomFilter> {
        Arc::new(plain().into())
    }

    /// Two hashes with other bits in the same two lanes, so that threads meet in both.
    fn hashes() -> (u64, u64) {
        let plain = plain();
        let masks = |hash| -> Block { masks::<false>(plain.blocks.layout(), hash) };
        let first = masks(finalize(0));
        let meets = |&other: &u64| {
            let other = masks(other);
            first.iter().zip(other).all(|(&a, b)| (a == 0) == (b == 0) && a & b == 0)
        };
        (finalize(0), (1..).map(finalize).find(meets).unwrap())
    }

    #[test]
    fn no_insert_is_lost() {
        let (one, two) = hashes();
        loom::model(move || {
            let filter = shared();
            let other = filter.clone();
            let thread = thread::spawn(move || other.insert_hash(one));
            filter.insert_hash(two);
            thread.join().unwrap();
            assert!(filter.contains_hash(one) && filter.contains_hash(two));
        });
    }

    #[test]
    fn at_least_one_of_two_is_told_that_a_key_was_new() {
        let (key, _) = hashes();
        loom::model(move || {
            let filter = shared();
            let other = filter.clone();
            let thread = thread::spawn(move || other.insert_hash(key));
            let here = filter.insert_hash(key);
            assert!(thread.join().unwrap() || here);
        });
    }

    #[test]
    fn what_happened_before_is_seen() {
        let (key, _) = hashes();
        loom::model(move || {
            let filter = shared();
            let ready = Arc::new(AtomicBool::new(false));
            let (other, flag) = (filter.clone(), ready.clone());
            let thread = thread::spawn(move || {
                other.insert_hash(key);
                flag.store(true, Ordering::Release);
            });
            if ready.load(Ordering::Acquire) {
                assert!(filter.contains_hash(key));
            }
            thread.join().unwrap();
        });
    }

    #[test]
    fn a_union_loses_no_concurrent_insert() {
        let (one, two) = hashes();
        loom::model(move || {
            let (filter, source) = (shared(), shared());
            source.insert_hash(one);
            let other = filter.clone();
            let thread = thread::spawn(move || other.union_with(&source));
            filter.insert_hash(two);
            thread.join().unwrap().unwrap();
            assert!(filter.contains_hash(one) && filter.contains_hash(two));
        });
    }
}
