//! Filters of either age: construction, and the methods that change them.

use core::convert::Infallible;
use core::hash::Hash;

use pds_core::error::{AllocError, Incompatible};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::internal::insert_keys;
use pds_core::storage::Words;
use pds_core::traits::Insert;

use crate::Age;
use crate::columns::Columns;

/// Number of keys of a batch whose words are prefetched together.
const BATCH: usize = 32;

/// A Bloom filter that forgets keys by their age.
///
/// `A` is the measure of age, `S` the hasher, and `W` the [storage](pds_core::storage). Programs name it by its two kinds:
///
/// | type | contains |
/// |---|---|
/// | [`WindowBloomFilter`](crate::WindowBloomFilter) | the last N keys |
/// | [`TimedBloomFilter`](crate::TimedBloomFilter) | the keys of the last ticks of a clock |
/// | [`WindowBloomFilterView`](crate::WindowBloomFilterView), [`TimedBloomFilterView`](crate::TimedBloomFilterView) | the same, in portable bytes |
#[derive(Clone)]
pub struct AgingBloomFilter<A, S = DefaultHashBuilder, W = Words> {
    /// The bits.
    pub(crate) columns: Columns<W>,
    /// Parameters, and what has passed so far. The columns follow from it.
    pub(crate) age: A,
    /// From keys to hashes.
    pub(crate) hasher: S,
}

impl<A: Age, S: KeyHasher> AgingBloomFilter<A, S> {
    pub(crate) fn of_age(age: A, hasher: S) -> Result<Self, AllocError> {
        let mut columns = Columns::zeroed(age.grid())?;
        age.place(&mut columns);
        Ok(Self { columns, age, hasher })
    }

    /// Copies the filter. `clone` does the same, but aborts if the allocator refuses the memory.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub fn try_clone(&self) -> Result<Self, AllocError>
    where
        S: Clone,
    {
        let (age, hasher) = (self.age, self.hasher.clone());
        Ok(Self { columns: self.columns.try_clone()?, age, hasher })
    }

    /// Inserts a key by its [hash](KeyHasher#hashes-of-your-own). Returns `true` if it was not contained before.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        insert(&mut self.columns, &mut self.age, hash)
    }

    /// Inserts many [hashes](KeyHasher#hashes-of-your-own). Returns how many were not contained before.
    ///
    /// Bits and number are those of single inserts in this order.
    pub fn insert_hash_batch(&mut self, hashes: &[u64]) -> usize {
        let Self { columns, age, .. } = self;
        hashes.chunks(BATCH).map(|hashes| insert_chunk(columns, age, hashes)).sum()
    }

    /// Inserts `key`, which is then the youngest. Returns `true` if it was not contained before.
    ///
    /// `true` is certain. `false` means that this key is contained, or is a false positive. A key that is inserted again
    /// is as young as a new one.
    ///
    /// # Complexity
    /// O(k) for k hash functions, without allocation. In a filter of the last N keys, one insert in 16 also clears some words.
    #[inline]
    pub fn insert<K: Hash + ?Sized>(&mut self, key: &K) -> bool {
        self.insert_hash(self.hasher.hash_key(key))
    }

    /// Inserts many keys, the last of which is the youngest. Returns how many were not contained before.
    ///
    /// Bits and number are those of single inserts in this order.
    pub fn insert_batch<K: Hash>(&mut self, keys: &[K]) -> usize {
        let Self { columns, age, hasher } = self;
        insert_keys::<BATCH, K>(hasher, keys, |hashes| insert_chunk(columns, age, hashes))
    }

    /// Removes all keys.
    pub fn clear(&mut self) {
        self.columns.clear_all();
        self.age.note_clear();
        self.age.place(&mut self.columns);
    }
}

#[inline]
fn insert(columns: &mut Columns, age: &mut impl Age, hash: u64) -> bool {
    let is_new = columns.insert(hash);
    age.note_insert(columns);
    is_new
}

fn insert_chunk(columns: &mut Columns, age: &mut impl Age, hashes: &[u64]) -> usize {
    if columns.exceeds_cache() {
        hashes.iter().for_each(|&hash| columns.prefetch(hash));
    }
    hashes.iter().map(|&hash| usize::from(insert(columns, age, hash))).sum()
}

impl<A: Age, S: KeyHasher> Insert for AgingBloomFilter<A, S> {
    type Error = Infallible;

    #[inline]
    fn insert_hash(&mut self, hash: u64) -> Result<bool, Infallible> {
        Ok(self.insert_hash(hash))
    }
}

/// Inserts keys, or references to keys: both have the same hash.
impl<A: Age, K: Hash, S: KeyHasher> Extend<K> for AgingBloomFilter<A, S> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        keys.into_iter().for_each(|key| _ = self.insert(&key));
    }
}

/// Filters are equal if shape, age, hasher and bits are equal. Equal inserts make equal filters. Expected items and promised
/// rate are not compared.
impl<A: Age, S: KeyHasher> PartialEq for AgingBloomFilter<A, S> {
    fn eq(&self, other: &Self) -> bool {
        self.age.shape().as_slice() == other.age.shape().as_slice()
            && Incompatible::check_hasher(&self.hasher, &other.hasher).is_ok()
            && *self.columns.words() == *other.columns.words()
    }
}

impl<A: Age, S: KeyHasher> Eq for AgingBloomFilter<A, S> {}
