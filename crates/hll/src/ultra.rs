//! UltraLogLog: construction, and the methods that change it. It has two more bits per register and a quarter less
//! error of `estimate`.

mod payload;
mod portable;
mod reading;
mod register;
mod view;

use alloc::vec;
use alloc::vec::Vec;
use core::convert::Infallible;
use core::hash::Hash;

use pds_core::error::{Incompatible, ParamError};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::internal::reduced_mut;
use pds_core::traits::{Insert, Merge};
use pds_params::HllParams;

pub use view::UltraLogLogView;

use crate::builder::UltraLogLogBuilder;
use crate::coupon::register_and_rank_of;
use crate::sketch::reduced;

/// A sketch that counts distinct keys with less memory than HyperLogLog at equal error.
///
/// A register is one byte: the greatest rank, as in HyperLogLog, and whether the two ranks below it have occurred. Use it if
/// many sketches of large sets are kept or merged. At equal error of `estimate` it takes 24.4 % less memory than HyperLogLog
/// with six bits per register. At equal precision `estimate` has 24.7 % less error, for 33 % more portable bytes and as many
/// bytes in memory as [`HyperLogLog`](crate::HyperLogLog). Use HyperLogLog if many small sets are kept in memory, where it
/// has a sparse form, and to compare two sets. Portable bytes of small sets are small from both.
///
/// The type of a key is part of the key: `1u32` and `1u64` are different keys.
///
/// # Storage
/// `S` is the hasher. `W` is the [storage](crate::storage): `Vec<u8>`, or the portable bytes of an
/// [`UltraLogLogView<B>`](crate::UltraLogLogView), which has the methods that read.
///
/// # Guarantees
/// With m = 2^p registers at precision p:
/// - Error: [`HllParams::standard_error`], relative and one standard deviation, at any number of keys. It is
///   0.782 / sqrt(m), and more by a share of 0.53 / m. By [likelihood](Self::estimate_by_likelihood) it is 0.761 / sqrt(m), and
///   more by 0.49 / m. Up to 2 m keys it is 0.61 to 0.64 / sqrt(m), and 0.50 to 0.57 / sqrt(m) by likelihood.
/// - Intervals: [`estimate_interval`](Self::estimate_interval) holds the true number as often as it says, at any number of
///   keys and any precision.
/// - Memory: m bytes. Portable bytes: 136, and 4 per register with keys, or m if that is less. Insert: O(1). Merge and
///   estimate: O(m).
/// - The state is a function of the set of keys. Order, repetition and the way of merging do not change it.
/// - Merging: exact. Hashers and seeds must be equal. The result has the lowest precision of the sketches that are not
///   empty, as if all keys had been inserted there. An empty sketch changes nothing.
///
/// # Examples
/// ```
/// use hll::UltraLogLog;
///
/// let (mut monday, mut tuesday) = (UltraLogLog::new(12)?, UltraLogLog::new(12)?);
/// monday.extend(0..100_000u32);
/// tuesday.extend(50_000..150_000u32);
/// monday.merge(&tuesday)?;
/// assert!((monday.estimate() / 1.5e5 - 1.0).abs() < 0.05);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # References
/// Otmar Ertl, "UltraLogLog: A Practical and More Space-Efficient Alternative to HyperLogLog for
/// Approximate Distinct Counting", VLDB 2024; arXiv:2308.16862.
#[derive(Clone)]
pub struct UltraLogLog<S = DefaultHashBuilder, W = Vec<u8>> {
    pub(crate) registers: W,
    pub(crate) params: HllParams,
    pub(crate) hasher: S,
}

// Functions that are called by path (`UltraLogLog::new`) exist for one storage only: the compiler could not tell two of the
// same name apart (E0034).
impl UltraLogLog {
    /// Creates a sketch of 2^`precision` registers, with an error of about 0.782 / sqrt(2^`precision`).
    ///
    /// # Errors
    /// [`ParamError`] if `precision` is not from 4 to 18.
    pub fn new(precision: u32) -> Result<Self, ParamError> {
        Self::builder().precision(precision).build()
    }

    /// Starts a builder: for an error or a memory size instead of the precision, a seed, or another hasher.
    pub const fn builder() -> UltraLogLogBuilder {
        UltraLogLogBuilder::new()
    }
}

impl<S: KeyHasher> UltraLogLog<S> {
    /// Creates an empty sketch.
    pub fn from_params(params: HllParams, hasher: S) -> Self
    where
        S: KeyHasher,
    {
        Self { registers: vec![0; 1 << params.precision()], params, hasher }
    }

    /// Inserts a key by its hash. Returns `true` if the state changed. See [`KeyHasher`] for the hash.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        let (_, rank) = register_and_rank_of(hash, self.registers.len());
        // The register of the hash, without a bounds check.
        register::raise(reduced_mut(&mut self.registers, hash), rank)
    }

    /// Inserts many hashes. Returns how many of them changed the state, one after the other. See [`KeyHasher`] for the
    /// hashes.
    pub fn insert_hash_batch(&mut self, hashes: &[u64]) -> usize {
        register::raise_many(&mut self.registers, self.params, hashes, |&hash| hash)
    }

    /// Returns the registers: four times the greatest rank, plus 2 and 1 for the two ranks below it that have occurred.
    #[must_use]
    pub fn registers(&self) -> &[u8] {
        &self.registers
    }

    /// Removes all keys.
    pub fn clear(&mut self) {
        self.registers.fill(0);
    }

    /// Lowers the precision. The sketch is then as if all keys had been inserted at that precision.
    ///
    /// # Errors
    /// [`ParamError`] if `precision` is not from 4 to the current one. The sketch is unchanged then.
    pub fn reduce_precision(&mut self, precision: u32) -> Result<(), ParamError> {
        self.fold_to(reduced(self.params, precision)?);
        Ok(())
    }

    /// Lowers the precision to one that is not greater.
    fn fold_to(&mut self, params: HllParams) {
        self.registers = self.registers_at(params.precision()).collect();
        self.params = params;
    }

    /// Lists the registers at a precision that is not greater than that of the sketch.
    fn registers_at(&self, precision: u32) -> impl Iterator<Item = u8> {
        let dropped = self.precision() - precision;
        self.registers.chunks_exact(1 << dropped).map(move |block| register::fold(block, dropped))
    }

    /// Inserts `key`. Returns `true` if the state changed: the key was not inserted before.
    ///
    /// # Complexity
    /// O(1), without allocation.
    #[inline]
    pub fn insert<K: Hash + ?Sized>(&mut self, key: &K) -> bool {
        self.insert_hash(self.hasher.hash_key(key))
    }

    /// Inserts many keys. Returns how many of them changed the state, one after the other.
    pub fn insert_batch<K: Hash>(&mut self, keys: &[K]) -> usize {
        let hash = |key: &K| self.hasher.hash_key(key);
        register::raise_many(&mut self.registers, self.params, keys, hash)
    }

    /// Inserts all that `other` contains. The result has the lower precision of the two.
    ///
    /// An empty sketch of any precision changes nothing: if one of the two is empty, the result equals the other one.
    ///
    /// # Errors
    /// [`Incompatible`] if the hashers differ. `self` is unchanged then.
    pub fn merge(&mut self, other: &Self) -> Result<(), Incompatible> {
        Incompatible::check_hasher(&self.hasher, &other.hasher)?;
        self.merge_registers(other);
        Ok(())
    }

    /// Merges all `others` into `self`, as [`merge`](Self::merge) does one after the other.
    ///
    /// # Errors
    /// [`Incompatible`] if a hasher differs. `self` is unchanged then.
    pub fn merge_all<'a, I>(&mut self, others: I) -> Result<(), Incompatible>
    where
        I: IntoIterator<Item = &'a Self, IntoIter: Clone>,
        S: 'a,
    {
        let others = others.into_iter();
        let check = |other: &Self| Incompatible::check_hasher(&self.hasher, &other.hasher);
        others.clone().try_for_each(check)?;
        others.for_each(|other| self.merge_registers(other));
        Ok(())
    }

    fn merge_registers(&mut self, other: &Self) {
        match (self.is_empty(), other.is_empty()) {
            (false, true) => return,
            (true, false) => {
                self.params = other.params;
                self.registers.clone_from(&other.registers);
                return;
            }
            _ => {}
        }
        if other.precision() < self.precision() {
            self.fold_to(other.params);
        }
        if other.precision() == self.precision() {
            register::merge_all(&mut self.registers, other.registers.iter().copied());
        } else {
            register::merge_all(&mut self.registers, other.registers_at(self.params.precision()));
        }
    }
}

impl<S: KeyHasher> Insert for UltraLogLog<S> {
    type Error = Infallible;

    #[inline]
    fn insert_hash(&mut self, hash: u64) -> Result<bool, Infallible> {
        Ok(self.insert_hash(hash))
    }
}

impl<S: KeyHasher> Merge for UltraLogLog<S> {
    type Error = Incompatible;

    fn merge(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.merge(other)
    }
}

/// Inserts keys, or references to keys: both have the same hash.
impl<K: Hash, S: KeyHasher> Extend<K> for UltraLogLog<S> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        keys.into_iter().for_each(|key| _ = self.insert(&key));
    }
}

/// Sketches are equal if precision, hasher and registers are equal.
impl<S: KeyHasher> PartialEq for UltraLogLog<S> {
    fn eq(&self, other: &Self) -> bool {
        self.registers == other.registers
            && Incompatible::check_hasher(&self.hasher, &other.hasher).is_ok()
    }
}

impl<S: KeyHasher> Eq for UltraLogLog<S> {}
