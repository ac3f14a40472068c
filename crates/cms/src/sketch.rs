//! The count-min sketch.

mod batch;
mod product;

use core::convert::Infallible;
use core::fmt;
use core::hash::{BuildHasher, Hash};
use core::marker::PhantomData;

use pds_core::memory::{Words, prefetch};
use pds_core::{
    AllocError, BuildError, DefaultHashBuilder, Frequency, HashKey, Incompatible, Insert, Merge,
};
use pds_params::CountMinParams;
use pds_params::cms::floor_product;

pub use product::{ConservativeUpdate, InnerProduct, InnerProductError};

use crate::{Count, CountInterval, CountMinBuilder, Counter, RowHash};

/// How many cells a conservative insert keeps between its two passes. More rows than this are rare, and to
/// find their cells twice costs less than to clear room for the most that there can be.
const CELLS_KEPT: usize = 8;

/// Which counters of a key an insert raises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Update {
    /// One in each row, as published.
    #[default]
    Plain,
    /// Only those that are below the new estimate (Cristian Estan and George Varghese, "New Directions in
    /// Traffic Measurement and Accounting", SIGCOMM 2002, section 3.2).
    ///
    /// It errs less, about half as much on skewed streams, and costs two passes over the rows. The
    /// counters depend on the order of inserts. A merge adds them: it stays an upper bound and keeps the
    /// error, but is not what one sketch of both streams would be.
    Conservative,
}

/// Answers *how often has this key come?*: never less than the truth, and rarely much more.
///
/// Choose it to count many keys where few bytes are to be had. It keeps no keys: to list the most
/// frequent ones use [`HeavyHitters`](crate::HeavyHitters) or [`TopK`](crate::TopK); where keys are
/// also removed, or an estimate without bias is wanted, [`CountSketch`](crate::CountSketch).
///
/// The type of a key is part of it: `1u32` and `1u64` are different keys.
///
/// # Guarantees
/// - Never below the truth, unless counters are at their limit, and then the [`Count`] says so.
/// - Above it by more than epsilon N with probability delta at most, N the total of all counts. The
///   published proof assumes independent rows; these come from one 64-bit hash, and are measured to
///   keep the bound.
/// - Memory: width · depth counters of `C`, by default of 32 bits.
/// - Insert and query: O(depth). Merge: O(width · depth).
/// - Merging: with plain update exactly the sketch of both streams; with conservative update an upper bound
///   of it. Requires equal shape, update and hasher seed.
///
/// # Examples
/// ```
/// use cms::CountMinSketch;
///
/// let mut words = CountMinSketch::new(0.001, 0.01)?;
/// for word in "the cat and the dog and the bird".split(' ') {
///     words.insert(word);
/// }
/// assert_eq!(words.estimate("the"), 3);
/// assert_eq!(words.estimate("fish"), 0);
/// assert_eq!(words.total(), 8);
/// # Ok::<(), pds_core::BuildError>(())
/// ```
///
/// # References
/// Graham Cormode and S. Muthukrishnan, "An Improved Data Stream Summary: The Count-Min Sketch and its
/// Applications", Journal of Algorithms 55(1), 2005.
pub struct CountMinSketch<S = DefaultHashBuilder, C = u32> {
    /// The rows, one after another, as integers `C`; what is left of the last word is 0.
    counters: Words,
    params: CountMinParams,
    update: Update,
    /// The sum of all counts inserted.
    total: u64,
    hasher: S,
    width_of_counters: PhantomData<C>,
}

impl CountMinSketch {
    /// Creates a sketch whose estimates exceed the truth by more than `epsilon` times the total with
    /// probability `delta` at most.
    ///
    /// It has the published shape; [`CountMinParams`] knows others.
    ///
    /// # Errors
    /// [`BuildError::Param`] when one of them is not above 0 and below 1, or asks for too many counters;
    /// [`BuildError::Alloc`] when the memory is refused.
    ///
    /// # Examples
    /// ```
    /// use cms::CountMinSketch;
    ///
    /// let sketch = CountMinSketch::new(0.001, 0.01)?;
    /// assert_eq!((sketch.width(), sketch.depth(), sketch.size_in_bytes()), (2_719, 5, 54_384));
    /// assert!(CountMinSketch::new(0.0, 0.01).is_err());
    /// # Ok::<(), pds_core::BuildError>(())
    /// ```
    pub fn new(epsilon: f64, delta: f64) -> Result<Self, BuildError> {
        Ok(Self::builder(CountMinParams::new(epsilon, delta)?).build()?)
    }

    /// Starts a builder, for other counters, conservative update, a seed, or another hasher.
    pub const fn builder(params: CountMinParams) -> CountMinBuilder {
        CountMinBuilder::new(params)
    }
}

impl<S, C: Counter> CountMinSketch<S, C> {
    /// Creates an empty sketch of exactly this shape.
    ///
    /// # Errors
    /// [`AllocError`] when the memory is refused.
    pub fn from_params(
        params: CountMinParams,
        update: Update,
        hasher: S,
    ) -> Result<Self, AllocError> {
        let counters = Words::zeroed(words_for::<C>(&params))?;
        Ok(Self::from_parts(counters, params, update, 0, hasher))
    }

    pub(crate) fn from_parts(
        counters: Words,
        params: CountMinParams,
        update: Update,
        total: u64,
        hasher: S,
    ) -> Self {
        debug_assert_eq!(counters.len() as u64, words_for::<C>(&params));
        Self { counters, params, update, total, hasher, width_of_counters: PhantomData }
    }

    /// Counts one more of the key with this hash. Returns the new estimate.
    ///
    /// The hash need not be a good one, but keys of equal hashes are one key to the sketch.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> Count {
        self.insert_many_hash(hash, 1)
    }

    /// Counts `count` more of the key with this hash. Returns the new estimate.
    #[inline]
    pub fn insert_many_hash(&mut self, hash: u64, count: u64) -> Count {
        self.total = self.total.saturating_add(count);
        match self.update {
            Update::Plain => self.raise_all(hash, C::saturating_from(count)),
            Update::Conservative => self.raise_lowest(hash, C::saturating_from(count)),
        }
    }

    #[inline]
    fn raise_all(&mut self, hash: u64, count: C) -> Count {
        let cells = Cells::new(&self.params, hash);
        let counters = self.counters.lanes_mut::<C>();
        let least = cells.fold(C::MAX, |least, cell| {
            let counter = &mut counters[cell];
            *counter = counter.saturating_add(count);
            least.min(*counter)
        });
        count_of(least)
    }

    #[inline]
    fn raise_lowest(&mut self, hash: u64, count: C) -> Count {
        if self.params.depth() as usize > CELLS_KEPT {
            return self.raise_lowest_of_many(hash, count);
        }
        let counters = self.counters.lanes_mut::<C>();
        let (mut kept, mut depth, mut least) = ([0; CELLS_KEPT], 0, C::MAX);
        for (kept, cell) in kept.iter_mut().zip(Cells::new(&self.params, hash)) {
            *kept = cell;
            least = least.min(counters[cell]);
            depth += 1;
        }
        let target = least.saturating_add(count);
        for &cell in &kept[..depth] {
            counters[cell] = counters[cell].max(target);
        }
        count_of(target)
    }

    /// The same where there are too many rows to keep their cells.
    fn raise_lowest_of_many(&mut self, hash: u64, count: C) -> Count {
        let target = self.least(hash).saturating_add(count);
        let counters = self.counters.lanes_mut::<C>();
        for cell in Cells::new(&self.params, hash) {
            counters[cell] = counters[cell].max(target);
        }
        count_of(target)
    }

    /// The least counter of the key with this hash.
    #[inline]
    fn least(&self, hash: u64) -> C {
        let counters = self.counters.lanes::<C>();
        Cells::new(&self.params, hash).fold(C::MAX, |least, cell| least.min(counters[cell]))
    }

    /// Estimates how often the key with this hash came.
    #[inline]
    #[must_use]
    pub fn estimate_hash(&self, hash: u64) -> Count {
        count_of(self.least(hash))
    }

    /// Bounds how often the key with this hash came, as
    /// [`estimate_interval`](Self::estimate_interval) does.
    #[must_use]
    pub fn estimate_interval_hash(&self, hash: u64) -> CountInterval {
        let count = self.estimate_hash(hash);
        let error = floor_product(self.params.epsilon(), self.total);
        CountInterval {
            truth_at_least: count.value().saturating_sub(error),
            truth_at_most: (!count.is_saturated()).then_some(count.value()),
        }
    }

    /// Estimates how often the key with this hash came, as
    /// [`estimate_mean_min`](Self::estimate_mean_min) does.
    #[must_use]
    pub fn estimate_mean_min_hash(&self, hash: u64) -> f64 {
        let counters = self.counters.lanes::<C>();
        let mut rows = [0.0; pds_params::cms::MAX_DEPTH as usize];
        let rows = &mut rows[..self.params.depth() as usize];
        let others = real(self.params.width().max(2) - 1);
        for (row, cell) in rows.iter_mut().zip(Cells::new(&self.params, hash)) {
            let counter = counters[cell].into();
            *row = real(counter) - real(self.total.saturating_sub(counter)) / others;
        }
        let least = real(self.least(hash).into());
        median(rows).clamp(0.0, least)
    }

    /// Brings the counters of the key with this hash near.
    #[inline]
    fn prefetch(&self, hash: u64) {
        let counters = self.counters.lanes::<C>();
        Cells::new(&self.params, hash).for_each(|cell| prefetch(counters, cell));
    }

    /// Divides all counts by two, rounding down, and the total, rounding up.
    ///
    /// Called once in a while it makes old counts fade, as policies of caches do. An estimate stays an
    /// upper bound of the count that is halved and rounded down at the same times; the rounding may
    /// widen its error by one. Returns how many counters stood at their limit: what these had
    /// lost before is lost, and their estimates no longer tell.
    ///
    /// # Complexity
    /// O(width · depth), without allocation.
    ///
    /// # Examples
    /// ```
    /// use cms::CountMinSketch;
    ///
    /// let mut packets = CountMinSketch::new(0.001, 0.01)?;
    /// packets.insert_many("198.18.0.3", 9);
    /// packets.halve();
    /// assert_eq!(packets.estimate("198.18.0.3"), 4);
    /// assert_eq!(packets.total(), 5);
    /// # Ok::<(), pds_core::BuildError>(())
    /// ```
    pub fn halve(&mut self) -> u64 {
        let mut at_limit = 0;
        for counter in self.counters.lanes_mut::<C>() {
            at_limit += u64::from(*counter == C::MAX);
            *counter = counter.half();
        }
        self.total = self.total.div_ceil(2);
        at_limit
    }

    /// Forgets all counts.
    pub fn clear(&mut self) {
        self.counters.fill(0);
        self.total = 0;
    }

    /// Returns the sum of all counts inserted, 2^64 - 1 where it is more.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.total
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

    /// Returns the limit of a counter.
    #[must_use]
    pub fn counter_limit(&self) -> u64 {
        C::MAX.into()
    }

    /// Returns the counters, row after row.
    #[must_use]
    pub fn counters(&self) -> &[C] {
        &self.counters.lanes()[..index(self.params.counters())]
    }

    pub(crate) const fn words(&self) -> &Words {
        &self.counters
    }

    #[cfg(target_has_atomic = "64")]
    pub(crate) fn into_parts(self) -> (Words, CountMinParams, u64, S) {
        (self.counters, self.params, self.total, self.hasher)
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

    #[cfg(feature = "huge-pages")]
    pub(crate) fn advise_huge_pages(&self) -> bool {
        self.counters.advise_huge_pages()
    }
}

impl<S: BuildHasher, C: Counter> CountMinSketch<S, C> {
    /// Counts one more of `key`. Returns the new estimate.
    ///
    /// # Complexity
    /// O(depth), without allocation.
    #[inline]
    pub fn insert<K: Hash + ?Sized>(&mut self, key: &K) -> Count {
        self.insert_hash(self.hasher.hash_one(key))
    }

    /// Counts `count` more of `key`. Returns the new estimate.
    #[inline]
    pub fn insert_many<K: Hash + ?Sized>(&mut self, key: &K, count: u64) -> Count {
        self.insert_many_hash(self.hasher.hash_one(key), count)
    }

    /// Estimates how often `key` came: never less, unless the answer is saturated.
    ///
    /// # Complexity
    /// O(depth), without allocation.
    #[inline]
    #[must_use]
    pub fn estimate<K: Hash + ?Sized>(&self, key: &K) -> Count {
        self.estimate_hash(self.hasher.hash_one(key))
    }

    /// Bounds how often `key` came.
    ///
    /// The upper end is the estimate and certain; it is open where the counters are at their limit. The
    /// lower end, epsilon N below, is missed with probability delta at most.
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
        self.estimate_interval_hash(self.hasher.hash_one(key))
    }

    /// Estimates how often `key` came, less the noise that is expected: two-sided, so that it may be
    /// below the truth.
    ///
    /// The median over the rows of the counter less the mean of the row's others, between 0 and the
    /// estimate. Closer than [`estimate`](Self::estimate) on streams of little skew. Of no use with
    /// conservative update, whose rows hold less than the total.
    ///
    /// # References
    /// Fan Deng and Davood Rafiei, "New Estimation Algorithms for Streaming Data: Count-min Can Do
    /// More", technical report, University of Alberta, 2007.
    #[must_use]
    pub fn estimate_mean_min<K: Hash + ?Sized>(&self, key: &K) -> f64 {
        self.estimate_mean_min_hash(self.hasher.hash_one(key))
    }

    /// Makes `self` count what both have counted.
    ///
    /// With plain update it is then exactly the sketch of both streams. With conservative update its
    /// estimates stay upper bounds within the same error.
    ///
    /// # Errors
    /// [`Incompatible`] when width, depth, update or hashers differ; nothing is changed then.
    ///
    /// # Complexity
    /// O(width · depth), without allocation.
    ///
    /// # Examples
    /// ```
    /// use cms::CountMinSketch;
    ///
    /// let (mut monday, mut tuesday) = (CountMinSketch::new(0.01, 0.01)?, CountMinSketch::new(0.01, 0.01)?);
    /// monday.insert_many("/index", 3);
    /// tuesday.insert_many("/index", 4);
    /// monday.merge(&tuesday)?;
    /// assert_eq!((monday.estimate("/index").value(), monday.total()), (7, 7));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.check_compatible(other)?;
        let counters = self.counters.lanes_mut::<C>().iter_mut();
        for (counter, &added) in counters.zip(other.counters.lanes()) {
            *counter = counter.saturating_add(added);
        }
        self.total = self.total.saturating_add(other.total);
        Ok(())
    }

    fn check_compatible(&self, other: &Self) -> Result<(), Incompatible> {
        check_shapes(&self.params, &other.params)?;
        let (left, right) = (self.update as u64, other.update as u64);
        Incompatible::check_shape("update (0 plain, 1 conservative)", left, right)?;
        Incompatible::check_hasher(&self.hasher, &other.hasher)
    }
}

fn check_shapes(left: &CountMinParams, right: &CountMinParams) -> Result<(), Incompatible> {
    Incompatible::check_shape("width", left.width(), right.width())?;
    Incompatible::check_shape("depth", left.depth().into(), right.depth().into())
}

/// The places of a key's counters, row by row.
pub(crate) struct Cells {
    rows: RowHash,
    width: u64,
    row_start: u64,
    end: u64,
}

impl Cells {
    #[inline]
    pub(crate) fn new(params: &CountMinParams, hash: u64) -> Self {
        Self {
            rows: RowHash::new(hash),
            width: params.width(),
            row_start: 0,
            end: params.counters(),
        }
    }
}

impl Iterator for Cells {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.row_start == self.end {
            return None;
        }
        let cell = self.row_start + self.rows.next_column(self.width);
        self.row_start += self.width;
        Some(index(cell))
    }
}

/// Narrows the place of a counter; that it fits was proven when the memory was allocated.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "below the number of counters in memory")]
pub(crate) const fn index(cell: u64) -> usize {
    cell as usize
}

#[inline]
pub(crate) fn count_of<C: Counter>(counter: C) -> Count {
    Count::new(counter.into(), counter == C::MAX)
}

pub(crate) fn words_for<C: Counter>(params: &CountMinParams) -> u64 {
    params.counters().div_ceil(C::PER_WORD as u64)
}

/// The middle of an unordered list, or the mean of the two in the middle.
fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 {
        values[middle]
    } else {
        f64::midpoint(values[middle - 1], values[middle])
    }
}

#[expect(clippy::cast_precision_loss, reason = "an estimate has fewer digits than that")]
pub(crate) const fn real(count: u64) -> f64 {
    count as f64
}

impl<S: Clone, C: Counter> CountMinSketch<S, C> {
    /// Copies the sketch, or reports that there is no memory for a second one.
    ///
    /// # Errors
    /// [`AllocError`] when memory is refused.
    pub fn try_clone(&self) -> Result<Self, AllocError> {
        Ok(self.with_counters(self.counters.try_clone()?))
    }

    fn with_counters(&self, counters: Words) -> Self {
        Self::from_parts(counters, self.params, self.update, self.total, self.hasher.clone())
    }
}

impl<S: BuildHasher, C: Counter> HashKey for CountMinSketch<S, C> {
    #[inline]
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.hasher.hash_one(key)
    }
}

impl<S: BuildHasher, C: Counter> Frequency for CountMinSketch<S, C> {
    #[inline]
    fn estimate_hash(&self, hash: u64) -> u64 {
        self.estimate_hash(hash).value()
    }
}

/// A key is new when it was certainly not counted before: when the estimate is 1 now.
impl<S: BuildHasher, C: Counter> Insert for CountMinSketch<S, C> {
    type Error = Infallible;

    #[inline]
    fn insert_hash(&mut self, hash: u64) -> Result<bool, Infallible> {
        Ok(self.insert_hash(hash).value() == 1)
    }
}

impl<S: BuildHasher, C: Counter> Merge for CountMinSketch<S, C> {
    type Error = Incompatible;

    fn merge(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.merge(other)
    }
}

/// Takes keys and references to keys: both hash alike.
impl<K: Hash, S: BuildHasher, C: Counter> Extend<K> for CountMinSketch<S, C> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        keys.into_iter().for_each(|key| {
            self.insert(&key);
        });
    }
}

impl<S: Clone, C: Counter> Clone for CountMinSketch<S, C> {
    /// Copies the sketch. Aborts when memory is refused; see [`try_clone`](CountMinSketch::try_clone).
    fn clone(&self) -> Self {
        self.with_counters(self.counters.clone())
    }
}

/// Sketches are equal when shape, update, hasher and counts are; the error they were designed for takes
/// no part.
impl<S: BuildHasher, C: Counter> PartialEq for CountMinSketch<S, C> {
    fn eq(&self, other: &Self) -> bool {
        self.check_compatible(other).is_ok()
            && self.total == other.total
            && self.counters == other.counters
    }
}

impl<S: BuildHasher, C: Counter> Eq for CountMinSketch<S, C> {}

impl<S, C: Counter> fmt::Debug for CountMinSketch<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CountMinSketch")
            .field("width", &self.width())
            .field("depth", &self.depth())
            .field("counter_bits", &C::BITS)
            .field("update", &self.update)
            .field("total", &self.total)
            .finish_non_exhaustive()
    }
}
