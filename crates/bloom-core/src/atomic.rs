//! The Bloom filter that threads share.

use core::convert::Infallible;
use core::hash::Hash;

use pds_core::storage::{AtomicWords, OwnedWords, WordSource, Words};
use pds_core::{AllocError, DefaultHashBuilder, Incompatible, Insert, KeyHasher, Merge};

use crate::batch::{insert_hashes, insert_keys};
use crate::{BitArray, BloomFilter, probing};

/// A [`BloomFilter`] that threads fill and ask at the same time, without locks.
///
/// Use it if several threads insert into one filter. Setting a bit costs a locked operation, 8 to 10 ns, so a single
/// thread is better served by the plain filter. Both have the same bits for the same keys, and convert into each other
/// without a copy.
///
/// Create it with [`build_atomic`](crate::BloomFilterBuilder::build_atomic) of the builder, or from a [`BloomFilter`].
///
/// # Guarantees
/// - No insert is lost. A key whose insert *happened before* a query (by a join, a channel, a lock) is
///   found by it. During an insert another thread may or may not find the key.
/// - If several threads insert the same new key at the same time, at least one of them is told that it was new,
///   unless other keys cover it. All of them may be.
/// - Rates, memory and complexity: those of [`BloomFilter`].
/// - Operations are relaxed: seeing a key says nothing about other memory that its inserter wrote.
/// - Counts and copies taken during inserts show each word at some moment, not all at the same one.
///
/// # Examples
/// ```
/// use bloom_core::{AtomicBloomFilter, BloomFilter};
///
/// let seen: AtomicBloomFilter = BloomFilter::builder().expected_items(10_000).build_atomic()?;
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
pub type AtomicBloomFilter<S = DefaultHashBuilder> = BloomFilter<S, AtomicWords>;

impl<S> AtomicBloomFilter<S> {
    /// Returns the same filter for one owner, without a copy.
    #[must_use]
    pub fn into_plain(self) -> BloomFilter<S> {
        let Self { bits, params, hasher } = self;
        let words = Words::from(bits.into_words());
        BloomFilter { bits: BitArray::from_words(words, params.num_bits()), params, hasher }
    }

    /// Copies the filter into a plain one, while other threads may insert.
    ///
    /// The copy contains every insert that happened before. Of inserts at the same time it may have some of the bits.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub fn to_plain(&self) -> Result<BloomFilter<S>, AllocError>
    where
        S: Clone,
    {
        let (params, hasher) = (self.params, self.hasher.clone());
        let words = Words::copied(self.bits.storage())?;
        Ok(BloomFilter { bits: BitArray::from_words(words, params.num_bits()), params, hasher })
    }

    /// Inserts a key by [its hash](KeyHasher#methods-that-take-a-hash); see [`insert`](Self::insert).
    #[inline]
    pub fn insert_hash(&self, hash: u64) -> bool {
        probing::insert(self.bits.as_bits(), self.params.num_hashes(), hash)
    }

    /// Inserts many [hashes](KeyHasher#methods-that-take-a-hash). Returns for how many [`insert`](Self::insert) would have
    /// returned `true`.
    pub fn insert_hash_batch(&self, hashes: &[u64]) -> usize {
        insert_hashes(self.bits.as_bits(), self.params.num_hashes(), hashes)
    }

    /// Removes all items.
    ///
    /// A key that is inserted at the same time may be lost, or may leave some of its bits. One whose insert begins after
    /// this call has returned is kept.
    pub fn clear(&self) {
        self.bits.storage().clear();
    }
}

impl<S: KeyHasher> AtomicBloomFilter<S> {
    /// Inserts `key`. Returns `true` if this call set at least one of its bits.
    ///
    /// - `true`: no insert of this key *happened before* this call. Threads that insert the same new key at the same time
    ///   may each get `true`; at least one of them does, unless other keys cover it.
    /// - `false`: the key's bits were all set, by this key or by others, perhaps at the same time.
    ///
    /// To do something once per key, decide by a lock or a map. This filter only rules out most repetitions.
    ///
    /// # Complexity
    /// O(k) for k hash functions. Lock-free, and no allocation.
    #[inline]
    pub fn insert<K: Hash + ?Sized>(&self, key: &K) -> bool {
        self.insert_hash(self.hasher.hash_key(key))
    }

    /// Inserts many keys. Returns for how many [`insert`](Self::insert) would have returned `true`.
    ///
    /// Several threads that insert the same new keys may count the same key more than once.
    pub fn insert_batch<K: Hash>(&self, keys: &[K]) -> usize {
        insert_keys(self.bits.as_bits(), self.params.num_hashes(), &self.hasher, keys)
    }

    /// Makes `self` the filter of the keys of both, while other threads insert into either.
    ///
    /// # Errors
    /// [`Incompatible`] if bits, hashes or hashers differ. Nothing is changed then.
    pub fn union_with(&self, other: &BloomFilter<S, impl WordSource>) -> Result<(), Incompatible> {
        self.check_compatible(other)?;
        self.bits.storage().unite(other.bits.storage().values());
        Ok(())
    }
}

impl<S> From<BloomFilter<S>> for AtomicBloomFilter<S> {
    /// Opens the filter to other threads, without a copy.
    fn from(BloomFilter { bits, params, hasher }: BloomFilter<S>) -> Self {
        let words = AtomicWords::from(bits.into_words());
        Self { bits: BitArray::from_words(words, params.num_bits()), params, hasher }
    }
}

impl<S> From<AtomicBloomFilter<S>> for BloomFilter<S> {
    fn from(shared: AtomicBloomFilter<S>) -> Self {
        shared.into_plain()
    }
}

impl<S: KeyHasher> Insert for AtomicBloomFilter<S> {
    type Error = Infallible;

    #[inline]
    fn insert_hash(&mut self, hash: u64) -> Result<bool, Infallible> {
        Ok(Self::insert_hash(self, hash))
    }
}

/// Also for a shared reference, as `std::io` has it for files.
impl<S: KeyHasher> Insert for &AtomicBloomFilter<S> {
    type Error = Infallible;

    #[inline]
    fn insert_hash(&mut self, hash: u64) -> Result<bool, Infallible> {
        Ok(AtomicBloomFilter::insert_hash(self, hash))
    }
}

impl<S: KeyHasher> Merge for AtomicBloomFilter<S> {
    type Error = Incompatible;

    fn merge(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.union_with(other)
    }
}

/// Takes keys and references to keys: both hash alike.
impl<K: Hash, S: KeyHasher> Extend<K> for AtomicBloomFilter<S> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        (&*self).extend(keys);
    }
}

/// Also for a shared reference, as `std::io` has it for files.
impl<K: Hash, S: KeyHasher> Extend<K> for &AtomicBloomFilter<S> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        keys.into_iter().for_each(|key| _ = AtomicBloomFilter::insert(self, &key));
    }
}

/// Every interleaving of a few operations, and every value that a relaxed load may see.
///
/// What this leaves unproven: more threads and longer histories than these, the cast from plain to
/// atomic memory (AddressSanitizer and valgrind watch it), and the compiler's and the processor's own
/// keeping of the memory model.
#[cfg(all(test, loom))]
mod loom_tests {
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicBool, Ordering};
    use loom::thread;

    use super::*;

    /// Two positions per key, in one word so that threads meet in it.
    fn shared() -> Arc<AtomicBloomFilter> {
        Arc::new(BloomFilter::builder().bits(64).hashes(2).build_atomic().unwrap())
    }

    #[test]
    fn no_insert_is_lost() {
        loom::model(|| {
            let filter = shared();
            let other = filter.clone();
            let thread = thread::spawn(move || other.insert_hash(1));
            filter.insert_hash(2);
            thread.join().unwrap();
            assert!(filter.contains_hash(1) && filter.contains_hash(2));
        });
    }

    #[test]
    fn at_least_one_of_two_is_told_that_a_key_was_new() {
        loom::model(|| {
            let filter = shared();
            let other = filter.clone();
            let thread = thread::spawn(move || other.insert_hash(1));
            let here = filter.insert_hash(1);
            let there = thread.join().unwrap();
            assert!(here || there);
        });
    }

    #[test]
    fn what_happened_before_is_seen() {
        loom::model(|| {
            let filter = shared();
            let ready = Arc::new(AtomicBool::new(false));
            let (other, flag) = (filter.clone(), ready.clone());
            let thread = thread::spawn(move || {
                other.insert_hash(1);
                flag.store(true, Ordering::Release);
            });
            if ready.load(Ordering::Acquire) {
                assert!(filter.contains_hash(1));
            }
            thread.join().unwrap();
        });
    }

    #[test]
    fn a_union_loses_no_concurrent_insert() {
        loom::model(|| {
            let (filter, source) = (shared(), shared());
            source.insert_hash(1);
            let other = filter.clone();
            let thread = thread::spawn(move || other.union_with(&*source).unwrap());
            filter.insert_hash(2);
            thread.join().unwrap();
            assert!(filter.contains_hash(1) && filter.contains_hash(2));
        });
    }

    /// Of what is inserted at the same time anything may be left, of what was in before nothing.
    #[test]
    fn what_is_inserted_after_clearing_stays() {
        loom::model(|| {
            let filter = shared();
            filter.insert_hash(1);
            let other = filter.clone();
            let thread = thread::spawn(move || {
                other.clear();
                other.insert_hash(2);
            });
            filter.insert_hash(3);
            thread.join().unwrap();
            assert!(filter.contains_hash(2));
            let mut without = BloomFilter::builder().bits(64).hashes(2).build().unwrap();
            without.insert_hash_batch(&[2, 3]);
            let bits = filter.to_plain().unwrap().bits().words()[0];
            assert_eq!(bits & !without.bits().words()[0], 0, "a key from before");
        });
    }
}
