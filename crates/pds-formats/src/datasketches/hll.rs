//! The HLL sketches of DataSketches.

use alloc::vec;
use alloc::vec::Vec;

use hll::internal::{histogram, improved_to};
use pds_core::error::{Incompatible, ParamError};
use pds_core::traits::Merge;
use pds_params::Estimate;
use pds_params::internal::ParamFault;

use super::DataSketchesKey;
use super::hll_codec as codec;
use super::hll_coupons::{
    self as coupons, ADDRESS_BITS, ADDRESS_MASK, LG_FIRST_TABLE, LIST_SLOTS, MAX_PROBES, Refused,
    Table,
};
use super::hll_statistics::Statistics;
use super::preamble::DEFAULT_SEED;
use crate::FormatError;
use crate::hash::murmur3_128;

/// Logarithms of the number of registers.
pub(super) const LG_K: core::ops::RangeInclusive<u8> = 4..=21;

/// From this logarithm on a list becomes a table first.
const LG_K_OF_TABLES: u8 = 8;

/// The greatest value of a register.
pub(super) const MAX_VALUE: u8 = 63;

/// Values from here on count in the second sum.
pub(super) const SMALL_VALUES: u8 = 32;

/// The width of the registers in the bytes of a sketch. All widths have equal contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HllRegisters {
    /// 4 bits, and a table of exceptions: the least bytes.
    Hll4,
    /// 6 bits.
    Hll6,
    /// 8 bits: the fastest in the library.
    Hll8,
}

/// A sketch of distinct keys with the registers and the answers of DataSketches' `HllSketch`.
///
/// Use it to exchange sketches with DataSketches, and with the engines that store its bytes (Spark's `hll_sketch_agg`, Druid,
/// Hive, BigQuery). Otherwise use [`hll::HyperLogLog`].
///
/// # Guarantees
/// - Error: 0.83 / √k for k = 2^`lg_k` registers; 1.04 / √k after two sketches with registers were merged.
/// - Memory: 4 bytes per key while few, then k bytes. The bytes take k/2, 3k/4 or k.
/// - Insert: O(1). Merging: registers exactly; the lower `lg_k` of the two remains.
///
/// # Examples
/// ```
/// use pds_formats::datasketches::{DataSketchesHll, HllRegisters};
///
/// let mut visitors = DataSketchesHll::new(12, HllRegisters::Hll8)?;
/// visitors.insert("10.0.0.1");
/// visitors.insert("10.0.0.2");
/// // `HllSketch.heapify` reads these bytes.
/// let bytes = visitors.to_bytes();
/// assert_eq!(DataSketchesHll::from_bytes(&bytes)?.estimate().value.round(), 2.0);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # References
/// Apache DataSketches C++ 5.2, `hll/include`. Daniel Ting, "Streamed approximate counting of distinct elements: beating
/// optimal batch methods", KDD 2014 (HIP).
#[derive(Clone, Debug, PartialEq)]
pub struct DataSketchesHll {
    pub(super) lg_k: u8,
    pub(super) width: HllRegisters,
    /// Whether bytes were read that leave room for updates.
    pub(super) is_updatable: bool,
    /// Whether registers were merged. The library also marks some merged sketches of coupons.
    pub(super) is_out_of_order: bool,
    /// A flag that is written as it was read: the C++ library's for sketches that began with registers, the Java library's for unions
    /// whose sums are to be computed.
    pub(super) has_flag_32: bool,
    pub(super) content: Content,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Content {
    /// Up to seven coupons, in the order of arrival.
    List(Vec<u32>),
    /// Coupons in a table. The written order is that of the bytes until another one is inserted.
    Set {
        table: Table,
        as_read: Option<Vec<u32>>,
    },
    Registers(Registers),
}

/// Registers with their sums.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Registers {
    pub(super) values: Vec<u8>,
    /// The estimate by history.
    pub(super) hip: f64,
    /// Sums of 2^-value over the values below 32, and the others.
    pub(super) sums: [f64; 2],
    /// The value that `num_at_min` registers have.
    pub(super) min: u8,
    pub(super) num_at_min: u32,
    /// Exceptions of four bits in the order of the bytes, until a register changes.
    pub(super) exceptions: Option<(u8, Vec<u32>)>,
}

impl DataSketchesHll {
    /// Creates an empty sketch with 2^`lg_k` registers.
    ///
    /// # Errors
    /// [`ParamError`] if `lg_k` is not from 4 to 21.
    pub fn new(lg_k: u8, width: HllRegisters) -> Result<Self, ParamError> {
        if !LG_K.contains(&lg_k) {
            let (min, max) = ((*LG_K.start()).into(), (*LG_K.end()).into());
            let (parameter, value) = ("lg_k", lg_k.into());
            return Err(ParamError(ParamFault::OutOfRange { parameter, value, min, max }));
        }
        let (is_updatable, is_out_of_order, has_flag_32) = (false, false, false);
        let content = Content::List(Vec::new());
        Ok(Self { lg_k, width, is_updatable, is_out_of_order, has_flag_32, content })
    }

    /// Reads the bytes of a sketch, compact or updatable.
    ///
    /// # Errors
    /// [`FormatError`] if `bytes` are anything else, or more.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        codec::read(bytes)
    }

    /// Returns the bytes in the form that was read, or else [compact](Self::to_compact_bytes).
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        codec::write(self, !self.is_updatable)
    }

    /// Returns the bytes of `toCompactByteArray`.
    ///
    /// Bytes that were read come back unchanged. After further keys they are those of the library, except for the order of
    /// the exceptions of [`HllRegisters::Hll4`] and the last digits of the estimate in it.
    #[must_use]
    pub fn to_compact_bytes(&self) -> Vec<u8> {
        codec::write(self, true)
    }

    /// Returns the bytes of `toUpdatableByteArray`, which leave room for updates.
    #[must_use]
    pub fn to_updatable_bytes(&self) -> Vec<u8> {
        codec::write(self, false)
    }

    /// Inserts a key. Returns `true` if the sketch changed.
    pub fn insert<'a>(&mut self, key: impl Into<DataSketchesKey<'a>>) -> bool {
        let coupon = key.into().hash(|bytes| coupon_of(murmur3_128(bytes, DEFAULT_SEED)));
        coupon.is_some_and(|coupon| self.insert_coupon(coupon))
    }

    #[inline]
    fn insert_coupon(&mut self, coupon: u32) -> bool {
        // Most sketches have registers.
        if let Content::Registers(registers) = &mut self.content {
            return registers.update(coupon, self.width, self.is_out_of_order);
        }
        self.insert_new_coupon(coupon)
    }

    /// Inserts a coupon among others.
    fn insert_new_coupon(&mut self, coupon: u32) -> bool {
        match &mut self.content {
            Content::List(list) if list.contains(&coupon) => return false,
            Content::List(list) => {
                list.push(coupon);
                if list.len() == LIST_SLOTS {
                    self.leave_list();
                }
            }
            Content::Set { table, as_read } => {
                match table.insert(coupon, coupon, MAX_PROBES) {
                    Ok(()) => {}
                    Err(Refused::Present) => return false,
                    // As if the table were full.
                    Err(Refused::Crowded) => {
                        self.leave_table();
                        return self.insert_coupon(coupon);
                    }
                }
                *as_read = None;
                if table.is_full() {
                    let is_largest = table.lg_slots() >= self.lg_k - 3;
                    if is_largest || table.grow(|coupon| coupon, MAX_PROBES).is_err() {
                        self.leave_table();
                    }
                }
            }
            Content::Registers(registers) => {
                return registers.update(coupon, self.width, self.is_out_of_order);
            }
        }
        true
    }

    /// Turns a full list into a table, or into registers if these are few.
    fn leave_list(&mut self) {
        let coupons: Vec<u32> = self.coupons().collect();
        if self.lg_k < LG_K_OF_TABLES {
            return self.leave_coupons(&coupons);
        }
        let mut table = Table::new(LG_FIRST_TABLE);
        for coupon in coupons {
            // Eight different coupons fit into 32 slots.
            let _ = table.insert(coupon, coupon, MAX_PROBES);
        }
        self.content = Content::Set { table, as_read: None };
    }

    /// Turns a full table into registers.
    fn leave_table(&mut self) {
        let coupons: Vec<u32> = self.coupons().collect();
        self.leave_coupons(&coupons);
    }

    fn leave_coupons(&mut self, coupons: &[u32]) {
        let mut registers = Registers::new(self.lg_k);
        for &coupon in coupons {
            registers.update(coupon, self.width, false);
        }
        registers.hip = coupons::estimate(coupons.len());
        self.is_out_of_order = false;
        self.content = Content::Registers(registers);
    }

    /// Returns the coupons, in the order of a compact sketch. None if there are registers.
    pub(super) fn coupons(&self) -> impl Iterator<Item = u32> + '_ {
        let slots = match &self.content {
            Content::List(list) => list,
            Content::Set { as_read: Some(slots), .. } => &slots[..],
            Content::Set { table, as_read: None } => table.slots(),
            Content::Registers(_) => &[],
        };
        slots.iter().copied().filter(|&coupon| coupon != 0)
    }

    /// Merges the keys of another sketch, of any width, as a union of this sketch's `lg_k` does.
    ///
    /// The result has the width of this sketch, and its `lg_k`, or that of `other` if it is lower and `other` has registers. If both
    /// have registers, the estimate by history is lost. Otherwise it goes on, also from more registers to fewer.
    pub fn merge(&mut self, other: &Self) {
        let Content::Registers(theirs) = &other.content else {
            if self.is_empty() && self.lg_k == other.lg_k {
                // With the order of its table.
                self.content = other.content.clone();
            } else {
                other.coupons().for_each(|coupon| _ = self.insert_coupon(coupon));
            }
            return;
        };
        let (lg_k, ours) = (self.lg_k.min(other.lg_k), self.coupons().collect::<Vec<_>>());
        self.lg_k = lg_k;
        match &mut self.content {
            Content::Registers(registers) if !registers.is_zero() => {
                if registers.values.len() > 1 << lg_k {
                    *registers = registers.folded(lg_k);
                }
                registers.merge(&theirs.values);
                registers.settle(self.width);
                self.is_out_of_order = true;
            }
            content => {
                let mut registers = theirs.folded(lg_k);
                registers.settle(self.width);
                *content = Content::Registers(registers);
                self.is_out_of_order = other.is_out_of_order;
                ours.into_iter().for_each(|coupon| _ = self.insert_coupon(coupon));
            }
        }
    }

    /// Estimates the number of distinct keys.
    ///
    /// The value is the library's: with registers to the last digit, with coupons within 10^-7. Only of merged registers the
    /// library makes its estimate from empirical tables, and this one is Ertl's improved raw estimator. They differ by a
    /// fraction of the standard error.
    #[must_use]
    pub fn estimate(&self) -> Estimate {
        let root = libm::sqrt(f64::from(1u32 << self.lg_k));
        let (value, error) = match &self.content {
            // The library's constant: coupons lose few keys.
            Content::List(list) => (coupons::estimate(list.len()), 0.409 / 8_192.0),
            Content::Set { table, .. } => (coupons::estimate(table.count()), 0.409 / 8_192.0),
            Content::Registers(registers) if self.is_out_of_order => {
                (registers.composite(), 1.038_961 / root)
            }
            Content::Registers(registers) => (registers.hip, 0.832_554_6 / root),
        };
        Estimate { value, standard_error: value * error }
    }

    /// Returns whether no key was inserted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match &self.content {
            Content::List(list) => list.is_empty(),
            Content::Set { .. } => false,
            Content::Registers(registers) => registers.is_zero(),
        }
    }

    /// Returns the values of all registers, as if coupons were in registers.
    #[must_use]
    pub fn registers(&self) -> Vec<u8> {
        match &self.content {
            Content::Registers(registers) => registers.values.clone(),
            Content::List(_) | Content::Set { .. } => {
                let mut registers = Registers::new(self.lg_k);
                self.coupons().for_each(|coupon| {
                    registers.update(coupon, HllRegisters::Hll8, true);
                });
                registers.values
            }
        }
    }

    /// Returns the logarithm of the number of registers.
    #[must_use]
    pub const fn lg_k(&self) -> u8 {
        self.lg_k
    }

    /// Returns the width of the registers in bytes that are written.
    #[must_use]
    pub const fn width(&self) -> HllRegisters {
        self.width
    }

    /// Changes the width of the registers in bytes that are written.
    pub fn set_width(&mut self, width: HllRegisters) {
        self.width = width;
        if let Content::Registers(registers) = &mut self.content {
            registers.exceptions = None;
            registers.settle(width);
        }
    }

    /// Returns whether registers were merged, so that the estimate is less exact.
    #[must_use]
    pub const fn is_out_of_order(&self) -> bool {
        self.is_out_of_order
    }
}

impl Registers {
    fn new(lg_k: u8) -> Self {
        let values = vec![0; 1 << lg_k];
        let sums = [values.len() as f64, 0.0];
        let num_at_min = 1 << lg_k;
        Self { values, hip: 0.0, sums, min: 0, num_at_min, exceptions: None }
    }

    /// Raises the register of a coupon. Returns `true` if it changed.
    #[inline]
    fn update(&mut self, coupon: u32, width: HllRegisters, is_out_of_order: bool) -> bool {
        let slot = coupon as usize & (self.values.len() - 1);
        let (old, new) = (self.values[slot], (coupon >> ADDRESS_BITS) as u8);
        // Seldom, once there are many keys.
        new > old && {
            self.raise(slot, new, width, is_out_of_order);
            true
        }
    }

    /// Raises a register.
    fn raise(&mut self, slot: usize, new: u8, width: HllRegisters, is_out_of_order: bool) {
        let old = self.values[slot];
        if !is_out_of_order {
            // Keys that change a register have the probability of this sum over k.
            self.hip += self.values.len() as f64 / (self.sums[0] + self.sums[1]);
        }
        *sum_of(&mut self.sums, old) -= power(old);
        *sum_of(&mut self.sums, new) += power(new);
        self.values[slot] = new;
        self.exceptions = None;
        if old == self.min {
            self.num_at_min -= 1;
            if self.num_at_min == 0 && width == HllRegisters::Hll4 {
                self.settle(width);
            }
        }
    }

    /// Returns the registers that 2^`lg_k` of them or fewer become, with the same estimate by history.
    fn folded(&self, lg_k: u8) -> Self {
        let mut folded = Self::new(lg_k.min(self.values.len().trailing_zeros().to_le_bytes()[0]));
        folded.merge(&self.values);
        Self { hip: self.hip, ..folded }
    }

    /// Returns whether all registers are zero.
    const fn is_zero(&self) -> bool {
        self.min == 0 && self.num_at_min as usize == self.values.len()
    }

    /// Takes the greater value of each register. `others` are as many, or a multiple. [`settle`](Self::settle) follows.
    fn merge(&mut self, others: &[u8]) {
        self.exceptions = None;
        for others in others.chunks(self.values.len()) {
            hll::internal::merge(&mut self.values, others);
        }
        self.hip = 0.0;
    }

    /// Sets the sums, and the least value: of four bits the true one, of others 0 as in sketches of keys.
    fn settle(&mut self, width: HllRegisters) {
        let found = Statistics::of(&self.values);
        self.sums = found.sums;
        self.min = if width == HllRegisters::Hll4 { found.least } else { 0 };
        self.num_at_min = if self.min == found.least { found.num_least } else { 0 };
    }

    /// Estimates the number of keys from the registers alone.
    fn composite(&self) -> f64 {
        improved_to(&histogram(&self.values), usize::from(MAX_VALUE) - 1, 0.0)
    }
}

/// Returns 2^-value.
pub(super) fn power(value: u8) -> f64 {
    libm::ldexp(1.0, -i32::from(value))
}

fn sum_of(sums: &mut [f64; 2], value: u8) -> &mut f64 {
    &mut sums[usize::from(value >= SMALL_VALUES)]
}

/// Returns the coupon of a hash: 26 bits of one half, and the number of leading zeros of the other.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the low 26 bits")]
fn coupon_of([address, value]: [u64; 2]) -> u32 {
    let value = value.leading_zeros().min(62) + 1;
    value << ADDRESS_BITS | address as u32 & ADDRESS_MASK
}

impl Merge for DataSketchesHll {
    type Error = Incompatible;

    /// Never fails.
    fn merge(&mut self, other: &Self) -> Result<(), Incompatible> {
        Self::merge(self, other);
        Ok(())
    }
}
