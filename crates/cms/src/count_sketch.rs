//! The count sketch.

use core::fmt;
use core::hash::{Hash, Hasher};

use pds_core::error::{AllocError, BuildError, Incompatible};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::internal::{StoredWord, answer_keys, check_lengths, hash_chunk, prefetch};
use pds_core::storage::{WordSource, Words};
use pds_core::traits::{Frequency, Merge};
use pds_params::CountSketchParams;
use pds_params::cms::MAX_DEPTH;

use crate::cells::{Cells, index};
use crate::numbers;
use crate::rows::RowHash;
use crate::sketch::BATCH;
use crate::{CountSketchBuilder, SignedCount};

/// A sketch that estimates *how often a key occurred* without bias: as often too low as too high. Keys can be removed.
///
/// Each row adds a key's count to one counter with a sign of the key, so that other keys cancel on average. The
/// estimate is the median of the rows. The error follows the norm of the counts (the root of the sum of their squares)
/// instead of their sum. The norm is less on skewed streams. Use [`CountMinSketch`](crate::CountMinSketch) if an estimate
/// must not be too low, or if counters must be small.
///
/// # Storage
/// `S` is the hasher and `W` the [storage](pds_core::storage): [`Words`] of the sketch's own, or portable bytes in a
/// [`CountSketchView`](crate::CountSketchView), which has the methods that read.
///
/// # Guarantees
/// - Estimates are unbiased, and off by more than epsilon times the norm with probability at most delta. The proof
///   assumes independent rows. Here the rows come from one 64-bit hash. Tests measure that they keep the bound.
/// - Memory: width · depth signed counters of 64 bits. A counter that reaches 2^63 - 1, or the negative of it,
///   saturates. It stays there, because its lost counts are unknown. Each estimate that reads it is reported as
///   saturated.
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
/// # Ok::<(), cms::error::BuildError>(())
/// ```
///
/// # References
/// Moses Charikar, Kevin Chen and Martin Farach-Colton, "Finding Frequent Items in Data Streams",
/// ICALP 2002, section 3.
#[derive(Clone)]
pub struct CountSketch<S = DefaultHashBuilder, W = Words> {
    /// The rows, one after another, in two's complement.
    pub(crate) counters: W,
    pub(crate) params: CountSketchParams,
    pub(crate) hasher: S,
}

impl CountSketch {
    /// Creates a sketch whose estimates are off by more than `epsilon` times the norm of the counts with probability
    /// `delta` at most.
    ///
    /// # Errors
    /// [`BuildError::Param`] if a value is not above 0 and below 1, or asks for too many counters. [`BuildError::Alloc`] if
    /// the allocator refuses the memory.
    pub fn new(epsilon: f64, delta: f64) -> Result<Self, BuildError> {
        Self::builder().error(epsilon, delta).build()
    }

    /// Starts a builder: for other shapes, a seed, or another hasher.
    pub const fn builder() -> CountSketchBuilder {
        CountSketchBuilder::new()
    }
}

impl<S: KeyHasher> CountSketch<S> {
    /// Creates an empty sketch of exactly this shape.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
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

    /// Copies the sketch. `clone` does the same, but aborts if the allocator refuses the memory.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub fn try_clone(&self) -> Result<Self, AllocError>
    where
        S: Clone,
    {
        Ok(Self::from_parts(self.counters.try_clone()?, self.params, self.hasher.clone()))
    }

    /// Counts one more of a key, by its [hash](KeyHasher#hashes-of-your-own). Returns the new estimate.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> SignedCount {
        self.add_hash(hash, 1)
    }

    /// Adds `count`, which may be negative, to a key, by its [hash](KeyHasher#hashes-of-your-own). Returns the new
    /// estimate.
    ///
    /// 0 changes nothing. A count of 2^63 - 1 or more, or the negative of it, saturates the counters.
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

    /// Counts one more of each key, by their [hashes](KeyHasher#hashes-of-your-own). The counters are the same as after
    /// single calls.
    pub fn insert_hash_batch(&mut self, hashes: &[u64]) {
        for hashes in hashes.chunks(BATCH) {
            prefetch_cells(&self.counters, &self.params, hashes);
            hashes.iter().for_each(|&hash| {
                self.insert_hash(hash);
            });
        }
    }

    /// Forgets all counts.
    pub fn clear(&mut self) {
        self.counters.fill(0);
    }
}

impl<S: KeyHasher, W: WordSource> CountSketch<S, W> {
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

    /// Returns the shape and its error.
    #[must_use]
    pub const fn params(&self) -> CountSketchParams {
        self.params
    }

    /// Returns the hasher.
    #[must_use]
    pub const fn hasher(&self) -> &S {
        &self.hasher
    }

    /// Returns the size of the counters in bytes.
    #[must_use]
    pub const fn size_in_bytes(&self) -> u64 {
        8 * self.params.counters()
    }

    /// Estimates how often a key occurred, minus how often it was removed, by its
    /// [hash](KeyHasher#hashes-of-your-own).
    #[inline]
    #[must_use]
    pub fn estimate_hash(&self, hash: u64) -> SignedCount {
        median_row(self.counters.as_words(), &self.params, hash)
    }

    /// Estimates many keys by their [hashes](KeyHasher#hashes-of-your-own): `out[i]` is the answer for `hashes[i]`.
    ///
    /// # Panics
    /// If the slices differ in length.
    #[track_caller]
    pub fn estimate_hash_batch(&self, hashes: &[u64], out: &mut [SignedCount]) {
        check_lengths(hashes, out);
        let counters = self.counters.as_words();
        for (hashes, counts) in hashes.chunks(BATCH).zip(out.chunks_mut(BATCH)) {
            prefetch_cells(counters, &self.params, hashes);
            for (count, &hash) in counts.iter_mut().zip(hashes) {
                *count = median_row(counters, &self.params, hash);
            }
        }
    }

    /// Estimates the sum of the squares of all counts: the median over the rows of the sum of the squares of their
    /// counters. Returns `None` if a counter is saturated.
    ///
    /// # Complexity
    /// O(width · depth), without allocation.
    ///
    /// # References
    /// Noga Alon, Yossi Matias and Mario Szegedy, "The Space Complexity of Approximating the Frequency
    /// Moments", JCSS 58(1), 1999, section 2.2, in the form of Charikar et al.
    #[must_use]
    pub fn sum_of_squares(&self) -> Option<f64> {
        let counters = self.counters.as_words();
        if counters.iter().any(|counter| is_saturated(counter.value().cast_signed())) {
            return None;
        }
        let mut rows = [0.0; MAX_DEPTH as usize];
        let rows = &mut rows[..self.params.depth() as usize];
        for (row, counters) in rows.iter_mut().zip(counters.chunks_exact(index(self.width()))) {
            *row = counters.iter().map(|counter| square(counter.value().cast_signed())).sum();
        }
        Some(numbers::median(rows))
    }

    /// Estimates how often `key` came, minus how often it was removed. The estimate may be negative.
    ///
    /// # Complexity
    /// O(depth), without allocation.
    #[inline]
    #[must_use]
    pub fn estimate<K: Hash + ?Sized>(&self, key: &K) -> SignedCount {
        self.estimate_hash(self.hasher.hash_key(key))
    }

    /// Estimates many keys: `out[i]` is the answer for `keys[i]`.
    ///
    /// # Panics
    /// If the slices differ in length.
    #[track_caller]
    pub fn estimate_batch<K: Hash>(&self, keys: &[K], out: &mut [SignedCount]) {
        answer_keys::<BATCH, K, _>(&self.hasher, keys, out, |hashes, counts| {
            self.estimate_hash_batch(hashes, counts);
        });
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

    /// Counts `count` more of `key`. 2^63 - 1 and more saturate the counters. Returns the new estimate.
    pub fn insert_many<K: Hash + ?Sized>(&mut self, key: &K, count: u64) -> SignedCount {
        self.add_hash(self.hasher.hash_key(key), signed(count))
    }

    /// Counts one less of `key`, whether it came or not. Returns the new estimate.
    pub fn remove<K: Hash + ?Sized>(&mut self, key: &K) -> SignedCount {
        self.add_hash(self.hasher.hash_key(key), -1)
    }

    /// Counts `count` less of `key`. 2^63 - 1 and more saturate the counters. Returns the new estimate.
    pub fn remove_many<K: Hash + ?Sized>(&mut self, key: &K, count: u64) -> SignedCount {
        self.add_hash(self.hasher.hash_key(key), -signed(count))
    }

    /// Counts one more of each key. The counters are the same as after single calls.
    ///
    /// # Examples
    /// ```
    /// use cms::CountSketch;
    ///
    /// let mut stock = CountSketch::new(0.01, 0.01)?;
    /// stock.insert_batch(&["apples", "pears", "apples"]);
    /// assert_eq!(stock.estimate("apples"), 2);
    /// # Ok::<(), cms::error::BuildError>(())
    /// ```
    pub fn insert_batch<K: Hash>(&mut self, keys: &[K]) {
        for keys in keys.chunks(BATCH) {
            let hashes = hash_chunk::<BATCH, K>(&self.hasher, keys);
            self.insert_hash_batch(&hashes[..keys.len()]);
        }
    }

    /// Makes `self` the sketch of both streams.
    ///
    /// # Errors
    /// [`Incompatible`] if width, depth or hashers differ. `self` is unchanged then.
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

/// Returns the median over the rows of a key.
#[inline]
fn median_row<W: StoredWord>(counters: &[W], params: &CountSketchParams, hash: u64) -> SignedCount {
    let mut rows = Rows::new();
    for (cell, sign) in signed_cells(params, hash) {
        rows.push(counters[cell].value().cast_signed(), sign);
    }
    rows.median()
}

/// Prefetches the counters of many keys.
#[inline]
fn prefetch_cells<W>(counters: &[W], params: &CountSketchParams, hashes: &[u64]) {
    for &hash in hashes {
        signed_cells(params, hash).for_each(|(cell, _)| prefetch(counters, cell));
    }
}

/// The signed counters of a key, row by row.
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

/// Returns whether a counter has reached a limit. Both limits are as far from 0, so a sign changes nothing.
#[inline]
const fn is_saturated(counter: i64) -> bool {
    counter.unsigned_abs() >= i64::MAX.unsigned_abs()
}

/// Adds, up to the limits. A saturated counter stays at its limit, because its true value is unknown.
#[inline]
fn add(counter: i64, added: i64) -> i64 {
    match (is_saturated(counter), is_saturated(added)) {
        (false, false) => counter.saturating_add(added).max(-i64::MAX),
        (true, false) => counter,
        (false, true) => added.max(-i64::MAX),
        // The same in both orders of a merge.
        (true, true) => counter.max(added),
    }
}

/// Returns the places of a key's counters and the signs, row by row.
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

/// Returns the median of an unordered list. For an even length it is the mean of the two middle values, rounded down.
#[inline]
fn median(values: &mut [i64]) -> i64 {
    values.sort_unstable();
    let (low, high) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
    // The mean without overflow: the common bits, and half of the bits that differ.
    (low & high) + ((low ^ high) >> 1)
}

impl<S: KeyHasher, W> KeyHasher for CountSketch<S, W> {
    #[inline]
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.hasher.hash_key(key)
    }

    #[inline]
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        self.hasher.hash_key_dyn(feed)
    }
}

/// Returns 0 for estimates below 0.
impl<S: KeyHasher, W: WordSource> Frequency for CountSketch<S, W> {
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

/// Inserts keys, or references to keys: both have the same hash.
impl<K: Hash, S: KeyHasher> Extend<K> for CountSketch<S> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        keys.into_iter().for_each(|key| {
            self.insert(&key);
        });
    }
}

/// Sketches are equal if shape, hasher and counts are.
impl<S: KeyHasher> PartialEq for CountSketch<S> {
    fn eq(&self, other: &Self) -> bool {
        self.check_compatible(other).is_ok() && self.counters == other.counters
    }
}

impl<S: KeyHasher> Eq for CountSketch<S> {}

impl<S: KeyHasher, W: WordSource> fmt::Debug for CountSketch<S, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(W::name_of(["CountSketch", "AtomicCountSketch", "CountSketchView"]))
            .field("width", &self.width())
            .field("depth", &self.depth())
            .finish_non_exhaustive()
    }
}
