//! The quotient filter: construction, and the methods that change it.

use core::hash::Hash;

use pds_core::error::{AllocError, BuildError, Incompatible, InsertError};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::internal::hash_chunk;
use pds_core::storage::Words;
use pds_core::traits::{Insert, Remove};
use pds_params::QuotientParams;

use crate::QuotientFilterBuilder;
use crate::reading::BATCH;
use crate::table::Table;

/// A set that supports removal, merging and growth, and answers membership with false positives at a chosen rate.
///
/// `false` is certain: the key is absent. An absent key is answered `true` at the false-positive rate.
///
/// Use a quotient filter if keys are removed, if sets with removal are merged, or if the number of keys is not known at
/// first. It grows without the keys, and keeps the promised rate at every size up to a stated maximum.
///
/// The type of a key is part of the key: `1u32` and `1u64` are different keys.
///
/// # Storage
/// `S` is the hasher. `W` is the [storage](pds_core::storage), which decides which methods a filter has:
///
/// | type | slots | methods |
/// |---|---|---|
/// | `QuotientFilter` | in [`Words`] of its own | all |
/// | [`QuotientFilterView<B>`](crate::QuotientFilterView) | in portable bytes of the type `B` | those that read |
///
/// # Guarantees
/// - False negatives: never, if the caller removes only keys that are in, each at most as often as it was inserted.
/// - False positives: the mean rate is at most the promised one, up to the expected number of items. At load `a` and
///   `r` bits per remainder it is 1 - e^(-a/2^r).
/// - Capacity: exactly 95 % of the slots, copies included. An insert below it fails only if the allocator refuses memory.
/// - Memory: `r` + 2.125 bits per slot: 6.1 bits per item at 10 %, 9.7 at 1 %, 12.8 at 0.1 %, 17.0 at 0.01 %, from 10,000
///   items up.
/// - Time: all operations are O(1) on average if few keys are copies. `n` copies of one key take O(n) for each operation
///   near it. Use [`insert_if_absent`](Self::insert_if_absent) to store one copy only.
/// - Determinism: the bytes depend on the sizes and on the stored keys, not on the order of operations.
/// - Equality: filters are equal if they store the same fingerprints at the same size.
///
/// # Examples
/// ```
/// use quotient::QuotientFilter;
///
/// let mut sessions = QuotientFilter::new(10_000, 0.001)?;
/// sessions.insert("8c1f")?;
/// assert!(sessions.contains("8c1f"));
/// assert!(sessions.remove("8c1f"));
/// assert!(!sessions.contains("8c1f"));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # References
/// Prashant Pandey, Michael A. Bender, Rob Johnson and Rob Patro, "A General-Purpose Counting Filter: Making Every Bit
/// Count", SIGMOD 2017, section 4.
#[derive(Clone)]
pub struct QuotientFilter<S = DefaultHashBuilder, W = Words> {
    /// The fingerprints.
    pub(crate) table: Table<W>,
    /// Shape and design; the table has this shape.
    pub(crate) params: QuotientParams,
    /// From keys to hashes.
    pub(crate) hasher: S,
}

// Functions that are called by path (`QuotientFilter::new`) exist for one storage only: the compiler could not tell two
// of the same name apart (E0034).
impl QuotientFilter {
    /// Creates a filter for `expected_items` distinct keys that keeps the false-positive rate `rate` up to that number.
    ///
    /// It has the fewest bytes for both, and does not grow by itself. For a filter that grows use
    /// [`grows_to`](QuotientFilterBuilder::grows_to).
    ///
    /// # Errors
    /// [`BuildError::Param`] if `expected_items` is 0, if `rate` is not above 0 and below 1, or if both need more than
    /// 2^48 slots or 56 bits per remainder. [`BuildError::Alloc`] if the allocator refuses the memory.
    ///
    /// # Examples
    /// ```
    /// use quotient::QuotientFilter;
    ///
    /// let filter = QuotientFilter::new(1_000_000, 0.01)?;
    /// assert_eq!((filter.remainder_bits(), filter.capacity()), (7, 1_000_000));
    /// assert!(QuotientFilter::new(1_000_000, 0.0).is_err());
    /// # Ok::<(), quotient::error::BuildError>(())
    /// ```
    pub fn new(expected_items: u64, rate: f64) -> Result<Self, BuildError> {
        Self::builder().expected_items(expected_items).false_positive_rate(rate).build()
    }

    /// Starts a builder: for growth, other sizes, a seed, or another hasher.
    pub const fn builder() -> QuotientFilterBuilder {
        QuotientFilterBuilder::new()
    }
}

impl<S: KeyHasher> QuotientFilter<S> {
    /// Creates an empty filter with exactly these parameters.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub fn from_params(params: QuotientParams, hasher: S) -> Result<Self, AllocError> {
        let table = Table::new(params.num_slots(), params.remainder_bits())?;
        Ok(Self { table, params, hasher })
    }

    /// Copies the filter. `clone` does the same, but aborts if the allocator refuses the memory.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub fn try_clone(&self) -> Result<Self, AllocError>
    where
        S: Clone,
    {
        let (params, hasher) = (self.params, self.hasher.clone());
        Ok(Self { table: self.table.try_clone()?, params, hasher })
    }

    /// Inserts one copy of a key by its hash.
    ///
    /// Keys with equal hashes are one key. For the hash see [`contains_hash`](Self::contains_hash).
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> Result<(), InsertError> {
        self.insert_copy(hash).map(drop)
    }

    /// Inserts a key by its hash if [`contains_hash`](Self::contains_hash) is `false` for it; see
    /// [`insert_if_absent`](Self::insert_if_absent).
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn insert_hash_if_absent(&mut self, hash: u64) -> Result<bool, InsertError> {
        if self.is_full() {
            if self.contains_hash(hash) {
                return Ok(false);
            }
            self.make_room()?;
        }
        let (quotient, remainder) = self.fingerprint(hash);
        self.table.insert_if_absent(quotient, remainder).map_err(InsertError::Alloc)
    }

    /// Inserts one copy for each of many hashes, in this order.
    ///
    /// For the hashes see [`contains_hash`](Self::contains_hash).
    ///
    /// # Errors
    /// As [`insert_batch`](Self::insert_batch).
    pub fn insert_hash_batch(&mut self, hashes: &[u64]) -> Result<(), InsertError> {
        for hashes in hashes.chunks(BATCH) {
            self.prefetch(hashes);
            hashes.iter().try_for_each(|&hash| self.insert_hash(hash))?;
        }
        Ok(())
    }

    /// Removes one copy for each of many hashes. Returns how many were removed.
    ///
    /// For the hashes see [`contains_hash`](Self::contains_hash).
    pub fn remove_hash_batch(&mut self, hashes: &[u64]) -> usize {
        let mut removed = 0;
        for hashes in hashes.chunks(BATCH) {
            self.prefetch(hashes);
            removed += hashes.iter().filter(|&&hash| self.remove_hash(hash)).count();
        }
        removed
    }

    /// Removes one copy of a key by its hash; see [`remove`](Self::remove), and
    /// [`contains_hash`](Self::contains_hash) for the hash.
    #[inline]
    pub fn remove_hash(&mut self, hash: u64) -> bool {
        let (quotient, remainder) = self.fingerprint(hash);
        self.table.remove(quotient, remainder)
    }

    /// Removes all keys. The size stays.
    pub fn clear(&mut self) {
        self.table.clear();
    }

    /// Asks the system to back the slots with huge pages. Returns whether it agreed to try.
    #[cfg(feature = "huge-pages")]
    pub(crate) fn advise_huge_pages(&self) -> bool {
        self.table.words().advise_huge_pages()
    }

    /// Inserts one copy of `key`. Each call adds a copy.
    ///
    /// # Errors
    /// [`InsertError::Full`] if the filter is at its capacity and does not grow. [`InsertError::Alloc`] if the allocator
    /// refuses the memory for growth, or for the run of keys that overflows the last slot. No key is added or lost then; the
    /// filter may have grown.
    ///
    /// # Complexity
    /// O(1) on average, and O(copies) if the key or one near it has copies. The time grows from a load of 90 % up.
    #[inline]
    pub fn insert<K: Hash + ?Sized>(&mut self, key: &K) -> Result<(), InsertError> {
        self.insert_hash(self.hasher.hash_key(key))
    }

    /// Inserts `key` if [`contains`](Self::contains) is `false` for it. Returns whether it was inserted.
    ///
    /// Do not combine with [`remove`](Self::remove): a false positive is not stored, and removing the key that it
    /// collided with loses both.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    ///
    /// # Examples
    /// ```
    /// use quotient::QuotientFilter;
    ///
    /// let mut filter = QuotientFilter::new(100, 0.001)?;
    /// assert!(filter.insert_if_absent("key")?);
    /// assert!(!filter.insert_if_absent("key")?);
    /// assert_eq!(filter.len(), 1);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[inline]
    pub fn insert_if_absent<K: Hash + ?Sized>(&mut self, key: &K) -> Result<bool, InsertError> {
        self.insert_hash_if_absent(self.hasher.hash_key(key))
    }

    /// Inserts one copy of each of many keys, in this order.
    ///
    /// This is faster than single calls if the filter exceeds the cache.
    ///
    /// # Errors
    /// As [`insert`](Self::insert), at the first key that is not taken. The keys before it are in; [`len`](Self::len) tells
    /// how many.
    pub fn insert_batch<K: Hash>(&mut self, keys: &[K]) -> Result<(), InsertError> {
        for keys in keys.chunks(BATCH) {
            let hashes: [u64; BATCH] = hash_chunk(&self.hasher, keys);
            self.insert_hash_batch(&hashes[..keys.len()])?;
        }
        Ok(())
    }

    /// Removes one copy of each of many keys, as [`remove`](Self::remove) does. Returns how many were removed.
    ///
    /// This is faster than single calls if the filter exceeds the cache.
    pub fn remove_batch<K: Hash>(&mut self, keys: &[K]) -> usize {
        let removed = keys.chunks(BATCH).map(|keys| {
            let hashes: [u64; BATCH] = hash_chunk(&self.hasher, keys);
            self.remove_hash_batch(&hashes[..keys.len()])
        });
        removed.sum()
    }

    /// Removes one copy of `key`. Returns `false`, and changes nothing, if the key is certainly absent.
    ///
    /// Remove only keys that are in. Removing an absent key returns `true` at the false-positive rate, and then removes
    /// another key that has the same fingerprint. That key is answered `false` from then on. The filter cannot detect
    /// this.
    ///
    /// # Complexity
    /// As [`insert`](Self::insert), without an allocation.
    ///
    /// # Examples
    /// ```
    /// use quotient::QuotientFilter;
    ///
    /// let mut filter = QuotientFilter::new(100, 0.001)?;
    /// filter.insert("key")?;
    /// filter.insert("key")?;
    /// assert!(filter.remove("key") && filter.contains("key"), "one of two copies");
    /// assert!(filter.remove("key") && !filter.contains("key"));
    /// assert!(!filter.remove("key"));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[inline]
    pub fn remove<K: Hash + ?Sized>(&mut self, key: &K) -> bool {
        self.remove_hash(self.hasher.hash_key(key))
    }

    /// Inserts one copy. Returns whether the key was not contained.
    #[inline(always)]
    fn insert_copy(&mut self, hash: u64) -> Result<bool, InsertError> {
        if self.is_full() {
            self.make_room()?;
        }
        let (quotient, remainder) = self.fingerprint(hash);
        self.table.insert(quotient, remainder).map_err(InsertError::Alloc)
    }

    #[inline(always)]
    fn is_full(&self) -> bool {
        // Less work than the division by which the capacity is rounded down.
        20 * (self.len() + 1) > 19 * self.num_slots()
    }
}

/// Stores another copy of a key that may be contained, so that it can be removed.
impl<S: KeyHasher> Insert for QuotientFilter<S> {
    type Error = InsertError;

    #[inline]
    fn insert_hash(&mut self, hash: u64) -> Result<bool, InsertError> {
        self.insert_copy(hash)
    }
}

impl<S: KeyHasher> Remove for QuotientFilter<S> {
    #[inline]
    fn remove_hash(&mut self, hash: u64) -> bool {
        self.remove_hash(hash)
    }
}

/// Filters are equal if shape, hasher and fingerprints are. The design (expected items and rate) and the doublings left take
/// no part.
impl<S: KeyHasher> PartialEq for QuotientFilter<S> {
    fn eq(&self, other: &Self) -> bool {
        let same_hasher = Incompatible::check_hasher(&self.hasher, &other.hasher).is_ok();
        same_hasher && self.table == other.table
    }
}

impl<S: KeyHasher> Eq for QuotientFilter<S> {}
