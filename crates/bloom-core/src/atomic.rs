//! The Bloom filter that threads share.

use core::convert::Infallible;
use core::hash::Hash;

use pds_core::error::{AllocError, Incompatible};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::storage::{AtomicWords, OwnedWords, WordSource, Words};
use pds_core::traits::{Insert, Merge};

use crate::batch::{insert_hashes, insert_keys};
use crate::{BitArray, BloomFilter, probing};

/// A [`BloomFilter`] that several threads fill and query at the same time, without locks.
///
/// Use it if several threads insert into one filter. Setting a bit costs a locked operation, 8 to 10 ns. For a single
/// thread use the plain filter. Both have the same bits for the same keys, and convert into each other without a copy.
///
/// Build it with [`build_atomic`](crate::BloomFilterBuilder::build_atomic), or convert a plain filter with `from`.
///
/// # Guarantees
/// - No insert is lost. A query finds every key whose insert *happened before* it (by a join, a channel, a lock). A
///   query during an insert may or may not find the key.
/// - If several threads insert the same new key at the same time, at least one of them is told that it was new, unless
///   other keys have set all of its bits. All of them may be told so.
/// - Rates, memory and complexity are those of [`BloomFilter`].
/// - Operations are relaxed: finding a key says nothing about other memory that its inserter wrote.
/// - Counts and copies that are taken during inserts see each word at its own moment.
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
/// # Ok::<(), pds_core::error::BuildError>(())
/// ```
pub type AtomicBloomFilter<S = DefaultHashBuilder> = BloomFilter<S, AtomicWords>;

impl<S: KeyHasher> AtomicBloomFilter<S> {
    /// Returns the same filter for one owner, without a copy.
    #[must_use]
    pub fn into_plain(self) -> BloomFilter<S> {
        let Self { bits, params, hasher } = self;
        let words = Words::from(bits.into_words());
        BloomFilter { bits: BitArray::from_words(words, params.num_bits()), params, hasher }
    }

    /// Copies the filter into a plain one, while other threads may insert.
    ///
    /// The copy has every key whose insert happened before. Of a key that is inserted at the same time, it may have
    /// some bits.
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

    /// Inserts a key by its [hash](KeyHasher#hashes-of-your-own), as [`insert`](Self::insert) does.
    #[inline]
    pub fn insert_hash(&self, hash: u64) -> bool {
        probing::insert(self.bits.as_bits(), self.params.num_hashes(), hash)
    }

    /// Inserts many [hashes](KeyHasher#hashes-of-your-own). Returns for how many of them [`insert`](Self::insert) would
    /// have returned `true`.
    pub fn insert_hash_batch(&self, hashes: &[u64]) -> usize {
        insert_hashes(self.bits.as_bits(), self.params.num_hashes(), hashes)
    }

    /// Removes all items.
    ///
    /// A key that is inserted at the same time may be lost, or may leave some of its bits. A key whose insert begins
    /// after this call has returned is kept.
    pub fn clear(&self) {
        self.bits.storage().clear();
    }

    /// Inserts `key`. Returns `true` if this call set at least one of its bits.
    ///
    /// - `true`: no insert of this key *happened before* this call. Threads that insert the same new key at the same
    ///   time may each get `true`. At least one of them does, unless other keys have set all of its bits.
    /// - `false`: all bits of the key were set, by this key or by others, perhaps at the same time.
    ///
    /// To do something once per key, decide by a lock or a map. This filter only excludes most repetitions.
    ///
    /// # Complexity
    /// O(k) for k hash functions, lock-free and without allocation.
    #[inline]
    pub fn insert<K: Hash + ?Sized>(&self, key: &K) -> bool {
        self.insert_hash(self.hasher.hash_key(key))
    }

    /// Inserts many keys. Returns for how many of them [`insert`](Self::insert) would have returned `true`.
    ///
    /// Several threads that insert the same new key at the same time may each count it.
    pub fn insert_batch<K: Hash>(&self, keys: &[K]) -> usize {
        insert_keys(self.bits.as_bits(), self.params.num_hashes(), &self.hasher, keys)
    }

    /// Inserts all that `other` contains, while other threads insert into either.
    ///
    /// # Errors
    /// [`Incompatible`] if bits, hashes or hashers differ. Nothing is changed then.
    pub fn union_with(&self, other: &BloomFilter<S, impl WordSource>) -> Result<(), Incompatible> {
        self.check_compatible(other)?;
        self.bits.storage().unite(other.bits.values());
        Ok(())
    }
}

impl<S: KeyHasher> From<BloomFilter<S>> for AtomicBloomFilter<S> {
    /// Opens the filter to other threads, without a copy.
    fn from(BloomFilter { bits, params, hasher }: BloomFilter<S>) -> Self {
        let words = AtomicWords::from(bits.into_words());
        Self { bits: BitArray::from_words(words, params.num_bits()), params, hasher }
    }
}

impl<S: KeyHasher> Insert for AtomicBloomFilter<S> {
    type Error = Infallible;

    #[inline]
    fn insert_hash(&mut self, hash: u64) -> Result<bool, Infallible> {
        Ok(Self::insert_hash(self, hash))
    }
}

/// Inserts keys through a shared reference, as `std::io::Write` is implemented for `&File`.
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

/// Inserts keys, or references to keys: both have the same hash.
impl<K: Hash, S: KeyHasher> Extend<K> for AtomicBloomFilter<S> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        (&*self).extend(keys);
    }
}

/// Inserts keys through a shared reference, as `std::io::Write` is implemented for `&File`.
impl<K: Hash, S: KeyHasher> Extend<K> for &AtomicBloomFilter<S> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        keys.into_iter().for_each(|key| _ = AtomicBloomFilter::insert(self, &key));
    }
}

/// Every interleaving of a few operations, and every value that a relaxed load may see.
///
/// This does not prove more threads, longer histories, the cast from plain to atomic memory (AddressSanitizer and
/// valgrind check it), or that compiler and processor keep the memory model.
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

    /// Keys from before are gone. Keys that are inserted at the same time may leave any of their bits.
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
