//! The methods that only read, for a filter in any storage.

use core::fmt;
use core::hash::{Hash, Hasher};

use pds_core::hash::KeyHasher;
use pds_core::internal::{AHEAD, answer_keys, check_lengths};
use pds_core::storage::WordSource;
use pds_core::traits::Membership;

use super::ExactFilter;

impl<S, W> ExactFilter<S, W> {
    /// Returns the hasher.
    #[must_use]
    pub const fn hasher(&self) -> &S {
        &self.hasher
    }

    /// Returns the number of distinct keys to include.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.stages.first.params().keys
    }

    /// Returns whether there is no key to include. The filter answers `false` to every query then.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of columns of the first stage, 0 if there is none.
    #[must_use]
    pub const fn columns(&self) -> u32 {
        self.stages.first.params().columns.every()
    }

    /// Returns the number of keys to exclude that pass the first stage.
    #[must_use]
    pub const fn num_passed(&self) -> u64 {
        self.stages.second.params().keys - self.len()
    }
}

impl<S, W: WordSource> ExactFilter<S, W> {
    /// Returns the size of the contents in bytes, a multiple of 8.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.words.as_words().len() as u64 * 8
    }

    /// Returns the number of bits per key to include. Not a number if there is no key.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "a ratio needs no more than the 53 bits of both"
    )]
    pub fn bits_per_key(&self) -> f64 {
        self.size_in_bytes() as f64 * 8.0 / self.len() as f64
    }

    /// Tests by its hash whether a key is to be included.
    ///
    /// `hash` must be the [`hash_key`](KeyHasher::hash_key) of this filter, or 64 uniform bits. Pass any other hash
    /// through [`finalize`](pds_core::hash::finalize).
    #[inline]
    #[must_use]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.stages.has(self.words.as_words(), hash)
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
        let (stages, words) = (&self.stages, self.words.as_words());
        let of_first = &words[..stages.split];
        stages.first.answer_each(of_first, hashes, out, |_, hash| stages.has(words, hash));
    }
}

impl<S: KeyHasher, W: WordSource> ExactFilter<S, W> {
    /// Tests whether `key` is to be included. The answer is arbitrary for a key that was in neither set.
    ///
    /// # Complexity
    /// O(1). Does not allocate.
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
    /// use fuse::ExactFilter;
    ///
    /// let filter = ExactFilter::new([2u64], [1, 3])?;
    /// let mut answers = [false; 3];
    /// filter.contains_batch(&[1u64, 2, 3], &mut answers);
    /// assert_eq!(answers, [false, true, false]);
    /// # Ok::<(), fuse::ConstructionError>(())
    /// ```
    #[track_caller]
    pub fn contains_batch<K: Hash>(&self, keys: &[K], out: &mut [bool]) {
        answer_keys::<{ 8 * AHEAD }, _, _>(&self.hasher, keys, out, |hashes, answers| {
            self.contains_hash_batch(hashes, answers);
        });
    }
}

impl<S: KeyHasher, W> KeyHasher for ExactFilter<S, W> {
    #[inline]
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.hasher.hash_key(key)
    }

    #[inline]
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        self.hasher.hash_key_dyn(feed)
    }
}

impl<S: KeyHasher, W: WordSource> Membership for ExactFilter<S, W> {
    #[inline]
    fn contains_hash(&self, hash: u64) -> bool {
        self.contains_hash(hash)
    }

    fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
        self.contains_hash_batch(hashes, out);
    }
}

impl<S, W: WordSource> fmt::Debug for ExactFilter<S, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(W::name_of(["ExactFilter", "AtomicExactFilter", "ExactFilterView"]))
            .field("len", &self.len())
            .field("columns", &self.columns())
            .finish_non_exhaustive()
    }
}
