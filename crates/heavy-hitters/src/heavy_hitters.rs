//! The summary of keys above a share of the stream.

use alloc::borrow::ToOwned;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::cmp::Reverse;
use core::fmt;
use core::hash::Hash;
use core::slice;

use cms::{Count, CountInterval, internal};
use pds_core::error::{AllocError, BuildError, Incompatible};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::traits::Merge;
use pds_params::HeavyHittersParams;
use pds_params::cms::floor_product;

use crate::HeavyHittersBuilder;
use crate::summary::{Slot, Summary};

/// A listed key, and how often it came.
#[derive(Debug, PartialEq, Eq)]
pub struct Hitter<'a, K> {
    /// The key.
    pub key: &'a K,
    /// Upper bound of how often it came, unless saturated.
    pub estimate: Count,
    /// By how much the estimate may exceed the truth. In a [`HeavyHitters`] this is certain. In the structures with a
    /// sketch it is exceeded with probability delta at most. It is `u64::MAX` if no bound is known.
    pub error: u64,
}

impl<'a, K> Hitter<'a, K> {
    pub(crate) const fn new(slot: &'a Slot<K>, estimate: Count, error: u64) -> Self {
        Self { key: &slot.key, estimate, error }
    }

    /// Returns the bounds of the truth. The lower one is as certain as the error.
    #[must_use]
    pub const fn interval(&self) -> CountInterval {
        internal::interval_below(self.estimate, self.error)
    }
}

impl<K> Clone for Hitter<'_, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Hitter<'_, K> {}

/// Sorts by estimate, the greatest first, and by error, the least first.
pub(crate) fn sorted<'a, K>(hitters: impl Iterator<Item = Hitter<'a, K>>) -> Vec<Hitter<'a, K>> {
    let mut hitters: Vec<_> = hitters.collect();
    hitters.sort_by_key(|hitter| (Reverse(hitter.estimate), hitter.error));
    hitters
}

/// Finds *the keys that make up more than a share of all*. None of them is ever missed.
///
/// Use it to list frequent keys. Its memory depends on the share alone, not on the number of distinct keys. For a fixed
/// number of keys use [`TopK`](crate::TopK). To count a given key use [`CountMinSketch`](cms::CountMinSketch).
///
/// Keys are inserted and asked as borrowed keys (`&str` for `String`). An owned key is made only when the key enters. A
/// key that is not tracked always enters.
///
/// # Guarantees
/// - A key that came more than phi N times, where N is the total, is in [`top`](Self::top). This holds as long as N is below
///   2^64 times the capacity.
/// - An estimate is never below the truth, and at most N / capacity above it. Each states its own error. A count of
///   2^64 - 1 is saturated.
/// - `top` may also contain lighter keys. A key whose lower bound exceeds phi N is certainly heavy.
/// - Memory: 1.5 · capacity times (key + 40 bytes), capacity at least 1 / phi.
/// - Insert: O(1) on average. At most one in capacity / 2 inserts takes O(capacity) and allocates. Merge: O(capacity); all
///   guarantees hold for the result.
///
/// # Examples
/// ```
/// use heavy_hitters::HeavyHitters;
///
/// let mut paths = HeavyHitters::<String>::new(0.25)?;
/// for path in ["/", "/a", "/", "/b", "/", "/c", "/", "/d"] {
///     paths.insert(path);
/// }
/// let top = paths.top();
/// assert_eq!((top[0].key.as_str(), top[0].estimate.value(), top[0].error), ("/", 4, 0));
/// # Ok::<(), pds_core::error::BuildError>(())
/// ```
///
/// # References
/// J. Misra and David Gries, "Finding Repeated Elements", Science of Computer Programming 2(2), 1982; Daniel
/// Anderson et al., "A High-Performance Algorithm for Identifying Frequent Items in Data Streams", IMC 2017.
pub struct HeavyHitters<K, S = DefaultHashBuilder> {
    summary: Summary<K>,
    params: HeavyHittersParams,
    hasher: S,
}

impl<K> HeavyHitters<K> {
    /// Creates a summary that misses no key above `phi` times the total.
    ///
    /// Its capacity is `ceil(1 / phi)`. With [`HeavyHittersParams::with_error`] it is more: estimates are closer, and
    /// fewer lighter keys are listed.
    ///
    /// # Errors
    /// [`BuildError::Param`] if `phi` is not above 0 and below 1, or asks for too many keys. [`BuildError::Alloc`] if the
    /// allocator refuses the memory.
    pub fn new(phi: f64) -> Result<Self, BuildError> {
        Self::builder().phi(phi).build()
    }

    /// Starts a builder: for other capacities, a seed, or another hasher.
    pub const fn builder() -> HeavyHittersBuilder<K> {
        HeavyHittersBuilder::new()
    }
}

impl<K, S: KeyHasher> HeavyHitters<K, S> {
    /// Creates an empty summary with exactly these parameters.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub fn from_params(params: HeavyHittersParams, hasher: S) -> Result<Self, AllocError>
    where
        S: KeyHasher,
    {
        Ok(Self { summary: Summary::new(capacity_of(&params))?, params, hasher })
    }

    pub(crate) const fn from_parts(
        summary: Summary<K>,
        params: HeavyHittersParams,
        hasher: S,
    ) -> Self {
        Self { summary, params, hasher }
    }

    /// Lists the keys that may have come more than phi N times, the most frequent first. All that did are in the list.
    ///
    /// # Complexity
    /// O(capacity log capacity); allocates the list.
    #[must_use]
    pub fn top(&self) -> Vec<Hitter<'_, K>> {
        let threshold = self.threshold();
        sorted(self.iter().filter(|hitter| hitter.estimate > threshold))
    }

    /// Iterates over all tracked keys, frequent or not, in the order in which they came in.
    #[must_use]
    pub fn iter(&self) -> Iter<'_, K> {
        Iter(self.summary.iter())
    }

    /// Returns the number of tracked keys, frequent or not.
    #[must_use]
    pub fn len(&self) -> usize {
        self.summary.len()
    }

    /// Returns whether no key is tracked: nothing was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the count above which a key is listed: phi N, rounded down. If the total is saturated, it is phi times
    /// 2^64 - 1.
    #[must_use]
    pub fn threshold(&self) -> u64 {
        floor_product(self.params.phi(), self.total())
    }

    /// Returns the sum of all counts inserted. It saturates at 2^64 - 1.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.summary.total()
    }

    /// Returns how often a key that is not tracked came, at most.
    #[must_use]
    pub fn untracked_at_most(&self) -> Count {
        counted(self.summary.floor())
    }

    /// Returns the capacity: an estimate errs by at most the total divided by it. Up to 1.5 times as many keys are
    /// tracked.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.summary.capacity().into()
    }

    /// Returns the parameters.
    #[must_use]
    pub const fn params(&self) -> HeavyHittersParams {
        self.params
    }

    /// Returns the size of the counters on the heap in bytes. It does not include the heap memory of the keys.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.summary.size_in_bytes()
    }

    /// Returns the hasher.
    #[must_use]
    pub const fn hasher(&self) -> &S {
        &self.hasher
    }

    pub(crate) const fn summary(&self) -> &Summary<K> {
        &self.summary
    }

    /// Halves all counts, rounding down, and the total, rounding up. Call it from time to time to let old counts fade.
    ///
    /// All guarantees hold for counts that are halved and rounded down at the same times. Rounding may increase the
    /// error of an estimate by one, in each of the summaries that are merged later.
    ///
    /// Returns how many counts are saturated, including the bound for keys that are not tracked. If there is one,
    /// nothing is halved, because the lost counts are unknown. Call [`clear`](Self::clear) then. A saturated total
    /// stays saturated.
    ///
    /// # Complexity
    /// O(capacity), without allocation.
    ///
    /// # Examples
    /// ```
    /// use heavy_hitters::HeavyHitters;
    ///
    /// let mut pages = HeavyHitters::<&str>::new(0.1)?;
    /// pages.insert_many(&"/", 9);
    /// assert_eq!(pages.halve(), 0);
    /// assert_eq!((pages.estimate(&"/").value(), pages.total()), (4, 5));
    /// # Ok::<(), heavy_hitters::error::BuildError>(())
    /// ```
    pub fn halve(&mut self) -> u64 {
        let saturated = self.summary.saturated();
        if saturated == 0 {
            self.summary.halve();
        }
        saturated
    }

    /// Forgets all keys and counts.
    pub fn clear(&mut self) {
        self.summary.clear();
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
        self.insert_with(key, count, |tracked| tracked.borrow() == key, || key.to_owned())
    }

    /// Counts `count` more of a key in a borrowed form that [`insert_many`](Self::insert_many) does not know, such as
    /// `(&str, u32)` for `(String, u32)`.
    ///
    /// `is_equal` compares `key` with a tracked one, and `to_key` makes the owned key if it enters. The borrowed form
    /// must hash as the owned one. Tuples of `&str` and integers do.
    ///
    /// # Examples
    /// ```
    /// use heavy_hitters::HeavyHitters;
    ///
    /// let mut requests = HeavyHitters::<(String, u32)>::new(0.1)?;
    /// for (path, status) in [("/", 200), ("/", 404), ("/", 200)] {
    ///     let is_equal = |key: &(String, u32)| key.0 == path && key.1 == status;
    ///     requests.insert_with(&(path, status), 1, is_equal, || (path.to_owned(), status));
    /// }
    /// let count = requests.estimate_interval_with(&("/", 200u32), |key| key.0 == "/" && key.1 == 200);
    /// assert_eq!(count.truth_at_least, 2);
    /// # Ok::<(), heavy_hitters::error::BuildError>(())
    /// ```
    pub fn insert_with<Q: Hash + ?Sized>(
        &mut self,
        key: &Q,
        count: u64,
        is_equal: impl Fn(&K) -> bool,
        to_key: impl FnOnce() -> K,
    ) -> Count {
        counted(self.summary.insert(self.hasher.hash_key(key), count, is_equal, to_key))
    }

    /// Estimates how often `key` came: never less, unless saturated, and at most N / capacity more.
    #[must_use]
    pub fn estimate<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Count
    where
        K: Borrow<Q>,
    {
        self.look_up(key, |tracked| tracked.borrow() == key).0
    }

    /// Bounds how often `key` came. Both ends are certain. The upper one is open if the count is saturated.
    #[must_use]
    pub fn estimate_interval<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> CountInterval
    where
        K: Borrow<Q>,
    {
        self.estimate_interval_with(key, |tracked| tracked.borrow() == key)
    }

    /// Bounds how often a key came, in a borrowed form as for [`insert_with`](Self::insert_with). The upper end is the
    /// estimate.
    #[must_use]
    pub fn estimate_interval_with<Q: Hash + ?Sized>(
        &self,
        key: &Q,
        is_equal: impl Fn(&K) -> bool,
    ) -> CountInterval {
        let (estimate, error) = self.look_up(key, is_equal);
        internal::interval_below(estimate, error)
    }

    fn look_up<Q: Hash + ?Sized>(&self, key: &Q, is_equal: impl Fn(&K) -> bool) -> (Count, u64) {
        let slot = self.summary.get(self.hasher.hash_key(key), is_equal);
        let floor = self.summary.floor();
        let (count, error) = slot.map_or((floor, floor), |slot| (slot.count, slot.error));
        (counted(count), error)
    }

    /// Adds what `other` has counted. All guarantees hold for the sum of both streams.
    ///
    /// # Errors
    /// [`Incompatible`] if capacity, phi or hashers differ. `self` is unchanged then.
    ///
    /// # Examples
    /// ```
    /// use heavy_hitters::HeavyHitters;
    ///
    /// let (mut left, mut right) = (HeavyHitters::<u64>::new(0.1)?, HeavyHitters::<u64>::new(0.1)?);
    /// left.insert_many(&7, 30);
    /// right.insert_many(&7, 12);
    /// right.insert_many(&8, 50);
    /// left.merge(&right)?;
    /// assert_eq!(left.top().iter().map(|h| (*h.key, h.estimate.value())).collect::<Vec<_>>(), [(8, 50), (7, 42)]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<(), Incompatible>
    where
        K: Clone + Eq,
    {
        self.check_compatible(other)?;
        self.summary.merge(&other.summary);
        Ok(())
    }

    fn check_compatible(&self, other: &Self) -> Result<(), Incompatible> {
        Incompatible::check_shape("capacity", self.capacity(), other.capacity())?;
        Incompatible::check_share("phi", self.params.phi(), other.params.phi())?;
        Incompatible::check_hasher(&self.hasher, &other.hasher)
    }
}

/// The tracked keys of a [`HeavyHitters`], in the order in which they came in.
pub struct Iter<'a, K>(slice::Iter<'a, Slot<K>>);

impl<'a, K> Iterator for Iter<'a, K> {
    type Item = Hitter<'a, K>;

    fn next(&mut self) -> Option<Hitter<'a, K>> {
        self.0.next().map(|slot| Hitter::new(slot, counted(slot.count), slot.error))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<K> ExactSizeIterator for Iter<'_, K> {}

impl<K> Clone for Iter<'_, K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K: fmt::Debug> fmt::Debug for Iter<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

impl<'a, K, S: KeyHasher> IntoIterator for &'a HeavyHitters<K, S> {
    type Item = Hitter<'a, K>;
    type IntoIter = Iter<'a, K>;

    fn into_iter(self) -> Iter<'a, K> {
        self.iter()
    }
}

/// Returns a count of a summary, which is saturated at 2^64 - 1 only.
fn counted(count: u64) -> Count {
    internal::count(count, u64::MAX)
}

/// Returns the capacity of parameters, which is 2^31 at most.
#[expect(clippy::cast_possible_truncation, reason = "checked in `HeavyHittersParams`")]
pub(crate) const fn capacity_of(params: &HeavyHittersParams) -> u32 {
    params.capacity() as u32
}

impl<K: Clone + Eq, S: KeyHasher> Merge for HeavyHitters<K, S> {
    type Error = Incompatible;

    fn merge(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.merge(other)
    }
}

impl<K: Clone, S: Clone> Clone for HeavyHitters<K, S> {
    fn clone(&self) -> Self {
        Self { summary: self.summary.clone(), params: self.params, hasher: self.hasher.clone() }
    }
}

/// Summaries are equal if their parameters and hashers are, and if they track the same keys with the same counts.
impl<K: Eq, S: KeyHasher> PartialEq for HeavyHitters<K, S> {
    fn eq(&self, other: &Self) -> bool {
        self.check_compatible(other).is_ok() && self.summary.same_counts(&other.summary)
    }
}

impl<K: Eq, S: KeyHasher> Eq for HeavyHitters<K, S> {}

impl<K, S: KeyHasher> fmt::Debug for HeavyHitters<K, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeavyHitters")
            .field("phi", &self.params.phi())
            .field("capacity", &self.capacity())
            .field("tracked", &self.summary.len())
            .field("total", &self.total())
            .finish_non_exhaustive()
    }
}
