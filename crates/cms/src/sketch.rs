//! The count-min sketch.

mod batch;
mod merge;
mod product;
mod reading;
mod update;

use core::convert::Infallible;
use core::hash::Hash;

use pds_core::error::{AllocError, BuildError, Incompatible};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::storage::Words;
use pds_core::traits::{Insert, Merge};
use pds_params::CountMinParams;

pub(crate) use batch::BATCH;
pub use product::InnerProduct;
pub use update::Update;

use crate::cells::{fold_counters_mut, index, words_for};
use crate::counters::{Counted, CounterStorage};
use crate::{Count, CountMinSketchBuilder, Counter};

/// A sketch that estimates *how often a key occurred*: never less than the truth, and rarely much more.
///
/// Use it to count many keys in few bytes. It keeps no keys: to list the most frequent ones use the crate
/// `heavy-hitters`. If keys are also removed, or if an estimate without bias is needed, use
/// [`CountSketch`](crate::CountSketch).
///
/// The type of a key is part of the key: `1u32` and `1u64` are different keys.
///
/// # Storage
/// `S` is the hasher and `C` the type of a counter. `W` is the [storage](pds_core::storage), which decides which methods a
/// sketch has:
///
/// | type | counters | methods |
/// |---|---|---|
/// | `CountMinSketch` | in [`Words`] of its own | all |
/// | [`AtomicCountMinSketch`](crate::AtomicCountMinSketch) | in words that threads share | those that read or copy; inserts, `clear` and merges with `&self` |
/// | [`CountMinSketchView<B>`](crate::CountMinSketchView) | in portable bytes of the type `B` | those that read |
///
/// # Guarantees
/// - An estimate is never below the truth, unless counters are saturated. The [`Count`](crate::Count) says so then.
/// - It exceeds the truth by more than epsilon N with probability at most delta, where N is the total of all counts.
///   The published proof assumes independent rows. Here the rows come from one 64-bit hash. Tests measure that they
///   keep the bound.
/// - Memory: width · depth counters of `C`, by default of 32 bits.
/// - Insert and query: O(depth). Merge: O(width · depth).
/// - Merging: with plain update the result is exactly the sketch of both streams; with conservative update it is an upper
///   bound. Shape, update and the seed of the hasher must be equal.
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
/// # Ok::<(), cms::error::BuildError>(())
/// ```
///
/// # References
/// Graham Cormode and S. Muthukrishnan, "An Improved Data Stream Summary: The Count-Min Sketch and its
/// Applications", Journal of Algorithms 55(1), 2005.
pub struct CountMinSketch<S = DefaultHashBuilder, C = u32, W: CounterStorage = Words> {
    /// The rows, one after another, as integers `C`. The rest of the last word is 0.
    pub(crate) counters: W,
    pub(crate) params: CountMinParams,
    pub(crate) update: Update,
    pub(crate) tally: W::Tally,
    pub(crate) hasher: S,
    pub(crate) counter: core::marker::PhantomData<C>,
}

// Functions that are called by path (`CountMinSketch::new`) exist for one storage only: the compiler could not tell two of
// the same name apart (E0034).
impl CountMinSketch {
    /// Creates a sketch whose estimates exceed the truth by more than `epsilon` times the total with probability at
    /// most `delta`.
    ///
    /// It has the published shape. For others see [`CountMinParams`].
    ///
    /// # Errors
    /// [`BuildError::Param`] if a value is not above 0 and below 1, or asks for too many counters. [`BuildError::Alloc`] if
    /// the allocator refuses the memory.
    ///
    /// # Examples
    /// ```
    /// use cms::CountMinSketch;
    ///
    /// let sketch = CountMinSketch::new(0.001, 0.01)?;
    /// assert_eq!((sketch.width(), sketch.depth(), sketch.size_in_bytes()), (2_719, 5, 54_384));
    /// assert!(CountMinSketch::new(0.0, 0.01).is_err());
    /// # Ok::<(), cms::error::BuildError>(())
    /// ```
    pub fn new(epsilon: f64, delta: f64) -> Result<Self, BuildError> {
        Self::builder().error(epsilon, delta).build()
    }

    /// Starts a builder: for other shapes and counters, conservative update, a seed, another hasher, or threads.
    pub const fn builder() -> CountMinSketchBuilder {
        CountMinSketchBuilder::new()
    }
}

impl<S: KeyHasher, C: Counter> CountMinSketch<S, C> {
    /// Creates an empty sketch of exactly this shape, with plain update.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub fn from_params(params: CountMinParams, hasher: S) -> Result<Self, AllocError>
    where
        S: KeyHasher,
    {
        Self::empty(params, Update::Plain, hasher)
    }

    pub(crate) fn empty(
        params: CountMinParams,
        update: Update,
        hasher: S,
    ) -> Result<Self, AllocError> {
        let counters = Words::zeroed(words_for::<C>(params.counters()))?;
        Ok(Self::from_parts(counters, params, update, Counted::nothing::<C>(), hasher))
    }

    /// Returns the counters, row after row.
    #[inline]
    #[must_use]
    pub fn counters(&self) -> &[C] {
        &self.counters.lanes()[..index(self.params.counters())]
    }

    /// Copies the sketch. `clone` does the same, but aborts if the allocator refuses the memory.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub fn try_clone(&self) -> Result<Self, AllocError>
    where
        S: Clone,
    {
        let (counters, hasher) = (self.counters.try_clone()?, self.hasher.clone());
        Ok(Self::from_parts(counters, self.params, self.update, self.tally, hasher))
    }

    /// Folds the counters of the key with this hash. `with` may change them.
    #[inline]
    fn fold_mut<T>(&mut self, hash: u64, value: T, with: impl FnMut(T, &mut C) -> T) -> T {
        let counters = &mut self.counters.lanes_mut()[..index(self.params.counters())];
        fold_counters_mut(counters, self.params.width(), hash, value, with)
    }

    /// Returns the estimate of a key whose least counter has this value.
    #[inline]
    pub(crate) fn count_of(&self, counter: C) -> Count {
        Count::new(counter.into(), self.tally.full_from)
    }

    #[cfg(feature = "huge-pages")]
    pub(crate) fn advise_huge_pages(&self) -> bool {
        self.counters.advise_huge_pages()
    }
}

impl<S: KeyHasher, C: Counter, W: CounterStorage> CountMinSketch<S, C, W> {
    pub(crate) const fn from_parts(
        counters: W,
        params: CountMinParams,
        update: Update,
        tally: W::Tally,
        hasher: S,
    ) -> Self {
        Self { counters, params, update, tally, hasher, counter: core::marker::PhantomData }
    }
}

/// A key is new if its estimate is 1 now and not saturated: it was certainly not counted before.
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

/// Inserts keys, or references to keys: both have the same hash.
impl<K: Hash, S: KeyHasher, C: Counter> Extend<K> for CountMinSketch<S, C> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        keys.into_iter().for_each(|key| {
            self.insert(&key);
        });
    }
}

impl<S: KeyHasher + Clone, C: Counter, W: CounterStorage + Clone> Clone
    for CountMinSketch<S, C, W>
{
    fn clone(&self) -> Self {
        let (counters, tally) = (self.counters.clone(), self.tally.clone());
        Self::from_parts(counters, self.params, self.update, tally, self.hasher.clone())
    }
}

/// Sketches are equal if shape, update, hasher and counts are equal. The design (the error) is not compared.
impl<S: KeyHasher, C: Counter> PartialEq for CountMinSketch<S, C> {
    fn eq(&self, other: &Self) -> bool {
        self.check_compatible(other).is_ok()
            && self.tally == other.tally
            && self.counters == other.counters
    }
}

impl<S: KeyHasher, C: Counter> Eq for CountMinSketch<S, C> {}
