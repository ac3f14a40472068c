use core::hash::Hash;
use pds_core::hash::KeyHasher;

use pds_core::internal::hash_chunk;

use super::CountMinSketch;
use crate::{Count, Counter, Update};

/// Number of keys of a batch that are prefetched together. With five rows their lines fill half of a first-level cache.
pub(crate) const BATCH: usize = 64;

/// Size in bytes from which a batch prefetches.
// A smaller sketch is in the second-level cache. Reading that takes less time than computing the places twice.
pub(super) const PREFETCH_FROM: usize = 1 << 20;

impl<S: KeyHasher, C: Counter> CountMinSketch<S, C> {
    /// Counts one more of each key with these [hashes](KeyHasher#hashes-of-your-own).
    ///
    /// The counters are the same as after single calls. This is faster if the sketch exceeds the cache.
    pub fn insert_hash_batch(&mut self, hashes: &[u64]) {
        let one = C::saturating_from(1);
        match self.update {
            Update::Plain => self.raise_batch(hashes, |sketch, hash| sketch.raise_all(hash, one)),
            Update::Conservative => {
                self.raise_batch(hashes, |sketch, hash| sketch.raise_lowest(hash, one));
            }
        }
        self.tally.total = self.tally.total.saturating_add(hashes.len() as u64);
    }

    /// Raises the counters of many keys.
    // The kind of update is chosen once per batch, and the total stays out of the loop.
    #[inline]
    fn raise_batch(&mut self, hashes: &[u64], raise: impl Fn(&mut Self, u64) -> Count) {
        for hashes in hashes.chunks(BATCH) {
            self.prefetch_chunk(self.rows(), hashes);
            for &hash in hashes {
                raise(self, hash);
            }
        }
    }

    /// Counts one more of each key.
    ///
    /// The counters are the same as after single calls. This is faster if the sketch exceeds the cache.
    ///
    /// # Examples
    /// ```
    /// use cms::CountMinSketch;
    ///
    /// let mut sketch = CountMinSketch::new(0.01, 0.01)?;
    /// sketch.insert_batch(&["a", "b", "a"]);
    /// assert_eq!(sketch.estimate("a"), 2);
    /// # Ok::<(), cms::error::BuildError>(())
    /// ```
    pub fn insert_batch<K: Hash>(&mut self, keys: &[K]) {
        for keys in keys.chunks(BATCH) {
            let hashes = hash_chunk::<BATCH, K>(&self.hasher, keys);
            self.insert_hash_batch(&hashes[..keys.len()]);
        }
    }
}
