//! The cuckoo filter.

use core::hash::Hash;

use pds_core::internal::value_traits;
use pds_core::{
    AllocError, BuildError, DefaultHashBuilder, Incompatible, Insert, KeyHasher, Merge, Remove,
};
use pds_params::CuckooParams;

use crate::reading::reading_methods;
use crate::table::Table;
use crate::{CuckooFilterBuilder, Full, MergeError};

/// Answers *is this key in the set?* of sets that shrink: `false` is certain, and an absent key gets `true` at a
/// rate that was chosen.
///
/// Choose it where keys are removed, and below a rate of 0.05 % for its size alone: there it is
/// smaller than a Bloom filter, from 500 keys up. A lookup reads two places of memory. It can be full, which no Bloom filter
/// is, and it cannot grow: that needs the keys. If the number of keys has no bound, keep the keys in an exact store. When
/// the filter is [`Full`], build one for twice as many keys from the store, as the example `rebuild` of this crate does.
///
/// The type of a key is part of it: `1u32` and `1u64` are different keys.
///
/// # Guarantees
/// - False negatives: never, provided that only keys are removed that were inserted, each at most as
///   often. A failed insert loses no key.
/// - False positives: the mean rate is at most the promised one while at most the expected number of
///   items is in; at load a and f bits a fingerprint 1 - e^(-8a/(2^f - 1)).
/// - Room: sized so that the expected number of distinct keys fits but for once in a million times at most, by counted
///   fills up to 256 keys and extrapolated from fills above; see *Room* in the README. A key fits up to eight times (four
///   where its two buckets are one: one key in as many as there are buckets).
/// - Memory: 4f bits a bucket, f/0.95 bits an item from 3,500 items up: 10.5 at 1 %, 13.7 at 0.1 %.
/// - Query and removal: O(1). Insert: O(1) on average, a search of 2,138 buckets at most.
/// - Merging: possible while both fit into one; requires equal buckets, width and hasher seed.
/// - Equality: equal histories make equal filters; the same keys in another order need not.
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
/// # References
/// Bin Fan, David G. Andersen, Michael Kaminsky and Michael Mitzenmacher, "Cuckoo Filter: Practically
/// Better Than Bloom", CoNEXT 2014.
pub struct CuckooFilter<S = DefaultHashBuilder> {
    /// The fingerprints.
    pub(crate) table: Table,
    /// Shape and design; the table has this shape.
    pub(crate) params: CuckooParams,
    /// From keys to hashes.
    pub(crate) hasher: S,
}

impl CuckooFilter {
    /// Creates a filter that takes `expected_items` distinct keys and keeps a false-positive rate of `rate`
    /// up to them.
    ///
    /// It has the fewest bits with which both hold; the probability that they do not fit is below 10^-6, by counted fills
    /// up to 256 items and extrapolated from fills above: the README's section "Room".
    ///
    /// # Errors
    /// [`BuildError::Param`] when `expected_items` is 0, when `rate` is not above 0 and below 1, or when
    /// they ask for more than 2^32 buckets; [`BuildError::Alloc`] when the memory is refused.
    ///
    /// # Examples
    /// ```
    /// use cuckoo::CuckooFilter;
    ///
    /// let filter = CuckooFilter::new(1_000_000, 0.01)?;
    /// assert_eq!((filter.fingerprint_bits(), filter.size_in_bytes() / 1024), (10, 1284));
    /// assert!(CuckooFilter::new(1_000_000, 0.0).is_err());
    /// # Ok::<(), cuckoo::BuildError>(())
    /// ```
    pub fn new(expected_items: u64, rate: f64) -> Result<Self, BuildError> {
        Self::builder().expected_items(expected_items).false_positive_rate(rate).build()
    }

    /// Starts a builder, for other things known than items and rate, a seed, or another hasher.
    pub const fn builder() -> CuckooFilterBuilder {
        CuckooFilterBuilder::new()
    }
}

impl<S> CuckooFilter<S> {
    /// Creates an empty filter of exactly these parameters.
    ///
    /// # Errors
    /// [`AllocError`] when the memory is refused.
    pub fn from_params(params: CuckooParams, hasher: S) -> Result<Self, AllocError>
    where
        S: KeyHasher,
    {
        Ok(Self { table: Table::zeroed(&params)?, params, hasher })
    }

    /// Inserts a copy of a key by its hash.
    /// The hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
    ///
    /// Keys of equal hashes are one key to the filter.
    ///
    /// # Errors
    /// [`Full`] when no place is found: the key is not in, and all others still are.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> Result<(), Full> {
        self.table.insert(hash)
    }

    /// Inserts a key by its hash unless it is possibly contained; see
    /// [`insert_if_absent`](Self::insert_if_absent).
    /// The hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
    ///
    /// # Errors
    /// [`Full`] when no place is found: the key is not in, and all others still are.
    #[inline]
    pub fn insert_hash_if_absent(&mut self, hash: u64) -> Result<bool, Full> {
        let absent = !self.contains_hash(hash);
        if absent {
            self.insert_hash(hash)?;
        }
        Ok(absent)
    }

    /// Inserts a copy of each of many hashes, in this order.
    /// Each hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
    ///
    /// # Errors
    /// [`Full`] at the first that finds no place; those before it are in, and
    /// [`len`](Self::len) tells how many they are.
    pub fn insert_hash_batch(&mut self, hashes: &[u64]) -> Result<(), Full> {
        self.table.insert_each(hashes, |&hash| hash)
    }

    /// Removes one copy of a key by its hash; see [`remove`](Self::remove).
    /// The hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
    #[inline]
    pub fn remove_hash(&mut self, hash: u64) -> bool {
        self.table.remove(hash)
    }

    /// Forgets all keys.
    pub fn clear(&mut self) {
        self.table.clear();
    }

    /// Asks the system to back the slots with huge pages. Returns whether it agreed to try.
    #[cfg(feature = "huge-pages")]
    pub(crate) fn advise_huge_pages(&self) -> bool {
        self.table.words().advise_huge_pages()
    }
}

reading_methods!([S] CuckooFilter<S>);
value_traits!([S] CuckooFilter<S>, table);

impl<S: KeyHasher> CuckooFilter<S> {
    /// Inserts a copy of `key`; it is in as often as it is inserted.
    ///
    /// # Errors
    /// [`Full`] when no place is found: the key is not in, and all others still are. Always so for the
    /// ninth copy of one key, and for the fifth where its two buckets are one.
    ///
    /// # Complexity
    /// O(1) on average, without allocation; from a load of 90 % up it grows, and a failing insert has
    /// looked at 2,138 buckets, or at all that can be reached where those are fewer. The search needs 20 KiB of stack.
    #[inline]
    pub fn insert<K: Hash + ?Sized>(&mut self, key: &K) -> Result<(), Full> {
        self.insert_hash(self.hasher.hash_key(key))
    }

    /// Inserts `key` unless it is possibly contained. Returns `true` when it was not contained before.
    ///
    /// Not to be used along with [`remove`](Self::remove), except by those who know their keys to be
    /// free of false positives: for a key that is wrongly answered `true` nothing is stored, and it is lost
    /// with the key that it was mistaken for.
    ///
    /// # Errors
    /// [`Full`] when no place is found: the key is not in, and all others still are.
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
    pub fn insert_if_absent<K: Hash + ?Sized>(&mut self, key: &K) -> Result<bool, Full> {
        self.insert_hash_if_absent(self.hasher.hash_key(key))
    }

    /// Inserts a copy of each of many keys, in this order.
    ///
    /// # Errors
    /// [`Full`] at the first that finds no place; those before it are in, and
    /// [`len`](Self::len) tells how many they are.
    pub fn insert_batch<K: Hash>(&mut self, keys: &[K]) -> Result<(), Full> {
        self.table.insert_each(keys, |key| self.hasher.hash_key(key))
    }

    /// Removes one copy of `key`. Returns `false`, and changes nothing, when it is certainly absent.
    ///
    /// Only for keys that were inserted, and not removed as often since. To remove another may answer
    /// `true`, at the false-positive rate, and take away a key that agrees with it in fingerprint and
    /// buckets: that key is then answered `false`. What the filter cannot tell, the caller has to know.
    ///
    /// # Complexity
    /// O(1), without allocation.
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
    /// A fingerprint and its bucket are enough for that. (They are not enough for a larger filter, which
    /// would need the bits of the hash that neither holds: a filter cannot grow.)
    ///
    /// # Errors
    /// [`MergeError::Incompatible`] when buckets, width or hashers differ, [`MergeError::Full`] when not
    /// all of it fits, [`MergeError::Alloc`] when there is no memory for a copy; `self` is as it was then.
    ///
    /// # Complexity
    /// O(buckets); allocates a copy of the filter while it runs.
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
    pub fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        self.check_compatible(other)?;
        let mut merged = self.table.try_clone()?;
        merged.insert_all(&other.table)?;
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

/// Stores a copy also of a key that is possibly contained, so that it can be removed.
impl<S: KeyHasher> Insert for CuckooFilter<S> {
    type Error = Full;

    #[inline]
    fn insert_hash(&mut self, hash: u64) -> Result<bool, Full> {
        let absent = !self.contains_hash(hash);
        self.insert_hash(hash)?;
        Ok(absent)
    }
}

impl<S: KeyHasher> Merge for CuckooFilter<S> {
    type Error = MergeError;

    fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        self.merge(other)
    }
}

impl<S: KeyHasher> Remove for CuckooFilter<S> {
    #[inline]
    fn remove_hash(&mut self, hash: u64) -> bool {
        self.remove_hash(hash)
    }
}
