use core::hash::Hash;
use core::slice;
use pds_core::KeyHasher;

use pds_core::internal::{answer_keys, hash_chunk, prefetch};

use super::CountMinSketch;
use crate::{Count, Counter, Update};

/// How many keys a batch has under way at once: with five rows their lines fill half of a first cache.
pub(crate) const BATCH: usize = 64;

/// From this size on, in bytes, a batch prefetches: what fits a second cache is read faster than its
/// places are computed twice.
pub(super) const PREFETCH_FROM: usize = 1 << 20;

impl<S, C: Counter> CountMinSketch<S, C> {
    /// Brings the counters of the key with this hash near.
    #[inline]
    fn prefetch(&self, hash: u64) {
        self.fold(hash, (), |(), counter| prefetch(slice::from_ref(counter), 0));
    }

    /// Brings the counters of a chunk's keys near, where that helps.
    fn prefetch_chunk(&self, hashes: &[u64]) {
        if self.size_in_bytes() >= PREFETCH_FROM as u64 {
            hashes.iter().for_each(|&hash| self.prefetch(hash));
        }
    }

    /// Counts one more of each key with these hashes.
    ///
    /// The counters are the same as after one by one. Faster than that where the sketch exceeds the cache.
    pub fn insert_hash_batch(&mut self, hashes: &[u64]) {
        let one = C::saturating_from(1);
        match self.update {
            Update::Plain => self.raise_batch(hashes, |sketch, hash| sketch.raise_all(hash, one)),
            Update::Conservative => {
                self.raise_batch(hashes, |sketch, hash| sketch.raise_lowest(hash, one));
            }
        }
        self.total = self.total.saturating_add(hashes.len() as u64);
    }

    /// Raises the counters of many keys: what the sketch does with one is asked once and not for each, and the total
    /// stays out of the loop.
    #[inline]
    fn raise_batch(&mut self, hashes: &[u64], raise: impl Fn(&mut Self, u64) -> Count) {
        for hashes in hashes.chunks(BATCH) {
            self.prefetch_chunk(hashes);
            for &hash in hashes {
                raise(self, hash);
            }
        }
    }

    /// Estimates many keys by their hashes: `out[i]` is the answer for `hashes[i]`.
    ///
    /// Faster than one by one where the sketch exceeds the cache.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn estimate_hash_batch(&self, hashes: &[u64], out: &mut [Count]) {
        assert_eq!(hashes.len(), out.len(), "one answer a hash");
        for (hashes, counts) in hashes.chunks(BATCH).zip(out.chunks_mut(BATCH)) {
            self.prefetch_chunk(hashes);
            for (count, &hash) in counts.iter_mut().zip(hashes) {
                *count = self.estimate_hash(hash);
            }
        }
    }
}

impl<S: KeyHasher, C: Counter> CountMinSketch<S, C> {
    /// Counts one more of each key.
    ///
    /// The counters are the same as after one by one. Faster than that where the sketch exceeds the cache.
    ///
    /// # Examples
    /// ```
    /// use cms::CountMinSketch;
    ///
    /// let mut sketch = CountMinSketch::new(0.01, 0.01)?;
    /// sketch.insert_batch(&["a", "b", "a"]);
    /// assert_eq!(sketch.estimate("a"), 2);
    /// # Ok::<(), pds_core::BuildError>(())
    /// ```
    pub fn insert_batch<K: Hash>(&mut self, keys: &[K]) {
        for keys in keys.chunks(BATCH) {
            let hashes = hash_chunk::<BATCH, K>(&self.hasher, keys);
            self.insert_hash_batch(&hashes[..keys.len()]);
        }
    }

    /// Estimates many keys: `out[i]` is the answer for `keys[i]`.
    ///
    /// Faster than one by one where the sketch exceeds the cache.
    ///
    /// # Panics
    /// When the slices differ in length.
    ///
    /// # Examples
    /// ```
    /// use cms::{Count, CountMinSketch};
    ///
    /// let mut sketch = CountMinSketch::new(0.01, 0.01)?;
    /// sketch.insert_batch(&[1u64, 2, 1]);
    /// let mut counts = [Count::default(); 3];
    /// sketch.estimate_batch(&[1u64, 2, 3], &mut counts);
    /// assert_eq!(counts.map(Count::value), [2, 1, 0]);
    /// # Ok::<(), pds_core::BuildError>(())
    /// ```
    pub fn estimate_batch<K: Hash>(&self, keys: &[K], out: &mut [Count]) {
        answer_keys::<BATCH, K, _>(&self.hasher, keys, out, |hashes, counts| {
            self.estimate_hash_batch(hashes, counts);
        });
    }
}
