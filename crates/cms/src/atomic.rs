//! A count-min sketch that threads share.

use core::convert::Infallible;
use core::hash::Hash;
use core::sync::atomic::Ordering::Relaxed;

use pds_core::error::{BuildError, Incompatible, ParamError};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::storage::{AtomicWords, WordSource};
use pds_core::traits::{Insert, Merge};
use pds_params::internal::ParamFault;

use crate::counters::{Counted, Tally, lanes_added};
use crate::{Count, CountMinSketch, Counter, Update};

/// A [`CountMinSketch`] that threads share: inserts and estimates take `&self` and never wait.
///
/// It has plain update only: with conservative update, two threads that insert the same key could lose one count. Use
/// it if several threads insert into one sketch. One sketch per thread, merged at the end, is faster if there is memory
/// for it.
///
/// Build it with [`CountMinSketchBuilder::build_atomic`](crate::CountMinSketchBuilder::build_atomic), or from a
/// [`CountMinSketch`] with `try_from`, which copies no counters.
///
/// # Guarantees
/// - No insert is lost: when all threads are done, the counters are those of a single thread.
/// - An estimate includes all inserts that *happened before* it (by a join, a lock or a channel). Its error is that of
///   the plain sketch.
/// - Operations are relaxed: they order nothing else in memory.
///
/// # Examples
/// ```
/// use cms::CountMinSketch;
///
/// let sketch = CountMinSketch::builder().error(0.001, 0.01).build_atomic()?;
/// std::thread::scope(|s| {
///     for _ in 0..2 {
///         s.spawn(|| (0..1_000).for_each(|_| { sketch.insert("key"); }));
///     }
/// });
/// assert_eq!(sketch.estimate("key"), 2_000);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub type AtomicCountMinSketch<S = DefaultHashBuilder, C = u32> = CountMinSketch<S, C, AtomicWords>;

impl<S: KeyHasher, C: Counter> AtomicCountMinSketch<S, C> {
    /// Counts one more of a key, by its [hash](KeyHasher#hashes-of-your-own). Returns the new estimate.
    #[inline]
    pub fn insert_hash(&self, hash: u64) -> Count {
        self.insert_many_hash(hash, 1)
    }

    /// Counts `count` more of a key, by its [hash](KeyHasher#hashes-of-your-own). Returns the new estimate.
    pub fn insert_many_hash(&self, hash: u64, count: u64) -> Count {
        self.tally.add(hash, count);
        let least = self.rows().raise(hash, C::saturating_from(count));
        Count::new(least.into(), self.tally.full_from())
    }

    /// Forgets all counts.
    pub fn clear(&mut self) {
        self.counters.clear();
        self.tally.set(Counted::nothing::<C>());
    }

    /// Returns the plain sketch of the same counts. Copies no counters.
    #[must_use]
    pub fn into_plain(self) -> CountMinSketch<S, C> {
        let counted = self.counted();
        let Self { counters, params, update, hasher, .. } = self;
        CountMinSketch::from_parts(counters.into(), params, update, counted, hasher)
    }

    /// Counts one more of `key`. Returns the new estimate.
    ///
    /// # Complexity
    /// O(depth), without allocation. Repeats a step if another thread changes the same word at that moment.
    pub fn insert<K: Hash + ?Sized>(&self, key: &K) -> Count {
        self.insert_hash(self.hasher.hash_key(key))
    }

    /// Counts `count` more of `key`. Returns the new estimate.
    pub fn insert_many<K: Hash + ?Sized>(&self, key: &K, count: u64) -> Count {
        self.insert_many_hash(self.hasher.hash_key(key), count)
    }

    /// Adds the counts of `other`, while threads may insert into both.
    ///
    /// # Errors
    /// [`Incompatible`] if width, depth or hashers differ. `self` is unchanged then.
    ///
    /// # Complexity
    /// O(width · depth), without allocation.
    pub fn merge(&self, other: &Self) -> Result<(), Incompatible> {
        self.check_compatible(other)?;
        // Before the counters. So no row of `self` ever holds more than the total, and every lost count is noticed.
        self.tally.merge(other.counted());
        let words = self.counters.as_words().iter().zip(other.counters.as_words());
        for (word, theirs) in words {
            let theirs = theirs.load(Relaxed);
            let add = |own| Some(lanes_added::<C>(own, theirs));
            // The closure always returns a value, so this always succeeds.
            let _ = word.fetch_update(Relaxed, Relaxed, add);
        }
        Ok(())
    }
}

/// Opens the sketch to other threads. Copies no counters.
impl<S: KeyHasher, C: Counter> TryFrom<CountMinSketch<S, C>> for AtomicCountMinSketch<S, C> {
    type Error = BuildError;

    fn try_from(sketch: CountMinSketch<S, C>) -> Result<Self, BuildError> {
        if sketch.update == Update::Conservative {
            return Err(conservative().into());
        }
        let tally = Tally::restored(sketch.tally).map_err(BuildError::from)?;
        let CountMinSketch { counters, params, update, hasher, .. } = sketch;
        Ok(Self::from_parts(counters.into(), params, update, tally, hasher))
    }
}

/// Inserts as into a [`CountMinSketch`], if no other thread inserts the key at the same time.
impl<S: KeyHasher, C: Counter> Insert for AtomicCountMinSketch<S, C> {
    type Error = Infallible;

    #[inline]
    fn insert_hash(&mut self, hash: u64) -> Result<bool, Infallible> {
        Ok(Self::insert_hash(self, hash).is_first())
    }
}

/// Also for a shared reference, as `std::io` has it for files.
impl<S: KeyHasher, C: Counter> Insert for &AtomicCountMinSketch<S, C> {
    type Error = Infallible;

    #[inline]
    fn insert_hash(&mut self, hash: u64) -> Result<bool, Infallible> {
        Ok(AtomicCountMinSketch::insert_hash(self, hash).is_first())
    }
}

impl<S: KeyHasher, C: Counter> Merge for AtomicCountMinSketch<S, C> {
    type Error = Incompatible;

    fn merge(&mut self, other: &Self) -> Result<(), Incompatible> {
        (*self).merge(other)
    }
}

/// Inserts keys, or references to keys: both have the same hash.
impl<K: Hash, S: KeyHasher, C: Counter> Extend<K> for AtomicCountMinSketch<S, C> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        (&*self).extend(keys);
    }
}

/// Inserts keys through a shared reference, as `std::io::Write` is implemented for `&File`.
impl<K: Hash, S: KeyHasher, C: Counter> Extend<K> for &AtomicCountMinSketch<S, C> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        keys.into_iter().for_each(|key| _ = AtomicCountMinSketch::insert(self, &key));
    }
}

/// The error of a shared sketch with conservative update.
const fn conservative() -> ParamError {
    let (value, allowed) = ("conservative", "plain in a sketch that threads share");
    ParamError(ParamFault::Choice { parameter: "update", value, allowed })
}
