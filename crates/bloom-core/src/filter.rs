//! The standard Bloom filter: construction, and the methods that change an owned filter.

use core::convert::Infallible;
use core::hash::Hash;

use pds_core::error::{AllocError, BuildError, Incompatible, ParamError};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::storage::{OwnedWords, WordSource, Words};
use pds_core::traits::{Insert, Merge};
use pds_params::BloomParams;
use pds_params::internal::ParamFault;

use crate::batch::{insert_hashes, insert_keys};
use crate::{BitArray, BloomFilterBuilder, probing};

/// A set that answers membership with false positives at a chosen rate.
///
/// `false` is certain: the key is absent. An absent key is answered `true` at the false-positive rate.
///
/// Use a Bloom filter if memory counts most, or for unions and intersections: among the filters without removal it
/// needs the least memory. A lookup reads up to one cache line per hash function. The filter keeps no keys, so it can
/// neither list nor remove them.
///
/// The type of a key is part of the key: `1u32` and `1u64` are different keys.
///
/// # Storage
/// `S` is the hasher. `W` is the [storage](pds_core::storage), which decides which methods a filter has:
///
/// | type | bits | methods |
/// |---|---|---|
/// | `BloomFilter` | in [`Words`] of its own | all |
/// | [`AtomicBloomFilter`](crate::AtomicBloomFilter) | in words of its own that threads share | those that read or copy; inserts, `clear` and unions with `&self` |
/// | [`BloomFilterView<B>`](crate::BloomFilterView) | in portable bytes of the type `B` | those that read |
///
/// # Guarantees
/// - False negatives: never, if `Hash` of a key always feeds the same bytes.
/// - False positives: the mean rate is at most the promised one, up to the expected number of distinct items. With n items
///   in m bits and k hashes it is close to (1 - e^(-kn/m))^k.
/// - Memory: m / 8 bytes. 9.6 bits per item at 1 %, 14.4 at 0.1 %.
/// - Time: an insert or a lookup is O(k). Unions, intersections and counts are O(m).
/// - Merging: exact. Bits, hashes and the seed of the hasher must be equal.
///
/// # Examples
/// ```
/// use bloom_core::BloomFilter;
///
/// let mut seen = BloomFilter::new(1_000, 0.01)?;
/// assert!(seen.insert("https://example.org/"), "not contained before");
/// assert!(!seen.insert("https://example.org/"));
/// assert!(seen.contains("https://example.org/"));
/// assert!(!seen.contains("https://example.com/"));
/// # Ok::<(), pds_core::error::BuildError>(())
/// ```
///
/// # References
/// Burton H. Bloom, "Space/Time Trade-offs in Hash Coding with Allowable Errors", Communications of
/// the ACM 13(7), 1970, method 2; Andrei Broder and Michael Mitzenmacher, "Network Applications of
/// Bloom Filters: A Survey", Internet Mathematics 1(4), 2004, section 2.
#[derive(Clone)]
pub struct BloomFilter<S = DefaultHashBuilder, W = Words> {
    /// The bits. The parameters state their number.
    pub(crate) bits: BitArray<W>,
    /// Shape and design.
    pub(crate) params: BloomParams,
    /// From keys to hashes.
    pub(crate) hasher: S,
}

// Functions that are called by path (`BloomFilter::new`) exist for one storage only: the compiler could not tell two of
// the same name apart (E0034).
impl BloomFilter {
    /// Creates a filter for `expected_items` distinct items that keeps the false-positive rate `rate` up to that
    /// number.
    ///
    /// It has the fewest bits for which the mean rate is at most `rate`.
    ///
    /// # Errors
    /// [`BuildError::Param`] if `expected_items` is 0, if `rate` is not above 0 and below 1, or if both need more than
    /// 2^63 bits. [`BuildError::Alloc`] if the allocator refuses the memory.
    ///
    /// # Examples
    /// ```
    /// use bloom_core::BloomFilter;
    ///
    /// let filter = BloomFilter::new(1_000_000, 0.01)?;
    /// assert_eq!(filter.size_in_bytes() / 1024, 1171);
    /// assert!(BloomFilter::new(1_000_000, 1.0).is_err());
    /// # Ok::<(), pds_core::error::BuildError>(())
    /// ```
    pub fn new(expected_items: u64, rate: f64) -> Result<Self, BuildError> {
        Self::builder().expected_items(expected_items).false_positive_rate(rate).build()
    }

    /// Starts a builder: for other sizes, a seed, or another hasher.
    pub const fn builder() -> BloomFilterBuilder {
        BloomFilterBuilder::new()
    }
}

impl<S: KeyHasher> BloomFilter<S> {
    /// Creates an empty filter with exactly these parameters.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub fn from_params(params: BloomParams, hasher: S) -> Result<Self, AllocError>
    where
        S: KeyHasher,
    {
        Ok(Self { bits: BitArray::zeroed(params.num_bits())?, params, hasher })
    }

    /// Creates a filter from existing bits, such as those of a counting filter of the same shape.
    ///
    /// # Errors
    /// [`Incompatible`] if the number of bits differs from that of the parameters.
    pub fn from_bits(params: BloomParams, bits: BitArray, hasher: S) -> Result<Self, Incompatible>
    where
        S: KeyHasher,
    {
        Incompatible::check_shape("number of bits", params.num_bits(), bits.num_bits())?;
        Ok(Self { bits, params, hasher })
    }

    /// Inserts a key by its [hash](KeyHasher#hashes-of-your-own). Returns `true` if it was not contained before.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        probing::insert(self.bits.as_bits_mut(), self.params.num_hashes(), hash)
    }

    /// Inserts many [hashes](KeyHasher#hashes-of-your-own). Returns how many were not contained before.
    ///
    /// Bits and number are those of single inserts in this order.
    pub fn insert_hash_batch(&mut self, hashes: &[u64]) -> usize {
        insert_hashes(self.bits.as_bits_mut(), self.params.num_hashes(), hashes)
    }

    /// Removes all items.
    pub fn clear(&mut self) {
        self.bits.clear();
    }

    /// Inserts `key`. Returns `true` if it was not contained before.
    ///
    /// `true` is certain. `false` means that this key was inserted before, or that other keys have set all of its bits.
    /// The order of inserts makes no difference to the final bits.
    ///
    /// # Complexity
    /// O(k) for k hash functions, without allocation.
    #[inline]
    pub fn insert<K: Hash + ?Sized>(&mut self, key: &K) -> bool {
        self.insert_hash(self.hasher.hash_key(key))
    }

    /// Inserts many keys. Returns how many were not contained before.
    ///
    /// Bits and number are those of single inserts in this order.
    ///
    /// # Examples
    /// ```
    /// use bloom_core::BloomFilter;
    ///
    /// let mut filter = BloomFilter::new(1_000, 0.001)?;
    /// assert_eq!(filter.insert_batch(&["a", "b", "a"]), 2);
    /// # Ok::<(), pds_core::error::BuildError>(())
    /// ```
    pub fn insert_batch<K: Hash>(&mut self, keys: &[K]) -> usize {
        insert_keys(self.bits.as_bits_mut(), self.params.num_hashes(), &self.hasher, keys)
    }

    /// Inserts all that `other` contains. The result is exactly that of inserting the keys of both.
    ///
    /// `other` can be in any storage.
    ///
    /// # Errors
    /// [`Incompatible`] if bits, hashes or hashers differ. Nothing is changed then.
    ///
    /// # Complexity
    /// O(m) for m bits, without allocation.
    ///
    /// # Examples
    /// ```
    /// use bloom_core::BloomFilter;
    ///
    /// let (mut left, mut right) = (BloomFilter::new(100, 0.001)?, BloomFilter::new(100, 0.001)?);
    /// left.insert("in left");
    /// right.insert("in right");
    /// left.union_with(&right)?;
    /// assert!(left.contains("in left") && left.contains("in right"));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn union_with(
        &mut self,
        other: &BloomFilter<S, impl WordSource>,
    ) -> Result<(), Incompatible> {
        self.check_compatible(other)?;
        self.bits.union_with(&other.bits)
    }
}

impl<S: KeyHasher, W: OwnedWords> BloomFilter<S, W> {
    /// Copies the filter. `clone` does the same, but aborts if the allocator refuses the memory.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub fn try_clone(&self) -> Result<Self, AllocError>
    where
        S: Clone,
    {
        let (params, hasher) = (self.params, self.hasher.clone());
        Ok(Self { bits: self.bits.try_clone()?, params, hasher })
    }

    /// Keeps the bits that both filters have. `self` then contains every key that is in both.
    ///
    /// `other` can be in any storage.
    ///
    /// The result has more set bits than a filter of the common keys alone, and therefore more false positives. A key
    /// of only one of the filters is answered `true` at the rate of the other. The estimates are those of the bits. To
    /// estimate the number of common keys, call [`approx_intersection_len`](Self::approx_intersection_len) first.
    ///
    /// # Errors
    /// [`Incompatible`] if bits, hashes or hashers differ. Nothing is changed then.
    ///
    /// # Complexity
    /// O(m) for m bits, without allocation.
    ///
    /// # Examples
    /// ```
    /// use bloom_core::BloomFilter;
    ///
    /// let (mut left, mut right) = (BloomFilter::new(100, 0.001)?, BloomFilter::new(100, 0.001)?);
    /// left.insert_batch(&["both", "left"]);
    /// right.insert_batch(&["both", "right"]);
    /// left.intersect_with(&right)?;
    /// assert!(left.contains("both") && !left.contains("left") && !left.contains("right"));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    // Takes `&mut self` for a shared filter, too: unlike with a union, an insert at the same time could be lost.
    pub fn intersect_with(
        &mut self,
        other: &BloomFilter<S, impl WordSource>,
    ) -> Result<(), Incompatible>
    where
        S: KeyHasher,
    {
        self.check_compatible(other)?;
        self.bits.intersect_with(&other.bits)
    }
}

impl<S: KeyHasher + Clone> BloomFilter<S> {
    /// Creates a smaller filter of the same keys, with `num_bits() / factor` bits.
    ///
    /// It equals the filter that the keys would have built at that size with as many hashes. It has no expected items
    /// and no promised rate. Its [`false_positive_rate`](Self::false_positive_rate) shows the cost of the smaller size.
    ///
    /// # Errors
    /// [`BuildError::Param`] if `factor` is 0 or does not divide the number of bits. [`BuildError::Alloc`] if the allocator
    /// refuses the memory.
    ///
    /// # Examples
    /// ```
    /// use bloom_core::BloomFilter;
    ///
    /// let mut wide = BloomFilter::builder().bits(6_000).hashes(4).build()?;
    /// let mut narrow = BloomFilter::builder().bits(2_000).hashes(4).build()?;
    /// wide.insert_batch(&["a", "b"]);
    /// narrow.insert_batch(&["a", "b"]);
    /// assert_eq!(wide.fold(3)?, narrow);
    /// # Ok::<(), pds_core::error::BuildError>(())
    /// ```
    pub fn fold(&self, factor: u64) -> Result<Self, BuildError> {
        check_divides(factor, self.num_bits())?;
        let num_bits = self.num_bits() / factor;
        let params = BloomParams::from_bits_and_hashes(num_bits, self.num_hashes())?;
        Ok(Self { bits: self.bits.fold(factor)?, params, hasher: self.hasher.clone() })
    }
}

fn check_divides(factor: u64, num_bits: u64) -> Result<(), ParamError> {
    if factor != 0 && num_bits.is_multiple_of(factor) {
        return Ok(());
    }
    Err(ParamError(ParamFault::NotADivisor { parameter: "factor", value: factor, of: num_bits }))
}

impl<S: KeyHasher> Insert for BloomFilter<S> {
    type Error = Infallible;

    #[inline]
    fn insert_hash(&mut self, hash: u64) -> Result<bool, Infallible> {
        Ok(self.insert_hash(hash))
    }
}

impl<S: KeyHasher> Merge for BloomFilter<S> {
    type Error = Incompatible;

    fn merge(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.union_with(other)
    }
}

/// Inserts keys, or references to keys: both have the same hash.
impl<K: Hash, S: KeyHasher> Extend<K> for BloomFilter<S> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        keys.into_iter().for_each(|key| _ = self.insert(&key));
    }
}

/// Filters are equal if shape, hasher and bits are equal. The design (expected items and rate) is not compared.
impl<S: KeyHasher> PartialEq for BloomFilter<S> {
    fn eq(&self, other: &Self) -> bool {
        self.check_compatible(other).is_ok() && self.bits == other.bits
    }
}

impl<S: KeyHasher> Eq for BloomFilter<S> {}
