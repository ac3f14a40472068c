//! HyperLogLog: sparse while the set is small, dense after.

mod estimates;
mod form;
mod sets;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::convert::Infallible;
use core::fmt;
use core::hash::{Hash, Hasher};

use pds_core::internal::insert_keys;
use pds_core::{
    Cardinality, DefaultHashBuilder, Incompatible, Insert, KeyHasher, Merge, ParamError,
};
use pds_params::HllParams;
use pds_params::hll::MIN_PRECISION;

pub(crate) use estimates::{dense_interval, estimate_sparse, sparse_interval, with_error};

pub(crate) use form::Form;

use crate::batch::CHUNK;
use crate::builder::HyperLogLogBuilder;
use crate::coupon::Coupon;
use crate::dense::Dense;
use crate::sparse::SparseTable;

/// Answers *how many different keys?* from a few kilobytes, with an error that was chosen.
///
/// Choose it where sets are merged, sent and compared, or where many of them are small: up to m / 8 keys
/// it keeps 32 bits of each hash and is near exact, at a few bytes a key. Choose
/// [`UltraLogLog`](crate::UltraLogLog) for many large sets: at equal error of `estimate` it takes 24.4 % less memory than
/// HyperLogLog with six bits per register, and 43.3 % less than with one byte per register, as here in memory.
///
/// The type of a key is part of it: `1u32` and `1u64` are different keys.
///
/// # Guarantees
/// With m = 2^p registers at precision p, and n distinct keys:
/// - Error: [`HllParams::standard_error`], relative and one standard deviation, at any n: 1.04 / sqrt(m), and more by a share of
///   1.11 / m. At the switch to the dense form 0.72 / sqrt(m), at m / 2 keys 0.75 / sqrt(m); below, in the sparse form, under
///   0.01 %. Of estimates by the [martingale](Self::martingale_estimate): 0.833 / sqrt(m), and more by a share of 0.56 / m.
/// - Intervals: [`estimate_interval`](Self::estimate_interval) holds the true number as often as it says, at any n and precision.
/// - Memory: 32 bytes, and 4 to 7 bytes a key while sparse, then m bytes.
/// - Insert: O(1); merge and estimate: O(m).
/// - The state is a function of the set of keys: no order, repetition or way of merging changes it.
/// - Merging: exact; requires equal hashers and seeds. The result has the lowest precision of the sketches that are not
///   empty, as if all keys had been inserted there. An empty sketch changes nothing.
///
/// # Examples
/// ```
/// use hll::HyperLogLog;
///
/// let mut monday = HyperLogLog::new(14)?;
/// let mut tuesday = HyperLogLog::new(14)?;
/// monday.extend(0..100_000u32);
/// tuesday.extend(50_000..150_000u32);
/// assert!((monday.estimate() / 1e5 - 1.0).abs() < 0.03);
///
/// monday.merge(&tuesday)?;
/// assert!((monday.estimate() / 1.5e5 - 1.0).abs() < 0.03);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # References
/// Philippe Flajolet, Éric Fusy, Olivier Gandouet and Frédéric Meunier, "HyperLogLog: the analysis of a
/// near-optimal cardinality estimation algorithm", AofA 2007; Stefan Heule, Marc Nunkesser and Alexander
/// Hall, "HyperLogLog in Practice", EDBT 2013, section 5.3 (the sparse form).
#[derive(Clone)]
pub struct HyperLogLog<S = DefaultHashBuilder> {
    form: Form,
    hasher: S,
}

impl HyperLogLog {
    /// Creates a sketch of 2^`precision` registers, an error of about 1.04 / sqrt(2^`precision`).
    ///
    /// 14 is a good choice: 0.81 %, and 16 KiB once there are more than 2,048 keys. Allocates nothing.
    ///
    /// # Errors
    /// [`ParamError`] when `precision` is not from 4 to 18.
    pub fn new(precision: u32) -> Result<Self, ParamError> {
        HllParams::new(precision)
            .map(|params| Self::from_params(params, DefaultHashBuilder::default()))
    }

    /// Starts a builder, for an error or a memory size instead of the precision, a seed, or another hasher.
    pub const fn builder() -> HyperLogLogBuilder {
        HyperLogLogBuilder::new()
    }
}

impl<S> HyperLogLog<S> {
    /// Creates an empty sketch. Allocates nothing.
    pub fn from_params(params: HllParams, hasher: S) -> Self
    where
        S: KeyHasher,
    {
        Self::from_parts(Form::Sparse(SparseTable::new(params)), hasher)
    }

    pub(crate) const fn from_parts(form: Form, hasher: S) -> Self {
        Self { form, hasher }
    }

    /// Creates a dense sketch of registers that did not come about by inserts alone.
    pub(crate) fn from_registers(registers: Vec<u8>, params: HllParams, hasher: S) -> Self {
        Self::from_parts(Form::Dense(Box::new(Dense::new(registers, params))), hasher)
    }

    #[cfg(target_has_atomic = "8")]
    pub(crate) fn into_parts(self) -> (Form, S) {
        (self.form, self.hasher)
    }

    pub(crate) const fn form(&self) -> &Form {
        &self.form
    }

    /// Inserts a key by its hash. Returns `true` when the state changed.
    /// The hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
    ///
    /// Keys of equal hashes are one key to the sketch.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        match &mut self.form {
            Form::Dense(dense) => dense.insert_hash(hash),
            sparse @ Form::Sparse(_) => sparse.insert_coupon(Coupon::of_hash(hash)),
        }
    }

    /// Inserts many hashes. Returns how many of them changed the state, one after the other.
    /// Each hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
    ///
    /// Faster than one by one once the sketch is dense.
    pub fn insert_hash_batch(&mut self, hashes: &[u64]) -> usize {
        self.form.insert_batch(hashes)
    }

    /// Switches to the dense form, m bytes, whatever the number of keys.
    ///
    /// A sketch that was told so stays dense, and its bytes say so; it equals another of the same keys when
    /// that is dense too. An estimate of few keys becomes less exact.
    pub fn make_dense(&mut self) {
        self.form.make_dense();
    }

    /// Returns whether the sketch has one byte a register, rather than some bytes a key.
    #[must_use]
    pub const fn is_dense(&self) -> bool {
        matches!(self.form, Form::Dense(_))
    }

    /// Forgets all keys, and gives their memory back.
    pub fn clear(&mut self) {
        self.form = Form::Sparse(SparseTable::new(self.params()));
    }

    /// Returns whether no key was inserted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.form.is_empty()
    }

    /// Lowers the precision; the sketch is then as if built there.
    ///
    /// # Errors
    /// [`ParamError`] when `precision` is not from 4 to the present one; nothing is changed then.
    ///
    /// # Examples
    /// ```
    /// use hll::HyperLogLog;
    ///
    /// let mut fine = HyperLogLog::new(16)?;
    /// let mut coarse = HyperLogLog::new(10)?;
    /// fine.extend(0..50_000u32);
    /// coarse.extend(0..50_000u32);
    /// fine.reduce_precision(10)?;
    /// assert_eq!(fine, coarse);
    /// # Ok::<(), pds_core::ParamError>(())
    /// ```
    pub fn reduce_precision(&mut self, precision: u32) -> Result<(), ParamError> {
        self.form.fold_to(reduced(self.params(), precision)?);
        Ok(())
    }

    /// Returns the precision p, the binary logarithm of the number of registers.
    #[must_use]
    pub fn precision(&self) -> u32 {
        self.params().precision()
    }

    /// Returns the parameters.
    #[must_use]
    pub fn params(&self) -> HllParams {
        self.form.params()
    }

    /// Returns the size of the state on the heap, in bytes.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        match &self.form {
            Form::Sparse(table) => table.size_in_bytes() as u64,
            Form::Dense(dense) => dense.registers().len() as u64,
        }
    }

    /// Returns the hasher.
    #[must_use]
    pub const fn hasher(&self) -> &S {
        &self.hasher
    }
}

impl<S: KeyHasher> HyperLogLog<S> {
    /// Inserts `key`. Returns `true` when the state changed: the key was not inserted before.
    ///
    /// `false` says that the key was inserted before, or that others have hidden it. The order of inserts
    /// makes no difference to the state.
    ///
    /// # Complexity
    /// O(1). While sparse it allocates now and then, and aborts like a `Vec` when memory is refused.
    #[inline]
    pub fn insert<K: Hash + ?Sized>(&mut self, key: &K) -> bool {
        self.insert_hash(self.hasher.hash_key(key))
    }

    /// Inserts many keys. Returns how many of them changed the state, one after the other.
    pub fn insert_batch<K: Hash>(&mut self, keys: &[K]) -> usize {
        insert_keys::<CHUNK, K>(&self.hasher, keys, |hashes| self.form.insert_batch(hashes))
    }

    /// Makes `self` the sketch of the keys of both, at the lower precision of the two.
    ///
    /// An empty sketch of any precision changes nothing: if only one of both is empty, the result equals the other one. Of two empty
    /// sketches the result is empty and has the lower precision. The result is dense if one of both was told to be
    /// ([`make_dense`](Self::make_dense)), even an empty one.
    ///
    /// # Errors
    /// [`Incompatible`] when the hashers differ; nothing is changed then.
    ///
    /// # Complexity
    /// O(m) where one is dense, O(keys) otherwise.
    pub fn merge(&mut self, other: &Self) -> Result<(), Incompatible> {
        Incompatible::check_hasher(&self.hasher, &other.hasher)?;
        self.form.merge(&other.form);
        Ok(())
    }
}

/// The parameters of a precision that is not greater than the present one.
pub(crate) fn reduced(present: HllParams, precision: u32) -> Result<HllParams, ParamError> {
    if precision > present.precision() {
        return Err(ParamError::OutOfRange {
            parameter: "precision",
            value: precision.into(),
            min: MIN_PRECISION.into(),
            max: present.precision().into(),
        });
    }
    HllParams::new(precision)
}

impl<S: KeyHasher> KeyHasher for HyperLogLog<S> {
    #[inline]
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.hasher.hash_key(key)
    }

    #[inline]
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        self.hasher.hash_key_dyn(feed)
    }
}

impl<S: KeyHasher> Insert for HyperLogLog<S> {
    type Error = Infallible;

    #[inline]
    fn insert_hash(&mut self, hash: u64) -> Result<bool, Infallible> {
        Ok(self.insert_hash(hash))
    }
}

impl<S: KeyHasher> Cardinality for HyperLogLog<S> {
    fn estimate(&self) -> f64 {
        self.estimate()
    }
}

impl<S: KeyHasher> Merge for HyperLogLog<S> {
    type Error = Incompatible;

    fn merge(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.merge(other)
    }
}

/// Takes keys and references to keys: both hash alike.
impl<K: Hash, S: KeyHasher> Extend<K> for HyperLogLog<S> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        keys.into_iter().for_each(|key| {
            self.insert(&key);
        });
    }
}

/// Sketches are equal when precision, hasher, form and state are; the martingale takes no part.
impl<S: KeyHasher> PartialEq for HyperLogLog<S> {
    fn eq(&self, other: &Self) -> bool {
        self.params() == other.params()
            && Incompatible::check_hasher(&self.hasher, &other.hasher).is_ok()
            && self.form == other.form
    }
}

impl<S: KeyHasher> Eq for HyperLogLog<S> {}

impl<S> fmt::Debug for HyperLogLog<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HyperLogLog")
            .field("precision", &self.precision())
            .field("is_dense", &self.is_dense())
            .field("estimate", &self.estimate())
            .finish_non_exhaustive()
    }
}
