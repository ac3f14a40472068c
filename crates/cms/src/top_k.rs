//! The most frequent keys, a fixed number of them.

use alloc::borrow::ToOwned;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt;
use core::hash::{BuildHasher, Hash};

use pds_core::hash::finalize;
use pds_core::{BuildError, DefaultHashBuilder, Incompatible, Merge, ParamError};

use crate::heavy_hitters::sorted;
use crate::summary::Summary;
use crate::{CountInterval, Hitter};

/// How many keys are tracked for each that is asked for.
const TRACKED_FOR_EACH: u64 = 8;

/// The greatest k, so that what is tracked for it can be numbered.
const MAX_K: u64 = pds_params::cms::MAX_TRACKED / TRACKED_FOR_EACH;

/// Finds *the k most frequent keys*, as well as their counts tell them from the others.
///
/// Choose it where a fixed number of keys is wanted, as in a list of the top ten; for all keys above a
/// share of the stream use [`HeavyHitters`](crate::HeavyHitters), which says what it never misses.
///
/// It tracks 8 k keys by SpaceSaving: the more keys are tracked beyond k, the closer are the counts of the
/// first k. It is fed with borrowed keys (`&str` for `String`); an owned key is made when the key enters.
///
/// # Guarantees
/// - An estimate is never below the truth, and at most N / (8 k) above it; each states its own error.
/// - A key that came more often than N / (8 k) is tracked. A key among the first k by its true count is
///   listed whenever no other's estimate is wrongly above it.
/// - Memory: 8 k times (key + 48 bytes).
/// - Insert: O(log k) at worst. Merge: O(k log k), and keeps all of the above.
///
/// # Examples
/// ```
/// use cms::TopK;
///
/// let mut words = TopK::<String>::new(2)?;
/// for word in "to be or not to be that is to".split(' ') {
///     words.insert(word);
/// }
/// let top: Vec<_> = words.top().iter().map(|hit| (hit.key.as_str(), hit.estimate)).collect();
/// assert_eq!(top, [("to", 3), ("be", 2)]);
/// # Ok::<(), pds_core::BuildError>(())
/// ```
///
/// # References
/// Ahmed Metwally, Divyakant Agrawal and Amr El Abbadi, "Efficient Computation of Frequent and Top-k
/// Elements in Data Streams", ICDT 2005, section 4.2.
pub struct TopK<K, S = DefaultHashBuilder> {
    summary: Summary<K>,
    k: u64,
    hasher: S,
}

impl<K> TopK<K> {
    /// Creates an empty list of the `k` most frequent keys.
    ///
    /// # Errors
    /// [`BuildError::Param`] when `k` is 0 or above 2^28; [`BuildError::Alloc`] when the memory is
    /// refused.
    pub fn new(k: u64) -> Result<Self, BuildError> {
        Self::with_hasher(k, DefaultHashBuilder::default())
    }
}

impl<K, S> TopK<K, S> {
    /// Creates an empty list that hashes keys with `hasher`.
    ///
    /// # Errors
    /// As [`new`](TopK::new).
    pub fn with_hasher(k: u64, hasher: S) -> Result<Self, BuildError> {
        Ok(Self { summary: Summary::new(check_k(k)?)?, k, hasher })
    }

    pub(crate) const fn from_parts(summary: Summary<K>, k: u64, hasher: S) -> Self {
        Self { summary, k, hasher }
    }

    /// Lists the k keys of the greatest estimates, the most frequent first; fewer where fewer came.
    ///
    /// # Complexity
    /// O(k log k); allocates the list.
    #[must_use]
    pub fn top(&self) -> Vec<Hitter<'_, K>> {
        let mut hitters = sorted(self.iter());
        hitters.truncate(usize::try_from(self.k).unwrap_or(usize::MAX));
        hitters
    }

    /// Iterates over all tracked keys in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = Hitter<'_, K>> {
        self.summary.iter().map(Hitter::new)
    }

    /// Returns how many keys are listed at most.
    #[must_use]
    pub const fn k(&self) -> u64 {
        self.k
    }

    /// Returns the sum of all counts inserted, 2^64 - 1 where it is more.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.summary.total()
    }

    /// Returns the size of the counters on the heap, in bytes; what keys hold elsewhere is not part of it.
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

    /// Forgets all keys and counts.
    pub fn clear(&mut self) {
        self.summary.clear();
    }
}

impl<K, S: BuildHasher> TopK<K, S> {
    /// Counts one more of `key`. Returns the new estimate.
    pub fn insert<Q>(&mut self, key: &Q) -> u64
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        self.insert_many(key, 1)
    }

    /// Counts `count` more of `key`. Returns the new estimate.
    pub fn insert_many<Q>(&mut self, key: &Q, count: u64) -> u64
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        self.summary.insert(self.hasher.hash_one(key), key, count)
    }

    /// Bounds how often `key` came; both ends are certain.
    #[must_use]
    pub fn estimate_interval<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> CountInterval
    where
        K: Borrow<Q>,
    {
        let least = self.summary.least();
        let found = self.summary.get(finalize(self.hasher.hash_one(key)), key);
        let (estimate, error) = found.unwrap_or((least, least));
        CountInterval {
            truth_at_least: estimate.saturating_sub(error),
            truth_at_most: Some(estimate),
        }
    }

    /// Makes `self` count what both have counted; all guarantees hold for the sum of both streams.
    ///
    /// # Errors
    /// [`Incompatible`] when k or hashers differ; nothing is changed then.
    pub fn merge(&mut self, other: &Self) -> Result<(), Incompatible>
    where
        K: Clone + Eq,
    {
        self.check_compatible(other)?;
        self.summary.merge(&other.summary);
        Ok(())
    }

    fn check_compatible(&self, other: &Self) -> Result<(), Incompatible> {
        Incompatible::check_shape("k", self.k, other.k)?;
        Incompatible::check_hasher(&self.hasher, &other.hasher)
    }
}

/// Returns how many keys are tracked for k.
#[expect(clippy::cast_possible_truncation, reason = "below 2^31 by the check")]
pub(crate) const fn check_k(k: u64) -> Result<u32, ParamError> {
    if k == 0 || k > MAX_K {
        return Err(ParamError::OutOfRange { parameter: "k", value: k, min: 1, max: MAX_K });
    }
    Ok((k * TRACKED_FOR_EACH) as u32)
}

impl<K: Clone + Eq, S: BuildHasher> Merge for TopK<K, S> {
    fn merge(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.merge(other)
    }
}

impl<K: Clone, S: Clone> Clone for TopK<K, S> {
    fn clone(&self) -> Self {
        Self { summary: self.summary.clone(), k: self.k, hasher: self.hasher.clone() }
    }
}

/// Equal are lists of equal k and hashers that track the same keys with the same counts.
impl<K: Eq, S: BuildHasher> PartialEq for TopK<K, S> {
    fn eq(&self, other: &Self) -> bool {
        self.check_compatible(other).is_ok() && self.summary.same_counts(&other.summary)
    }
}

impl<K: Eq, S: BuildHasher> Eq for TopK<K, S> {}

impl<K, S> fmt::Debug for TopK<K, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TopK")
            .field("k", &self.k)
            .field("tracked", &self.summary.len())
            .field("total", &self.total())
            .finish_non_exhaustive()
    }
}
