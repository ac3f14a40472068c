//! The blocked Bloom filter: construction, and the methods that change it.

use core::convert::Infallible;
use core::hash::Hash;

use pds_core::error::{AllocError, BuildError, Incompatible};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::internal::Backend;
use pds_core::storage::{OwnedWords, WordSource, Words};
use pds_core::traits::{Insert, Merge};
use pds_params::BlockedBloomParams;

use crate::BlockedBloomFilterBuilder;
use crate::blocks::Blocks;

/// A set that answers membership from one cache line per key, with false positives at a chosen rate.
///
/// `false` is certain: the key is absent. An absent key is answered `true` at the false-positive rate.
///
/// Use a blocked Bloom filter for speed. If it exceeds the cache, a key costs one memory access at any rate, and a
/// batch overlaps these accesses. It needs 5 % more memory than a [`BloomFilter`](bloom_core::BloomFilter) at 1 %, 9 %
/// at 0.1 %, 15 % at 0.01 %, and far more below 10^-6. Use a `BloomFilter` if memory counts most, or for very small
/// rates.
///
/// The type of a key is part of the key: `1u32` and `1u64` are different keys.
///
/// # Storage
/// `S` is the hasher. `W` is the [storage](pds_core::storage), which decides which methods a filter has:
///
/// | type | blocks | methods |
/// |---|---|---|
/// | `BlockedBloomFilter` | in [`Words`] of its own | all |
/// | [`AtomicBlockedBloomFilter`](crate::AtomicBlockedBloomFilter) | in words of its own that threads share | those that read or copy; inserts, `clear` and unions with `&self` |
/// | [`BlockedBloomFilterView<B>`](crate::BlockedBloomFilterView) | in portable bytes of the type `B` | those that read |
///
/// # Guarantees
/// - False negatives: never, if `Hash` of a key always feeds the same bytes.
/// - False positives: the mean rate over filters is at most the promised one, up to the expected number of distinct
///   items. With eight hashes and c bits per item it is E\[(1 - (63/64)^j)^8\], where j is Poisson with mean 512 / c.
/// - Memory: 64 bytes per block. 10.10 bits per item at 1 % (9.93 for
///   [`Preference::Smallest`](crate::Preference::Smallest)), 15.73 at 0.1 %, 22.09 at 0.01 %.
/// - Insert and query: O(1), one block, no branch on its bits. Union, intersection, counts: O(m) for m bits.
/// - Merging: exact. Blocks, hashes and the seed of the hasher must be equal.
/// - The same keys give the same bits on every processor.
///
/// # Examples
/// ```
/// use bloom_blocked::BlockedBloomFilter;
///
/// let mut seen = BlockedBloomFilter::new(1_000, 0.01)?;
/// assert!(seen.insert("https://example.org/"), "not contained before");
/// assert!(!seen.insert("https://example.org/"));
/// assert!(seen.contains("https://example.org/"));
/// assert!(!seen.contains("https://example.com/"));
/// # Ok::<(), bloom_blocked::error::BuildError>(())
/// ```
///
/// # References
/// Felix Putze, Peter Sanders and Johannes Singler, "Cache-, Hash- and Space-Efficient Bloom Filters",
/// WEA 2007, section 3; Harald Lang, Thomas Neumann, Alfons Kemper and Peter Boncz, "Performance-Optimal
/// Filtering: Bloom Overtakes Cuckoo at High Throughput", PVLDB 12(5), 2019, section 3.2.
#[derive(Clone)]
pub struct BlockedBloomFilter<S = DefaultHashBuilder, W = Words> {
    /// The bits.
    pub(crate) blocks: Blocks<W>,
    /// Shape and design; the blocks have this shape.
    pub(crate) params: BlockedBloomParams,
    /// From keys to hashes.
    pub(crate) hasher: S,
}

// Functions that are called by path (`BlockedBloomFilter::new`) exist for one storage only: the compiler could not tell two
// of the same name apart (E0034).
impl BlockedBloomFilter {
    /// Creates a filter that keeps the false-positive rate `rate` up to `expected_items` distinct items.
    ///
    /// It has the fewest blocks whose mean rate is at most `rate`, with the fastest number of hashes. The
    /// [builder](Self::builder) takes another [`Preference`](crate::Preference).
    ///
    /// # Errors
    /// [`BuildError::Param`] if `expected_items` is 0, if `rate` is not above 0 and below 1 or not above the rate of hash
    /// collisions, or if both need more than 2^63 bits. [`BuildError::Alloc`] if the allocator refuses the memory.
    ///
    /// # Examples
    /// ```
    /// use bloom_blocked::BlockedBloomFilter;
    ///
    /// let filter = BlockedBloomFilter::new(1_000_000, 0.01)?;
    /// assert_eq!((filter.num_blocks(), filter.num_hashes()), (19_726, 8));
    /// assert!(BlockedBloomFilter::new(1_000_000, 1.0).is_err());
    /// # Ok::<(), bloom_blocked::error::BuildError>(())
    /// ```
    pub fn new(expected_items: u64, rate: f64) -> Result<Self, BuildError> {
        Self::builder().expected_items(expected_items).false_positive_rate(rate).build()
    }

    /// Starts a builder: for other sizes, a seed, another hasher, or a filter that threads share.
    pub const fn builder() -> BlockedBloomFilterBuilder {
        BlockedBloomFilterBuilder::new()
    }
}

impl<S: KeyHasher> BlockedBloomFilter<S> {
    /// Creates an empty filter with exactly these parameters.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub fn from_params(params: BlockedBloomParams, hasher: S) -> Result<Self, AllocError>
    where
        S: KeyHasher,
    {
        Ok(Self { blocks: Blocks::zeroed(&params)?, params, hasher })
    }

    /// Inserts a key by its hash. Returns `true` if it was not contained before.
    ///
    /// See [`KeyHasher`] for the hash.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        self.blocks.insert(hash)
    }

    /// Inserts many hashes. Returns how many were not contained before.
    ///
    /// Bits and number are those of single inserts. See [`KeyHasher`] for the hashes.
    pub fn insert_hash_batch(&mut self, hashes: &[u64]) -> usize {
        self.blocks.insert_many(hashes, |&hash| hash)
    }

    /// Removes all keys.
    pub fn clear(&mut self) {
        self.blocks.words_mut().fill(0);
    }

    /// Returns the bits: eight words of 64 bits per block.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        self.blocks.words()
    }

    /// Asks the system to back the blocks with huge pages. Returns whether it agreed to try.
    #[cfg(feature = "huge-pages")]
    pub fn advise_huge_pages(&self) -> bool {
        self.blocks.words().advise_huge_pages()
    }

    /// Inserts `key`. Returns `true` if it was not contained before.
    ///
    /// `true` is certain. `false` means that this key was inserted before, or that other keys have set all of its bits.
    /// The order of inserts makes no difference to the final bits.
    ///
    /// # Complexity
    /// O(1), without allocation.
    #[inline]
    pub fn insert<K: Hash + ?Sized>(&mut self, key: &K) -> bool {
        self.insert_hash(self.hasher.hash_key(key))
    }

    /// Inserts many keys. Returns how many were not contained before.
    ///
    /// Bits and number are those of single inserts.
    ///
    /// # Examples
    /// ```
    /// use bloom_blocked::BlockedBloomFilter;
    ///
    /// let mut filter = BlockedBloomFilter::new(1_000, 0.001)?;
    /// assert_eq!(filter.insert_batch(&["a", "b", "a"]), 2);
    /// # Ok::<(), bloom_blocked::error::BuildError>(())
    /// ```
    pub fn insert_batch<K: Hash>(&mut self, keys: &[K]) -> usize {
        self.blocks.insert_many(keys, |key| self.hasher.hash_key(key))
    }

    /// Inserts all that `other`, in any storage, contains. The result is exactly that of inserting the keys of both.
    ///
    /// # Errors
    /// [`Incompatible`] if blocks, hashes or hashers differ. `self` is unchanged then.
    ///
    /// # Complexity
    /// O(m) for m bits, without allocation.
    ///
    /// # Examples
    /// ```
    /// use bloom_blocked::BlockedBloomFilter;
    ///
    /// let mut left = BlockedBloomFilter::new(100, 0.001)?;
    /// let mut right = left.clone();
    /// left.insert("in left");
    /// right.insert("in right");
    /// left.union_with(&right)?;
    /// assert!(left.contains("in left") && left.contains("in right"));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn union_with(
        &mut self,
        other: &BlockedBloomFilter<S, impl WordSource>,
    ) -> Result<(), Incompatible> {
        self.check_compatible(other)?;
        self.combine(other, |left, right| left | right);
        Ok(())
    }
}

impl<S: KeyHasher, W: OwnedWords> BlockedBloomFilter<S, W> {
    /// Copies the filter. `clone` does the same, but aborts if the allocator refuses the memory.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub fn try_clone(&self) -> Result<Self, AllocError>
    where
        S: Clone,
    {
        let (params, hasher) = (self.params, self.hasher.clone());
        Ok(Self { blocks: self.blocks.try_clone()?, params, hasher })
    }

    /// Keeps the bits that `other`, in any storage, has too. `self` then contains every key that is in both.
    ///
    /// It has more set bits than a filter of the common keys alone, and therefore more false positives: a key of only
    /// one filter is answered `true` at the rate of the other. The estimates are those of the bits. To estimate the
    /// number of common keys, call [`approx_intersection_len`](Self::approx_intersection_len) first.
    ///
    /// # Errors
    /// [`Incompatible`] if blocks, hashes or hashers differ. `self` is unchanged then.
    ///
    /// # Complexity
    /// O(m) for m bits, without allocation.
    ///
    /// # Examples
    /// ```
    /// use bloom_blocked::BlockedBloomFilter;
    ///
    /// let mut left = BlockedBloomFilter::new(100, 0.001)?;
    /// let mut right = left.clone();
    /// left.insert_batch(&["both", "left"]);
    /// right.insert_batch(&["both", "right"]);
    /// left.intersect_with(&right)?;
    /// assert!(left.contains("both") && !left.contains("left") && !left.contains("right"));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn intersect_with(
        &mut self,
        other: &BlockedBloomFilter<S, impl WordSource>,
    ) -> Result<(), Incompatible> {
        self.check_compatible(other)?;
        self.combine(other, |left, right| left & right);
        Ok(())
    }

    fn combine(
        &mut self,
        other: &BlockedBloomFilter<S, impl WordSource>,
        f: impl Fn(u64, u64) -> u64,
    ) {
        self.blocks.words_mut().combine(other.blocks.words().values(), f);
    }
}

impl<S: KeyHasher, W: WordSource> BlockedBloomFilter<S, W> {
    /// Makes the filter use one of [`backends`](crate::backends), for tests and benches.
    #[doc(hidden)]
    #[must_use]
    pub fn with_backend(mut self, name: &str) -> Option<Self> {
        self.blocks.set_backend(Backend::by_name(name)?);
        Some(self)
    }
}

impl<S: KeyHasher> Insert for BlockedBloomFilter<S> {
    type Error = Infallible;

    #[inline]
    fn insert_hash(&mut self, hash: u64) -> Result<bool, Infallible> {
        Ok(self.insert_hash(hash))
    }
}

impl<S: KeyHasher> Merge for BlockedBloomFilter<S> {
    type Error = Incompatible;

    fn merge(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.union_with(other)
    }
}

/// Inserts keys, or references to keys: both have the same hash.
impl<K: Hash, S: KeyHasher> Extend<K> for BlockedBloomFilter<S> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        keys.into_iter().for_each(|key| _ = self.insert(&key));
    }
}

/// Filters are equal if shape, hasher and bits are equal. The design (expected items and rate) is not compared.
impl<S: KeyHasher> PartialEq for BlockedBloomFilter<S> {
    fn eq(&self, other: &Self) -> bool {
        self.check_compatible(other).is_ok() && self.blocks == other.blocks
    }
}

impl<S: KeyHasher> Eq for BlockedBloomFilter<S> {}
