//! The methods that only read, for a sketch in any storage.

use core::fmt;
use core::hash::{Hash, Hasher};

use pds_core::hash::KeyHasher;
use pds_core::internal::{answer_keys, check_lengths};
use pds_core::traits::Frequency;
use pds_params::CountMinParams;

use super::batch::{BATCH, PREFETCH_FROM};
use super::{CountMinSketch, Update};
use crate::counters::{Counted, CounterStorage, Rows, Tally};
use crate::numbers::{error_of, median, real};
use crate::{Count, CountInterval, Counter};

impl<S: KeyHasher, C: Counter, W: CounterStorage> CountMinSketch<S, C, W> {
    /// Returns the sum of all counts inserted. It saturates at 2^64 - 1.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counted().total
    }

    /// Returns the number of counters per row.
    #[must_use]
    pub const fn width(&self) -> u64 {
        self.params.width()
    }

    /// Returns the number of rows.
    #[must_use]
    pub const fn depth(&self) -> u32 {
        self.params.depth()
    }

    /// Returns which counters an insert raises.
    #[must_use]
    pub const fn update(&self) -> Update {
        self.update
    }

    /// Returns the shape and its error.
    #[must_use]
    pub const fn params(&self) -> CountMinParams {
        self.params
    }

    /// Returns the hasher.
    #[must_use]
    pub const fn hasher(&self) -> &S {
        &self.hasher
    }

    /// Returns the size of the counters in bytes, a multiple of 8.
    #[must_use]
    pub const fn size_in_bytes(&self) -> u64 {
        8 * crate::cells::words_for::<C>(self.params.counters())
    }

    /// Estimates how often a key occurred, by its [hash](KeyHasher#hashes-of-your-own).
    #[inline]
    #[must_use]
    pub fn estimate_hash(&self, hash: u64) -> Count {
        let least = self.least(self.rows(), hash);
        Count::new(least.into(), self.tally.full_from())
    }

    /// Bounds how often a key occurred, by its [hash](KeyHasher#hashes-of-your-own); see
    /// [`estimate_interval`](Self::estimate_interval).
    #[must_use]
    pub fn estimate_interval_hash(&self, hash: u64) -> CountInterval {
        let count = self.estimate_hash(hash);
        // The total is read last. Inserts of other threads in between then widen the interval instead of narrowing it.
        CountInterval::below(count, error_of(&self.params, self.total()))
    }

    /// Estimates how often a key occurred, by its [hash](KeyHasher#hashes-of-your-own); see
    /// [`estimate_mean_min`](Self::estimate_mean_min).
    #[must_use]
    pub fn estimate_mean_min_hash(&self, hash: u64) -> f64 {
        let mut values = [0.0; pds_params::cms::MAX_DEPTH as usize];
        let (rows, total) = (self.rows(), self.total());
        let others = real(self.params.width().max(2) - 1);
        let depth = rows.fold(hash, 0, |row, counter: C| {
            let counter = counter.into();
            values[row] = real(counter) - real(total.saturating_sub(counter)) / others;
            row + 1
        });
        let least = real(self.least(rows, hash).into());
        median(&mut values[..depth]).clamp(0.0, least)
    }

    /// Estimates many keys by their [hashes](KeyHasher#hashes-of-your-own): `out[i]` is the answer for `hashes[i]`.
    ///
    /// This is faster than single calls if the sketch exceeds the cache.
    ///
    /// # Panics
    /// If the slices differ in length.
    #[track_caller]
    pub fn estimate_hash_batch(&self, hashes: &[u64], out: &mut [Count]) {
        check_lengths(hashes, out);
        let (rows, full_from) = (self.rows(), self.tally.full_from());
        for (hashes, counts) in hashes.chunks(BATCH).zip(out.chunks_mut(BATCH)) {
            self.prefetch_chunk(rows, hashes);
            for (count, &hash) in counts.iter_mut().zip(hashes) {
                *count = Count::new(self.least(rows, hash).into(), full_from);
            }
        }
    }

    /// Prefetches the counters of a chunk's keys if the sketch is large enough for that.
    #[inline]
    pub(super) fn prefetch_chunk(&self, rows: W::Rows<'_, C>, hashes: &[u64]) {
        if self.size_in_bytes() >= PREFETCH_FROM as u64 {
            hashes.iter().for_each(|&hash| rows.prefetch(hash));
        }
    }

    /// Returns the counters. Call it once per operation.
    #[inline]
    pub(crate) fn rows(&self) -> W::Rows<'_, C> {
        self.counters.rows(&self.params)
    }

    /// Returns the least counter of the key with this hash.
    #[inline]
    pub(super) fn least(&self, rows: W::Rows<'_, C>, hash: u64) -> C {
        rows.fold(hash, C::MAX, Ord::min)
    }

    #[inline]
    pub(crate) fn counted(&self) -> Counted {
        self.tally.counted()
    }

    /// Estimates how often `key` came: never less, unless the answer is saturated.
    ///
    /// # Complexity
    /// O(depth), without allocation.
    #[inline]
    #[must_use]
    pub fn estimate<K: Hash + ?Sized>(&self, key: &K) -> Count {
        self.estimate_hash(self.hasher.hash_key(key))
    }

    /// Bounds how often `key` came.
    ///
    /// The upper bound is the estimate. It is certain, and open if the estimate is saturated. The lower bound is
    /// epsilon N below the estimate. It is too high with probability at most delta, and it is 0 if the total is
    /// saturated. After [`halve`](CountMinSketch::halve) it may be too high by one more.
    ///
    /// # Examples
    /// ```
    /// use cms::CountMinSketch;
    ///
    /// let mut sketch = CountMinSketch::new(0.01, 0.01)?;
    /// sketch.insert_many("a", 1_000);
    /// sketch.insert_many("b", 100);
    /// let interval = sketch.estimate_interval("a");
    /// assert_eq!((interval.truth_at_least, interval.truth_at_most), (989, Some(1_000)));
    /// # Ok::<(), cms::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn estimate_interval<K: Hash + ?Sized>(&self, key: &K) -> CountInterval {
        self.estimate_interval_hash(self.hasher.hash_key(key))
    }

    /// Estimates how often `key` came, less the expected noise. The estimate may be below the truth.
    ///
    /// For each row, the mean of the other counters is subtracted from the counter of the key. The result is the median
    /// over the rows, at least 0 and at most the [`estimate`](Self::estimate). It is closer to the truth than the
    /// estimate if few keys are much more frequent than others. Do not use it with conservative update, because those
    /// rows hold less than the total, or if counters are saturated.
    ///
    /// # References
    /// Fan Deng and Davood Rafiei, "New Estimation Algorithms for Streaming Data: Count-min Can Do
    /// More", technical report, University of Alberta, 2007.
    #[must_use]
    pub fn estimate_mean_min<K: Hash + ?Sized>(&self, key: &K) -> f64 {
        self.estimate_mean_min_hash(self.hasher.hash_key(key))
    }

    /// Estimates many keys: `out[i]` is the answer for `keys[i]`.
    ///
    /// This is faster than single calls if the sketch exceeds the cache.
    ///
    /// # Panics
    /// If the slices differ in length.
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
    /// # Ok::<(), cms::error::BuildError>(())
    /// ```
    #[track_caller]
    pub fn estimate_batch<K: Hash>(&self, keys: &[K], out: &mut [Count]) {
        answer_keys::<BATCH, K, _>(&self.hasher, keys, out, |hashes, counts| {
            self.estimate_hash_batch(hashes, counts);
        });
    }
}

impl<S: KeyHasher, C, W: CounterStorage> KeyHasher for CountMinSketch<S, C, W> {
    #[inline]
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.hasher.hash_key(key)
    }

    #[inline]
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        self.hasher.hash_key_dyn(feed)
    }
}

impl<S: KeyHasher, C: Counter, W: CounterStorage> Frequency for CountMinSketch<S, C, W> {
    #[inline]
    fn estimate_hash(&self, hash: u64) -> u64 {
        self.estimate_hash(hash).value()
    }
}

impl<S: KeyHasher, C: Counter, W: CounterStorage> fmt::Debug for CountMinSketch<S, C, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [&str; 3] = ["CountMinSketch", "AtomicCountMinSketch", "CountMinSketchView"];
        f.debug_struct(W::name_of(NAMES))
            .field("width", &self.width())
            .field("depth", &self.depth())
            .field("counter_bits", &C::BITS)
            .field("update", &self.update)
            .field("total", &self.total())
            .finish_non_exhaustive()
    }
}
