//! Frequent keys by a sketch and a list of candidates.

use alloc::borrow::ToOwned;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt;
use core::hash::Hash;

use cms::internal::{count_of, error_of};
use cms::{Count, CountMinSketch};
use pds_core::error::{BuildError, Incompatible, ParamError};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::traits::Merge;
use pds_params::HeavyHittersParams;
use pds_params::cms::floor_product;

use crate::heavy_hitters::{capacity_of, sorted};
use crate::summary::Summary;
use crate::{Hitter, SketchedHeavyHittersBuilder};

/// Finds the keys above a share of the stream by a [`CountMinSketch`] and a list of candidates.
///
/// A key becomes a candidate if its estimate exceeds phi N when it comes. It is no longer listed when phi N exceeds its
/// estimate. Use it in place of [`HeavyHitters`](crate::HeavyHitters) if estimates of any key are needed too, or if owned
/// keys are expensive: only candidates become owned.
///
/// # Guarantees
/// - A key that came more than phi N times is a candidate, if there were never more than `2 / phi` candidates and no counter
///   is saturated. Counters have 64 bits.
/// - *Not* promised: at most `1 / phi` keys truly exceed phi N, but each other key may be overestimated with probability
///   delta. If there are more than `2 / phi` candidates, the least are evicted, possibly a true one. Lower bounds of counts
///   are not certain.
/// - A key that came less than (phi - epsilon) N times is listed with probability delta at most.
/// - Memory: the sketch, and `3 / phi` keys.
///
/// # Examples
/// ```
/// use heavy_hitters::SketchedHeavyHitters;
///
/// let mut paths = SketchedHeavyHitters::<String>::new(0.25, 0.01, 0.01)?;
/// for path in ["/", "/a", "/", "/b", "/", "/c", "/", "/d"] {
///     paths.insert(path);
/// }
/// assert_eq!(paths.top().len(), 1);
/// assert_eq!(paths.top()[0].key, "/");
/// assert_eq!(paths.sketch().estimate("/d"), 1);
/// # Ok::<(), pds_core::error::BuildError>(())
/// ```
///
/// # References
/// Graham Cormode and S. Muthukrishnan, "An Improved Data Stream Summary: The Count-Min Sketch and its
/// Applications", Journal of Algorithms 55(1), 2005, section 5.2.
pub struct SketchedHeavyHitters<K, S = DefaultHashBuilder> {
    sketch: CountMinSketch<S, u64>,
    candidates: Summary<K>,
    phi: f64,
}

impl<K> SketchedHeavyHitters<K> {
    /// Creates a detector for keys above `phi` times the total, with a sketch of `epsilon` and `delta`.
    ///
    /// # Errors
    /// [`BuildError::Param`] if a value is not above 0 and below 1, or asks for too much. [`BuildError::Alloc`] if the
    /// allocator refuses the memory.
    pub fn new(phi: f64, epsilon: f64, delta: f64) -> Result<Self, BuildError> {
        Self::builder().phi(phi).error(epsilon, delta).build()
    }

    /// Starts a builder: for other shapes of the sketch, a seed, or another hasher.
    pub const fn builder() -> SketchedHeavyHittersBuilder<K> {
        SketchedHeavyHittersBuilder::new()
    }
}

impl<K, S: KeyHasher> SketchedHeavyHitters<K, S> {
    pub(crate) const fn from_parts(
        sketch: CountMinSketch<S, u64>,
        candidates: Summary<K>,
        phi: f64,
    ) -> Self {
        Self { sketch, candidates, phi }
    }

    pub(crate) const fn candidates(&self) -> &Summary<K> {
        &self.candidates
    }

    /// Returns the share of the total above which a key is listed.
    #[must_use]
    pub const fn phi(&self) -> f64 {
        self.phi
    }

    /// Returns the hasher.
    #[must_use]
    pub const fn hasher(&self) -> &S {
        self.sketch.hasher()
    }

    /// Lists the candidates, the greatest estimate first. The error of each is that of the sketch: epsilon N.
    ///
    /// # Complexity
    /// O(1 / phi · log(1 / phi)); allocates the list.
    #[must_use]
    pub fn top(&self) -> Vec<Hitter<'_, K>> {
        let error = error_of(&self.sketch.params(), self.sketch.total());
        let threshold = self.threshold();
        let above = self.candidates.iter().filter(|slot| slot.count > threshold);
        sorted(above.map(|slot| Hitter::new(slot, count_of(&self.sketch, slot.count), error)))
    }

    /// Returns the count above which a key is listed: phi N, rounded down. If the total is saturated, it is phi times
    /// 2^64 - 1.
    #[must_use]
    pub fn threshold(&self) -> u64 {
        floor_product(self.phi, self.sketch.total())
    }

    /// Returns the sketch, which estimates any key.
    #[must_use]
    pub const fn sketch(&self) -> &CountMinSketch<S, u64> {
        &self.sketch
    }

    /// Returns the size of sketch and candidates on the heap in bytes. It does not include the heap memory of the keys.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.sketch.size_in_bytes() + self.candidates.size_in_bytes()
    }

    /// Forgets all keys and counts.
    pub fn clear(&mut self) {
        self.sketch.clear();
        self.candidates.clear();
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
    pub fn insert_with<Q: Hash + ?Sized>(
        &mut self,
        key: &Q,
        count: u64,
        is_equal: impl Fn(&K) -> bool,
        to_key: impl FnOnce() -> K,
    ) -> Count {
        let hash = self.sketch.hasher().hash_key(key);
        let estimate = self.sketch.insert_many_hash(hash, count);
        if count > 0 && estimate.value() > self.threshold() {
            self.candidates.track(hash, estimate.value(), is_equal, to_key);
        }
        estimate
    }

    /// Adds what `other` has counted. The candidates of both stay whose merged estimates exceed phi N.
    ///
    /// A key above phi N of both streams together is above it in one of them, and so is a candidate there.
    ///
    /// # Errors
    /// [`Incompatible`] if phi, the shapes of the sketches or the hashers differ. `self` is unchanged then.
    ///
    /// # Examples
    /// ```
    /// use heavy_hitters::SketchedHeavyHitters;
    ///
    /// let mut left = SketchedHeavyHitters::<u64>::new(0.3, 0.01, 0.01)?;
    /// let mut right = SketchedHeavyHitters::<u64>::new(0.3, 0.01, 0.01)?;
    /// left.insert_many(&7, 30);
    /// right.insert_many(&7, 12);
    /// right.insert_many(&8, 50);
    /// left.merge(&right)?;
    /// assert_eq!(left.top().iter().map(|h| (*h.key, h.estimate.value())).collect::<Vec<_>>(), [(8, 50), (7, 42)]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<(), Incompatible>
    where
        K: Hash + Clone + Eq,
    {
        Incompatible::check_share("phi", self.phi, other.phi)?;
        self.candidates.list_both(&other.candidates, &mut self.sketch, &other.sketch)
    }
}

/// Returns how many candidates are kept for a share.
pub(crate) fn candidates_for(phi: f64) -> Result<u32, ParamError> {
    Ok(capacity_of(&HeavyHittersParams::with_error(phi, phi / 2.0)?))
}

impl<K: Hash + Clone + Eq, S: KeyHasher> Merge for SketchedHeavyHitters<K, S> {
    type Error = Incompatible;

    fn merge(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.merge(other)
    }
}

impl<K: Clone, S: KeyHasher + Clone> Clone for SketchedHeavyHitters<K, S> {
    fn clone(&self) -> Self {
        let Self { sketch, candidates, phi } = self;
        Self { sketch: sketch.clone(), candidates: candidates.clone(), phi: *phi }
    }
}

/// Detectors are equal if phi, shapes, hashers and counts are.
impl<K: Eq, S: KeyHasher> PartialEq for SketchedHeavyHitters<K, S> {
    fn eq(&self, other: &Self) -> bool {
        self.phi == other.phi
            && self.sketch == other.sketch
            && self.candidates.same_counts(&other.candidates)
    }
}

impl<K: Eq, S: KeyHasher> Eq for SketchedHeavyHitters<K, S> {}

impl<K, S: KeyHasher> fmt::Debug for SketchedHeavyHitters<K, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SketchedHeavyHitters")
            .field("phi", &self.phi)
            .field("candidates", &self.candidates.len())
            .field("sketch", &self.sketch)
            .finish_non_exhaustive()
    }
}
