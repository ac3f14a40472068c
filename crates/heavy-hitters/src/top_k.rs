//! The most frequent keys, a fixed number of them.

use alloc::borrow::ToOwned;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt;
use core::hash::Hash;

use cms::internal::{count_of, error_of};
use cms::{Count, CountInterval, CountMinSketch};
use pds_core::error::{BuildError, Incompatible, ParamError};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::traits::Merge;
use pds_params::CountMinParams;
use pds_params::cms::MAX_TRACKED;
use pds_params::internal::ParamFault;

use crate::heavy_hitters::sorted;
use crate::summary::Summary;
use crate::{Hitter, TopKBuilder};

/// Counters a row for each key that is listed, and rows: with these the recall of the first k is
/// 1.00 on all streams measured, and with half of them not on all.
const WIDTH_FOR_EACH: u64 = 32;
const DEPTH: u32 = 4;
/// The least width: short lists are disturbed by as many keys as long ones.
const MIN_WIDTH: u64 = 1_024;

/// Finds *the k most frequent keys*, and estimates how often they came.
///
/// Use it for a fixed number of keys, such as the top ten. For all keys above a share of the stream use
/// [`HeavyHitters`](crate::HeavyHitters), which never misses one.
///
/// A [`CountMinSketch`] with conservative update counts all keys. The keys with the k greatest estimates are kept. The
/// crate's README compares it with SpaceSaving and HeavyKeeper.
///
/// Keys are inserted as borrowed keys (`&str` for `String`). An owned key is made only when it enters the list.
///
/// # Guarantees
/// - An estimate is never below the truth, unless saturated. It exceeds the truth by more than epsilon N with probability
///   delta at most. Epsilon is e / width, and delta is e^-4. Counters have 64 bits.
/// - *Not* promised: that each of the k most frequent keys is listed. In measurements all are, on Zipf streams of
///   exponents 1 to 1.5 and on a log, for k of 10 and 100.
/// - Memory: 1,024 bytes per listed key, at least 32 KiB, and the keys.
/// - Insert: O(1) on average. At most one in k / 2 inserts takes O(k) and allocates. Merge: O(k); estimates stay upper bounds.
///
/// # Examples
/// ```
/// use heavy_hitters::TopK;
///
/// let mut words = TopK::<String>::new(2)?;
/// for word in "to be or not to be that is to".split(' ') {
///     words.insert(word);
/// }
/// let top: Vec<_> = words.top().iter().map(|hit| (hit.key.as_str(), hit.estimate.value())).collect();
/// assert_eq!(top, [("to", 3), ("be", 2)]);
/// # Ok::<(), pds_core::error::BuildError>(())
/// ```
///
/// # References
/// Cristian Estan and George Varghese, "New Directions in Traffic Measurement and Accounting", SIGCOMM
/// 2002 (conservative update); Junzhi Gong et al., "HeavyKeeper: An Accurate Algorithm for Finding
/// Top-k Elephant Flows", USENIX ATC 2018 (the alternative).
pub struct TopK<K, S = DefaultHashBuilder> {
    sketch: CountMinSketch<S, u64>,
    /// The k keys, and perhaps half as many others, with their estimates of when they last came.
    list: Summary<K>,
}

impl<K> TopK<K> {
    /// Creates an empty list of the `k` most frequent keys.
    ///
    /// # Errors
    /// [`BuildError::Param`] if `k` is 0 or above 2^31. [`BuildError::Alloc`] if the allocator refuses the memory.
    pub fn new(k: u64) -> Result<Self, BuildError> {
        Self::builder().k(k).build()
    }

    /// Starts a builder: for a seed, or another hasher.
    pub const fn builder() -> TopKBuilder<K> {
        TopKBuilder::new()
    }
}

impl<K, S: KeyHasher> TopK<K, S> {
    pub(crate) const fn from_parts(sketch: CountMinSketch<S, u64>, list: Summary<K>) -> Self {
        Self { sketch, list }
    }

    /// Lists the k keys with the greatest estimates, the most frequent first. The list is shorter if fewer keys came.
    ///
    /// The error of each key is that of the sketch: epsilon N, which is exceeded with probability delta at most.
    ///
    /// # Complexity
    /// O(k log k); allocates the list.
    #[must_use]
    pub fn top(&self) -> Vec<Hitter<'_, K>> {
        let error = error_of(&self.sketch.params(), self.total());
        let hitter = |slot| Hitter::new(slot, count_of(&self.sketch, slot.count), error);
        let mut top = sorted(self.list.iter().map(hitter));
        top.truncate(self.list.capacity() as usize);
        top
    }

    /// Halves all counts. Call it from time to time to let old counts fade; see [`CountMinSketch::halve`].
    ///
    /// Returns how many counters were saturated.
    pub fn halve(&mut self) -> u64 {
        self.list.halve_beside(&self.sketch);
        self.sketch.halve()
    }

    /// Returns the greatest number of keys that are listed.
    #[must_use]
    pub fn k(&self) -> u64 {
        self.list.capacity().into()
    }

    /// Returns the sum of all counts inserted, as [`CountMinSketch::total`] does.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.sketch.total()
    }

    /// Returns the sketch, which estimates any key.
    #[must_use]
    pub const fn sketch(&self) -> &CountMinSketch<S, u64> {
        &self.sketch
    }

    /// Returns the size of sketch and list on the heap in bytes. It does not include the heap memory of the keys.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.sketch.size_in_bytes() + self.list.size_in_bytes()
    }

    /// Returns the hasher.
    #[must_use]
    pub const fn hasher(&self) -> &S {
        self.sketch.hasher()
    }

    pub(crate) const fn list(&self) -> &Summary<K> {
        &self.list
    }

    /// Forgets all keys and counts.
    pub fn clear(&mut self) {
        self.sketch.clear();
        self.list.clear();
    }

    /// Counts one more of `key`. Returns the new estimate.
    pub fn insert<Q>(&mut self, key: &Q) -> Count
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        self.insert_many(key, 1)
    }

    /// Counts `count` more of `key`. 0 changes nothing. Returns the new estimate.
    pub fn insert_many<Q>(&mut self, key: &Q, count: u64) -> Count
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        self.insert_with(key, count, |listed| listed.borrow() == key, || key.to_owned())
    }

    /// Counts `count` more of a key in a borrowed form that [`insert_many`](Self::insert_many) does not know; see
    /// [`HeavyHitters::insert_with`](crate::HeavyHitters::insert_with).
    ///
    /// # Examples
    /// ```
    /// use std::sync::Arc;
    /// use heavy_hitters::TopK;
    ///
    /// let mut words = TopK::<Arc<str>>::new(2)?;
    /// words.insert_with("be", 2, |listed| **listed == *"be", || "be".into());
    /// assert_eq!(words.estimate("be"), 2);
    /// # Ok::<(), heavy_hitters::error::BuildError>(())
    /// ```
    pub fn insert_with<Q: Hash + ?Sized>(
        &mut self,
        key: &Q,
        count: u64,
        is_equal: impl Fn(&K) -> bool,
        to_key: impl FnOnce() -> K,
    ) -> Count {
        let hash = self.hasher().hash_key(key);
        let estimate = self.sketch.insert_many_hash(hash, count);
        if count > 0 {
            self.list.track(hash, estimate.value(), is_equal, to_key);
        }
        estimate
    }

    /// Estimates how often `key` came, listed or not, as the sketch does.
    #[must_use]
    pub fn estimate<Q: Hash + ?Sized>(&self, key: &Q) -> Count {
        self.sketch.estimate(key)
    }

    /// Bounds how often `key` came, listed or not, as the sketch does.
    #[must_use]
    pub fn estimate_interval<Q: Hash + ?Sized>(&self, key: &Q) -> CountInterval {
        self.sketch.estimate_interval(key)
    }

    /// Adds what `other` has counted. Of the keys in both lists, those with the greatest estimates by the merged sketch
    /// stay.
    ///
    /// # Errors
    /// [`Incompatible`] if k or hashers differ. `self` is unchanged then.
    pub fn merge(&mut self, other: &Self) -> Result<(), Incompatible>
    where
        K: Hash + Clone + Eq,
    {
        self.check_compatible(other)?;
        self.list.list_both(&other.list, &mut self.sketch, &other.sketch)
    }

    fn check_compatible(&self, other: &Self) -> Result<(), Incompatible> {
        Incompatible::check_shape("k", self.k(), other.k())?;
        Incompatible::check_hasher(self.hasher(), other.hasher())
    }
}

/// Returns the shape of the sketch for k keys, and k.
pub(crate) fn params_for(k: u64) -> Result<(CountMinParams, u32), ParamError> {
    let capacity = u32::try_from(k).ok().filter(|_| (1..=MAX_TRACKED).contains(&k));
    let capacity = capacity.ok_or(ParamError(ParamFault::OutOfRange {
        parameter: "k",
        value: k,
        min: 1,
        max: MAX_TRACKED,
    }))?;
    let width = (WIDTH_FOR_EACH * k).max(MIN_WIDTH);
    Ok((CountMinParams::from_width_and_depth(width, DEPTH)?, capacity))
}

impl<K: Hash + Clone + Eq, S: KeyHasher> Merge for TopK<K, S> {
    type Error = Incompatible;

    fn merge(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.merge(other)
    }
}

impl<K: Clone, S: KeyHasher + Clone> Clone for TopK<K, S> {
    fn clone(&self) -> Self {
        Self { sketch: self.sketch.clone(), list: self.list.clone() }
    }
}

/// Lists are equal if k, hashers and counts are.
impl<K: Eq, S: KeyHasher> PartialEq for TopK<K, S> {
    fn eq(&self, other: &Self) -> bool {
        self.k() == other.k() && self.sketch == other.sketch && self.list.same_counts(&other.list)
    }
}

impl<K: Eq, S: KeyHasher> Eq for TopK<K, S> {}

impl<K, S: KeyHasher> fmt::Debug for TopK<K, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TopK")
            .field("k", &self.k())
            .field("listed", &self.list.len())
            .field("total", &self.total())
            .finish_non_exhaustive()
    }
}
