//! HyperLogLog: construction, and the methods that change it. It is sparse while the set is small, then dense.

mod form;
mod reading;
mod sets;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::convert::Infallible;
use core::hash::Hash;

use pds_core::error::{Incompatible, ParamError};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::traits::{Insert, Merge};
use pds_params::HllParams;
use pds_params::hll::MIN_PRECISION;
use pds_params::internal::ParamFault;

pub(crate) use form::Form;
pub use form::Registers;

use crate::builder::{DEFAULT_PRECISION, HyperLogLogBuilder};
use crate::coupon::Coupon;
use crate::dense::Dense;
use crate::sparse::SparseTable;

/// A sketch that counts distinct keys in a few kilobytes, with a chosen standard error.
///
/// Use it if sets are merged, sent and compared, or if many of them are small. Up to m / 8 keys it keeps 32 bits of
/// each hash and is nearly exact, at a few bytes per key. Use [`UltraLogLog`](crate::UltraLogLog) for many large sets.
/// At equal error of `estimate` it takes 24.4 % less memory than HyperLogLog with six bits per register. Here
/// HyperLogLog has one byte per register in memory, and UltraLogLog takes 43.3 % less.
///
/// The type of a key is part of the key: `1u32` and `1u64` are different keys.
///
/// # Storage
/// `S` is the hasher. `W` is the [storage](crate::storage), which decides which methods a sketch has:
///
/// | type | registers | methods |
/// |---|---|---|
/// | `HyperLogLog` | in memory of its own | all |
/// | [`AtomicHyperLogLog`](crate::AtomicHyperLogLog) | in memory of its own that threads share | those that read or copy; inserts, `clear` and merges with `&self` |
/// | [`HyperLogLogView<B>`](crate::HyperLogLogView) | in portable bytes of the type `B` | those that read |
///
/// # Guarantees
/// With m = 2^p registers at precision p, and n distinct keys:
/// - Error: [`HllParams::standard_error`], relative and one standard deviation, at any n. It is
///   1.04 / sqrt(m) · (1 + 1.11 / m). At the switch to the dense form it is 0.72 / sqrt(m), at m / 2 keys 0.75 / sqrt(m). Below, in the
///   sparse form, it is under 0.01 %. The error of the [martingale](Self::martingale_estimate) is
///   0.833 / sqrt(m) · (1 + 0.57 / m).
/// - Intervals: [`estimate_interval`](Self::estimate_interval) holds the true number as often as it says, at any n and precision.
/// - Memory: 32 bytes, and 4 to 7 bytes per key while sparse, then m bytes.
/// - Insert: O(1). Merge and estimate: O(m).
/// - The state is a function of the set of keys. Order, repetition and the way of merging do not change it.
/// - Merging: exact. Hashers and seeds must be equal. The result has the lowest precision of the sketches that are not
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
pub struct HyperLogLog<S = DefaultHashBuilder, W = Registers> {
    pub(crate) registers: W,
    pub(crate) hasher: S,
}

// Functions that are called by path (`HyperLogLog::new`) exist for one storage only: the compiler could not tell two of the
// same name apart (E0034).
impl HyperLogLog {
    /// Creates a sketch of 2^`precision` registers, with an error of about 1.04 / sqrt(2^`precision`).
    ///
    /// 14 is a good choice: 0.81 %, and 16 KiB from 2,049 keys up. Allocates nothing.
    ///
    /// # Errors
    /// [`ParamError`] if `precision` is not from 4 to 18.
    pub fn new(precision: u32) -> Result<Self, ParamError> {
        Self::builder().precision(precision).build()
    }

    /// Starts a builder: for an error or a memory size instead of the precision, a seed, or another hasher.
    pub const fn builder() -> HyperLogLogBuilder {
        HyperLogLogBuilder::new()
    }
}

impl<S: KeyHasher> HyperLogLog<S> {
    /// Creates an empty sketch. Allocates nothing.
    pub fn from_params(params: HllParams, hasher: S) -> Self
    where
        S: KeyHasher,
    {
        Self { registers: Form::Sparse(SparseTable::new(params)).into(), hasher }
    }

    /// Creates a dense sketch of registers that did not come from inserts alone.
    pub(crate) fn from_registers(registers: Vec<u8>, params: HllParams, hasher: S) -> Self {
        let form = Form::Dense(Box::new(Dense::new(registers, params)));
        Self { registers: form.into(), hasher }
    }

    pub(crate) const fn form(&self) -> &Form {
        &self.registers.form
    }

    pub(crate) const fn form_mut(&mut self) -> &mut Form {
        &mut self.registers.form
    }

    /// Inserts a key by its hash. Returns `true` if the state changed. For the hash see [`KeyHasher`].
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        match self.form_mut() {
            Form::Dense(dense) => dense.insert_hash(hash),
            sparse @ Form::Sparse(_) => sparse.insert_coupon(Coupon::of_hash(hash)),
        }
    }

    /// Inserts many hashes. Returns how many of them changed the state, one after the other.
    ///
    /// This is faster than single inserts once the sketch is dense. For the hashes see [`KeyHasher`].
    pub fn insert_hash_batch(&mut self, hashes: &[u64]) -> usize {
        self.form_mut().insert_batch(hashes, |&hash| hash)
    }

    /// Switches to the dense form of m bytes, whatever the number of keys.
    ///
    /// The sketch then stays dense, and its bytes say so. It equals another sketch of the same keys if that one is
    /// dense too. The estimate of a few keys becomes less exact.
    pub fn make_dense(&mut self) {
        self.form_mut().make_dense();
    }

    /// Removes all keys, and releases their memory.
    pub fn clear(&mut self) {
        *self.form_mut() = Form::Sparse(SparseTable::new(self.params()));
    }

    /// Lowers the precision. The sketch is then as if all keys had been inserted at that precision.
    ///
    /// # Errors
    /// [`ParamError`] if `precision` is not from 4 to the current one. The sketch is unchanged then.
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
    /// # Ok::<(), pds_core::error::ParamError>(())
    /// ```
    pub fn reduce_precision(&mut self, precision: u32) -> Result<(), ParamError> {
        let params = reduced(self.params(), precision)?;
        self.form_mut().fold_to(params);
        Ok(())
    }

    /// Returns the martingale (HIP) estimate. Its error is about 0.833 / sqrt(m) instead of 1.04, and it takes constant
    /// time.
    ///
    /// `None` if a dense state came from something other than inserts: a merge, or reading from bytes. While sparse it
    /// is [`estimate`](Self::estimate), whose error is smaller than either.
    ///
    /// It depends on the order of inserts. Therefore it is neither compared nor written: equal sets have equal bytes.
    /// If a reader of the bytes needs it, send this number beside them.
    ///
    /// # Examples
    /// ```
    /// use hll::HyperLogLog;
    ///
    /// let mut seen = HyperLogLog::new(12)?;
    /// seen.extend(0..100_000u32);
    /// assert!((seen.martingale_estimate().unwrap() / 1e5 - 1.0).abs() < 0.05);
    ///
    /// let mut others = HyperLogLog::new(12)?;
    /// others.insert("another");
    /// seen.merge(&others)?;
    /// assert_eq!(seen.martingale_estimate(), None);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn martingale_estimate(&self) -> Option<f64> {
        match self.form() {
            Form::Sparse(_) => Some(self.estimate()),
            Form::Dense(dense) => dense.martingale_estimate(),
        }
    }

    /// Inserts `key`. Returns `true` if the state changed: the key was not inserted before.
    ///
    /// `false` means that the key was inserted before, or that the keys before it hide it. The order of inserts makes
    /// no difference to the state.
    ///
    /// # Complexity
    /// O(1). While sparse it sometimes allocates, and aborts like a `Vec` if the allocator refuses the memory.
    #[inline]
    pub fn insert<K: Hash + ?Sized>(&mut self, key: &K) -> bool {
        self.insert_hash(self.hasher.hash_key(key))
    }

    /// Inserts many keys. Returns how many of them changed the state, one after the other.
    pub fn insert_batch<K: Hash>(&mut self, keys: &[K]) -> usize {
        self.registers.form.insert_batch(keys, |key| self.hasher.hash_key(key))
    }

    /// Inserts all that `other` contains. The result has the lower precision of the two.
    ///
    /// An empty sketch of any precision changes nothing: if one of the two is empty, the result equals the other one.
    /// Two empty sketches give an empty one of the lower precision. The result is dense if one of the two was made so
    /// ([`make_dense`](Self::make_dense)), even an empty one.
    ///
    /// # Errors
    /// [`Incompatible`] if the hashers differ. `self` is unchanged then.
    ///
    /// # Complexity
    /// O(m) if one is dense, O(keys) otherwise.
    pub fn merge(&mut self, other: &Self) -> Result<(), Incompatible> {
        Incompatible::check_hasher(&self.hasher, &other.hasher)?;
        self.form_mut().merge(other.form());
        Ok(())
    }

    /// Merges all `others` into `self`, as [`merge`](Self::merge) does one after the other.
    ///
    /// # Errors
    /// [`Incompatible`] if a hasher differs. `self` is unchanged then.
    ///
    /// # Examples
    /// ```
    /// use hll::HyperLogLog;
    ///
    /// let hours: Vec<HyperLogLog> = (0..24u32).map(|hour| (hour..hour + 5).collect()).collect();
    /// let mut day = HyperLogLog::default();
    /// day.merge_all(&hours)?;
    /// assert_eq!(day.estimate().round(), 28.0);
    /// # Ok::<(), hll::error::Incompatible>(())
    /// ```
    pub fn merge_all<'a, I>(&mut self, others: I) -> Result<(), Incompatible>
    where
        I: IntoIterator<Item = &'a Self, IntoIter: Clone>,
        S: 'a,
    {
        let others = others.into_iter();
        let check = |other: &Self| Incompatible::check_hasher(&self.hasher, &other.hasher);
        others.clone().try_for_each(check)?;
        others.for_each(|other| self.form_mut().merge(other.form()));
        Ok(())
    }
}

/// Returns the parameters of a precision that is not greater than the present one.
pub(crate) fn reduced(present: HllParams, precision: u32) -> Result<HllParams, ParamError> {
    if precision > present.precision() {
        return Err(ParamError(ParamFault::OutOfRange {
            parameter: "precision",
            value: precision.into(),
            min: MIN_PRECISION.into(),
            max: present.precision().into(),
        }));
    }
    HllParams::new(precision)
}

impl<S: KeyHasher> Insert for HyperLogLog<S> {
    type Error = Infallible;

    #[inline]
    fn insert_hash(&mut self, hash: u64) -> Result<bool, Infallible> {
        Ok(self.insert_hash(hash))
    }
}

impl<S: KeyHasher> Merge for HyperLogLog<S> {
    type Error = Incompatible;

    fn merge(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.merge(other)
    }
}

/// Inserts keys, or references to keys: both have the same hash.
impl<K: Hash, S: KeyHasher> Extend<K> for HyperLogLog<S> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        keys.into_iter().for_each(|key| _ = self.insert(&key));
    }
}

/// Returns the default sketch with these keys.
impl<K: Hash, S: KeyHasher + Default> FromIterator<K> for HyperLogLog<S> {
    fn from_iter<I: IntoIterator<Item = K>>(keys: I) -> Self {
        let mut sketch = Self::default();
        sketch.extend(keys);
        sketch
    }
}

/// Returns an empty sketch of precision 14: an error of 0.81 %, and 16 KiB from 2,049 keys up.
///
/// # Examples
/// ```
/// use hll::HyperLogLog;
/// use std::collections::HashMap;
///
/// let mut visitors: HashMap<&str, HyperLogLog> = HashMap::new();
/// for (page, visitor) in [("/", 1), ("/", 2), ("/about", 1), ("/", 1)] {
///     visitors.entry(page).or_default().insert(&visitor);
/// }
/// assert_eq!(visitors["/"].estimate().round(), 2.0);
/// ```
impl<S: KeyHasher + Default> Default for HyperLogLog<S> {
    fn default() -> Self {
        let params = HllParams::new(DEFAULT_PRECISION).expect("14 is a precision");
        Self::from_params(params, S::default())
    }
}

/// Sketches are equal if precision, hasher, form and state are equal. The martingale is not compared.
impl<S: KeyHasher> PartialEq for HyperLogLog<S> {
    fn eq(&self, other: &Self) -> bool {
        self.params() == other.params()
            && Incompatible::check_hasher(&self.hasher, &other.hasher).is_ok()
            && self.form() == other.form()
    }
}

impl<S: KeyHasher> Eq for HyperLogLog<S> {}
