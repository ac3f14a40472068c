//! The methods that only read, for a filter in any storage.

use core::fmt;
use core::hash::{Hash, Hasher};

use pds_core::hash::KeyHasher;
use pds_core::internal::check_lengths;
use pds_core::storage::WordSource;
use pds_core::traits::Membership;
use pds_params::CuckooParams;

use crate::CuckooFilter;

impl<S: KeyHasher, W: WordSource> CuckooFilter<S, W> {
    /// Returns the hasher.
    #[must_use]
    pub const fn hasher(&self) -> &S {
        &self.hasher
    }

    /// Returns the parameters: size, width of fingerprints, and design.
    #[must_use]
    pub const fn params(&self) -> CuckooParams {
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

    /// Returns the number of stored keys, copies included: successful inserts minus removals.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.table.len()
    }

    /// Returns whether the filter stores no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the load: the fraction of slots in use, from 0 to 1.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "a ratio needs no more than the 53 bits of both"
    )]
    pub fn load_factor(&self) -> f64 {
        self.len() as f64 / self.num_slots() as f64
    }

    /// Returns the current false-positive rate, from 0 to 1: the fraction of absent keys that are answered `true`.
    ///
    /// The rate follows from the number of stored keys and the width of fingerprints. It is the mean over all sets of
    /// as many distinct keys. Copies of a key do not raise the true rate, but this method counts them.
    ///
    /// # Complexity
    /// Constant.
    #[must_use]
    pub fn false_positive_rate(&self) -> f64 {
        self.params.rate_at(self.len())
    }

    /// Returns the capacity: the number of distinct keys that fit with a probability of at least 1 - 10^-6.
    ///
    /// More keys may fit, but almost never as many as there are slots ([`num_slots`](Self::num_slots)).
    ///
    /// # Complexity
    /// O(log n) steps for n slots. For fewer than some hundred keys, each step is a sum over the buckets.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.params.capacity()
    }

    /// Returns the number of slots: four per bucket.
    #[must_use]
    pub fn num_slots(&self) -> u64 {
        self.params.num_slots()
    }

    /// Returns the number of buckets.
    #[must_use]
    pub fn num_buckets(&self) -> u64 {
        self.params.num_buckets()
    }

    /// Returns the width of a fingerprint in bits.
    #[must_use]
    pub fn fingerprint_bits(&self) -> u32 {
        self.params.fingerprint_bits()
    }

    /// Returns the size of the slots in bytes, a multiple of 8.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.params.size_in_bytes()
    }

    /// Tests by its hash whether a key may be in the set. `false` is certain.
    ///
    /// `hash` must be the [`hash_key`](KeyHasher::hash_key) of this filter, or 64 uniform bits. Pass any other hash
    /// through [`finalize`](pds_core::hash::finalize).
    #[inline]
    #[must_use]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.table.contains(hash)
    }

    /// Tests many hashes: `out[i]` is the answer for `hashes[i]`.
    ///
    /// This is faster than single calls if the filter exceeds the cache. For the hashes see
    /// [`contains_hash`](Self::contains_hash).
    ///
    /// # Panics
    /// If the slices differ in length.
    #[track_caller]
    pub fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
        check_lengths(hashes, out);
        self.table.contains_each(hashes, |&hash| hash, out);
    }

    /// Counts the copies of a key by its hash; see [`count`](Self::count), and
    /// [`contains_hash`](Self::contains_hash) for the hash.
    #[must_use]
    pub fn count_hash(&self, hash: u64) -> u32 {
        self.table.copies(self.table.address(hash))
    }

    /// Lists the fingerprints, each as the number of its bucket and its value, in order of buckets and slots.
    ///
    /// A key cannot be recovered from its fingerprint.
    pub fn fingerprints(&self) -> impl Iterator<Item = (u64, u32)> {
        self.table.iter().map(|address| (address.bucket, address.fingerprint))
    }

    /// Tests whether `key` may be in the set. `false` is certain.
    ///
    /// # Complexity
    /// O(1): always reads two buckets. Does not allocate.
    #[inline]
    #[must_use]
    pub fn contains<K: Hash + ?Sized>(&self, key: &K) -> bool {
        self.contains_hash(self.hasher.hash_key(key))
    }

    /// Tests many keys: `out[i]` is the answer for `keys[i]`.
    ///
    /// This is faster than single calls if the filter exceeds the cache.
    ///
    /// # Panics
    /// If the slices differ in length.
    ///
    /// # Examples
    /// ```
    /// use cuckoo::CuckooFilter;
    ///
    /// let mut filter = CuckooFilter::new(1_000, 0.001)?;
    /// filter.insert(&2u64)?;
    /// let mut answers = [false; 3];
    /// filter.contains_batch(&[1u64, 2, 3], &mut answers);
    /// assert_eq!(answers, [false, true, false]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn contains_batch<K: Hash>(&self, keys: &[K], out: &mut [bool]) {
        check_lengths(keys, out);
        self.table.contains_each(keys, |key| self.hasher.hash_key(key), out);
    }

    /// Counts the copies of `key`, from 0 to 8. Copies of other keys with the same fingerprint and buckets count too.
    #[must_use]
    pub fn count<K: Hash + ?Sized>(&self, key: &K) -> u32 {
        self.count_hash(self.hasher.hash_key(key))
    }
}

impl<S: KeyHasher, W> KeyHasher for CuckooFilter<S, W> {
    #[inline]
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.hasher.hash_key(key)
    }

    #[inline]
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        self.hasher.hash_key_dyn(feed)
    }
}

impl<S: KeyHasher, W: WordSource> Membership for CuckooFilter<S, W> {
    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.contains_hash(hash)
    }

    fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
        self.contains_hash_batch(hashes, out);
    }
}

impl<S: KeyHasher, W: WordSource> fmt::Debug for CuckooFilter<S, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(W::name_of(["CuckooFilter", "AtomicCuckooFilter", "CuckooFilterView"]))
            .field("num_buckets", &self.num_buckets())
            .field("fingerprint_bits", &self.fingerprint_bits())
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
