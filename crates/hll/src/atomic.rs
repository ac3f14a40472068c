//! The HyperLogLog that threads share.

use alloc::vec::Vec;
use core::convert::Infallible;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::ops::RangeInclusive;
use core::sync::atomic::AtomicU8;
use core::sync::atomic::Ordering::Relaxed;

use pds_core::{
    Cardinality, DefaultHashBuilder, Estimate, Incompatible, Insert, KeyHasher, Merge, ParamError,
};
use pds_params::HllParams;
use pds_params::hll::CardinalityEstimator::Improved;

use crate::coupon::register_and_rank_of;
use crate::estimator::{FINITE_SIZE, improved};
use crate::sketch::{Form, dense_interval};
use crate::{HyperLogLog, dense};

/// A [`HyperLogLog`] that threads fill and ask at the same time, without locks.
///
/// Choose it where several threads insert into one sketch; where each thread can have its own, to be merged at
/// the end, plain sketches are faster. It is always dense, and so are its bytes and the plain sketch that it
/// turns into.
///
/// # Guarantees
/// - No insert is lost. An estimate accounts for all inserts that *happened before* it.
/// - When two threads insert the same new key, at least one of them is told that the state changed, if it did.
/// - Error, memory and complexity: those of a dense [`HyperLogLog`]. In steady state an insert only reads.
/// - Operations are relaxed: seeing a key says nothing about other memory that its inserter wrote.
///
/// # Examples
/// ```
/// use hll::AtomicHyperLogLog;
///
/// let seen = AtomicHyperLogLog::new(14)?;
/// std::thread::scope(|s| {
///     s.spawn(|| (&seen).extend(0..60_000u32));
///     s.spawn(|| (&seen).extend(40_000..100_000u32));
/// });
/// assert!((seen.estimate() / 1e5 - 1.0).abs() < 0.03);
/// # Ok::<(), pds_core::ParamError>(())
/// ```
pub struct AtomicHyperLogLog<S = DefaultHashBuilder> {
    registers: Vec<AtomicU8>,
    params: HllParams,
    hasher: S,
}

impl AtomicHyperLogLog {
    /// Creates a sketch of 2^`precision` registers, an error of about 1.04 / sqrt(2^`precision`).
    ///
    /// # Errors
    /// [`ParamError`] when `precision` is not from 4 to 18.
    pub fn new(precision: u32) -> Result<Self, ParamError> {
        HyperLogLog::new(precision).map(Self::from)
    }
}

impl<S> AtomicHyperLogLog<S> {
    /// Creates an empty sketch.
    pub fn from_params(params: HllParams, hasher: S) -> Self
    where
        S: KeyHasher,
    {
        HyperLogLog::from_params(params, hasher).into()
    }

    /// Returns the same sketch for one owner, in the dense form.
    #[must_use]
    pub fn into_plain(self) -> HyperLogLog<S> {
        // In place: collecting reuses the memory of a vector whose elements keep their size.
        let registers = self.registers.into_iter().map(AtomicU8::into_inner).collect();
        HyperLogLog::from_registers(registers, self.params, self.hasher)
    }

    /// Inserts a key by its hash. Returns `true` when the state changed.
    /// The hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
    #[inline]
    pub fn insert_hash(&self, hash: u64) -> bool {
        let (register, rank) = register_and_rank_of(hash, self.registers.len());
        raise(&self.registers[register], rank)
    }

    /// Inserts many hashes. Returns how many of them changed the state.
    /// Each hash is one that this structure's [`hash_key`](pds_core::KeyHasher::hash_key) made, or any 64 uniform bits;
    /// [`finalize`](pds_core::hash::finalize) makes those of any other hash.
    pub fn insert_hash_batch(&self, hashes: &[u64]) -> usize {
        hashes.iter().filter(|&&hash| self.insert_hash(hash)).count()
    }

    /// Forgets all keys. Exclusive, so that no insert can fall between two registers.
    pub fn clear(&mut self) {
        self.registers.iter_mut().for_each(|register| *register.get_mut() = 0);
    }

    /// Estimates the number of distinct keys; see [`HyperLogLog::estimate`].
    #[must_use]
    pub fn estimate(&self) -> f64 {
        improved(&dense::histogram(&self.ranks()), self.params, FINITE_SIZE)
    }

    /// Returns [`estimate`](Self::estimate) with its standard error.
    #[must_use]
    pub fn estimate_with_error(&self) -> Estimate {
        self.params.estimate(Improved, self.estimate())
    }

    /// Returns an interval that holds the true number with probability `confidence`; see
    /// [`HyperLogLog::estimate_interval`].
    ///
    /// # Errors
    /// [`ParamError`] when `confidence` is not above 0 and below 1.
    pub fn estimate_interval(&self, confidence: f64) -> Result<RangeInclusive<f64>, ParamError> {
        dense_interval(&dense::histogram(&self.ranks()), self.params, confidence)
    }

    /// Returns whether no key was inserted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.registers.iter().all(|register| register.load(Relaxed) == 0)
    }

    /// Returns the precision p, the binary logarithm of the number of registers.
    #[must_use]
    pub const fn precision(&self) -> u32 {
        self.params.precision()
    }

    /// Returns the parameters.
    #[must_use]
    pub const fn params(&self) -> HllParams {
        self.params
    }

    /// Returns the size of the registers on the heap, in bytes.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.registers.len() as u64
    }

    /// Returns the hasher.
    #[must_use]
    pub const fn hasher(&self) -> &S {
        &self.hasher
    }

    pub(crate) fn ranks(&self) -> Vec<u8> {
        self.registers.iter().map(|register| register.load(Relaxed)).collect()
    }
}

impl<S: KeyHasher> AtomicHyperLogLog<S> {
    /// Inserts `key`. Returns `true` when the state changed: the key was not inserted before.
    ///
    /// # Complexity
    /// O(1), lock-free and without allocation.
    #[inline]
    pub fn insert<K: Hash + ?Sized>(&self, key: &K) -> bool {
        self.insert_hash(self.hasher.hash_key(key))
    }

    /// Inserts many keys. Returns how many of them changed the state.
    pub fn insert_batch<K: Hash>(&self, keys: &[K]) -> usize {
        keys.iter().filter(|key| self.insert(*key)).count()
    }

    /// Makes `self` the sketch of the keys of both, while other threads insert into either.
    ///
    /// A higher precision of `other` is folded to this one's. An empty `other` of any precision changes nothing.
    ///
    /// # Errors
    /// [`Incompatible`] when `other` has another hasher, or keys at a lower precision, to which a shared sketch cannot change;
    /// nothing is changed then.
    pub fn merge(&self, other: &Self) -> Result<(), Incompatible> {
        Incompatible::check_hasher(&self.hasher, &other.hasher)?;
        // One reading of the other sketch, into which other threads may be inserting.
        let ranks = other.ranks();
        if ranks.iter().all(|&rank| rank == 0) {
            return Ok(());
        }
        let (here, there) = (self.precision(), other.precision());
        Incompatible::check_shape("precision", here.into(), here.min(there).into())?;
        let ranks = dense::fold(&ranks, there - here).collect::<Vec<u8>>();
        for (register, rank) in self.registers.iter().zip(ranks) {
            raise(register, rank);
        }
        Ok(())
    }
}

impl<S: Clone> AtomicHyperLogLog<S> {
    /// Copies the sketch into a plain one, in the dense form, while other threads may insert.
    #[must_use]
    pub fn to_plain(&self) -> HyperLogLog<S> {
        HyperLogLog::from_registers(self.ranks(), self.params, self.hasher.clone())
    }
}

/// A register that threads share; a trait so that `loom` can put its own in the place of the real one.
///
/// Both operations are relaxed. No thread draws conclusions from one rank about memory outside the
/// sketch, and ranks only ever rise, so the order in which they become visible is of no account.
trait Register {
    fn load(&self) -> u8;

    /// Takes the greater rank and returns the one that was there.
    fn fetch_max(&self, rank: u8) -> u8;
}

impl Register for AtomicU8 {
    #[inline]
    fn load(&self) -> u8 {
        self.load(Relaxed)
    }

    #[inline]
    fn fetch_max(&self, rank: u8) -> u8 {
        self.fetch_max(rank, Relaxed)
    }
}

/// Raises a register to a rank. Returns whether it was lower.
#[inline]
fn raise(register: &impl Register, rank: u8) -> bool {
    // The locked operation costs as much as everything else together, and few inserts need it.
    register.load() < rank && register.fetch_max(rank) < rank
}

impl<S> From<HyperLogLog<S>> for AtomicHyperLogLog<S> {
    /// Opens the sketch to other threads; a sparse one becomes dense.
    fn from(mut plain: HyperLogLog<S>) -> Self {
        plain.make_dense();
        let params = plain.params();
        let (form, hasher) = plain.into_parts();
        let Form::Dense(dense) = form else { unreachable!("it was made dense") };
        let registers = dense.into_registers().into_iter().map(AtomicU8::new).collect();
        Self { registers, params, hasher }
    }
}

impl<S> From<AtomicHyperLogLog<S>> for HyperLogLog<S> {
    fn from(shared: AtomicHyperLogLog<S>) -> Self {
        shared.into_plain()
    }
}

impl<S: KeyHasher> KeyHasher for AtomicHyperLogLog<S> {
    #[inline]
    fn hash_key<K: Hash + ?Sized>(&self, key: &K) -> u64 {
        self.hasher.hash_key(key)
    }

    #[inline]
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        self.hasher.hash_key_dyn(feed)
    }
}

impl<S: KeyHasher> Insert for AtomicHyperLogLog<S> {
    type Error = Infallible;

    #[inline]
    fn insert_hash(&mut self, hash: u64) -> Result<bool, Infallible> {
        Ok((*self).insert_hash(hash))
    }
}

impl<S: KeyHasher> Cardinality for AtomicHyperLogLog<S> {
    fn estimate(&self) -> f64 {
        self.estimate()
    }
}

impl<S: KeyHasher> Merge for AtomicHyperLogLog<S> {
    type Error = Incompatible;

    fn merge(&mut self, other: &Self) -> Result<(), Incompatible> {
        (*self).merge(other)
    }
}

/// Also for a shared reference, as `std::io` has it for files.
impl<K: Hash, S: KeyHasher> Extend<K> for &AtomicHyperLogLog<S> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        keys.into_iter().for_each(|key| {
            self.insert(&key);
        });
    }
}

impl<K: Hash, S: KeyHasher> Extend<K> for AtomicHyperLogLog<S> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        (&*self).extend(keys);
    }
}

impl<S> fmt::Debug for AtomicHyperLogLog<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtomicHyperLogLog")
            .field("precision", &self.precision())
            .field("estimate", &self.estimate())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;
    use core::sync::atomic::AtomicUsize;

    /// Two threads raise the same register at the same time, one to odd ranks, one to even ones.
    #[test]
    fn no_rank_is_lost_to_a_smaller_one() {
        const REGISTERS: usize = 5_000;
        let registers: Vec<AtomicU8> = (0..REGISTERS).map(|_| AtomicU8::new(0)).collect();
        let reached = [AtomicUsize::new(0), AtomicUsize::new(0)];
        let lost = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for thread in 0..2 {
                let (registers, reached, lost) = (&registers, &reached, &lost);
                scope.spawn(move || {
                    for (at, register) in registers.iter().enumerate() {
                        reached[thread].store(at, Relaxed);
                        // Spin, so that both go on at the same moment; and yield, where there is one core.
                        for spins in 1.. {
                            if reached[1 - thread].load(Relaxed) >= at {
                                break;
                            }
                            if spins % 4_096 == 0 {
                                std::thread::yield_now();
                            }
                        }
                        for rank in (1..50).skip(thread).step_by(2) {
                            raise(register, rank);
                            lost.fetch_add(usize::from(register.load(Relaxed) < rank), Relaxed);
                        }
                    }
                    reached[thread].store(REGISTERS, Relaxed);
                });
            }
        });
        assert_eq!(lost.into_inner(), 0);
    }
}

/// Every interleaving of two or three threads at one register, under the memory model of C11.
///
/// What this leaves unproven: more threads and longer histories than these, and the compiler's and the
/// processor's own keeping of the memory model.
#[cfg(all(test, loom))]
mod loom_tests {
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicBool, AtomicU8, Ordering};
    use loom::thread;

    use super::*;

    impl Register for AtomicU8 {
        fn load(&self) -> u8 {
            self.load(Ordering::Relaxed)
        }

        fn fetch_max(&self, rank: u8) -> u8 {
            self.fetch_max(rank, Ordering::Relaxed)
        }
    }

    #[test]
    fn the_greatest_rank_stays() {
        loom::model(|| {
            let register = Arc::new(AtomicU8::new(0));
            let raises = [3, 1].map(|rank| {
                let register = register.clone();
                thread::spawn(move || raise(&*register, rank))
            });
            raise(&*register, 2);
            let [three, _one] = raises.map(|thread| thread.join().unwrap());
            assert_eq!(Register::load(&*register), 3);
            assert!(three, "nothing greater can have hidden it");
        });
    }

    #[test]
    fn exactly_one_of_two_is_told_of_a_new_rank() {
        loom::model(|| {
            let register = Arc::new(AtomicU8::new(1));
            let other = register.clone();
            let thread = thread::spawn(move || raise(&*other, 2));
            let here = raise(&*register, 2);
            assert!(here != thread.join().unwrap());
        });
    }

    #[test]
    fn what_happened_before_is_seen() {
        loom::model(|| {
            let register = Arc::new(AtomicU8::new(0));
            let ready = Arc::new(AtomicBool::new(false));
            let (other, flag) = (register.clone(), ready.clone());
            let thread = thread::spawn(move || {
                raise(&*other, 2);
                flag.store(true, Ordering::Release);
            });
            raise(&*register, 1);
            if ready.load(Ordering::Acquire) {
                assert_eq!(Register::load(&*register), 2);
            }
            thread.join().unwrap();
        });
    }
}
