//! The Bloom filter that threads share.

mod bits;

use core::convert::Infallible;
use core::fmt;
use core::hash::{BuildHasher, Hash};

use pds_core::memory::{AtomicWords, Words};
use pds_core::{
    AllocError, BuildError, DefaultHashBuilder, Estimate, HashKey, Incompatible, Insert,
    Membership, Merge,
};
use pds_params::BloomParams;
use pds_params::bloom::SetBits;

use self::bits::AtomicBits;
use crate::filter::{
    self, SATURATION_RATE, approx_intersection_len, approx_len, check_compatible, fill_ratio,
    rate_from_ones,
};
use crate::{BitArray, BloomFilter, Health, probing};

/// A [`BloomFilter`] that threads fill and ask at the same time, without locks.
///
/// Choose it where several threads insert into one filter. A locked operation costs 8 to 10 ns for
/// each bit that has to be set, so that one thread alone is better served by the plain filter. Both
/// have the same bits for the same keys and turn into each other without a copy.
///
/// # Guarantees
/// - No insert is lost. A key whose insert *happened before* a query (by a join, a channel, a lock) is
///   found by it; during an insert another thread may or may not find the key.
/// - When two threads insert the same new key, at least one of them is told that it was new.
/// - Rates, memory and complexity: those of [`BloomFilter`].
/// - Operations are relaxed: seeing a key says nothing about other memory that its inserter wrote.
/// - Counts and copies taken during inserts show each word at some moment, not all at the same one.
///
/// # Examples
/// ```
/// use bloom_core::{AtomicBloomFilter, BloomFilter};
///
/// let seen = AtomicBloomFilter::new(10_000, 0.01)?;
/// std::thread::scope(|s| {
///     s.spawn(|| (&seen).extend(0..5_000u32));
///     s.spawn(|| (&seen).extend(5_000..9_000u32));
/// });
/// assert!((0..9_000u32).all(|key| seen.contains(&key)));
///
/// let plain: BloomFilter = seen.into_plain();
/// assert!(plain.contains(&8_999u32));
/// # Ok::<(), pds_core::BuildError>(())
/// ```
pub struct AtomicBloomFilter<S = DefaultHashBuilder> {
    bits: AtomicBits<AtomicWords>,
    params: BloomParams,
    hasher: S,
}

impl AtomicBloomFilter {
    /// Creates a filter that keeps a false-positive rate of `rate` up to `expected_items` distinct items.
    ///
    /// For other parameters and hashers convert a filter that [`BloomFilter::builder`] has built.
    ///
    /// # Errors
    /// Those of [`BloomFilter::new`].
    pub fn new(expected_items: u64, rate: f64) -> Result<Self, BuildError> {
        BloomFilter::new(expected_items, rate).map(Self::from)
    }
}

impl<S> AtomicBloomFilter<S> {
    /// Creates an empty filter of exactly these parameters.
    ///
    /// # Errors
    /// [`AllocError`] when the memory is refused.
    pub fn from_params(params: BloomParams, hasher: S) -> Result<Self, AllocError> {
        BloomFilter::from_params(params, hasher).map(Self::from)
    }

    /// Returns the same filter for one owner, without a copy.
    #[must_use]
    pub fn into_plain(self) -> BloomFilter<S> {
        let words = Words::from(self.bits.into_words());
        let bits = BitArray::from_words(words, self.params.num_bits());
        BloomFilter::from_parts(bits, self.params, self.hasher)
    }

    /// Inserts a key by its hash. Returns `true` when it was not contained before.
    #[inline]
    pub fn insert_hash(&self, hash: u64) -> bool {
        probing::insert(&mut &self.bits, self.params.num_hashes(), hash)
    }

    /// Tests whether a key with this hash is possibly contained; `false` is certain.
    #[inline]
    #[must_use]
    pub fn contains_hash(&self, hash: u64) -> bool {
        probing::contains(&self.bits, self.params.num_hashes(), hash)
    }

    /// Inserts many hashes. Returns how many were not contained before.
    pub fn insert_hash_batch(&self, hashes: &[u64]) -> usize {
        filter::insert_hashes(&mut &self.bits, self.params.num_hashes(), hashes)
    }

    /// Tests many hashes: `out[i]` is the answer for `hashes[i]`.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
        filter::contains_hashes(&self.bits, self.params.num_hashes(), hashes, out);
    }

    /// Forgets all items. Exclusive, so that no insert can fall between two words.
    pub fn clear(&mut self) {
        self.bits.words_mut().as_plain_mut().fill(0);
    }

    /// Returns the number of bits.
    #[must_use]
    pub fn num_bits(&self) -> u64 {
        self.params.num_bits()
    }

    /// Returns the number of positions a key.
    #[must_use]
    pub fn num_hashes(&self) -> u32 {
        self.params.num_hashes()
    }

    /// Returns the number of distinct items that the filter was designed for, if it was.
    #[must_use]
    pub fn expected_items(&self) -> Option<u64> {
        self.params.expected_items()
    }

    /// Returns the false-positive rate promised at the expected items, if one was.
    #[must_use]
    pub fn promised_rate(&self) -> Option<f64> {
        self.params.promised_rate()
    }

    /// Returns the size of the bits on the heap, in bytes.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.params.size_in_bytes()
    }

    /// Returns the parameters.
    #[must_use]
    pub fn params(&self) -> BloomParams {
        self.params
    }

    /// Returns the hasher.
    #[must_use]
    pub const fn hasher(&self) -> &S {
        &self.hasher
    }

    /// Counts the set bits, in O(m).
    #[must_use]
    pub fn count_ones(&self) -> u64 {
        self.bits.count_ones()
    }

    /// Estimates the number of distinct items; see [`BloomFilter::approx_len`].
    #[must_use]
    pub fn approx_len(&self) -> Estimate {
        approx_len(&self.params, self.count_ones())
    }

    /// Returns the fraction of set bits, in O(m).
    #[must_use]
    pub fn fill_ratio(&self) -> f64 {
        fill_ratio(&self.params, self.count_ones())
    }

    /// Returns the fraction of absent keys that are answered `true` now, in [0, 1].
    #[must_use]
    pub fn false_positive_rate(&self) -> f64 {
        rate_from_ones(&self.params, self.count_ones())
    }

    /// Returns whether at least half of all absent keys are answered `true` now.
    #[must_use]
    pub fn is_saturated(&self) -> bool {
        self.false_positive_rate() >= SATURATION_RATE
    }

    /// Reports the items against the expected ones and the present rate against the promised one.
    #[must_use]
    pub fn health(&self) -> Health {
        Health::from_ones(&self.params, self.count_ones())
    }
}

impl<S: BuildHasher> AtomicBloomFilter<S> {
    /// Inserts `key`. Returns `true` when it was not contained before.
    ///
    /// # Complexity
    /// O(k) for k hash functions, lock-free and without allocation.
    #[inline]
    pub fn insert<K: Hash + ?Sized>(&self, key: &K) -> bool {
        self.insert_hash(self.hasher.hash_one(key))
    }

    /// Tests whether `key` is possibly contained; `false` is certain for inserts that happened before.
    #[inline]
    #[must_use]
    pub fn contains<K: Hash + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hasher.hash_one(key))
    }

    /// Inserts many keys. Returns how many were not contained before.
    pub fn insert_batch<K: Hash>(&self, keys: &[K]) -> usize {
        filter::insert_keys(&mut &self.bits, self.params.num_hashes(), &self.hasher, keys)
    }

    /// Tests many keys: `out[i]` is the answer for `keys[i]`.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_batch<K: Hash>(&self, keys: &[K], out: &mut [bool]) {
        filter::contains_keys(&self.bits, self.params.num_hashes(), &self.hasher, keys, out);
    }

    /// Makes `self` the filter of the keys of both, while other threads insert into either.
    ///
    /// # Errors
    /// [`Incompatible`] when bits, hashes or hashers differ; nothing is changed then.
    pub fn union_with(&self, other: &Self) -> Result<(), Incompatible> {
        self.check_compatible(other)?;
        self.bits.union_with(&other.bits);
        Ok(())
    }

    /// Keeps the bits that both filters have; see [`BloomFilter::intersect_with`].
    ///
    /// Exclusive, since it clears bits: an insert at the same time could be lost.
    ///
    /// # Errors
    /// [`Incompatible`] when bits, hashes or hashers differ; nothing is changed then.
    pub fn intersect_with(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.check_compatible(other)?;
        let words = self.bits.words_mut().as_plain_mut();
        words.iter_mut().zip(other.bits.words()).for_each(|(word, theirs)| *word &= theirs);
        Ok(())
    }

    /// Estimates the number of distinct items that are in one of the filters or both.
    ///
    /// # Errors
    /// [`Incompatible`] when bits, hashes or hashers differ.
    pub fn approx_union_len(&self, other: &Self) -> Result<Estimate, Incompatible> {
        self.check_compatible(other)?;
        Ok(approx_len(&self.params, self.bits.count_union_ones(&other.bits)))
    }

    /// Estimates the number of distinct items that both filters have in common.
    ///
    /// # Errors
    /// [`Incompatible`] when bits, hashes or hashers differ.
    pub fn approx_intersection_len(&self, other: &Self) -> Result<Estimate, Incompatible> {
        self.check_compatible(other)?;
        let union = self.bits.count_union_ones(&other.bits);
        let ones = SetBits { left: self.count_ones(), right: other.count_ones(), union };
        Ok(approx_intersection_len(&self.params, ones))
    }

    fn check_compatible(&self, other: &Self) -> Result<(), Incompatible> {
        check_compatible((&self.params, &self.hasher), (&other.params, &other.hasher))
    }
}

impl<S: Clone> AtomicBloomFilter<S> {
    /// Copies the filter into a plain one, while other threads may insert.
    ///
    /// Every insert that happened before is in the copy; of those at the same time, some of their bits.
    ///
    /// # Errors
    /// [`AllocError`] when memory is refused.
    pub fn to_plain(&self) -> Result<BloomFilter<S>, AllocError> {
        let num_bits = self.num_bits();
        let mut words = Words::zeroed(num_bits.div_ceil(64))?;
        words.iter_mut().zip(self.bits.words()).for_each(|(copy, word)| *copy = word);
        let bits = BitArray::from_words(words, num_bits);
        Ok(BloomFilter::from_parts(bits, self.params, self.hasher.clone()))
    }

    /// Copies the filter; see [`to_plain`](Self::to_plain).
    ///
    /// # Errors
    /// [`AllocError`] when memory is refused.
    pub fn try_clone(&self) -> Result<Self, AllocError> {
        self.to_plain().map(Self::from)
    }
}

impl<S> From<BloomFilter<S>> for AtomicBloomFilter<S> {
    /// Opens the filter to other threads, without a copy.
    fn from(plain: BloomFilter<S>) -> Self {
        let (bits, params, hasher) = plain.into_parts();
        let words = AtomicWords::from(bits.into_words());
        Self { bits: AtomicBits::from_words(words, params.num_bits()), params, hasher }
    }
}

impl<S> From<AtomicBloomFilter<S>> for BloomFilter<S> {
    fn from(shared: AtomicBloomFilter<S>) -> Self {
        shared.into_plain()
    }
}

impl<S: BuildHasher> HashKey for AtomicBloomFilter<S> {
    #[inline]
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.hasher.hash_one(key)
    }
}

impl<S: BuildHasher> Membership for AtomicBloomFilter<S> {
    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.contains_hash(hash)
    }

    fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
        self.contains_hash_batch(hashes, out);
    }
}

impl<S: BuildHasher> Insert for AtomicBloomFilter<S> {
    type Error = Infallible;

    #[inline]
    fn insert_hash(&mut self, hash: u64) -> Result<bool, Infallible> {
        Ok((*self).insert_hash(hash))
    }
}

impl<S: BuildHasher> Merge for AtomicBloomFilter<S> {
    fn merge(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.union_with(other)
    }
}

/// Also for a shared reference, as `std::io` has it for files.
impl<K: Hash, S: BuildHasher> Extend<K> for &AtomicBloomFilter<S> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        keys.into_iter().for_each(|key| {
            self.insert(&key);
        });
    }
}

impl<K: Hash, S: BuildHasher> Extend<K> for AtomicBloomFilter<S> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        (&*self).extend(keys);
    }
}

impl<S> fmt::Debug for AtomicBloomFilter<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtomicBloomFilter")
            .field("num_bits", &self.num_bits())
            .field("num_hashes", &self.num_hashes())
            .field("fill_ratio", &self.fill_ratio())
            .finish_non_exhaustive()
    }
}
