//! The counting quotient filter: construction, and the methods that change it.

mod code;
#[cfg(all(test, feature = "std"))]
mod model;
mod portable;
mod reading;
mod resize;
mod view;

use core::hash::Hash;

use pds_core::error::{AllocError, BuildError, Incompatible, InsertError, ParamError};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::internal::hash_chunk;
use pds_core::storage::Words;
use pds_core::traits::{Insert, Remove};
use pds_params::QuotientParams;
use pds_params::internal::ParamFault;

use self::code::{Code, Found, MAX_COUNT, find};
pub use self::view::CountingQuotientFilterView;
use crate::CountingQuotientFilterBuilder;
use crate::blocks::MAX_WIDTH;
use crate::reading::BATCH;
use crate::table::Table;

/// The widest remainder: a slot has a bit more.
const MAX_BITS: u32 = MAX_WIDTH - 1;

/// A multiset that supports removal, merging and growth, and counts its keys: never too few, and too many for a few keys at
/// a chosen rate.
///
/// Use it for the multiplicities of keys if most counts must be exact: words of a text, k-mers, visits per page. A
/// [`QuotientFilter`](crate::QuotientFilter) stores each copy in a slot of its own, so it is smaller only if few keys have
/// copies.
///
/// The type of a key is part of the key: `1u32` and `1u64` are different keys.
///
/// # Storage
/// `S` is the hasher. `W` is the [storage](pds_core::storage), which decides which methods a filter has:
///
/// | type | slots | methods |
/// |---|---|---|
/// | `CountingQuotientFilter` | in [`Words`] of its own | all |
/// | [`CountingQuotientFilterView<B>`](crate::CountingQuotientFilterView) | in portable bytes of the type `B` | those that read |
///
/// # Guarantees
/// - Counts: [`count`](Self::count) is exact, except for keys whose fingerprint another key has. Those have one count, the
///   sum of both. At load `a`, in distinct keys per slot, and `r` bits per remainder, such a key is met at the rate
///   1 - e^(-a/2^r), the false-positive rate.
/// - Counts are never too low, if the caller removes no key more often than it was inserted.
/// - Greatest count: 2^63. An insert beyond it is refused with [`InsertError::Count`], and changes nothing.
/// - Slots: a count of 1 takes one slot. A count c from 2 on takes 1 + ceil(log2(c)/r): two slots up to 2^r, three up to
///   4^r.
/// - Capacity: exactly 95 % of the slots. An insert whose slots fit fails only if the allocator refuses memory.
/// - Memory: `r` + 3.125 bits per slot, one more than in a [`QuotientFilter`](crate::QuotientFilter).
/// - Time: all operations are O(1) on average. The time grows with the counts as their slots do, so copies of a key do not
///   make operations slow.
/// - Determinism: the bytes depend on the sizes and on the counts, not on the order of operations.
///
/// # Examples
/// ```
/// use quotient::CountingQuotientFilter;
///
/// let mut words = CountingQuotientFilter::new(10_000, 0.001)?;
/// for word in "the quick fox and the lazy dog and the cat".split(' ') {
///     words.insert(word)?;
/// }
/// assert_eq!((words.count("the"), words.count("fox"), words.count("horse")), (3, 1, 0));
/// assert!(words.remove("the"));
/// assert_eq!((words.count("the"), words.len()), (2, 7));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # References
/// Prashant Pandey, Michael A. Bender, Rob Johnson and Rob Patro, "A General-Purpose Counting Filter: Making Every Bit
/// Count", SIGMOD 2017, section 5. Digits are marked by a bit here.
#[derive(Clone)]
pub struct CountingQuotientFilter<S = DefaultHashBuilder, W = Words> {
    /// The fingerprints and their counts.
    table: Table<W>,
    /// Shape and design; the table has this shape, and a bit more per slot.
    params: QuotientParams,
    /// Number of fingerprints.
    len: u64,
    /// From keys to hashes.
    hasher: S,
}

// Functions that are called by path (`CountingQuotientFilter::new`) exist for one storage only: the compiler could not
// tell two of the same name apart (E0034).
impl CountingQuotientFilter {
    /// The greatest count of a key, 2^63.
    pub const MAX_COUNT: u64 = MAX_COUNT;

    /// Creates a filter for `expected_items` distinct keys whose false-positive rate is at most `rate` up to that number.
    ///
    /// It has two slots per key: one for its remainder, and one for its count. It has the fewest bytes for all this, and
    /// does not grow by itself. If most keys come once, set fewer
    /// [`slots_per_item`](CountingQuotientFilterBuilder::slots_per_item). For a filter that grows use
    /// [`grows_to`](CountingQuotientFilterBuilder::grows_to).
    ///
    /// # Errors
    /// [`BuildError::Param`] if `expected_items` is 0, if `rate` is not above 0 and below 1, or if both need more than
    /// 2^48 slots or 55 bits per remainder. [`BuildError::Alloc`] if the allocator refuses the memory.
    ///
    /// # Examples
    /// ```
    /// use quotient::CountingQuotientFilter;
    ///
    /// let filter = CountingQuotientFilter::new(1_000_000, 0.01)?;
    /// assert_eq!((filter.remainder_bits(), filter.capacity()), (6, 2_000_000));
    /// assert!(CountingQuotientFilter::new(1_000_000, 0.0).is_err());
    /// # Ok::<(), quotient::error::BuildError>(())
    /// ```
    pub fn new(expected_items: u64, rate: f64) -> Result<Self, BuildError> {
        Self::builder().expected_items(expected_items).false_positive_rate(rate).build()
    }

    /// Starts a builder: for growth, other sizes, a seed, or another hasher.
    pub const fn builder() -> CountingQuotientFilterBuilder {
        CountingQuotientFilterBuilder::new()
    }
}

impl<S: KeyHasher> CountingQuotientFilter<S> {
    /// Creates an empty filter with exactly these parameters.
    ///
    /// # Errors
    /// [`BuildError::Param`] if the remainders have more than 55 bits: a slot has one more.
    /// [`BuildError::Alloc`] if the allocator refuses the memory.
    pub fn from_params(params: QuotientParams, hasher: S) -> Result<Self, BuildError> {
        check_bits(&params)?;
        let table = Table::new(params.num_slots(), params.remainder_bits() + 1)?;
        Ok(Self { table, params, len: 0, hasher })
    }

    /// Copies the filter. `clone` does the same, but aborts if the allocator refuses the memory.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub fn try_clone(&self) -> Result<Self, AllocError>
    where
        S: Clone,
    {
        Ok(Self { table: self.table.try_clone()?, hasher: self.hasher.clone(), ..*self })
    }

    /// Counts a key once more by its hash.
    ///
    /// Keys with equal hashes are one key. For the hash see [`contains_hash`](Self::contains_hash).
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> Result<(), InsertError> {
        self.insert_many_hash(hash, 1)
    }

    /// Counts a key `times` more by its hash; see [`insert_many`](Self::insert_many), and
    /// [`contains_hash`](Self::contains_hash) for the hash.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    pub fn insert_many_hash(&mut self, hash: u64, times: u64) -> Result<(), InsertError> {
        self.add_to(hash, times).map(drop)
    }

    /// Counts a key once more for each of many hashes, in this order.
    ///
    /// For the hashes see [`contains_hash`](Self::contains_hash).
    ///
    /// # Errors
    /// As [`insert_batch`](Self::insert_batch).
    pub fn insert_hash_batch(&mut self, hashes: &[u64]) -> Result<(), InsertError> {
        for hashes in hashes.chunks(BATCH) {
            hashes.iter().for_each(|&hash| self.table.prefetch(self.fingerprint(hash).0));
            hashes.iter().try_for_each(|&hash| self.insert_hash(hash))?;
        }
        Ok(())
    }

    /// Removes one copy of a key by its hash; see [`remove`](Self::remove), and
    /// [`contains_hash`](Self::contains_hash) for the hash.
    #[inline]
    pub fn remove_hash(&mut self, hash: u64) -> bool {
        self.remove_many_hash(hash, 1) == 1
    }

    /// Removes up to `times` copies of a key by its hash; see [`remove_many`](Self::remove_many), and
    /// [`contains_hash`](Self::contains_hash) for the hash.
    pub fn remove_many_hash(&mut self, hash: u64, times: u64) -> u64 {
        let print @ (quotient, remainder) = self.fingerprint(hash);
        let bits = self.remainder_bits();
        let Found { run, slots, count } = find(&self.table, print, bits);
        let removed = times.min(count);
        if removed == 0 {
            return 0;
        }
        let code = Code::new(remainder, count - removed, bits);
        // A lower count has no more entries, so no memory is needed.
        let replaced = self.table.replace(quotient, run, slots, code.as_slice());
        debug_assert!(replaced.is_ok());
        self.len -= u64::from(removed == count);
        removed
    }

    /// Removes all keys. The size stays.
    pub fn clear(&mut self) {
        self.table.clear();
        self.len = 0;
    }

    /// Asks the system to back the slots with huge pages. Returns whether it agreed to try.
    #[cfg(feature = "huge-pages")]
    pub(crate) fn advise_huge_pages(&self) -> bool {
        self.table.words().advise_huge_pages()
    }

    /// Counts `key` once more.
    ///
    /// # Errors
    /// [`InsertError::Full`] if the count needs more slots than are left, and the filter does not grow.
    /// [`InsertError::Count`] if the count is [`MAX_COUNT`](CountingQuotientFilter::MAX_COUNT) already.
    /// [`InsertError::Alloc`] if the allocator refuses the memory for growth, or for the run of keys that overflows the
    /// last slot. No count is changed then; the filter may have grown.
    ///
    /// # Complexity
    /// O(1) on average. The time grows from a load of 90 % up.
    #[inline]
    pub fn insert<K: Hash + ?Sized>(&mut self, key: &K) -> Result<(), InsertError> {
        self.insert_hash(self.hasher.hash_key(key))
    }

    /// Counts `key` `times` more. Nothing happens if that is 0.
    ///
    /// # Errors
    /// As [`insert`](Self::insert). [`InsertError::Count`] if the sum would be above
    /// [`MAX_COUNT`](CountingQuotientFilter::MAX_COUNT).
    ///
    /// # Complexity
    /// As [`insert`](Self::insert), however great the number is.
    ///
    /// # Examples
    /// ```
    /// use quotient::CountingQuotientFilter;
    /// use quotient::error::InsertError;
    ///
    /// let mut filter = CountingQuotientFilter::new(100, 0.001)?;
    /// filter.insert_many("key", 1 << 62)?;
    /// filter.insert_many("key", 1 << 62)?;
    /// assert_eq!(filter.insert("key"), Err(InsertError::Count { max: 1 << 63 }));
    /// assert_eq!(filter.count("key"), 1 << 63);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn insert_many<K: Hash + ?Sized>(
        &mut self,
        key: &K,
        times: u64,
    ) -> Result<(), InsertError> {
        self.insert_many_hash(self.hasher.hash_key(key), times)
    }

    /// Counts each of many keys once more, in this order.
    ///
    /// This is faster than single calls if the filter exceeds the cache.
    ///
    /// # Errors
    /// As [`insert`](Self::insert), at the first key that is not taken. The keys before it are counted.
    pub fn insert_batch<K: Hash>(&mut self, keys: &[K]) -> Result<(), InsertError> {
        for keys in keys.chunks(BATCH) {
            let hashes: [u64; BATCH] = hash_chunk(&self.hasher, keys);
            self.insert_hash_batch(&hashes[..keys.len()])?;
        }
        Ok(())
    }

    /// Removes one copy of `key`. Returns `false`, and changes nothing, if the key is certainly absent.
    ///
    /// Remove only keys that are in. Removing an absent key returns `true` at the false-positive rate, and then removes
    /// a copy of another key that has the same fingerprint. The filter cannot detect this.
    ///
    /// # Complexity
    /// As [`insert`](Self::insert), without an allocation.
    #[inline]
    pub fn remove<K: Hash + ?Sized>(&mut self, key: &K) -> bool {
        self.remove_hash(self.hasher.hash_key(key))
    }

    /// Removes up to `times` copies of `key`. Returns how many were removed: fewer if its count was lower.
    ///
    /// See [`remove`](Self::remove) for keys that are not in.
    ///
    /// # Examples
    /// ```
    /// use quotient::CountingQuotientFilter;
    ///
    /// let mut filter = CountingQuotientFilter::new(100, 0.001)?;
    /// filter.insert_many("key", 1_000)?;
    /// assert_eq!(filter.remove_many("key", 990), 990);
    /// assert_eq!(filter.remove_many("key", 990), 10);
    /// assert!(filter.is_empty());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn remove_many<K: Hash + ?Sized>(&mut self, key: &K, times: u64) -> u64 {
        self.remove_many_hash(self.hasher.hash_key(key), times)
    }

    /// Adds to the count of a key. Returns whether it was not contained.
    fn add_to(&mut self, hash: u64, times: u64) -> Result<bool, InsertError> {
        loop {
            let print @ (quotient, remainder) = self.fingerprint(hash);
            let bits = self.remainder_bits();
            let Found { run, slots, count } = find(&self.table, print, bits);
            let sum = count.checked_add(times).filter(|&sum| sum <= MAX_COUNT);
            let sum = sum.ok_or(InsertError::Count { max: MAX_COUNT })?;
            let code = Code::new(remainder, sum, bits);
            let added = (code.as_slice().len() - slots.len()) as u64;
            if added <= self.capacity() - self.used_slots() {
                let code = code.as_slice();
                self.table.replace(quotient, run, slots, code).map_err(InsertError::Alloc)?;
                let is_new = count == 0 && times > 0;
                self.len += u64::from(is_new);
                return Ok(is_new);
            }
            // Fewer bits per digit may take more digits, so one doubling need not be enough.
            self.make_room()?;
        }
    }
}

impl<S, W> CountingQuotientFilter<S, W> {
    /// Returns the number of bits of a slot beside a remainder: the mark of digits.
    #[expect(clippy::unused_self, reason = "other filters have a number each")]
    const fn bits_beside(&self) -> u32 {
        1
    }
}

/// Returns an error if the remainders leave no bit of a slot for the mark of digits.
fn check_bits(params: &QuotientParams) -> Result<(), ParamError> {
    let value = params.remainder_bits();
    if value <= MAX_BITS {
        return Ok(());
    }
    let (parameter, value, max) = ("remainder_bits", value.into(), MAX_BITS.into());
    Err(ParamError(ParamFault::OutOfRange { parameter, value, min: 1, max }))
}

/// Counts another copy of a key.
impl<S: KeyHasher> Insert for CountingQuotientFilter<S> {
    type Error = InsertError;

    fn insert_hash(&mut self, hash: u64) -> Result<bool, InsertError> {
        self.add_to(hash, 1)
    }
}

impl<S: KeyHasher> Remove for CountingQuotientFilter<S> {
    fn remove_hash(&mut self, hash: u64) -> bool {
        self.remove_hash(hash)
    }
}

/// Filters are equal if shape, hasher and counts are. The design (expected items and rate) and the doublings left take no
/// part.
impl<S: KeyHasher> PartialEq for CountingQuotientFilter<S> {
    fn eq(&self, other: &Self) -> bool {
        let same_hasher = Incompatible::check_hasher(&self.hasher, &other.hasher).is_ok();
        same_hasher && self.table == other.table
    }
}

impl<S: KeyHasher> Eq for CountingQuotientFilter<S> {}
