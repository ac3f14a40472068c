//! The sketch that takes keys.

use alloc::vec::Vec;
use core::fmt;

use pds_core::error::{BuildError, Incompatible};
use pds_core::traits::{Merge, Similarity};
use pds_params::ThetaParams;

use crate::set::sealed::Sealed;
use crate::set::{self, MAX_THETA, ThetaSet};
use crate::table::Table;
use crate::{CompactThetaSketch, ThetaHasher, ThetaKey, ThetaSketchBuilder};

/// Keys that are hashed before their hashes are inserted.
const CHUNK: usize = 256;

/// A sketch of a set: the number of its distinct keys, and by set operations that of unions, intersections and differences.
///
/// It takes keys. Everything that reads is in the trait [`ThetaSet`], which all sketches of this crate implement. For bytes and as
/// the result of operations there is the [`CompactThetaSketch`].
///
/// # Guarantees
/// With the nominal size K:
/// - Up to 15/8 K keys are counted exactly. For more keys the estimate is unbiased, with a relative standard error of at most
///   1 / sqrt(K - 1). With a sampling probability p, n keys have the error sqrt((1 - p) / (p n)) up to K / p keys.
/// - Memory: 512 bytes at first, and up to 32 K bytes.
/// - Insert: O(1) on average, and for nearly all keys of a long stream only a hash and a comparison. Keys that somebody chose by
///   their hashes can make an insert O(K): the hash function is known.
/// - The hash function, the kept hashes and theta are those of DataSketches for the same keys in the same order. Only theta,
///   and with it the number of hashes, depends on the order.
///
/// # Examples
/// ```
/// use theta::{ThetaSet, ThetaSketch};
///
/// let (mut monday, mut tuesday) = (ThetaSketch::new(4_096)?, ThetaSketch::new(4_096)?);
/// monday.extend((0..60_000).map(|visitor| format!("visitor {visitor}")));
/// tuesday.extend((40_000..90_000).map(|visitor| format!("visitor {visitor}")));
///
/// // 20,000 came on both days, 40,000 on Monday only.
/// assert!(monday.intersection(&tuesday)?.estimate_interval(0.999)?.contains(&20_000.0));
/// assert!(monday.difference(&tuesday)?.estimate_interval(0.999)?.contains(&40_000.0));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # References
/// Anirban Dasgupta, Kevin Lang, Lee Rhodes and Justin Thaler, "A Framework for Estimating Stream Expression Cardinalities", ICDT
/// 2016, arXiv:1510.01455.
#[derive(Clone)]
pub struct ThetaSketch {
    table: Table,
    /// Whether no key was inserted. A key whose hash is not below theta leaves no other trace.
    is_empty: bool,
    hasher: ThetaHasher,
}

impl ThetaSketch {
    /// Creates an empty sketch of a nominal size: a power of two from 16 to 2^26. 4,096 is usual, with an error of 1.6 %.
    ///
    /// # Errors
    /// [`BuildError::Param`] if the size is not allowed.
    pub fn new(nominal_size: u32) -> Result<Self, BuildError> {
        Self::builder().nominal_size(nominal_size).build()
    }

    /// Starts a builder: for an error instead of the nominal size, a seed, or a sampling probability.
    pub const fn builder() -> ThetaSketchBuilder {
        ThetaSketchBuilder::new()
    }

    /// Creates an empty sketch.
    #[must_use]
    pub fn from_params(params: ThetaParams, hasher: ThetaHasher) -> Self {
        Self { table: Table::new(params, first_theta(params)), is_empty: true, hasher }
    }

    /// Creates a sketch that contains `set` and takes more keys. A compact sketch is continued in this way.
    ///
    /// If `set` has more hashes than the nominal size allows, theta is lowered. `set` determines the seed.
    ///
    /// # Complexity
    /// O(hashes), for any hashes.
    ///
    /// # Examples
    /// ```
    /// use theta::{CompactThetaSketch, ThetaParams, ThetaSet, ThetaSketch};
    ///
    /// let mut sketch = ThetaSketch::new(1_024)?;
    /// sketch.extend(0..500_i64);
    /// let stored = sketch.to_bytes();
    ///
    /// let compact = CompactThetaSketch::from_bytes(&stored)?;
    /// let mut continued = ThetaSketch::resume(&compact, ThetaParams::new(1_024)?);
    /// continued.extend(400..600_i64);
    /// assert_eq!(continued.estimate(), 600.0);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn resume(set: &impl ThetaSet, params: ThetaParams) -> Self {
        let mut sketch = Self::from_params(params, set.hasher());
        sketch.add(set);
        sketch
    }

    /// Returns the parameters.
    #[must_use]
    pub const fn params(&self) -> ThetaParams {
        self.table.params()
    }

    /// Inserts a key. Returns `true` if its hash is kept: it is below theta, and was not there.
    ///
    /// # Complexity
    /// O(1) on average. It allocates while the table grows, and whenever theta is lowered. It aborts like a `Vec` if the allocator
    /// refuses the memory.
    #[inline]
    pub fn insert<K: ThetaKey + ?Sized>(&mut self, key: &K) -> bool {
        let Some(hash) = self.hasher.hash(key) else { return false };
        self.is_empty = false;
        self.table.insert(hash)
    }

    /// Merges the keys of `other`, with any nominal size. The sketch keeps its own.
    ///
    /// # Errors
    /// [`Incompatible`] if the seeds differ. Nothing is changed then.
    ///
    /// # Complexity
    /// O(hashes of both), for any hashes.
    pub fn merge(&mut self, other: &impl ThetaSet) -> Result<(), Incompatible> {
        set::check_seeds(self, other)?;
        self.add(other);
        Ok(())
    }

    fn add(&mut self, other: &impl ThetaSet) {
        if other.is_empty() {
            return;
        }
        self.is_empty = false;
        let theta = self.table.theta().min(other.theta64());
        let (own, others) = (self.table.sorted(), other.ascending().collect::<Vec<_>>());
        let mut hashes = Vec::new();
        set::union(&own, &others, theta, own.len() + others.len(), &mut hashes);
        self.table.replace(&hashes, theta);
    }

    /// Lowers theta until the nominal size is left, if more hashes are kept. The error is that of the nominal size then.
    pub fn trim(&mut self) {
        self.table.trim();
    }

    /// Removes all keys. The parameters and the seed stay.
    pub fn clear(&mut self) {
        *self = Self::from_params(self.params(), self.hasher);
    }

    /// Returns the memory of the hash table in bytes.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.table.size_in_bytes() as u64
    }
}

/// The first theta is the sampling probability.
#[expect(clippy::cast_possible_truncation, reason = "below 2^63")]
#[expect(clippy::cast_sign_loss, reason = "above 0")]
fn first_theta(params: ThetaParams) -> u64 {
    if params.sampling() < 1.0 {
        (f64::from(params.sampling()) * MAX_THETA as f64) as u64
    } else {
        MAX_THETA
    }
}

impl Sealed for ThetaSketch {}

impl ThetaSet for ThetaSketch {
    fn hasher(&self) -> ThetaHasher {
        self.hasher
    }

    fn theta64(&self) -> u64 {
        // An empty sketch is exact, whatever its sampling probability is.
        if self.is_empty { MAX_THETA } else { self.table.theta() }
    }

    fn is_empty(&self) -> bool {
        self.is_empty
    }

    fn num_retained(&self) -> usize {
        self.table.len()
    }

    fn ascending(&self) -> impl Iterator<Item = u64> {
        self.table.sorted().into_iter()
    }
}

impl Merge for ThetaSketch {
    type Error = Incompatible;

    fn merge(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.merge(other)
    }
}

impl Similarity for ThetaSketch {
    type Error = Incompatible;

    fn jaccard(&self, other: &Self) -> Result<f64, Incompatible> {
        Ok(self.compare(other)?.jaccard().value)
    }
}

/// Inserts keys, or references to keys. It is faster than to insert them one by one.
// A branch that depends on a hash is often mispredicted, and then the next hash has to wait for it. So many keys are hashed before
// the table is asked.
impl<K: ThetaKey> Extend<K> for ThetaSketch {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        let mut keys = keys.into_iter();
        let mut hashes = [0; CHUNK];
        loop {
            let (mut taken, mut below, mut is_empty) = (0, 0, self.is_empty);
            let theta = self.table.theta();
            // The code of the caller runs here. If it panics, the sketch is as it was before the chunk.
            for key in keys.by_ref().take(CHUNK) {
                taken += 1;
                let Some(hash) = self.hasher.hash(&key) else { continue };
                is_empty = false;
                hashes[below % CHUNK] = hash;
                below += usize::from(hash < theta);
            }
            self.is_empty = is_empty;
            self.table.insert_all(&hashes[..below]);
            if taken < CHUNK {
                return;
            }
        }
    }
}

/// Sketches are equal if parameters, seed, theta and hashes are equal.
impl PartialEq for ThetaSketch {
    fn eq(&self, other: &Self) -> bool {
        self.params() == other.params() && self.to_compact() == other.to_compact()
    }
}

impl fmt::Debug for ThetaSketch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThetaSketch")
            .field("params", &self.params())
            .field("theta", &self.theta())
            .field("num_retained", &self.num_retained())
            .finish_non_exhaustive()
    }
}

impl From<&ThetaSketch> for CompactThetaSketch {
    fn from(sketch: &ThetaSketch) -> Self {
        sketch.to_compact()
    }
}
