//! The blocked Bloom filter.

use core::hash::Hash;

use pds_core::internal::{insert_traits, value_traits};
use pds_core::{AllocError, BuildError, DefaultHashBuilder, Incompatible, KeyHasher};
use pds_params::BlockedBloomParams;

use crate::BlockedBloomFilterBuilder;
use crate::arch::Backend;
use crate::batch;
use crate::blocks::{BlockSource, Blocks};
use crate::reading::reading_methods;

/// Answers *have I seen this key?* from one cache line per key: `false` is certain, and an absent key gets `true`
/// at a rate that was chosen.
///
/// The filter for speed: where it exceeds the cache, a key costs one memory access whatever the rate,
/// and a batch overlaps them. It takes 5 % more memory than a
/// [`BloomFilter`](bloom_core::BloomFilter) at 1 %, 9 % at 0.1 %, 15 % at 0.01 %, and far more below
/// 10^-6: choose that one where memory counts most, or for very small rates.
///
/// The type of a key is part of it: `1u32` and `1u64` are different keys.
///
/// # Guarantees
/// - False negatives: never, provided that `Hash` of a key always feeds the same bytes.
/// - False positives: the mean rate over filters is at most the promised one while at most the expected
///   number of distinct items is in. With eight hashes and c bits an item it is
///   E\[(1 - (63/64)^j)^8\], j Poisson with mean 512 / c.
/// - Memory: 64 bytes a block; 10.10 bits an item at 1 % (9.93 for [`Preference::Smallest`](crate::Preference::Smallest)), 15.73 at
///   0.1 %, 22.09 at 0.01 %.
/// - Insert and query: O(1), one block, no branch on its bits. Union, intersection, counts: O(m).
/// - Merging: exact; requires equal blocks, hashes and hasher seed.
/// - The same keys give the same bits on every processor, whichever instructions set them.
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
/// # Ok::<(), bloom_blocked::BuildError>(())
/// ```
///
/// # References
/// Felix Putze, Peter Sanders and Johannes Singler, "Cache-, Hash- and Space-Efficient Bloom Filters",
/// WEA 2007, section 3; Harald Lang, Thomas Neumann, Alfons Kemper and Peter Boncz, "Performance-Optimal
/// Filtering: Bloom Overtakes Cuckoo at High Throughput", PVLDB 12(5), 2019, section 3.2.
pub struct BlockedBloomFilter<S = DefaultHashBuilder> {
    blocks: Blocks,
    params: BlockedBloomParams,
    hasher: S,
}

reading_methods!([S] BlockedBloomFilter<S>, "BlockedBloomFilter");
insert_traits!([S] BlockedBloomFilter<S>, merge by union_with);
value_traits!([S] BlockedBloomFilter<S>, blocks);

impl BlockedBloomFilter {
    /// Creates a filter that keeps a false-positive rate of `rate` up to `expected_items` distinct items.
    ///
    /// It has the fewest blocks for which the mean rate is at most `rate`, with the number of hashes
    /// that is fastest; the [builder](Self::builder) takes another [`Preference`](crate::Preference).
    ///
    /// # Errors
    /// [`BuildError::Param`] when `expected_items` is 0, when `rate` is not above 0 and below 1 or not
    /// above the rate of hash collisions, or when they ask for more than 2^63 bits;
    /// [`BuildError::Alloc`] when the memory is refused.
    ///
    /// # Examples
    /// ```
    /// use bloom_blocked::BlockedBloomFilter;
    ///
    /// let filter = BlockedBloomFilter::new(1_000_000, 0.01)?;
    /// assert_eq!((filter.num_blocks(), filter.num_hashes()), (19_726, 8));
    /// assert!(BlockedBloomFilter::new(1_000_000, 1.0).is_err());
    /// # Ok::<(), bloom_blocked::BuildError>(())
    /// ```
    pub fn new(expected_items: u64, rate: f64) -> Result<Self, BuildError> {
        Self::builder().expected_items(expected_items).false_positive_rate(rate).build()
    }

    /// Starts a builder, for other things known than items and rate, a seed, or another hasher.
    pub const fn builder() -> BlockedBloomFilterBuilder {
        BlockedBloomFilterBuilder::new()
    }
}

impl<S> BlockedBloomFilter<S> {
    /// Creates an empty filter of exactly these parameters.
    ///
    /// # Errors
    /// [`AllocError`] when the memory is refused.
    pub fn from_params(params: BlockedBloomParams, hasher: S) -> Result<Self, AllocError>
    where
        S: KeyHasher,
    {
        Ok(Self { blocks: Blocks::zeroed(&params)?, params, hasher })
    }

    pub(crate) fn from_parts(blocks: Blocks, params: BlockedBloomParams, hasher: S) -> Self {
        Self { blocks, params, hasher }
    }

    #[cfg(target_has_atomic = "64")]
    pub(crate) fn into_parts(self) -> (Blocks, BlockedBloomParams, S) {
        (self.blocks, self.params, self.hasher)
    }

    /// Makes the filter use one of [`backends`](crate::backends); none other than for tests and benches.
    #[doc(hidden)]
    #[must_use]
    pub fn with_backend(mut self, name: &str) -> Option<Self> {
        self.blocks.set_backend(Backend::by_name(name)?);
        Some(self)
    }

    /// Inserts a key by its hash. Returns `true` when it was not contained before.
    /// The hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
    ///
    /// Keys of equal hashes are one key to the filter.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        self.blocks.insert(hash)
    }

    /// Inserts many hashes. Returns how many were not contained before.
    /// Each hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
    ///
    /// The bits are the same as after one by one, and so is the number.
    pub fn insert_hash_batch(&mut self, hashes: &[u64]) -> usize {
        insert_many(&mut self.blocks, hashes, |&hash| hash)
    }

    /// Forgets all items.
    pub fn clear(&mut self) {
        self.blocks.words_mut().fill(0);
    }

    /// Returns the bits, eight words of 64 a block.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        self.blocks.words()
    }

    /// Asks the system to back the blocks with huge pages. Returns whether it agreed to try.
    #[cfg(feature = "huge-pages")]
    pub fn advise_huge_pages(&self) -> bool {
        self.blocks.advise_huge_pages()
    }
}

fn insert_many<K>(blocks: &mut Blocks, keys: &[K], hash: impl Fn(&K) -> u64) -> usize {
    let (backend, positions) = blocks.dispatch();
    backend.run(positions, batch::InsertMany { blocks, keys, hash })
}

impl<S: KeyHasher> BlockedBloomFilter<S> {
    /// Inserts `key`. Returns `true` when it was not contained before.
    ///
    /// `true` is certain. `false` says that the key, or others that cover its bits, had been inserted.
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
    /// The bits are the same as after one by one, and so is the number.
    ///
    /// # Examples
    /// ```
    /// use bloom_blocked::BlockedBloomFilter;
    ///
    /// let mut filter = BlockedBloomFilter::new(1_000, 0.001)?;
    /// assert_eq!(filter.insert_batch(&["a", "b", "a"]), 2);
    /// # Ok::<(), bloom_blocked::BuildError>(())
    /// ```
    pub fn insert_batch<K: Hash>(&mut self, keys: &[K]) -> usize {
        insert_many(&mut self.blocks, keys, |key| self.hasher.hash_key(key))
    }

    /// Makes `self` the filter of the keys of both: exactly what inserting all of them gives.
    ///
    /// # Errors
    /// [`Incompatible`] when blocks, hashes or hashers differ; nothing is changed then.
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
    pub fn union_with(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.check_compatible(other)?;
        self.combine(other, |left, right| left | right);
        Ok(())
    }

    /// Keeps the bits that both filters have, so that `self` contains every key that is in both.
    ///
    /// It has more set bits than a filter built of the common keys alone, and hence more false
    /// positives: a key of only one of them is answered `true` at the other's rate, and the estimates are
    /// those of the bits, not of the common keys;
    /// [`approx_intersection_len`](Self::approx_intersection_len), asked before, estimates their number.
    ///
    /// # Errors
    /// [`Incompatible`] when blocks, hashes or hashers differ; nothing is changed then.
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
    pub fn intersect_with(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.check_compatible(other)?;
        self.combine(other, |left, right| left & right);
        Ok(())
    }

    fn combine(&mut self, other: &Self, f: impl Fn(u64, u64) -> u64) {
        for (left, &right) in self.blocks.words_mut().iter_mut().zip(other.words()) {
            *left = f(*left, right);
        }
    }
}
