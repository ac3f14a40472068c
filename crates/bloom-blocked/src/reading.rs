//! The methods that only read, for a filter in any storage.

use core::fmt;
use core::hash::{Hash, Hasher};

use bloom_core::Health;
use pds_core::error::Incompatible;
use pds_core::hash::KeyHasher;
use pds_core::internal::check_lengths;
use pds_core::storage::WordSource;
use pds_core::traits::Membership;
use pds_params::Estimate;
use pds_params::{BlockedBloomParams, bloom::SetBits};

use crate::BlockedBloomFilter;
use crate::batch::{Bitmap, Flags};

/// Number of standard deviations by which the rate of a healthy filter may exceed its promise.
const TOLERATED_DEVIATIONS: f64 = 3.0;

impl<S: KeyHasher, W: WordSource> BlockedBloomFilter<S, W> {
    /// Returns the hasher.
    #[must_use]
    pub const fn hasher(&self) -> &S {
        &self.hasher
    }

    /// Returns the parameters: blocks, hashes, and design.
    #[must_use]
    pub const fn params(&self) -> BlockedBloomParams {
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

    /// Returns the number of blocks of 512 bits.
    #[must_use]
    pub fn num_blocks(&self) -> u64 {
        self.params.num_blocks()
    }

    /// Returns the number of bits.
    #[must_use]
    pub fn num_bits(&self) -> u64 {
        self.params.num_bits()
    }

    /// Returns the number of positions per key.
    #[must_use]
    pub fn num_hashes(&self) -> u32 {
        self.params.num_hashes()
    }

    /// Returns the size of the bits in bytes.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.params.size_in_bytes()
    }

    /// Tests by its hash whether a key may be in the set. `false` is certain. See [`KeyHasher`] for the hash.
    #[inline]
    #[must_use]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.blocks.contains(hash)
    }

    /// Tests many hashes: `out[i]` is the answer for `hashes[i]`. See [`KeyHasher`] for the hashes.
    ///
    /// # Panics
    /// If the slices differ in length.
    #[track_caller]
    pub fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
        check_lengths(hashes, out);
        self.blocks.contains_many(hashes, |&hash| hash, Flags(out));
    }

    /// Tests many hashes: bit `i % 64` of `out[i / 64]` is the answer for `hashes[i]`. Bits beyond the last answer are 0.
    ///
    /// See [`KeyHasher`] for the hashes.
    ///
    /// # Panics
    /// If `out` does not have exactly one word for every 64 hashes or part of them.
    #[track_caller]
    pub fn contains_hash_batch_bitmap(&self, hashes: &[u64], out: &mut [u64]) {
        self.blocks.contains_many(hashes, |&hash| hash, Bitmap::new(out, hashes.len()));
    }

    /// Counts the set bits, in O(m) for m bits.
    #[must_use]
    pub fn count_ones(&self) -> u64 {
        self.blocks.count_ones()
    }

    /// Returns the fraction of set bits, in O(m) for m bits.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "a ratio needs no more than the 53 bits of both"
    )]
    pub fn fill_ratio(&self) -> f64 {
        self.count_ones() as f64 / self.num_bits() as f64
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
    /// use bloom_blocked::BlockedBloomFilter;
    ///
    /// let mut filter = BlockedBloomFilter::new(10_000, 0.01)?;
    /// filter.extend(0..5_000u32);
    /// let items = filter.approx_len();
    /// assert!((items.value - 5_000.0).abs() < 5.0 * items.standard_error);
    /// assert!(items.standard_error < 50.0);
    /// # Ok::<(), bloom_blocked::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn approx_len(&self) -> Estimate {
        self.params.cardinality(self.count_ones())
    }

    /// Returns the current false-positive rate, from 0 to 1: the fraction of absent keys that are answered `true`.
    ///
    /// It is computed from the bits of every block, so it is the rate of this filter and not a mean over filters.
    ///
    /// # Complexity
    /// O(m) for m bits.
    #[must_use]
    pub fn false_positive_rate(&self) -> f64 {
        self.blocks.rate()
    }

    /// Returns whether at least half of all absent keys are answered `true`.
    ///
    /// With 8 hashes that is the case if at least about 92 % of the bits are set.
    ///
    /// # Complexity
    /// O(m) for m bits.
    #[must_use]
    pub fn is_saturated(&self) -> bool {
        self.false_positive_rate() >= 0.5
    }

    /// Compares the number of items with the expected one, and the current rate with the promised one.
    ///
    /// # Complexity
    /// O(m) for m bits.
    #[must_use]
    pub fn health(&self) -> Health {
        let design = (self.expected_items(), self.promised_rate());
        Health::judge(self.approx_len(), self.false_positive_rate(), design, limit(&self.params))
    }
}

/// Returns the highest rate of a healthy filter.
fn limit(params: &BlockedBloomParams) -> f64 {
    match (params.expected_items(), params.promised_rate()) {
        (Some(items), Some(promised)) => {
            promised * (1.0 + TOLERATED_DEVIATIONS * params.relative_spread_at(items))
        }
        _ => params.rate_at(items_at_half_fill(params)),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a whole number of items is wanted")]
#[expect(clippy::cast_sign_loss, reason = "an estimate is never negative")]
fn items_at_half_fill(params: &BlockedBloomParams) -> u64 {
    params.cardinality(params.num_bits() / 2).value as u64
}

impl<S: KeyHasher, W: WordSource> BlockedBloomFilter<S, W> {
    /// Tests whether `key` may be in the set. `false` is certain.
    ///
    /// # Complexity
    /// O(1): one cache line, without a branch on its bits and without allocation.
    #[inline]
    #[must_use]
    pub fn contains<K: Hash + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hasher.hash_key(key))
    }

    /// Tests many keys: `out[i]` is the answer for `keys[i]`.
    ///
    /// This is several times as fast as single calls if the filter exceeds the cache: the blocks of later keys are
    /// prefetched while earlier ones are tested.
    ///
    /// # Panics
    /// If the slices differ in length.
    ///
    /// # Examples
    /// ```
    /// use bloom_blocked::BlockedBloomFilter;
    ///
    /// let mut filter = BlockedBloomFilter::new(1_000, 0.001)?;
    /// filter.insert(&2u64);
    /// let mut answers = [false; 3];
    /// filter.contains_batch(&[1u64, 2, 3], &mut answers);
    /// assert_eq!(answers, [false, true, false]);
    /// # Ok::<(), bloom_blocked::error::BuildError>(())
    /// ```
    #[track_caller]
    pub fn contains_batch<K: Hash>(&self, keys: &[K], out: &mut [bool]) {
        check_lengths(keys, out);
        self.blocks.contains_many(keys, |key| self.hasher.hash_key(key), Flags(out));
    }

    /// Tests many keys: bit `i % 64` of `out[i / 64]` is the answer for `keys[i]`. Bits beyond the last answer are 0.
    ///
    /// # Panics
    /// If `out` does not have exactly one word for every 64 keys or part of them.
    ///
    /// # Examples
    /// ```
    /// use bloom_blocked::BlockedBloomFilter;
    ///
    /// let mut filter = BlockedBloomFilter::new(1_000, 0.001)?;
    /// filter.insert_batch(&[2u64, 3]);
    /// let mut answers = [u64::MAX];
    /// filter.contains_batch_bitmap(&[1u64, 2, 3, 4], &mut answers);
    /// assert_eq!(answers, [0b0110]);
    /// # Ok::<(), bloom_blocked::error::BuildError>(())
    /// ```
    #[track_caller]
    pub fn contains_batch_bitmap<K: Hash>(&self, keys: &[K], out: &mut [u64]) {
        let answers = Bitmap::new(out, keys.len());
        self.blocks.contains_many(keys, |key| self.hasher.hash_key(key), answers);
    }

    /// Estimates the number of distinct items that are in this filter or in `other`, in any storage.
    ///
    /// # Errors
    /// [`Incompatible`] if shapes or hashers differ.
    ///
    /// # Complexity
    /// O(m) for m bits, without allocation.
    pub fn approx_union_len(
        &self,
        other: &BlockedBloomFilter<S, impl WordSource>,
    ) -> Result<Estimate, Incompatible> {
        self.check_compatible(other)?;
        Ok(self.params.cardinality(self.blocks.count_union_ones(&other.blocks)))
    }

    /// Estimates the number of distinct items that are in this filter and in `other`, in any storage.
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
    /// use bloom_blocked::BlockedBloomFilter;
    ///
    /// let mut left = BlockedBloomFilter::new(9_000, 0.001)?;
    /// let mut right = BlockedBloomFilter::new(9_000, 0.001)?;
    /// left.extend(0..6_000u32);
    /// right.extend(4_000..9_000u32);
    /// let common = left.approx_intersection_len(&right)?;
    /// assert!((common.value - 2_000.0).abs() < 5.0 * common.standard_error);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn approx_intersection_len(
        &self,
        other: &BlockedBloomFilter<S, impl WordSource>,
    ) -> Result<Estimate, Incompatible> {
        self.check_compatible(other)?;
        Ok(self.params.intersection_cardinality(SetBits {
            left: self.count_ones(),
            right: other.count_ones(),
            union: self.blocks.count_union_ones(&other.blocks),
        }))
    }

    pub(crate) fn check_compatible<V: WordSource>(
        &self,
        other: &BlockedBloomFilter<S, V>,
    ) -> Result<(), Incompatible> {
        let hashes = [self.num_hashes(), other.num_hashes()].map(u64::from);
        Incompatible::check_shape("number of blocks", self.num_blocks(), other.num_blocks())?;
        Incompatible::check_shape("number of hashes", hashes[0], hashes[1])?;
        Incompatible::check_hasher(&self.hasher, &other.hasher)
    }
}

impl<S: KeyHasher, W> KeyHasher for BlockedBloomFilter<S, W> {
    #[inline]
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.hasher.hash_key(key)
    }

    #[inline]
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        self.hasher.hash_key_dyn(feed)
    }
}

impl<S: KeyHasher, W: WordSource> Membership for BlockedBloomFilter<S, W> {
    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.contains_hash(hash)
    }

    fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
        self.contains_hash_batch(hashes, out);
    }
}

impl<S: KeyHasher, W: WordSource> fmt::Debug for BlockedBloomFilter<S, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = ["BlockedBloomFilter", "AtomicBlockedBloomFilter", "BlockedBloomFilterView"];
        f.debug_struct(W::name_of(names))
            .field("num_blocks", &self.num_blocks())
            .field("num_hashes", &self.num_hashes())
            .field("fill_ratio", &self.fill_ratio())
            .finish_non_exhaustive()
    }
}
