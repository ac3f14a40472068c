//! The methods that only read, for a bank in any storage.

use core::fmt;
use core::hash::{Hash, Hasher};

use pds_core::error::{AllocError, Incompatible};
use pds_core::hash::KeyHasher;
use pds_core::storage::WordSource;
use pds_params::BloomParams;

use super::rows::GROUP;
use crate::{BitArray, BloomFilter, FilterBank, Sets};

impl<S: KeyHasher, W: WordSource> FilterBank<S, W> {
    /// Returns the hasher.
    #[must_use]
    pub const fn hasher(&self) -> &S {
        &self.hasher
    }

    /// Returns the parameters of each set: bits, hashes, and design.
    #[must_use]
    pub const fn params(&self) -> BloomParams {
        self.params
    }

    /// Returns the number of sets.
    #[must_use]
    pub const fn num_sets(&self) -> usize {
        self.rows.num_sets()
    }

    /// Returns the size of the bits in bytes: m / 8 per set of m bits, for the number of sets rounded up to a multiple of 64.
    #[must_use]
    pub const fn size_in_bytes(&self) -> u64 {
        self.rows.num_words() as u64 * 8
    }

    /// Returns the numbers of the sets that may contain `key`, in ascending order. Every set that contains it is among them.
    ///
    /// # Complexity
    /// O(k N / 64) for k hashes and N sets, without allocation.
    ///
    /// # Examples
    /// ```
    /// use bloom_core::FilterBank;
    ///
    /// let mut logs = FilterBank::new(1_000, 0.001)?;
    /// let (first, second) = (logs.add_set()?, logs.add_set()?);
    /// logs.insert(second, "request 17");
    /// assert_eq!(logs.sets_with("request 17").next(), Some(second));
    /// assert_eq!(logs.sets_with("request 18").count(), 0);
    /// # Ok::<(), bloom_core::error::BuildError>(())
    /// ```
    pub fn sets_with<K: Hash + ?Sized>(&self, key: &K) -> Sets<'_, W> {
        self.sets_with_hash(self.hasher.hash_key(key))
    }

    /// Returns the numbers of the sets that may contain a key, by its [hash](KeyHasher#hashes-of-your-own).
    pub fn sets_with_hash(&self, hash: u64) -> Sets<'_, W> {
        Sets::new(&self.rows, self.params.num_hashes(), hash)
    }

    /// Writes for each set whether it may contain `key`: set s is bit `s % 64` of word `s / 64`, counted from the least
    /// significant. The bits beyond the last set are clear.
    ///
    /// # Panics
    /// If `out` has not one word per 64 sets.
    ///
    /// # Examples
    /// ```
    /// use bloom_core::FilterBank;
    ///
    /// let mut bank = FilterBank::new(1_000, 0.001)?;
    /// (0..70).try_for_each(|_| bank.add_set().map(|_| ()))?;
    /// bank.insert(3, "key");
    /// bank.insert(65, "key");
    /// let mut bitmap = [0; 2];
    /// bank.bitmap_of("key", &mut bitmap);
    /// assert_eq!(bitmap, [1 << 3, 1 << 1]);
    /// # Ok::<(), bloom_core::error::BuildError>(())
    /// ```
    #[track_caller]
    pub fn bitmap_of<K: Hash + ?Sized>(&self, key: &K, out: &mut [u64]) {
        self.bitmap_of_hash(self.hasher.hash_key(key), out);
    }

    /// Writes for each set whether it may contain a key, by its [hash](KeyHasher#hashes-of-your-own), as
    /// [`bitmap_of`](Self::bitmap_of) does.
    ///
    /// # Panics
    /// If `out` has not one word per 64 sets.
    #[track_caller]
    pub fn bitmap_of_hash(&self, hash: u64, out: &mut [u64]) {
        let (words, sets, needed) = (out.len(), self.num_sets(), self.rows.width());
        assert!(words == needed, "{words} words, but {sets} sets have {needed}");
        for (group, out) in out.chunks_mut(GROUP).enumerate() {
            let answers = self.rows.matches(group, self.params.num_hashes(), hash);
            out.copy_from_slice(&answers[..out.len()]);
        }
    }

    /// Tests whether `key` may be in one set. `false` is certain.
    ///
    /// # Panics
    /// If there is no set of this number.
    ///
    /// # Complexity
    /// O(k) for k hash functions, without allocation.
    #[inline]
    #[must_use]
    #[track_caller]
    pub fn contains<K: Hash + ?Sized>(&self, set: usize, key: &K) -> bool {
        self.contains_hash(set, self.hasher.hash_key(key))
    }

    /// Tests by its [hash](KeyHasher#hashes-of-your-own) whether a key may be in one set. `false` is certain.
    ///
    /// # Panics
    /// If there is no set of this number.
    #[inline]
    #[must_use]
    #[track_caller]
    pub fn contains_hash(&self, set: usize, hash: u64) -> bool {
        self.check_set(set);
        self.rows.contains(set, self.params.num_hashes(), hash)
    }

    /// Copies one set out, as a filter.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    ///
    /// # Panics
    /// If there is no set of this number.
    ///
    /// # Complexity
    /// O(m) for m bits per set.
    #[track_caller]
    pub fn to_filter(&self, set: usize) -> Result<BloomFilter<S>, AllocError>
    where
        S: Clone,
    {
        self.check_set(set);
        let bits = BitArray::from_words(self.rows.bits_of(set)?, self.params.num_bits());
        Ok(BloomFilter { bits, params: self.params, hasher: self.hasher.clone() })
    }

    #[inline]
    #[track_caller]
    pub(super) fn check_set(&self, set: usize) {
        assert!(set < self.num_sets(), "set {set} of {}", self.num_sets());
    }

    /// Checks that a filter has the shape and the hasher of the bank.
    pub(super) fn check_compatible<V: WordSource>(
        &self,
        filter: &BloomFilter<S, V>,
    ) -> Result<(), Incompatible> {
        let (ours, theirs) = (self.params, filter.params());
        let [left, right] = [ours, theirs].map(|params| u64::from(params.num_hashes()));
        Incompatible::check_shape("number of bits", ours.num_bits(), theirs.num_bits())?;
        Incompatible::check_shape("number of hashes", left, right)?;
        Incompatible::check_hasher(&self.hasher, filter.hasher())
    }
}

impl<S: KeyHasher, W> KeyHasher for FilterBank<S, W> {
    #[inline]
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.hasher.hash_key(key)
    }

    #[inline]
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        self.hasher.hash_key_dyn(feed)
    }
}

impl<S: KeyHasher, W: WordSource> fmt::Debug for FilterBank<S, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(W::name_of(["FilterBank", "FilterBank", "FilterBankView"]))
            .field("num_bits", &self.params.num_bits())
            .field("num_hashes", &self.params.num_hashes())
            .field("num_sets", &self.num_sets())
            .finish_non_exhaustive()
    }
}
