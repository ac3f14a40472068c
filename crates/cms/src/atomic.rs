//! A count-min sketch that threads share.

use core::convert::Infallible;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

use pds_core::internal::{AtomicWords, Words, reorder_lanes};
use pds_core::{AllocError, BuildError, DefaultHashBuilder, Frequency, Insert, KeyHasher};
use pds_params::CountMinParams;

use crate::cells::{Cells, index};
use crate::numbers::error_of;
use crate::sketch::Counted;
use crate::{Count, CountInterval, CountMinSketch, Counter, Update};

/// How many places the total is spread over, so that threads rarely meet at one.
const STRIPES: usize = 16;
/// The words from one place to the next: a cache line.
const STRIDE: usize = 8;

/// A [`CountMinSketch`] that threads share: inserts and estimates take `&self` and never wait.
///
/// It has plain update only: with conservative update two threads that raise the same key could lose one.
/// Choose it where threads count into one sketch; a sketch a thread, merged at the end, is faster where
/// there is the memory for it.
///
/// # Guarantees
/// - No insert is lost: when all threads are done, the counters are those of one thread.
/// - An estimate counts at least what was inserted before it (what happens before it, as by a join, a lock or a
///   channel), and errs as the plain sketch does.
/// - Operations are relaxed: they order nothing else in memory.
///
/// # Examples
/// ```
/// use cms::AtomicCountMinSketch;
///
/// let sketch = AtomicCountMinSketch::new(0.001, 0.01)?;
/// std::thread::scope(|s| {
///     for _ in 0..2 {
///         s.spawn(|| (0..1_000).for_each(|_| { sketch.insert("key"); }));
///     }
/// });
/// assert_eq!(sketch.estimate("key"), 2_000);
/// # Ok::<(), pds_core::BuildError>(())
/// ```
pub struct AtomicCountMinSketch<S = DefaultHashBuilder, C = u32> {
    counters: AtomicWords,
    params: CountMinParams,
    /// Parts of the total, one every [`STRIDE`] words.
    totals: AtomicWords,
    /// As in the plain sketch that it may come from.
    full_from: C,
    hasher: S,
}

impl AtomicCountMinSketch {
    /// Creates a sketch of the shape that [`CountMinSketch::new`] has.
    ///
    /// # Errors
    /// As [`CountMinSketch::new`].
    pub fn new(epsilon: f64, delta: f64) -> Result<Self, BuildError> {
        Ok(Self::from_params(CountMinParams::new(epsilon, delta)?, DefaultHashBuilder::default())?)
    }
}

impl<S, C: Counter> AtomicCountMinSketch<S, C> {
    /// Creates an empty sketch of exactly this shape.
    ///
    /// # Errors
    /// [`AllocError`] when the memory is refused.
    pub fn from_params(params: CountMinParams, hasher: S) -> Result<Self, AllocError>
    where
        S: KeyHasher,
    {
        Self::share(CountMinSketch::from_params(params, Update::Plain, hasher)?)
    }

    /// Lets threads share what a sketch with plain update has counted; the counters are not copied.
    fn share(sketch: CountMinSketch<S, C>) -> Result<Self, AllocError> {
        let mut totals = Words::zeroed((STRIPES * STRIDE) as u64)?;
        let (counters, params, Counted { total, full_from }, hasher) = sketch.into_parts();
        totals[0] = total;
        let (counters, totals) = (counters.into(), totals.into());
        Ok(Self { counters, params, totals, full_from, hasher })
    }

    /// Returns the plain sketch of the same counts; the counters are not copied.
    #[must_use]
    pub fn into_plain(self) -> CountMinSketch<S, C> {
        let counted = self.counted();
        let counters = self.counters.into();
        CountMinSketch::from_parts(counters, self.params, Update::Plain, counted, self.hasher)
    }

    pub(crate) fn counted(&self) -> Counted<C> {
        Counted { total: self.total(), full_from: self.full_from }
    }

    #[inline]
    fn cells(&self, hash: u64) -> Cells {
        Cells::new(self.params.width(), self.params.counters(), hash)
    }

    /// Counts one more of the key with this hash. Returns the new estimate.
    /// The hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
    #[inline]
    pub fn insert_hash(&self, hash: u64) -> Count {
        self.insert_many_hash(hash, 1)
    }

    /// Counts `count` more of the key with this hash. Returns the new estimate.
    /// The hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
    pub fn insert_many_hash(&self, hash: u64, count: u64) -> Count {
        add_saturating(&self.totals[stripe_of(hash)], count);
        let added = C::saturating_from(count);
        let raise = |least: C, cell| least.min(Lane::<C>::at(&self.counters, cell).add(added));
        Count::new(self.cells(hash).fold(C::MAX, raise), self.full_from)
    }

    /// Estimates how often the key with this hash came.
    /// The hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
    #[must_use]
    pub fn estimate_hash(&self, hash: u64) -> Count {
        let lower = |least: C, cell| least.min(Lane::<C>::at(&self.counters, cell).get());
        Count::new(self.cells(hash).fold(C::MAX, lower), self.full_from)
    }

    /// Bounds how often the key with this hash came, as
    /// [`CountMinSketch::estimate_interval`] does.
    /// The hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
    #[must_use]
    pub fn estimate_interval_hash(&self, hash: u64) -> CountInterval {
        let count = self.estimate_hash(hash);
        // The total is read last, so that inserts in between widen the error and do not narrow it.
        CountInterval::below(count, error_of(&self.params, self.total()))
    }

    /// Returns the sum of all counts inserted. It saturates at 2^64 - 1.
    #[must_use]
    pub fn total(&self) -> u64 {
        let parts = self.totals.iter().step_by(STRIDE);
        parts.fold(0, |sum, part| sum.saturating_add(part.load(Relaxed)))
    }

    /// Returns the shape and its error.
    #[must_use]
    pub const fn params(&self) -> CountMinParams {
        self.params
    }

    pub(crate) fn words(&self) -> impl Iterator<Item = u64> {
        self.counters.iter().map(|word| word.load(Relaxed))
    }

    /// Returns the size of the counters on the heap, in bytes.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.counters.len() as u64 * 8
    }

    /// Returns the hasher.
    #[must_use]
    pub const fn hasher(&self) -> &S {
        &self.hasher
    }
}

impl<S: KeyHasher, C: Counter> AtomicCountMinSketch<S, C> {
    /// Counts one more of `key`. Returns the new estimate.
    ///
    /// # Complexity
    /// O(depth), without allocation; repeats a step when another thread changed the same word at that moment.
    pub fn insert<K: Hash + ?Sized>(&self, key: &K) -> Count {
        self.insert_hash(self.hasher.hash_key(key))
    }

    /// Counts `count` more of `key`. Returns the new estimate.
    pub fn insert_many<K: Hash + ?Sized>(&self, key: &K, count: u64) -> Count {
        self.insert_many_hash(self.hasher.hash_key(key), count)
    }

    /// Estimates how often `key` came: never less than was inserted before, unless the answer is saturated.
    #[must_use]
    pub fn estimate<K: Hash + ?Sized>(&self, key: &K) -> Count {
        self.estimate_hash(self.hasher.hash_key(key))
    }

    /// Bounds how often `key` came, as [`CountMinSketch::estimate_interval`] does.
    #[must_use]
    pub fn estimate_interval<K: Hash + ?Sized>(&self, key: &K) -> CountInterval {
        self.estimate_interval_hash(self.hasher.hash_key(key))
    }
}

/// One of the counters that share an atomic word.
///
/// The word is changed as a whole, since accesses of different widths to the same memory must not race.
struct Lane<'a, C> {
    word: &'a AtomicU64,
    /// Which of the word's counters.
    lane: usize,
    width: PhantomData<C>,
}

impl<'a, C: Counter> Lane<'a, C> {
    #[inline]
    fn at(words: &'a [AtomicU64], cell: usize) -> Self {
        Self { word: &words[cell / C::PER_WORD], lane: cell % C::PER_WORD, width: PhantomData }
    }

    #[inline]
    fn get(&self) -> C {
        self.of(self.word.load(Relaxed))
    }

    /// Adds, and returns the sum, both up to the limit. A counter at its limit is only read.
    #[inline]
    fn add(&self, added: C) -> C {
        let mut old = self.word.load(Relaxed);
        loop {
            let counter = self.of(old);
            let sum = counter.saturating_add(added);
            if sum == counter {
                return sum;
            }
            let new = self.replaced(old, sum);
            match self.word.compare_exchange_weak(old, new, Relaxed, Relaxed) {
                Ok(_) => return sum,
                Err(found) => old = found,
            }
        }
    }

    #[inline]
    fn of(&self, word: u64) -> C {
        C::saturating_from(reorder_lanes::<C>(word) >> self.shift() & C::MAX.into())
    }

    #[inline]
    fn replaced(&self, word: u64, counter: C) -> u64 {
        let others = reorder_lanes::<C>(word) & !(C::MAX.into() << self.shift());
        reorder_lanes::<C>(others | counter.into() << self.shift())
    }

    #[inline]
    fn shift(&self) -> usize {
        self.lane * (64 / C::PER_WORD)
    }
}

/// Which part of the total a key adds to.
#[inline]
const fn stripe_of(hash: u64) -> usize {
    index(hash % STRIPES as u64) * STRIDE
}

fn add_saturating(word: &AtomicU64, added: u64) {
    let add = |old: u64| Some(old.saturating_add(added));
    // The closure always gives a value, so that this always succeeds.
    let _ = word.fetch_update(Relaxed, Relaxed, add);
}

/// Shares a sketch; the counters are not copied.
impl<S, C: Counter> TryFrom<CountMinSketch<S, C>> for AtomicCountMinSketch<S, C> {
    type Error = ShareError;

    fn try_from(sketch: CountMinSketch<S, C>) -> Result<Self, ShareError> {
        match sketch.update() {
            Update::Plain => Self::share(sketch).map_err(ShareError::Alloc),
            Update::Conservative => Err(ShareError::Conservative),
        }
    }
}

/// Why a sketch cannot be shared by threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShareError {
    /// It has conservative update, with which two threads that raise the same key could lose one.
    Conservative,
    /// The kilobyte over which the total is spread could not be had.
    Alloc(AllocError),
}

impl fmt::Display for ShareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conservative => f.write_str(
                "threads share sketches with plain update, and this one has conservative update",
            ),
            Self::Alloc(error) => error.fmt(f),
        }
    }
}

/// The inner error is shown as this one, so it is not a source of it.
impl core::error::Error for ShareError {}

impl<S: KeyHasher, C: Counter> KeyHasher for AtomicCountMinSketch<S, C> {
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.hasher.hash_key(key)
    }

    #[inline]
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        self.hasher.hash_key_dyn(feed)
    }
}

impl<S: KeyHasher, C: Counter> Frequency for AtomicCountMinSketch<S, C> {
    fn estimate_hash(&self, hash: u64) -> u64 {
        self.estimate_hash(hash).value()
    }
}

impl<S, C: Counter> fmt::Debug for AtomicCountMinSketch<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtomicCountMinSketch")
            .field("width", &self.params.width())
            .field("depth", &self.params.depth())
            .field("counter_bits", &C::BITS)
            .field("total", &self.total())
            .finish_non_exhaustive()
    }
}

/// A key is new when it was certainly not counted before: when the estimate is 1 now, and not saturated.
impl<S: KeyHasher, C: Counter> Insert for AtomicCountMinSketch<S, C> {
    type Error = Infallible;

    #[inline]
    fn insert_hash(&mut self, hash: u64) -> Result<bool, Infallible> {
        Ok((*self).insert_hash(hash).is_first())
    }
}
