//! The cuckoo filter: construction, and the methods that change it.

use core::hash::Hash;

use pds_core::error::{AllocError, BuildError, Incompatible, InsertError, MergeError};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::storage::Words;
use pds_core::traits::{Insert, Merge, Remove};
use pds_params::CuckooParams;

use crate::CuckooFilterBuilder;
use crate::table::Table;

/// A set that supports removal and answers membership with false positives at a chosen rate.
///
/// `false` is certain: the key is absent. An absent key is answered `true` at the false-positive rate.
///
/// Use a cuckoo filter if keys are removed. At rates below 0.05 % it is also smaller than a Bloom filter, from 500 keys
/// up. A lookup reads two places in memory. Unlike a Bloom filter it can be full. It cannot grow, because that needs
/// the keys. If the number of keys has no bound, keep the keys in an exact store. When the filter is full, build one
/// for twice as many keys from the store, as the example `rebuild` of this crate does.
///
/// The type of a key is part of the key: `1u32` and `1u64` are different keys.
///
/// # Storage
/// `S` is the hasher. `W` is the [storage](pds_core::storage), which decides which methods a filter has:
///
/// | type | slots | methods |
/// |---|---|---|
/// | `CuckooFilter` | in [`Words`] of its own | all |
/// | [`CuckooFilterView<B>`](crate::CuckooFilterView) | in portable bytes of the type `B` | those that read |
///
/// # Guarantees
/// - False negatives: never, if the caller removes only keys that are in, each at most as often as it was inserted. A
///   failed insert loses no key.
/// - False positives: the mean rate is at most the promised one, up to the expected number of items. At load `a` and
///   `f` bits per fingerprint it is 1 - e^(-8a/(2^f - 1)).
/// - Capacity: the expected number of distinct keys fits with a probability of at least 1 - 10^-6. This rests on counted
///   fills up to 256 keys, and on extrapolation from fills above; see *Capacity* in the README.
/// - Copies: a key can be stored at most eight times, or four if both of its buckets coincide. With n buckets, that is
///   the case for one key in n.
/// - Memory: 4f bits per bucket. From 3,500 items up, f/0.95 bits per item: 10.5 at 1 %, 13.7 at 0.1 %.
/// - Time: lookups and removals are O(1). An insert is O(1) on average, and searches at most 2,138 buckets.
/// - Merging: two filters merge if both fit into one. Buckets, width and the seed of the hasher must be equal.
/// - Equality: equal histories give equal filters. The same keys in another order may not.
///
/// # Examples
/// ```
/// use cuckoo::CuckooFilter;
///
/// let mut sessions = CuckooFilter::new(10_000, 0.001)?;
/// sessions.insert("8c1f")?;
/// assert!(sessions.contains("8c1f"));
/// assert!(sessions.remove("8c1f"));
/// assert!(!sessions.contains("8c1f"));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// One function can serve filters in any storage:
///
/// ```
/// use cuckoo::storage::WordSource;
/// use cuckoo::hash::KeyHasher;
/// use cuckoo::{CuckooFilter, CuckooFilterView};
///
/// fn known<S: KeyHasher, W: WordSource>(filter: &CuckooFilter<S, W>, keys: &[&str]) -> usize {
///     keys.iter().filter(|key| filter.contains(**key)).count()
/// }
///
/// let mut filter = CuckooFilter::new(100, 0.001)?;
/// filter.insert("one")?;
/// let view = CuckooFilterView::open(filter.to_bytes())?;
/// assert_eq!(known(&filter, &["one", "two"]), known(&view, &["one", "two"]));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # References
/// Bin Fan, David G. Andersen, Michael Kaminsky and Michael Mitzenmacher, "Cuckoo Filter: Practically
/// Better Than Bloom", CoNEXT 2014.
#[derive(Clone)]
pub struct CuckooFilter<S = DefaultHashBuilder, W = Words> {
    /// The fingerprints.
    pub(crate) table: Table<W>,
    /// Shape and design; the table has this shape.
    pub(crate) params: CuckooParams,
    /// From keys to hashes.
    pub(crate) hasher: S,
}

// Functions that are called by path (`CuckooFilter::new`) exist for one storage only: the compiler could not tell two
// of the same name apart (E0034).
impl CuckooFilter {
    /// Creates a filter for `expected_items` distinct keys that keeps the false-positive rate `rate` up to that number.
    ///
    /// It has the fewest bits for both. The keys fit with a probability of at least 1 - 10^-6; see
    /// [*Guarantees*](CuckooFilter#guarantees).
    ///
    /// # Errors
    /// [`BuildError::Param`] if `expected_items` is 0, if `rate` is not above 0 and below 1, or if both need more than
    /// 2^32 buckets. [`BuildError::Alloc`] if the allocator refuses the memory.
    ///
    /// # Examples
    /// ```
    /// use cuckoo::CuckooFilter;
    ///
    /// let filter = CuckooFilter::new(1_000_000, 0.01)?;
    /// assert_eq!((filter.fingerprint_bits(), filter.size_in_bytes() / 1024), (10, 1284));
    /// assert!(CuckooFilter::new(1_000_000, 0.0).is_err());
    /// # Ok::<(), cuckoo::error::BuildError>(())
    /// ```
    pub fn new(expected_items: u64, rate: f64) -> Result<Self, BuildError> {
        Self::builder().expected_items(expected_items).false_positive_rate(rate).build()
    }

    /// Starts a builder: for other sizes, a seed, or another hasher.
    pub const fn builder() -> CuckooFilterBuilder {
        CuckooFilterBuilder::new()
    }
}

impl<S: KeyHasher> CuckooFilter<S> {
    /// Creates an empty filter with exactly these parameters.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub fn from_params(params: CuckooParams, hasher: S) -> Result<Self, AllocError>
    where
        S: KeyHasher,
    {
        Ok(Self { table: Table::zeroed(&params)?, params, hasher })
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
        self.table.insert(hash)
    }

    /// Inserts a key by its hash if [`contains_hash`](Self::contains_hash) is `false` for it; see
    /// [`insert_if_absent`](Self::insert_if_absent).
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn insert_hash_if_absent(&mut self, hash: u64) -> Result<bool, InsertError> {
        let absent = !self.contains_hash(hash);
        if absent {
            self.insert_hash(hash)?;
        }
        Ok(absent)
    }

    /// Inserts one copy for each of many hashes, in this order.
    ///
    /// For the hashes see [`contains_hash`](Self::contains_hash).
    ///
    /// # Errors
    /// As [`insert_batch`](Self::insert_batch).
    pub fn insert_hash_batch(&mut self, hashes: &[u64]) -> Result<(), InsertError> {
        self.table.insert_each(hashes, |&hash| hash)
    }

    /// Removes one copy of a key by its hash; see [`remove`](Self::remove), and
    /// [`contains_hash`](Self::contains_hash) for the hash.
    #[inline]
    pub fn remove_hash(&mut self, hash: u64) -> bool {
        self.table.remove(hash)
    }

    /// Removes all keys.
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
    /// [`InsertError::Full`] if no slot can be found. The key is not in then, and all others still are. The ninth copy of a key always
    /// fails, and the fifth if both of its buckets coincide.
    ///
    /// # Complexity
    /// O(1) on average, and no allocation. The time grows from a load of 90 % up. An insert that fails has searched
    /// 2,138 buckets, or all that can be reached if those are fewer. The search uses 20 KiB of stack.
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
    /// use cuckoo::CuckooFilter;
    ///
    /// let mut filter = CuckooFilter::new(100, 0.001)?;
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
    /// # Errors
    /// [`InsertError::Full`] at the first key that finds no slot. The keys before it are in; [`len`](Self::len) tells how many.
    pub fn insert_batch<K: Hash>(&mut self, keys: &[K]) -> Result<(), InsertError> {
        self.table.insert_each(keys, |key| self.hasher.hash_key(key))
    }

    /// Removes one copy of `key`. Returns `false`, and changes nothing, if the key is certainly absent.
    ///
    /// Remove only keys that are in. Removing an absent key returns `true` at the false-positive rate, and then removes
    /// another key that has the same fingerprint and buckets. That key is answered `false` from then on. The filter
    /// cannot detect this.
    ///
    /// # Complexity
    /// O(1), and no allocation.
    ///
    /// # Examples
    /// ```
    /// use cuckoo::CuckooFilter;
    ///
    /// let mut filter = CuckooFilter::new(100, 0.001)?;
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

    /// Inserts all that `other` holds, copies included.
    ///
    /// # Errors
    /// [`MergeError::Incompatible`] if the numbers of buckets, the widths or the hashers differ, [`MergeError::Insert`] if
    /// not everything fits, or if the allocator refuses the memory for a copy. `self` is unchanged
    /// then.
    ///
    /// # Complexity
    /// O(buckets); allocates a temporary copy of the filter.
    ///
    /// # Examples
    /// ```
    /// use cuckoo::CuckooFilter;
    ///
    /// let mut left = CuckooFilter::new(100, 0.001)?;
    /// let mut right = CuckooFilter::new(100, 0.001)?;
    /// left.insert("in left")?;
    /// right.insert("in right")?;
    /// left.merge(&right)?;
    /// assert!(left.contains("in left") && left.contains("in right"));
    /// assert!(left.remove("in right"));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    // A fingerprint and its bucket determine the other bucket in a filter of this shape. In a larger one they do not.
    pub fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        self.check_compatible(other).map_err(MergeError::Incompatible)?;
        let merged = self.table.try_clone().map_err(InsertError::Alloc);
        let mut merged = merged.map_err(MergeError::Insert)?;
        merged.insert_all(&other.table).map_err(MergeError::Insert)?;
        self.table = merged;
        Ok(())
    }

    fn check_compatible(&self, other: &Self) -> Result<(), Incompatible> {
        let bits = |filter: &Self| u64::from(filter.fingerprint_bits());
        let (left, right) = (self.num_buckets(), other.num_buckets());
        Incompatible::check_shape("number of buckets", left, right)?;
        Incompatible::check_shape("number of fingerprint bits", bits(self), bits(other))?;
        Incompatible::check_hasher(&self.hasher, &other.hasher)
    }
}

/// Stores another copy of a key that may be contained, so that it can be removed.
impl<S: KeyHasher> Insert for CuckooFilter<S> {
    type Error = InsertError;

    #[inline]
    fn insert_hash(&mut self, hash: u64) -> Result<bool, InsertError> {
        let absent = !self.contains_hash(hash);
        self.insert_hash(hash)?;
        Ok(absent)
    }
}

impl<S: KeyHasher> Remove for CuckooFilter<S> {
    #[inline]
    fn remove_hash(&mut self, hash: u64) -> bool {
        self.remove_hash(hash)
    }
}

impl<S: KeyHasher> Merge for CuckooFilter<S> {
    type Error = MergeError;

    fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        self.merge(other)
    }
}

/// Filters are equal if shape, hasher and slots are. The design (expected items and rate) takes no part.
impl<S: KeyHasher> PartialEq for CuckooFilter<S> {
    fn eq(&self, other: &Self) -> bool {
        self.check_compatible(other).is_ok() && self.table == other.table
    }
}

impl<S: KeyHasher> Eq for CuckooFilter<S> {}
