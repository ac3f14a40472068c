//! The count sketch.

use core::fmt;
use core::hash::{Hash, Hasher};

use pds_core::internal::{Words, answer_keys, hash_chunk, prefetch};
use pds_core::{
    AllocError, BuildError, DefaultHashBuilder, Frequency, Incompatible, KeyHasher, Merge,
};
use pds_params::CountSketchParams;
use pds_params::cms::MAX_DEPTH;

use crate::cells::{Cells, index};
use crate::numbers;
use crate::sketch::BATCH;
use crate::{RowHash, SignedCount};

/// Answers *how often has this key come?* without bias: as often too low as too high; keys can be
/// removed.
///
/// Each row adds a key's count to one counter with a sign of the key, so that other keys cancel on average; the
/// estimate is the median of the rows. The error follows the norm of the counts (the root of the
/// sum of their squares) instead of their sum, which is less on skewed streams. Choose
/// [`CountMinSketch`](crate::CountMinSketch) where an estimate must not be too low, or where counters
/// are to be small.
///
/// # Guarantees
/// - Unbiased, and off by more than epsilon times the norm with probability delta at most. The proof
///   assumes independent rows; these come from one 64-bit hash, and are measured.
/// - Memory: width · depth signed counters of 64 bits. One that reaches 2^63 - 1, or the negative of it, is saturated: it
///   stays there, since what it has lost is unknown, and each estimate that reads it says so.
/// - Insert, remove and query: O(depth). Merge: O(width · depth).
/// - Merging: exactly the sketch of both streams. Requires equal shape and hasher seed.
///
/// # Examples
/// ```
/// use cms::CountSketch;
///
/// let mut stock = CountSketch::new(0.01, 0.01)?;
/// stock.insert_many("apples", 10);
/// stock.remove_many("apples", 3);
/// assert_eq!(stock.estimate("apples"), 7);
/// # Ok::<(), pds_core::BuildError>(())
/// ```
///
/// # References
/// Moses Charikar, Kevin Chen and Martin Farach-Colton, "Finding Frequent Items in Data Streams",
/// ICALP 2002, section 3.
pub struct CountSketch<S = DefaultHashBuilder> {
    /// The rows, one after another, in two's complement.
    counters: Words,
    params: CountSketchParams,
    hasher: S,
}

impl CountSketch {
    /// Creates a sketch whose estimates are off by more than `epsilon` times the norm of the counts with
    /// probability `delta` at most.
    ///
    /// # Errors
    /// [`BuildError::Param`] when one of them is not above 0 and below 1, or asks for too many counters;
    /// [`BuildError::Alloc`] when the memory is refused.
    pub fn new(epsilon: f64, delta: f64) -> Result<Self, BuildError> {
        let params = CountSketchParams::new(epsilon, delta)?;
        Ok(Self::from_params(params, DefaultHashBuilder::default())?)
    }
}

impl<S> CountSketch<S> {
    /// Creates an empty sketch of exactly this shape.
    ///
    /// # Errors
    /// [`AllocError`] when the memory is refused.
    pub fn from_params(params: CountSketchParams, hasher: S) -> Result<Self, AllocError>
    where
        S: KeyHasher,
    {
        Ok(Self { counters: Words::zeroed(params.counters())?, params, hasher })
    }

    pub(crate) fn from_parts(counters: Words, params: CountSketchParams, hasher: S) -> Self {
        debug_assert_eq!(counters.len() as u64, params.counters());
        Self { counters, params, hasher }
    }

    /// Counts one more of the key with this hash. Returns the new estimate.
    /// The hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> SignedCount {
        self.add_hash(hash, 1)
    }

    /// Adds `count`, which may be negative, to the key with this hash. Returns the new estimate.
    ///
    /// The hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
    /// 0 changes nothing; a count of 2^63 - 1 or more, or the negative of it, saturates the counters.
    #[inline]
    pub fn add_hash(&mut self, hash: u64, count: i64) -> SignedCount {
        let mut rows = Rows::new();
        for (cell, sign) in signed_cells(&self.params, hash) {
            let counter = &mut self.counters[cell];
            let sum = add(counter.cast_signed(), count.saturating_mul(sign));
            *counter = sum.cast_unsigned();
            rows.push(sum, sign);
        }
        rows.median()
    }

    /// Estimates how often the key with this hash came, less how often it was removed.
    /// The hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
    #[inline]
    #[must_use]
    pub fn estimate_hash(&self, hash: u64) -> SignedCount {
        median_row(&self.params, hash, |cell| self.counters[cell].cast_signed())
    }

    /// Counts one more of each key with these hashes; the same counters as after one by one.
    /// Each hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
    pub fn insert_hash_batch(&mut self, hashes: &[u64]) {
        for hashes in hashes.chunks(BATCH) {
            hashes.iter().for_each(|&hash| self.prefetch(hash));
            hashes.iter().for_each(|&hash| {
                self.insert_hash(hash);
            });
        }
    }

    /// Estimates many keys by their hashes: `out[i]` is the answer for `hashes[i]`.
    /// Each hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn estimate_hash_batch(&self, hashes: &[u64], out: &mut [SignedCount]) {
        assert_eq!(hashes.len(), out.len(), "one answer a hash");
        for (hashes, counts) in hashes.chunks(BATCH).zip(out.chunks_mut(BATCH)) {
            hashes.iter().for_each(|&hash| self.prefetch(hash));
            for (count, &hash) in counts.iter_mut().zip(hashes) {
                *count = self.estimate_hash(hash);
            }
        }
    }

    #[inline]
    fn prefetch(&self, hash: u64) {
        signed_cells(&self.params, hash).for_each(|(cell, _)| prefetch(&self.counters, cell));
    }

    /// Estimates the sum of the squares of all counts: the median over the rows of the sum of the squares
    /// of their counters. `None` where a counter is saturated.
    ///
    /// # Complexity
    /// O(width · depth), without allocation.
    ///
    /// # References
    /// Noga Alon, Yossi Matias and Mario Szegedy, "The Space Complexity of Approximating the Frequency
    /// Moments", JCSS 58(1), 1999, section 2.2, in the form of Charikar et al.
    #[must_use]
    pub fn sum_of_squares(&self) -> Option<f64> {
        if self.counters.iter().any(|&counter| is_saturated(counter.cast_signed())) {
            return None;
        }
        let mut rows = [0.0; MAX_DEPTH as usize];
        let rows = &mut rows[..self.params.depth() as usize];
        for (row, counters) in rows.iter_mut().zip(self.counters.chunks_exact(index(self.width())))
        {
            *row = counters.iter().map(|&counter| square(counter.cast_signed())).sum();
        }
        Some(numbers::median(rows))
    }

    /// Forgets all counts.
    pub fn clear(&mut self) {
        self.counters.fill(0);
    }

    /// Returns the number of counters a row.
    #[must_use]
    pub const fn width(&self) -> u64 {
        self.params.width()
    }

    /// Returns the number of rows.
    #[must_use]
    pub const fn depth(&self) -> u32 {
        self.params.depth()
    }

    /// Returns the shape and its error.
    #[must_use]
    pub const fn params(&self) -> CountSketchParams {
        self.params
    }

    pub(crate) const fn words(&self) -> &Words {
        &self.counters
    }

    /// Returns the size of the counters on the heap, in bytes.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.counters.size_in_bytes()
    }

    /// Returns the hasher.
    #[must_use]
    pub const fn hasher(&self) -> &S {
        &self.hasher
    }
}

impl<S: KeyHasher> CountSketch<S> {
    /// Counts one more of `key`. Returns the new estimate.
    ///
    /// # Complexity
    /// O(depth), without allocation.
    #[inline]
    pub fn insert<K: Hash + ?Sized>(&mut self, key: &K) -> SignedCount {
        self.insert_hash(self.hasher.hash_key(key))
    }

    /// Counts `count` more of `key`; 2^63 - 1 and more saturate. Returns the new estimate.
    pub fn insert_many<K: Hash + ?Sized>(&mut self, key: &K, count: u64) -> SignedCount {
        self.add_hash(self.hasher.hash_key(key), signed(count))
    }

    /// Counts one less of `key`, whether it came or not. Returns the new estimate.
    pub fn remove<K: Hash + ?Sized>(&mut self, key: &K) -> SignedCount {
        self.add_hash(self.hasher.hash_key(key), -1)
    }

    /// Counts `count` less of `key`; 2^63 - 1 and more saturate. Returns the new estimate.
    pub fn remove_many<K: Hash + ?Sized>(&mut self, key: &K, count: u64) -> SignedCount {
        self.add_hash(self.hasher.hash_key(key), -signed(count))
    }

    /// Estimates how often `key` came, less how often it was removed; it may be negative.
    ///
    /// # Complexity
    /// O(depth), without allocation.
    #[inline]
    #[must_use]
    pub fn estimate<K: Hash + ?Sized>(&self, key: &K) -> SignedCount {
        self.estimate_hash(self.hasher.hash_key(key))
    }

    /// Counts one more of each key; the same counters as after one by one.
    ///
    /// # Examples
    /// ```
    /// use cms::CountSketch;
    ///
    /// let mut stock = CountSketch::new(0.01, 0.01)?;
    /// stock.insert_batch(&["apples", "pears", "apples"]);
    /// assert_eq!(stock.estimate("apples"), 2);
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
    /// # Panics
    /// When the slices differ in length.
    pub fn estimate_batch<K: Hash>(&self, keys: &[K], out: &mut [SignedCount]) {
        answer_keys::<BATCH, K, _>(&self.hasher, keys, out, |hashes, counts| {
            self.estimate_hash_batch(hashes, counts);
        });
    }

    /// Makes `self` the sketch of both streams.
    ///
    /// # Errors
    /// [`Incompatible`] when width, depth or hashers differ; nothing is changed then.
    ///
    /// # Complexity
    /// O(width · depth), without allocation.
    pub fn merge(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.check_compatible(other)?;
        for (counter, added) in self.counters.iter_mut().zip(other.counters.iter()) {
            *counter = add(counter.cast_signed(), added.cast_signed()).cast_unsigned();
        }
        Ok(())
    }

    fn check_compatible(&self, other: &Self) -> Result<(), Incompatible> {
        Incompatible::check_shape("width", self.width(), other.width())?;
        Incompatible::check_shape("depth", self.depth().into(), other.depth().into())?;
        Incompatible::check_hasher(&self.hasher, &other.hasher)
    }
}

/// The median of a key's rows, where `counter` reads a counter.
#[inline]
pub(crate) fn median_row(
    params: &CountSketchParams,
    hash: u64,
    counter: impl Fn(usize) -> i64,
) -> SignedCount {
    let mut rows = Rows::new();
    signed_cells(params, hash).for_each(|(cell, sign)| rows.push(counter(cell), sign));
    rows.median()
}

/// The counters of a key with its signs, row by row.
struct Rows {
    values: [i64; MAX_DEPTH as usize],
    filled: usize,
    saturated: bool,
}

impl Rows {
    #[inline]
    const fn new() -> Self {
        Self { values: [0; MAX_DEPTH as usize], filled: 0, saturated: false }
    }

    #[inline]
    const fn push(&mut self, counter: i64, sign: i64) {
        self.saturated |= is_saturated(counter);
        self.values[self.filled] = counter.saturating_mul(sign);
        self.filled += 1;
    }

    #[inline]
    fn median(mut self) -> SignedCount {
        SignedCount::new(median(&mut self.values[..self.filled]), self.saturated)
    }
}

/// Whether a counter has reached either limit, which are as far from 0, so that a sign changes neither.
#[inline]
const fn is_saturated(counter: i64) -> bool {
    counter.unsigned_abs() >= i64::MAX.unsigned_abs()
}

/// Adds up to the limits. A saturated counter stays: subtracting from it would count what it never held.
#[inline]
fn add(counter: i64, added: i64) -> i64 {
    match (is_saturated(counter), is_saturated(added)) {
        (false, false) => counter.saturating_add(added).max(-i64::MAX),
        (true, false) => counter,
        (false, true) => added.max(-i64::MAX),
        // Alike in both orders of a merge.
        (true, true) => counter.max(added),
    }
}

/// The places of a key's counters with its signs, row by row.
#[inline]
fn signed_cells(params: &CountSketchParams, hash: u64) -> impl Iterator<Item = (usize, i64)> {
    let mut signs = RowHash::signs(hash);
    Cells::new(params.width(), params.counters(), hash).map(move |cell| {
        let sign = 1 - 2 * (signs & 1).cast_signed();
        signs >>= 1;
        (cell, sign)
    })
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "an estimate has fewer digits than that")]
fn square(counter: i64) -> f64 {
    counter as f64 * counter as f64
}

/// The middle of an unordered list, or the mean of the two in the middle, rounded down.
#[inline]
fn median(values: &mut [i64]) -> i64 {
    values.sort_unstable();
    let (low, high) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
    // The mean without overflow: what both have, and half of what only one has.
    (low & high) + ((low ^ high) >> 1)
}

impl<S: Clone> CountSketch<S> {
    /// Copies the sketch, or reports that there is no memory for a second one.
    ///
    /// # Errors
    /// [`AllocError`] when memory is refused.
    pub fn try_clone(&self) -> Result<Self, AllocError> {
        Ok(Self::from_parts(self.counters.try_clone()?, self.params, self.hasher.clone()))
    }
}

impl<S: KeyHasher> KeyHasher for CountSketch<S> {
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.hasher.hash_key(key)
    }

    #[inline]
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        self.hasher.hash_key_dyn(feed)
    }
}

/// Estimates below 0 are given as 0.
impl<S: KeyHasher> Frequency for CountSketch<S> {
    fn estimate_hash(&self, hash: u64) -> u64 {
        self.estimate_hash(hash).value().max(0).cast_unsigned()
    }
}

impl<S: KeyHasher> Merge for CountSketch<S> {
    type Error = Incompatible;

    fn merge(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.merge(other)
    }
}

/// Takes keys and references to keys: both hash alike.
impl<K: Hash, S: KeyHasher> Extend<K> for CountSketch<S> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        keys.into_iter().for_each(|key| {
            self.insert(&key);
        });
    }
}

impl<S: Clone> Clone for CountSketch<S> {
    /// Copies the sketch. Aborts when memory is refused; see [`try_clone`](CountSketch::try_clone).
    fn clone(&self) -> Self {
        Self::from_parts(self.counters.clone(), self.params, self.hasher.clone())
    }
}

/// Sketches are equal when shape, hasher and counts are.
impl<S: KeyHasher> PartialEq for CountSketch<S> {
    fn eq(&self, other: &Self) -> bool {
        self.check_compatible(other).is_ok() && self.counters == other.counters
    }
}

impl<S: KeyHasher> Eq for CountSketch<S> {}

impl<S> fmt::Debug for CountSketch<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CountSketch")
            .field("width", &self.width())
            .field("depth", &self.depth())
            .finish_non_exhaustive()
    }
}
