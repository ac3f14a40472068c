//! The HyperLogLog sketch that threads share.

use alloc::vec::Vec;
use core::convert::Infallible;
use core::hash::Hash;
use core::sync::atomic::AtomicU8;
use core::sync::atomic::Ordering::Relaxed;

use pds_core::error::Incompatible;
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::traits::{Insert, Merge};
use pds_params::HllParams;

use crate::HyperLogLog;
use crate::coupon::register_and_rank_of;
use crate::dense::{self, packed};
use crate::sketch::{Form, Registers};
use crate::storage::{OwnedRegisters, RegisterSource};

/// Storage of a sketch that threads share and change: one byte per register.
#[derive(Debug)]
pub struct AtomicRegisters {
    registers: Vec<AtomicU8>,
    params: HllParams,
}

/// A [`HyperLogLog`] that several threads fill and query at the same time, without locks.
///
/// Build it with [`build_atomic`](crate::HyperLogLogBuilder::build_atomic), or convert a plain sketch with `from`. It
/// is always dense, and so are its bytes and the plain sketch that it converts to.
///
/// Use it if several threads insert into one sketch. If each thread can have its own, and they are merged at the end,
/// plain sketches are faster.
///
/// # Guarantees
/// - No insert is lost. An estimate includes all inserts that *happened before* it.
/// - If several threads insert the same new key, at least one of them is told that the state changed, if it did.
/// - Error, memory and complexity are those of a dense [`HyperLogLog`]. In steady state an insert only reads.
/// - Operations are relaxed: finding a key says nothing about other memory that its inserter wrote.
///
/// # Examples
/// ```
/// use hll::HyperLogLog;
///
/// let seen = HyperLogLog::builder().precision(14).build_atomic()?;
/// std::thread::scope(|s| {
///     s.spawn(|| (&seen).extend(0..60_000u32));
///     s.spawn(|| (&seen).extend(40_000..100_000u32));
/// });
/// assert!((seen.estimate() / 1e5 - 1.0).abs() < 0.03);
/// # Ok::<(), pds_core::error::ParamError>(())
/// ```
pub type AtomicHyperLogLog<S = DefaultHashBuilder> = HyperLogLog<S, AtomicRegisters>;

impl AtomicRegisters {
    /// Returns the ranks. Each is read at its own moment.
    fn ranks(&self) -> Vec<u8> {
        self.registers.iter().map(Register::load).collect()
    }
}

/// Opens the registers to other threads. Sparse ones become dense.
impl From<Registers> for AtomicRegisters {
    fn from(Registers { mut form }: Registers) -> Self {
        form.make_dense();
        let params = form.params();
        let Form::Dense(dense) = form else { unreachable!("it was made dense") };
        // In place: collecting reuses the memory of a vector whose elements keep their size.
        let registers = dense.into_registers().into_iter().map(AtomicU8::new).collect();
        Self { registers, params }
    }
}

impl RegisterSource for AtomicRegisters {
    fn params(&self) -> HllParams {
        self.params
    }

    fn entries(&self) -> Option<u64> {
        None
    }

    fn counts(&self) -> [u32; 64] {
        dense::histogram(&self.ranks())
    }

    fn size_in_bytes(&self) -> u64 {
        self.registers.len() as u64
    }

    fn name_of([_, shared, _]: [&'static str; 3]) -> &'static str {
        shared
    }
}

impl OwnedRegisters for AtomicRegisters {
    fn payload(&self) -> Vec<u8> {
        packed(&self.ranks())
    }
}

impl<S: KeyHasher> AtomicHyperLogLog<S> {
    /// Returns the same sketch for one owner, in the dense form and without a copy.
    #[must_use]
    pub fn into_plain(self) -> HyperLogLog<S> {
        let AtomicRegisters { registers, params } = self.registers;
        let registers = registers.into_iter().map(AtomicU8::into_inner).collect();
        HyperLogLog::from_registers(registers, params, self.hasher)
    }

    /// Copies the sketch into a plain one, in the dense form, while other threads may insert.
    #[must_use]
    pub fn to_plain(&self) -> HyperLogLog<S>
    where
        S: Clone,
    {
        HyperLogLog::from_registers(self.registers.ranks(), self.params(), self.hasher.clone())
    }

    /// Inserts a key by its hash. Returns `true` if the state changed. See [`KeyHasher`] for the hash.
    #[inline]
    pub fn insert_hash(&self, hash: u64) -> bool {
        let registers = &self.registers.registers[..];
        let (register, rank) = register_and_rank_of(hash, registers.len());
        raise(&registers[register], rank)
    }

    /// Inserts many hashes. Returns how many of them changed the state. See [`KeyHasher`] for the hashes.
    pub fn insert_hash_batch(&self, hashes: &[u64]) -> usize {
        hashes.iter().filter(|&&hash| self.insert_hash(hash)).count()
    }

    /// Removes all keys. A key that another thread inserts at the same time may remain.
    pub fn clear(&self) {
        self.registers.registers.iter().for_each(|register| register.store(0, Relaxed));
    }

    /// Inserts `key`. Returns `true` if the state changed: the key was not inserted before.
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

    /// Inserts all that `other` contains, while other threads insert into either.
    ///
    /// A higher precision of `other` is lowered to that of `self`. An empty `other` of any precision changes nothing.
    ///
    /// # Errors
    /// [`Incompatible`] if the hashers differ, or if `other` has keys at a lower precision. A shared sketch cannot
    /// lower its own precision. `self` is unchanged then.
    pub fn merge(&self, other: &Self) -> Result<(), Incompatible> {
        Incompatible::check_hasher(&self.hasher, &other.hasher)?;
        // The other sketch is read once, because other threads may insert into it.
        let ranks = other.registers.ranks();
        if ranks.iter().all(|&rank| rank == 0) {
            return Ok(());
        }
        let (here, there) = (self.precision(), other.precision());
        Incompatible::check_shape("precision", here.into(), here.min(there).into())?;
        for (register, rank) in
            self.registers.registers.iter().zip(dense::fold(&ranks, there - here))
        {
            raise(register, rank);
        }
        Ok(())
    }
}

/// A register that threads share. It is a trait so that model checking can replace the register.
// Both operations are relaxed. No thread draws conclusions from one rank about other memory, and ranks only rise, so the
// order in which they become visible does not matter.
trait Register {
    fn load(&self) -> u8;

    /// Stores the greater rank. Returns the earlier one.
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
    // Checked first: the locked operation costs as much as the rest of an insert, and few inserts need it.
    register.load() < rank && register.fetch_max(rank) < rank
}

/// Opens the sketch to other threads. A sparse one becomes dense.
impl<S: KeyHasher> From<HyperLogLog<S>> for AtomicHyperLogLog<S> {
    fn from(HyperLogLog { registers, hasher }: HyperLogLog<S>) -> Self {
        Self { registers: registers.into(), hasher }
    }
}

impl<S: KeyHasher> Insert for AtomicHyperLogLog<S> {
    type Error = Infallible;

    #[inline]
    fn insert_hash(&mut self, hash: u64) -> Result<bool, Infallible> {
        Ok((*self).insert_hash(hash))
    }
}

impl<S: KeyHasher> Insert for &AtomicHyperLogLog<S> {
    type Error = Infallible;

    #[inline]
    fn insert_hash(&mut self, hash: u64) -> Result<bool, Infallible> {
        Ok(AtomicHyperLogLog::insert_hash(self, hash))
    }
}

impl<S: KeyHasher> Merge for AtomicHyperLogLog<S> {
    type Error = Incompatible;

    fn merge(&mut self, other: &Self) -> Result<(), Incompatible> {
        (*self).merge(other)
    }
}

/// Inserts keys through a shared reference, as `std::io::Write` is implemented for `&File`.
impl<K: Hash, S: KeyHasher> Extend<K> for &AtomicHyperLogLog<S> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        keys.into_iter().for_each(|key| _ = self.insert(&key));
    }
}

impl<K: Hash, S: KeyHasher> Extend<K> for AtomicHyperLogLog<S> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        (&*self).extend(keys);
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
                        // Spin, so that both continue at the same moment. Yield, in case there is only one core.
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
/// This does not prove more threads, longer histories, or that compiler and processor keep the memory model.
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
