//! The counting Bloom filter: construction, and the methods that change it.

use core::convert::Infallible;
use core::hash::Hash;

use bloom_core::{BitArray, BloomFilter};
use pds_core::error::{AllocError, BuildError, Incompatible};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::storage::{WordSource, Words};
use pds_core::traits::{Insert, Merge, Remove};
use pds_params::BloomParams;

use crate::counters::Counters;
use crate::{Bits4, Counter, CountingBloomFilterBuilder};

/// A set that supports removal, and counts roughly how often a key is in. `false` is certain: the key is absent.
///
/// A Bloom filter whose bits are counters: four times the memory, or eight times with [`Bits8`](crate::Bits8). A cuckoo
/// filter of a thousand keys or more takes less than a third of it. Use this one if a filter must never be full, if filters
/// are merged at any load, or if it is shipped as a Bloom filter ([`to_bloom_filter`](Self::to_bloom_filter)). Use the
/// [blocked](crate::BlockedCountingBloomFilter) one if speed counts most.
///
/// The type of a key is part of the key: `1u32` and `1u64` are different keys.
///
/// # Storage
/// `S` is the hasher, and `C` the width of a counter. `W` is the [storage](pds_core::storage), which decides which methods
/// a filter has:
///
/// | type | counters | methods |
/// |---|---|---|
/// | `CountingBloomFilter` | in [`Words`] of its own | all |
/// | [`CountingBloomFilterView<B>`](crate::CountingBloomFilterView) | in portable bytes of the type `B` | those that read |
///
/// # Guarantees
/// - False negatives: never, if the caller removes only keys that are in, each at most as often as it was inserted. A
///   counter that reached its greatest value is never decremented.
/// - False positives: those of the Bloom filter with as many bits. The mean rate is at most the promised one, up to the
///   expected number of distinct items, and while no counter is saturated.
/// - Memory: m/2 bytes for m counters of 4 bits. 38.4 bits per item at 1 %, 57.5 at 0.1 %.
/// - Time: inserts, lookups and removals are O(k). Merging and counts are O(m).
/// - Merging: multisets add. Counters, hashes and the seed of the hasher must be equal.
///
/// # Examples
/// ```
/// use bloom_counting::CountingBloomFilter;
///
/// let mut sessions = CountingBloomFilter::new(10_000, 0.01)?;
/// assert!(sessions.insert("8c1f"), "not contained before");
/// assert!(sessions.remove("8c1f"));
/// assert!(!sessions.contains("8c1f"));
/// # Ok::<(), bloom_counting::error::BuildError>(())
/// ```
///
/// # References
/// Li Fan, Pei Cao, Jussara Almeida and Andrei Z. Broder, "Summary Cache: A Scalable Wide-Area Web Cache
/// Sharing Protocol", IEEE/ACM Transactions on Networking 8(3), 2000.
#[derive(Clone)]
pub struct CountingBloomFilter<S = DefaultHashBuilder, C = Bits4, W = Words> {
    /// As many counters as the parameters have bits.
    pub(crate) counters: Counters<C, W>,
    /// Shape and design.
    pub(crate) params: BloomParams,
    /// From keys to hashes.
    pub(crate) hasher: S,
}

// Functions that are called by path (`CountingBloomFilter::new`) exist for one storage only: the compiler could not tell
// two of the same name apart (E0034).
impl CountingBloomFilter {
    /// Creates a filter of 4-bit counters for `expected_items` distinct items that keeps the false-positive rate `rate` up
    /// to that number.
    ///
    /// # Errors
    /// [`BuildError::Param`] if `expected_items` is 0, if `rate` is not above 0 and below 1, or if both need more than 2^63
    /// counters. [`BuildError::Alloc`] if the allocator refuses the memory.
    pub fn new(expected_items: u64, rate: f64) -> Result<Self, BuildError> {
        Self::builder().expected_items(expected_items).false_positive_rate(rate).build()
    }

    /// Starts a builder: for other sizes, wider counters, a seed, or another hasher.
    pub const fn builder() -> CountingBloomFilterBuilder {
        CountingBloomFilterBuilder::new()
    }
}

impl<S: KeyHasher, C: Counter> CountingBloomFilter<S, C> {
    /// Creates an empty filter with one counter for each bit of these parameters.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub fn from_params(params: BloomParams, hasher: S) -> Result<Self, AllocError>
    where
        S: KeyHasher,
    {
        Ok(Self { counters: Counters::zeroed(params.num_bits())?, params, hasher })
    }

    /// Inserts a key by [its hash](KeyHasher#hashes-of-your-own). Returns `true` if it was not contained before.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        self.counters.insert(self.params.num_hashes(), hash)
    }

    /// Inserts many [hashes](KeyHasher#hashes-of-your-own). Returns how many were not contained before.
    ///
    /// Counters and number are those of single inserts in this order.
    pub fn insert_hash_batch(&mut self, hashes: &[u64]) -> usize {
        self.counters.insert_each(self.params.num_hashes(), hashes, |&hash| hash)
    }

    /// Removes one copy of a key by [its hash](KeyHasher#hashes-of-your-own); see [`remove`](Self::remove).
    #[inline]
    pub fn remove_hash(&mut self, hash: u64) -> bool {
        self.counters.remove(self.params.num_hashes(), hash)
    }

    /// Removes all items.
    pub fn clear(&mut self) {
        self.counters.clear();
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
        Ok(Self { counters: self.counters.try_clone()?, params, hasher })
    }

    /// Inserts `key`. Returns `true` if it was not contained before.
    ///
    /// Each counter of the key that is not saturated is incremented by one, however many of its positions coincide. The
    /// order of inserts makes no difference.
    ///
    /// # Complexity
    /// O(k) for k hash functions, and no allocation.
    #[inline]
    pub fn insert<K: Hash + ?Sized>(&mut self, key: &K) -> bool {
        self.insert_hash(self.hasher.hash_key(key))
    }

    /// Inserts many keys. Returns how many were not contained before.
    ///
    /// Counters and number are those of single inserts in this order.
    pub fn insert_batch<K: Hash>(&mut self, keys: &[K]) -> usize {
        self.counters.insert_each(self.params.num_hashes(), keys, |key| self.hasher.hash_key(key))
    }

    /// Removes one copy of `key`. Returns `false`, and changes nothing, if the key is certainly absent.
    ///
    /// Remove only keys that are in. Removing an absent key returns `true` at the false-positive rate, and then decrements
    /// counters of other keys. Those may be answered `false` from then on.
    ///
    /// # Complexity
    /// O(k) for k hash functions, and no allocation.
    #[inline]
    pub fn remove<K: Hash + ?Sized>(&mut self, key: &K) -> bool {
        self.remove_hash(self.hasher.hash_key(key))
    }

    /// Adds the counters of `other`: a key is contained as often as in both together. `other` can be in any storage.
    ///
    /// Counters saturate. Those that are saturated in either filter are in the sum.
    ///
    /// # Errors
    /// [`Incompatible`] if counters, hashes or hashers differ. Nothing is changed then.
    ///
    /// # Complexity
    /// O(m) for m counters, and no allocation.
    ///
    /// # Examples
    /// ```
    /// use bloom_counting::CountingBloomFilter;
    ///
    /// let mut left = CountingBloomFilter::new(100, 0.001)?;
    /// let mut right = CountingBloomFilter::new(100, 0.001)?;
    /// left.insert("both");
    /// right.extend(["both", "right"]);
    /// left.merge(&right)?;
    /// assert_eq!((left.estimate("both"), left.estimate("right")), (2, 1));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn merge(
        &mut self,
        other: &CountingBloomFilter<S, C, impl WordSource>,
    ) -> Result<(), Incompatible> {
        self.check_compatible(other)?;
        self.counters.add(&other.counters);
        Ok(())
    }
}

impl<S: KeyHasher + Clone, C: Counter> CountingBloomFilter<S, C> {
    /// Creates the Bloom filter with one bit per counter, for shipping: the same answers in a quarter of the memory, or an
    /// eighth.
    ///
    /// It is the filter that the keys themselves would have built. There is no way back, and no removal.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    ///
    /// # Examples
    /// ```
    /// use bloom_counting::{BloomFilter, CountingBloomFilter};
    ///
    /// let mut counting = CountingBloomFilter::new(1_000, 0.01)?;
    /// let mut bloom = BloomFilter::new(1_000, 0.01)?;
    /// counting.extend(["a", "b", "b"]);
    /// counting.remove("a");
    /// bloom.extend(["b"]);
    /// assert_eq!(counting.to_bloom_filter()?, bloom);
    /// # Ok::<(), bloom_counting::error::BuildError>(())
    /// ```
    pub fn to_bloom_filter(&self) -> Result<BloomFilter<S>, AllocError>
    where
        S: KeyHasher,
    {
        let mut bits = BitArray::zeroed(self.num_counters())?;
        self.counters.raised().for_each(|position| {
            bits.set(position);
        });
        Ok(BloomFilter::from_bits(self.params, bits, self.hasher.clone())
            .unwrap_or_else(|_| unreachable!("a bit for each counter")))
    }
}

impl<S: KeyHasher, C: Counter> Insert for CountingBloomFilter<S, C> {
    type Error = Infallible;

    #[inline]
    fn insert_hash(&mut self, hash: u64) -> Result<bool, Infallible> {
        Ok(self.insert_hash(hash))
    }
}

impl<S: KeyHasher, C: Counter> Remove for CountingBloomFilter<S, C> {
    #[inline]
    fn remove_hash(&mut self, hash: u64) -> bool {
        self.remove_hash(hash)
    }
}

impl<S: KeyHasher, C: Counter> Merge for CountingBloomFilter<S, C> {
    type Error = Incompatible;

    fn merge(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.merge(other)
    }
}

/// Takes keys and references to keys: both hash alike.
impl<K: Hash, S: KeyHasher, C: Counter> Extend<K> for CountingBloomFilter<S, C> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        keys.into_iter().for_each(|key| _ = self.insert(&key));
    }
}

/// Filters are equal if shape, hasher and counters are. The design (expected items and rate) takes no part.
impl<S: KeyHasher, C: Counter> PartialEq for CountingBloomFilter<S, C> {
    fn eq(&self, other: &Self) -> bool {
        self.check_compatible(other).is_ok() && self.counters == other.counters
    }
}

impl<S: KeyHasher, C: Counter> Eq for CountingBloomFilter<S, C> {}
