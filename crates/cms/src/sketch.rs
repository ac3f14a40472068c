//! The count-min sketch.

mod batch;
mod estimate;
mod merge;
mod product;
mod update;

use core::convert::Infallible;
use core::fmt;
use core::hash::{Hash, Hasher};

use pds_core::internal::Words;
use pds_core::{
    AllocError, BuildError, DefaultHashBuilder, Frequency, Incompatible, Insert, KeyHasher, Merge,
};
use pds_params::CountMinParams;

pub(crate) use batch::BATCH;
pub use product::{InnerProduct, InnerProductError};
pub use update::Update;

use crate::cells::{fold_counters, fold_counters_mut, index, words_for};
use crate::{Count, CountMinSketchBuilder, Counter};

/// Answers *how often has this key come?*: never less than the truth, and rarely much more.
///
/// Choose it to count many keys where few bytes are to be had. It keeps no keys: to list the most
/// frequent ones use the crate `heavy-hitters`; where keys are
/// also removed, or an estimate without bias is wanted, [`CountSketch`](crate::CountSketch).
///
/// The type of a key is part of it: `1u32` and `1u64` are different keys.
///
/// # Guarantees
/// - Never below the truth, unless counters are saturated, and then the [`Count`](crate::Count) says so.
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
    /// Counters of this value and more may have lost counts: the limit, and less once saturated counters were halved.
    full_from: C,
    hasher: S,
}

/// The state of a sketch beside its counters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counted<C> {
    pub(crate) total: u64,
    pub(crate) full_from: C,
}

impl<C: Counter> Default for Counted<C> {
    fn default() -> Self {
        Self { total: 0, full_from: C::MAX }
    }
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
    pub const fn builder(params: CountMinParams) -> CountMinSketchBuilder {
        CountMinSketchBuilder::new(params)
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
    ) -> Result<Self, AllocError>
    where
        S: KeyHasher,
    {
        let counters = Words::zeroed(words_for::<C>(params.counters()))?;
        Ok(Self::from_parts(counters, params, update, Counted::default(), hasher))
    }

    pub(crate) fn from_parts(
        counters: Words,
        params: CountMinParams,
        update: Update,
        Counted { total, full_from }: Counted<C>,
        hasher: S,
    ) -> Self {
        debug_assert_eq!(counters.len() as u64, words_for::<C>(params.counters()));
        Self { counters, params, update, total, full_from, hasher }
    }

    pub(crate) const fn counted(&self) -> Counted<C> {
        Counted { total: self.total, full_from: self.full_from }
    }

    /// The estimate of a key whose least counter has this value.
    #[inline]
    pub(crate) fn count_of(&self, counter: C) -> Count {
        Count::new(counter, self.full_from)
    }

    /// Returns the sum of all counts inserted. It saturates at 2^64 - 1, and stays there until [`clear`](Self::clear).
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

    /// Returns the counters, row after row.
    #[inline]
    #[must_use]
    pub fn counters(&self) -> &[C] {
        &self.counters.lanes()[..index(self.params.counters())]
    }

    pub(crate) const fn words(&self) -> &Words {
        &self.counters
    }

    /// Folds the counters of the key with this hash.
    #[inline]
    fn fold<T>(&self, hash: u64, value: T, with: impl FnMut(T, &C) -> T) -> T {
        fold_counters(self.counters(), self.params.width(), hash, value, with)
    }

    /// Folds the counters of the key with this hash, and may change them.
    #[inline]
    fn fold_mut<T>(&mut self, hash: u64, value: T, with: impl FnMut(T, &mut C) -> T) -> T {
        let counters = &mut self.counters.lanes_mut()[..index(self.params.counters())];
        fold_counters_mut(counters, self.params.width(), hash, value, with)
    }

    #[cfg(target_has_atomic = "64")]
    pub(crate) fn into_parts(self) -> (Words, CountMinParams, Counted<C>, S) {
        let counted = self.counted();
        (self.counters, self.params, counted, self.hasher)
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

impl<S: Clone, C: Counter> CountMinSketch<S, C> {
    /// Copies the sketch, or reports that there is no memory for a second one.
    ///
    /// # Errors
    /// [`AllocError`] when memory is refused.
    pub fn try_clone(&self) -> Result<Self, AllocError> {
        Ok(self.with_counters(self.counters.try_clone()?))
    }

    fn with_counters(&self, counters: Words) -> Self {
        Self::from_parts(counters, self.params, self.update, self.counted(), self.hasher.clone())
    }
}

impl<S: KeyHasher, C: Counter> KeyHasher for CountMinSketch<S, C> {
    #[inline]
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.hasher.hash_key(key)
    }

    #[inline]
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        self.hasher.hash_key_dyn(feed)
    }
}

impl<S: KeyHasher, C: Counter> Frequency for CountMinSketch<S, C> {
    #[inline]
    fn estimate_hash(&self, hash: u64) -> u64 {
        self.estimate_hash(hash).value()
    }
}

/// A key is new when it was certainly not counted before: when the estimate is 1 now, and not saturated.
impl<S: KeyHasher, C: Counter> Insert for CountMinSketch<S, C> {
    type Error = Infallible;

    #[inline]
    fn insert_hash(&mut self, hash: u64) -> Result<bool, Infallible> {
        Ok(self.insert_hash(hash).is_first())
    }
}

impl<S: KeyHasher, C: Counter> Merge for CountMinSketch<S, C> {
    type Error = Incompatible;

    fn merge(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.merge(other)
    }
}

/// Takes keys and references to keys: both hash alike.
impl<K: Hash, S: KeyHasher, C: Counter> Extend<K> for CountMinSketch<S, C> {
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
impl<S: KeyHasher, C: Counter> PartialEq for CountMinSketch<S, C> {
    fn eq(&self, other: &Self) -> bool {
        self.check_compatible(other).is_ok()
            && self.counted() == other.counted()
            && self.counters == other.counters
    }
}

impl<S: KeyHasher, C: Counter> Eq for CountMinSketch<S, C> {}

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
