//! The methods that only read, for a filter in any storage.

use core::fmt;
use core::hash::{Hash, Hasher};

use pds_core::error::Incompatible;
use pds_core::hash::KeyHasher;
use pds_core::storage::WordSource;
use pds_core::traits::Membership;
use pds_params::bloom::SetBits;
use pds_params::{BloomParams, Estimate};

use crate::batch::{contains_hashes, contains_in, contains_keys};
use crate::health::rate_from_ones;
use crate::{BitArray, BloomFilter, Health, probing};

impl<S: KeyHasher, W: WordSource> BloomFilter<S, W> {
    /// Returns the hasher.
    #[must_use]
    pub const fn hasher(&self) -> &S {
        &self.hasher
    }

    /// Returns the parameters: bits, hashes, and design.
    #[must_use]
    pub const fn params(&self) -> BloomParams {
        self.params
    }

    /// Returns the number of distinct items that the filter was designed for. `None` if it was sized by hand.
    #[must_use]
    pub fn expected_items(&self) -> Option<u64> {
        self.params.expected_items()
    }

    /// Returns the false-positive rate promised at the expected items. `None` if the filter was sized by hand.
    #[must_use]
    pub fn promised_rate(&self) -> Option<f64> {
        self.params.promised_rate()
    }

    /// Returns the number of bits.
    #[must_use]
    pub fn num_bits(&self) -> u64 {
        self.params.num_bits()
    }

    /// Returns the number of hash functions, which is the number of positions per key.
    #[must_use]
    pub fn num_hashes(&self) -> u32 {
        self.params.num_hashes()
    }

    /// Returns the size of the bits in bytes, a multiple of 8.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.params.size_in_bytes()
    }

    /// Returns the bits.
    #[must_use]
    pub const fn bits(&self) -> &BitArray<W> {
        &self.bits
    }

    /// Checks that two filters have equal shapes and hashers.
    pub(crate) fn check_compatible<V: WordSource>(
        &self,
        other: &BloomFilter<S, V>,
    ) -> Result<(), Incompatible>
    where
        S: KeyHasher,
    {
        let (left, right) = (u64::from(self.num_hashes()), u64::from(other.num_hashes()));
        Incompatible::check_shape("number of bits", self.num_bits(), other.num_bits())?;
        Incompatible::check_shape("number of hashes", left, right)?;
        Incompatible::check_hasher(&self.hasher, &other.hasher)
    }

    /// Tests by its [hash](KeyHasher#hashes-of-your-own) whether a key may be in the set. `false` is certain.
    #[inline]
    #[must_use]
    pub fn contains_hash(&self, hash: u64) -> bool {
        probing::contains(self.bits.as_bits(), self.params.num_hashes(), hash)
    }

    /// Tests many [hashes](KeyHasher#hashes-of-your-own): `out[i]` is the answer for `hashes[i]`.
    ///
    /// This is faster than single calls if the filter exceeds the cache, most of all for absent keys.
    ///
    /// # Panics
    /// If the slices differ in length.
    #[track_caller]
    pub fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
        contains_hashes(self.bits.as_bits(), self.params.num_hashes(), hashes, out);
    }

    /// Asks many filters for one [hash](KeyHasher#hashes-of-your-own): `out[i]` is the answer of the filter number `i`.
    ///
    /// The filters must have equal hashers, because the hash is that of all of them. Their sizes may differ. This is several
    /// times as fast as single calls if the filters together exceed the cache.
    ///
    /// # Panics
    /// If there are not as many filters as answers.
    ///
    /// # Examples
    /// ```
    /// use bloom_core::hash::KeyHasher;
    /// use bloom_core::BloomFilter;
    ///
    /// let mut days = Vec::new();
    /// for users in [["ann", "bob"], ["bob", "eve"], ["eve", "joe"]] {
    ///     let mut day = BloomFilter::new(100, 0.001)?;
    ///     day.extend(users);
    ///     days.push(day);
    /// }
    /// let mut answers = [false; 3];
    /// BloomFilter::contains_hash_in(&days, days[0].hash_key("bob"), &mut answers);
    /// assert_eq!(answers, [true, true, false]);
    /// # Ok::<(), bloom_core::error::BuildError>(())
    /// ```
    #[track_caller]
    pub fn contains_hash_in<'a>(
        filters: impl IntoIterator<Item = &'a Self>,
        hash: u64,
        out: &mut [bool],
    ) where
        Self: 'a,
    {
        let of = |filter: &'a Self| (filter.bits.as_bits(), filter.params.num_hashes());
        let filters = contains_in(filters.into_iter().map(of), hash, out);
        let answers = out.len();
        assert!(
            filters == answers,
            "one answer per filter: {filters} filters, but {answers} answers"
        );
    }

    /// Counts the set bits, in O(m).
    #[must_use]
    pub fn count_ones(&self) -> u64 {
        self.bits.count_ones()
    }

    /// Returns the fraction of set bits, in O(m).
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "a ratio needs no more than the 53 bits of both"
    )]
    pub fn fill_ratio(&self) -> f64 {
        self.count_ones() as f64 / self.num_bits() as f64
    }

    /// Returns the current false-positive rate, from 0 to 1: the fraction of absent keys that are answered `true`.
    ///
    /// It is the fill to the power of the number of hashes: 0 for an empty filter, 1 if every bit is set.
    ///
    /// # Complexity
    /// O(m) for m bits.
    #[must_use]
    pub fn false_positive_rate(&self) -> f64 {
        rate_from_ones(&self.params, self.count_ones())
    }

    /// Returns whether at least half of all absent keys are answered `true`.
    ///
    /// Such a filter is wrong about an absent key at least as often as right. This happens long before every bit is
    /// set: with 7 hashes, if about 91 % of the bits are set.
    ///
    /// # Complexity
    /// O(m) for m bits.
    #[must_use]
    pub fn is_saturated(&self) -> bool {
        self.false_positive_rate() >= 0.5
    }

    /// Compares the estimated items with the expected ones, and the current rate with the promised one.
    ///
    /// # Complexity
    /// O(m) for m bits.
    #[must_use]
    pub fn health(&self) -> Health {
        Health::from_ones(&self.params, self.count_ones())
    }

    /// Estimates the number of distinct items, with its standard error.
    ///
    /// Both are infinite if every bit is set: the bits then say nothing about the number.
    ///
    /// # Complexity
    /// O(m) for m bits.
    ///
    /// # Examples
    /// ```
    /// use bloom_core::BloomFilter;
    ///
    /// let mut filter = BloomFilter::new(10_000, 0.01)?;
    /// filter.extend(0..5_000u32);
    /// let items = filter.approx_len();
    /// assert!((items.value - 5_000.0).abs() < 5.0 * items.standard_error);
    /// assert!(items.standard_error < 50.0);
    /// # Ok::<(), bloom_core::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn approx_len(&self) -> Estimate {
        self.params.cardinality(self.count_ones())
    }

    /// Tests whether `key` may be in the set. `false` is certain.
    ///
    /// # Complexity
    /// O(k) for k hash functions, without allocation.
    #[inline]
    #[must_use]
    pub fn contains<K: Hash + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hasher.hash_key(key))
    }

    /// Tests many keys: `out[i]` is the answer for `keys[i]`.
    ///
    /// This is faster than single calls if the filter exceeds the cache, most of all for absent keys.
    ///
    /// # Panics
    /// If the slices differ in length.
    ///
    /// # Examples
    /// ```
    /// use bloom_core::BloomFilter;
    ///
    /// let mut filter = BloomFilter::new(1_000, 0.001)?;
    /// filter.insert(&2u64);
    /// let mut answers = [false; 3];
    /// filter.contains_batch(&[1u64, 2, 3], &mut answers);
    /// assert_eq!(answers, [false, true, false]);
    /// # Ok::<(), pds_core::error::BuildError>(())
    /// ```
    #[track_caller]
    pub fn contains_batch<K: Hash>(&self, keys: &[K], out: &mut [bool]) {
        contains_keys(self.bits.as_bits(), self.params.num_hashes(), &self.hasher, keys, out);
    }

    /// Estimates the number of distinct items that are in at least one of the filters. `other` can be in any storage.
    ///
    /// # Errors
    /// [`Incompatible`] if shapes or hashers differ.
    ///
    /// # Complexity
    /// O(m) for m bits, without allocation.
    pub fn approx_union_len(
        &self,
        other: &BloomFilter<S, impl WordSource>,
    ) -> Result<Estimate, Incompatible> {
        self.check_compatible(other)?;
        Ok(self.params.cardinality(self.bits.count_union_ones(&other.bits)?))
    }

    /// Estimates the number of distinct items that are in both filters. `other` can be in any storage.
    ///
    /// The standard error is that of a difference of large numbers. It hardly falls with the result.
    ///
    /// # Errors
    /// [`Incompatible`] if shapes or hashers differ.
    ///
    /// # Complexity
    /// O(m) for m bits, without allocation.
    ///
    /// # Examples
    /// ```
    /// use bloom_core::BloomFilter;
    ///
    /// let mut left = BloomFilter::new(9_000, 0.001)?;
    /// let mut right = BloomFilter::new(9_000, 0.001)?;
    /// left.extend(0..6_000u32);
    /// right.extend(4_000..9_000u32);
    /// let common = left.approx_intersection_len(&right)?;
    /// assert!((common.value - 2_000.0).abs() < 5.0 * common.standard_error);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn approx_intersection_len(
        &self,
        other: &BloomFilter<S, impl WordSource>,
    ) -> Result<Estimate, Incompatible> {
        self.check_compatible(other)?;
        Ok(self.params.intersection_cardinality(SetBits {
            left: self.count_ones(),
            right: other.count_ones(),
            union: self.bits.count_union_ones(&other.bits)?,
        }))
    }
}

impl<S: KeyHasher, W> KeyHasher for BloomFilter<S, W> {
    #[inline]
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.hasher.hash_key(key)
    }

    #[inline]
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        self.hasher.hash_key_dyn(feed)
    }
}

impl<S: KeyHasher, W: WordSource> Membership for BloomFilter<S, W> {
    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.contains_hash(hash)
    }

    fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
        self.contains_hash_batch(hashes, out);
    }
}

impl<S: KeyHasher, W: WordSource> fmt::Debug for BloomFilter<S, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(W::name_of(["BloomFilter", "AtomicBloomFilter", "BloomFilterView"]))
            .field("num_bits", &self.num_bits())
            .field("num_hashes", &self.num_hashes())
            .field("fill_ratio", &self.fill_ratio())
            .finish_non_exhaustive()
    }
}
