//! The standard Bloom filter.

use core::hash::Hash;

use pds_core::internal::{insert_traits, value_traits};
use pds_core::{AllocError, BuildError, DefaultHashBuilder, Incompatible, KeyHasher, ParamError};
use pds_params::BloomParams;

use crate::batch::{insert_hashes, insert_keys};
use crate::reading::reading_methods;
use crate::{BitArray, BloomFilterBuilder, probing};

/// Answers *have I seen this key?*: `false` is certain, and an absent key gets `true` at a rate that was chosen.
///
/// Choose it where memory counts most among the filters without removal, or where sets are united
/// and intersected. It reads up to one cache line a hash function; it keeps no keys, so that it can
/// neither list nor remove them.
///
/// The type of a key is part of it: `1u32` and `1u64` are different keys.
///
/// # Guarantees
/// - False negatives: never, provided that `Hash` of a key always feeds the same bytes.
/// - False positives: the mean rate is at most the promised one while at most the expected number of
///   distinct items is in. With n items in m bits and k hashes it is close to (1 - e^(-kn/m))^k.
/// - Memory: m / 8 bytes; 9.6 bits an item at 1 %, 14.4 at 0.1 %.
/// - Insert and query: O(k). Union, intersection, counts: O(m).
/// - Merging: exact; requires equal bits, hashes and hasher seed.
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
/// # Ok::<(), pds_core::BuildError>(())
/// ```
///
/// # References
/// Burton H. Bloom, "Space/Time Trade-offs in Hash Coding with Allowable Errors", Communications of
/// the ACM 13(7), 1970, method 2; Andrei Broder and Michael Mitzenmacher, "Network Applications of
/// Bloom Filters: A Survey", Internet Mathematics 1(4), 2004, section 2.
pub struct BloomFilter<S = DefaultHashBuilder> {
    bits: BitArray,
    params: BloomParams,
    hasher: S,
}

reading_methods!([S] BloomFilter<S>);
insert_traits!([S] BloomFilter<S>, merge by union_with);
value_traits!([S] BloomFilter<S>, bits);

impl BloomFilter {
    /// Creates a filter that keeps a false-positive rate of `rate` up to `expected_items` distinct items.
    ///
    /// It has the fewest bits for which the mean rate is at most `rate`.
    ///
    /// # Errors
    /// [`BuildError::Param`] when `expected_items` is 0, when `rate` is not above 0 and below 1, or when
    /// they ask for more than 2^63 bits; [`BuildError::Alloc`] when the memory is refused.
    ///
    /// # Examples
    /// ```
    /// use bloom_core::BloomFilter;
    ///
    /// let filter = BloomFilter::new(1_000_000, 0.01)?;
    /// assert_eq!(filter.size_in_bytes() / 1024, 1171);
    /// assert!(BloomFilter::new(1_000_000, 1.0).is_err());
    /// # Ok::<(), pds_core::BuildError>(())
    /// ```
    pub fn new(expected_items: u64, rate: f64) -> Result<Self, BuildError> {
        Self::builder().expected_items(expected_items).false_positive_rate(rate).build()
    }

    /// Starts a builder, for other things known than items and rate, a seed, or another hasher.
    pub const fn builder() -> BloomFilterBuilder {
        BloomFilterBuilder::new()
    }
}

impl<S> BloomFilter<S> {
    /// Creates an empty filter of exactly these parameters.
    ///
    /// # Errors
    /// [`AllocError`] when the memory is refused.
    pub fn from_params(params: BloomParams, hasher: S) -> Result<Self, AllocError>
    where
        S: KeyHasher,
    {
        Ok(Self { bits: BitArray::zeroed(params.num_bits())?, params, hasher })
    }

    /// Makes a filter of bits that were set elsewhere, such as by a counting filter of the same shape.
    ///
    /// # Errors
    /// [`Incompatible::Shape`] when there are not as many bits as the parameters say.
    pub fn from_bits(params: BloomParams, bits: BitArray, hasher: S) -> Result<Self, Incompatible>
    where
        S: KeyHasher,
    {
        Incompatible::check_shape("number of bits", params.num_bits(), bits.num_bits())?;
        Ok(Self::from_parts(bits, params, hasher))
    }

    pub(crate) fn from_parts(bits: BitArray, params: BloomParams, hasher: S) -> Self {
        debug_assert_eq!(bits.num_bits(), params.num_bits());
        Self { bits, params, hasher }
    }

    #[cfg(target_has_atomic = "64")]
    pub(crate) fn into_parts(self) -> (BitArray, BloomParams, S) {
        (self.bits, self.params, self.hasher)
    }

    /// Inserts a key by its hash. Returns `true` when it was not contained before.
    /// The hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
    ///
    /// Keys of equal hashes are one key to the filter.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        probing::insert(&mut self.bits, self.params.num_hashes(), hash)
    }

    /// Inserts many hashes. Returns how many were not contained before.
    /// Each hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
    ///
    /// The bits are the same as after one by one, and so is the number.
    pub fn insert_hash_batch(&mut self, hashes: &[u64]) -> usize {
        insert_hashes(&mut self.bits, self.params.num_hashes(), hashes)
    }

    /// Forgets all items.
    pub fn clear(&mut self) {
        self.bits.clear();
    }

    #[cfg(feature = "huge-pages")]
    pub(crate) fn advise_huge_pages(&self) -> bool {
        self.bits.advise_huge_pages()
    }

    /// Returns the bits.
    #[must_use]
    pub const fn bits(&self) -> &BitArray {
        &self.bits
    }
}

impl<S: KeyHasher> BloomFilter<S> {
    /// Inserts `key`. Returns `true` when it was not contained before.
    ///
    /// `true` is certain. `false` says that the key, or others that cover its bits, had been inserted.
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
    /// The bits are the same as after one by one, and so is the number.
    ///
    /// # Examples
    /// ```
    /// use bloom_core::BloomFilter;
    ///
    /// let mut filter = BloomFilter::new(1_000, 0.001)?;
    /// assert_eq!(filter.insert_batch(&["a", "b", "a"]), 2);
    /// # Ok::<(), pds_core::BuildError>(())
    /// ```
    pub fn insert_batch<K: Hash>(&mut self, keys: &[K]) -> usize {
        insert_keys(&mut self.bits, self.params.num_hashes(), &self.hasher, keys)
    }

    /// Makes `self` the filter of the keys of both: exactly what inserting all of them gives.
    ///
    /// # Errors
    /// [`Incompatible`] when bits, hashes or hashers differ; nothing is changed then.
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
    pub fn union_with(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.check_compatible(other)?;
        self.bits.union_with(&other.bits)
    }

    /// Keeps the bits that both filters have, so that `self` contains every key that is in both.
    ///
    /// It has more set bits than a filter built of the common keys alone, and hence more false positives:
    /// a key of only one of them is answered `true` at the other's rate, and the estimates are those of
    /// the bits, not of the common keys; [`approx_intersection_len`](Self::approx_intersection_len),
    /// asked before, estimates their number.
    ///
    /// # Errors
    /// [`Incompatible`] when bits, hashes or hashers differ; nothing is changed then.
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
    pub fn intersect_with(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.check_compatible(other)?;
        self.bits.intersect_with(&other.bits)
    }
}

impl<S: Clone> BloomFilter<S> {
    /// Makes a smaller filter of the same keys, with `num_bits() / factor` bits.
    ///
    /// It equals the filter that the keys would have built at that size with as many hashes. It has no
    /// expected items and no promised rate; [`false_positive_rate`](Self::false_positive_rate) tells what
    /// the shrinking cost.
    ///
    /// # Errors
    /// [`BuildError::Param`] when `factor` is 0 or does not divide the number of bits;
    /// [`BuildError::Alloc`] when memory is refused.
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
    /// # Ok::<(), pds_core::BuildError>(())
    /// ```
    pub fn fold(&self, factor: u64) -> Result<Self, BuildError> {
        check_divides(factor, self.num_bits())?;
        let num_bits = self.num_bits() / factor;
        let params = BloomParams::from_bits_and_hashes(num_bits, self.num_hashes())?;
        Ok(Self::from_parts(self.bits.fold(factor)?, params, self.hasher.clone()))
    }
}

fn check_divides(factor: u64, num_bits: u64) -> Result<(), ParamError> {
    if factor != 0 && num_bits.is_multiple_of(factor) {
        return Ok(());
    }
    Err(ParamError::NotADivisor { parameter: "factor", value: factor, of: num_bits })
}

/// What all kinds of filter ask before they are combined.
pub(crate) fn check_compatible<S: KeyHasher>(
    (left, left_hasher): (&BloomParams, &S),
    (right, right_hasher): (&BloomParams, &S),
) -> Result<(), Incompatible> {
    let hashes = |params: &BloomParams| u64::from(params.num_hashes());
    Incompatible::check_shape("number of bits", left.num_bits(), right.num_bits())?;
    Incompatible::check_shape("number of hashes", hashes(left), hashes(right))?;
    Incompatible::check_hasher(left_hasher, right_hasher)
}
