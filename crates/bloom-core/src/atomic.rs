//! The Bloom filter that threads share.

mod bits;

use core::hash::Hash;

use pds_core::internal::{Words, atomic_twin};
use pds_core::storage::{AtomicWords, OwnedWords};
use pds_core::{AllocError, DefaultHashBuilder, Incompatible, KeyHasher};
use pds_params::BloomParams;

use self::bits::AtomicBits;
use crate::batch::{insert_hashes, insert_keys};
use crate::probing::{self, BitSource};
use crate::reading::reading_methods;
use crate::{BitArray, BloomFilter};

/// A [`BloomFilter`] that threads fill and ask at the same time, without locks.
///
/// Choose it where several threads insert into one filter. A locked operation costs 8 to 10 ns for
/// each bit that has to be set, so that one thread alone is better served by the plain filter. Both
/// have the same bits for the same keys and turn into each other without a copy.
///
/// # Guarantees
/// - No insert is lost. A key whose insert *happened before* a query (by a join, a channel, a lock) is
///   found by it; during an insert another thread may or may not find the key.
/// - When several threads insert the same new key at the same time, at least one of them is told that it was new,
///   unless other keys cover it. All of them may be.
/// - Rates, memory and complexity: those of [`BloomFilter`].
/// - Operations are relaxed: seeing a key says nothing about other memory that its inserter wrote.
/// - Counts and copies taken during inserts show each word at some moment, not all at the same one.
///
/// # Examples
/// ```
/// use bloom_core::{AtomicBloomFilter, BloomFilter};
///
/// let seen = AtomicBloomFilter::new(10_000, 0.01)?;
/// std::thread::scope(|s| {
///     s.spawn(|| (&seen).extend(0..5_000u32));
///     s.spawn(|| (&seen).extend(5_000..9_000u32));
/// });
/// assert!((0..9_000u32).all(|key| seen.contains(&key)));
///
/// let plain: BloomFilter = seen.into_plain();
/// assert!(plain.contains(&8_999u32));
/// # Ok::<(), pds_core::BuildError>(())
/// ```
pub struct AtomicBloomFilter<S = DefaultHashBuilder> {
    bits: AtomicBits<AtomicWords>,
    params: BloomParams,
    hasher: S,
}

reading_methods!([S] AtomicBloomFilter<S>);
atomic_twin!(AtomicBloomFilter of BloomFilter, BloomParams);

impl<S> AtomicBloomFilter<S> {
    /// Returns the same filter for one owner, without a copy.
    #[must_use]
    pub fn into_plain(self) -> BloomFilter<S> {
        let words = Words::from(self.bits.into_words());
        let bits = BitArray::from_words(words, self.params.num_bits());
        BloomFilter::from_parts(bits, self.params, self.hasher)
    }

    /// The words as they are at the moment of each.
    pub(crate) fn words(&self) -> impl Iterator<Item = u64> {
        self.bits.words()
    }

    /// Inserts a key by its hash; see [`insert`](Self::insert).
    ///
    /// The hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
    #[inline]
    pub fn insert_hash(&self, hash: u64) -> bool {
        probing::insert(&mut &self.bits, self.params.num_hashes(), hash)
    }

    /// Inserts many hashes. Returns for how many [`insert`](Self::insert) would have returned `true`.
    ///
    /// Each hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
    pub fn insert_hash_batch(&self, hashes: &[u64]) -> usize {
        insert_hashes(&mut &self.bits, self.params.num_hashes(), hashes)
    }

    /// Forgets all items. Exclusive, so that no insert can fall between two words.
    pub fn clear(&mut self) {
        self.bits.words_mut().clear();
    }
}

impl<S: KeyHasher> AtomicBloomFilter<S> {
    /// Inserts `key`. Returns `true` when this call set at least one of its bits.
    ///
    /// - `true`: no insert of this key *happened before* this call. Threads that insert the same new key at the same time
    ///   may each get `true`; at least one of them does, unless other keys cover it.
    /// - `false`: the key's bits were all set, by this key or by others, perhaps at the same time.
    ///
    /// To do something once per key, decide by a lock or a map; this filter only rules out most repetitions.
    ///
    /// # Complexity
    /// O(k) for k hash functions, lock-free and without allocation.
    #[inline]
    pub fn insert<K: Hash + ?Sized>(&self, key: &K) -> bool {
        self.insert_hash(self.hasher.hash_key(key))
    }

    /// Inserts many keys. Returns for how many [`insert`](Self::insert) would have returned `true`.
    ///
    /// Several threads that insert the same new keys may count the same key more than once.
    pub fn insert_batch<K: Hash>(&self, keys: &[K]) -> usize {
        insert_keys(&mut &self.bits, self.params.num_hashes(), &self.hasher, keys)
    }

    /// Makes `self` the filter of the keys of both, while other threads insert into either.
    ///
    /// # Errors
    /// [`Incompatible`] when bits, hashes or hashers differ; nothing is changed then.
    pub fn union_with(&self, other: &Self) -> Result<(), Incompatible> {
        self.check_compatible(other)?;
        self.bits.union_with(&other.bits);
        Ok(())
    }

    /// Keeps the bits that both filters have; see [`BloomFilter::intersect_with`].
    ///
    /// Exclusive, since it clears bits: an insert at the same time could be lost.
    ///
    /// # Errors
    /// [`Incompatible`] when bits, hashes or hashers differ; nothing is changed then.
    pub fn intersect_with(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.check_compatible(other)?;
        self.bits.words_mut().combine(other.words(), |word, theirs| word & theirs);
        Ok(())
    }
}

impl<S: Clone> AtomicBloomFilter<S> {
    /// Copies the filter into a plain one, while other threads may insert.
    ///
    /// Every insert that happened before is in the copy; of those at the same time, some of their bits.
    ///
    /// # Errors
    /// [`AllocError`] when memory is refused.
    pub fn to_plain(&self) -> Result<BloomFilter<S>, AllocError> {
        let num_bits = self.num_bits();
        let mut words = Words::zeroed(num_bits.div_ceil(64))?;
        words.iter_mut().zip(self.words()).for_each(|(copy, word)| *copy = word);
        let bits = BitArray::from_words(words, num_bits);
        Ok(BloomFilter::from_parts(bits, self.params, self.hasher.clone()))
    }
}

impl<S> From<BloomFilter<S>> for AtomicBloomFilter<S> {
    /// Opens the filter to other threads, without a copy.
    fn from(plain: BloomFilter<S>) -> Self {
        let (bits, params, hasher) = plain.into_parts();
        let words = AtomicWords::from(bits.into_words());
        Self { bits: AtomicBits::from_words(words, params.num_bits()), params, hasher }
    }
}
