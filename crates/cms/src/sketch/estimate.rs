use core::hash::Hash;
use pds_core::KeyHasher;

use super::CountMinSketch;
use crate::numbers::{error_of, median, real};
use crate::{Count, CountInterval, Counter};

impl<S, C: Counter> CountMinSketch<S, C> {
    /// The least counter of the key with this hash.
    #[inline]
    pub(super) fn least(&self, hash: u64) -> C {
        self.fold(hash, C::MAX, |least, &counter| least.min(counter))
    }

    /// Estimates how often the key with this hash came.
    /// The hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
    #[inline]
    #[must_use]
    pub fn estimate_hash(&self, hash: u64) -> Count {
        self.count_of(self.least(hash))
    }

    /// Bounds how often the key with this hash came, as
    /// [`estimate_interval`](Self::estimate_interval) does.
    /// The hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
    #[must_use]
    pub fn estimate_interval_hash(&self, hash: u64) -> CountInterval {
        CountInterval::below(self.estimate_hash(hash), error_of(&self.params, self.total))
    }

    /// Estimates how often the key with this hash came, as
    /// [`estimate_mean_min`](Self::estimate_mean_min) does.
    /// The hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
    #[must_use]
    pub fn estimate_mean_min_hash(&self, hash: u64) -> f64 {
        let mut rows = [0.0; pds_params::cms::MAX_DEPTH as usize];
        let others = real(self.params.width().max(2) - 1);
        let depth = self.fold(hash, 0, |row, &counter| {
            let counter = counter.into();
            rows[row] = real(counter) - real(self.total.saturating_sub(counter)) / others;
            row + 1
        });
        let least = real(self.least(hash).into());
        median(&mut rows[..depth]).clamp(0.0, least)
    }
}

impl<S: KeyHasher, C: Counter> CountMinSketch<S, C> {
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
    /// The upper end is the estimate and certain; it is open where the estimate is saturated. The lower end is
    /// epsilon N below, and too high with probability delta at most. It is 0 where the total is saturated, and may be
    /// too high by one more after [`halve`](Self::halve).
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
    /// # Ok::<(), pds_core::BuildError>(())
    /// ```
    #[must_use]
    pub fn estimate_interval<K: Hash + ?Sized>(&self, key: &K) -> CountInterval {
        self.estimate_interval_hash(self.hasher.hash_key(key))
    }

    /// Estimates how often `key` came, less the noise that is expected: two-sided, so that it may be
    /// below the truth.
    ///
    /// The median over the rows of the counter less the mean of the row's others, between 0 and the
    /// estimate. Closer than [`estimate`](Self::estimate) on streams of little skew. Of no use with
    /// conservative update, whose rows hold less than the total, or where counters are saturated.
    ///
    /// # References
    /// Fan Deng and Davood Rafiei, "New Estimation Algorithms for Streaming Data: Count-min Can Do
    /// More", technical report, University of Alberta, 2007.
    #[must_use]
    pub fn estimate_mean_min<K: Hash + ?Sized>(&self, key: &K) -> f64 {
        self.estimate_mean_min_hash(self.hasher.hash_key(key))
    }
}
