//! Values of the type `HyperLogLog` of Presto, Trino and Velox, as `CAST(... AS varbinary)` returns them.

use alloc::format;
use alloc::vec::Vec;

use hll::internal::{histogram, improved_to, merge};
use pds_core::error::{DecodeErrorKind, Incompatible, ParamError};
use pds_params::Estimate;
use pds_params::internal::ParamFault;

use crate::FormatError;
use crate::hash::murmur3_128;
use crate::reader::{Field, Reader};

/// The name of the format in errors.
const FORMAT: &str = "Presto HyperLogLog";

/// The tags of layouts. The first version of the sparse one has the tag 0, and nothing reads it any more.
const DENSE_1: u8 = 1;
const SPARSE: u8 = 2;
const DENSE: u8 = 3;

/// Bits of a hash that are an index of registers.
const PRECISIONS: core::ops::RangeInclusive<u8> = 4..=16;

/// Bits of an entry of the sparse layout: the first bits of the hash, and below them the number of zeros that follow.
const PREFIX_BITS: u32 = 26;
const ZEROS_BITS: u32 = 6;

/// The greatest difference of a register from the least one that four bits hold. What exceeds it stands behind all registers.
const MAX_DELTA: u8 = 15;

/// The share of registers that are zero above which they alone are counted.
const LINEAR_SHARE: f64 = 0.4;

/// A sketch of distinct keys in the values of Presto's, Trino's and Velox's type `HyperLogLog`.
///
/// Use it to exchange values with these engines. Otherwise use [`hll::HyperLogLog`].
///
/// # Guarantees
/// - Error: 1.04 / √m for m registers; far less while few keys are sparse.
/// - Memory: 4 bytes per key while few, then m bytes. Bytes take m / 2.
///
/// # Examples
/// ```
/// use pds_formats::presto::PrestoHll;
///
/// let mut visitors = PrestoHll::new(12)?;
/// visitors.insert_bigint(17);
/// visitors.insert_text("10.0.0.1");
/// // `CAST(X'...' AS HyperLogLog)` makes it a value of the engine.
/// let bytes = visitors.to_bytes();
/// assert_eq!(PrestoHll::from_bytes(&bytes)?.cardinality(), 2);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # References
/// Airlift, "HyperLogLog" (stats/docs/hll.md). Stefan Heule, Marc Nunkesser, Alexander Hall, "`HyperLogLog` in practice:
/// algorithmic engineering of a state of the art cardinality estimation algorithm", EDBT 2013.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrestoHll {
    precision: u8,
    content: Content,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Content {
    /// Entries of different prefixes, ascending.
    Sparse(Vec<u32>),
    Dense(Vec<u8>),
}

impl PrestoHll {
    /// Creates an empty sketch of 2^`precision` registers. `approx_set(x)` has 12 by default.
    ///
    /// # Errors
    /// [`ParamError`] if `precision` is not from 4 to 16.
    pub fn new(precision: u8) -> Result<Self, ParamError> {
        if !PRECISIONS.contains(&precision) {
            let (parameter, value) = ("precision", precision.into());
            let (min, max) = ((*PRECISIONS.start()).into(), (*PRECISIONS.end()).into());
            return Err(ParamError(ParamFault::OutOfRange { parameter, value, min, max }));
        }
        Ok(Self { precision, content: Content::Sparse(Vec::new()) })
    }

    /// Reads a value.
    ///
    /// # Errors
    /// [`FormatError`] if `bytes` are anything else, or more.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut reader = Reader::new(FORMAT, bytes);
        let tag = reader.u8("format tag")?;
        let allowed = "1 (dense), 2 (sparse) or 3 (dense, version 2)";
        let tag = tag
            .one_of(&[DENSE_1, SPARSE, DENSE], allowed)
            .map_err(|error| error.of_kind(DecodeErrorKind::Version))?;
        let precision = reader.u8("index bits")?.within(PRECISIONS)?;
        let content = if tag == SPARSE {
            Content::Sparse(read_sparse(&mut reader, precision)?)
        } else {
            Content::Dense(read_dense(&mut reader, precision, tag)?)
        };
        reader.end()?;
        Ok(Self { precision, content })
    }

    /// Returns the value.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let registers = match &self.content {
            Content::Sparse(entries) => {
                let mut bytes = alloc::vec![SPARSE, self.precision];
                put_u16(&mut bytes, entries.len());
                bytes.extend(entries.iter().flat_map(|entry| entry.to_le_bytes()));
                return bytes;
            }
            Content::Dense(registers) => registers,
        };
        let least = least(registers);
        let mut bytes = alloc::vec![DENSE, self.precision, least];
        let delta = |register: u8| (register - least).min(MAX_DELTA);
        bytes.extend(registers.as_chunks().0.iter().map(|&[a, b]| delta(a) << 4 | delta(b)));
        let is_over = |&(_, &register): &(usize, &u8)| register - least > MAX_DELTA;
        let over: Vec<_> = registers.iter().enumerate().filter(is_over).collect();
        put_u16(&mut bytes, over.len());
        over.iter().for_each(|&(at, _)| put_u16(&mut bytes, at));
        bytes.extend(over.iter().map(|(_, register)| *register - least - MAX_DELTA));
        bytes
    }

    /// Inserts a number as `approx_set` does with a `bigint`. Narrower integers are cast to it.
    pub fn insert_bigint(&mut self, key: i64) -> bool {
        self.insert_bytes(&key.to_le_bytes())
    }

    /// Inserts a number as `approx_set` does with a `double`: by its bits.
    pub fn insert_double(&mut self, key: f64) -> bool {
        self.insert_bytes(&key.to_le_bytes())
    }

    /// Inserts a string as `approx_set` does with a `varchar`.
    pub fn insert_text(&mut self, key: &str) -> bool {
        self.insert_bytes(key.as_bytes())
    }

    /// Inserts the bytes of a key.
    pub fn insert_bytes(&mut self, key: &[u8]) -> bool {
        self.insert_hash(murmur3_128(key, 0)[0])
    }

    /// Inserts a key by its hash. Returns `true` if the sketch changed.
    ///
    /// `approx_set` takes the first half of `MurmurHash3_x64_128` with seed 0.
    #[expect(clippy::cast_possible_truncation, reason = "26 bits, and a number up to 38")]
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        match &mut self.content {
            Content::Sparse(entries) => {
                let zeros = zeros_after(hash, PREFIX_BITS);
                let entry = (hash >> (64 - PREFIX_BITS)) as u32;
                let changed = insert_entry(entries, entry << ZEROS_BITS | u32::from(zeros));
                self.make_dense_if_due();
                changed
            }
            Content::Dense(registers) => {
                let register = &mut registers[(hash >> (64 - self.precision)) as usize];
                let value = zeros_after(hash, self.precision.into()) + 1;
                let changed = value > *register;
                *register = value.max(*register);
                changed
            }
        }
    }

    /// Goes over to registers when entries take more memory, as the engines do.
    fn make_dense_if_due(&mut self) {
        if let Content::Sparse(entries) = &self.content
            && entries.len() > most_entries(self.precision)
        {
            self.content = Content::Dense(dense(entries, self.precision));
        }
    }

    /// Merges the keys of another sketch, as `merge` does.
    ///
    /// # Errors
    /// [`Incompatible`] if the precisions differ. `self` is unchanged then.
    pub fn merge(&mut self, other: &Self) -> Result<(), Incompatible> {
        Incompatible::check_shape("precision", self.precision.into(), other.precision.into())?;
        match (&mut self.content, &other.content) {
            (Content::Sparse(ours), Content::Sparse(theirs)) => {
                theirs.iter().for_each(|&entry| _ = insert_entry(ours, entry));
                self.make_dense_if_due();
            }
            (Content::Dense(ours), theirs) => merge(ours, &theirs.registers(self.precision)),
            (Content::Sparse(ours), Content::Dense(theirs)) => {
                let mut registers = theirs.clone();
                merge(&mut registers, &dense(ours, self.precision));
                self.content = Content::Dense(registers);
            }
        }
        Ok(())
    }

    /// Returns the answer of `cardinality`: [`estimate`](Self::estimate), rounded.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    pub fn cardinality(&self) -> u64 {
        libm::round(self.estimate().value) as u64
    }

    /// Estimates the number of distinct keys, with its standard error.
    ///
    /// The value is that of the engines while the sketch is sparse, and while more than 40 % of its registers are zero: by linear
    /// counting. Beyond they correct the raw estimate by empirical tables, and this one is Ertl's improved raw estimator. They
    /// differ by a fraction of the standard error.
    #[must_use]
    pub fn estimate(&self) -> Estimate {
        let registers = match &self.content {
            Content::Sparse(entries) => {
                let all = libm::ldexp(1.0, PREFIX_BITS.cast_signed());
                let count = entries.len() as f64;
                // Of few keys in many places hardly any share one: a Poisson number does.
                let value = -all * libm::log1p(-count / all);
                return Estimate { value, standard_error: count / libm::sqrt(2.0 * all) };
            }
            Content::Dense(registers) => registers,
        };
        let counts = histogram(registers);
        let (all, zero) = (registers.len() as f64, f64::from(counts[0]));
        let value = if zero > LINEAR_SHARE * all {
            all * libm::log(all / zero)
        } else {
            improved_to(&counts, 64 - usize::from(self.precision), 0.0)
        };
        Estimate { value, standard_error: value * 1.04 / libm::sqrt(all) }
    }

    /// Returns the values of all registers, as if entries were in registers.
    #[must_use]
    pub fn registers(&self) -> Vec<u8> {
        self.content.registers(self.precision).into_owned()
    }

    /// Returns whether no key was inserted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match &self.content {
            Content::Sparse(entries) => entries.is_empty(),
            Content::Dense(registers) => registers.iter().all(|&register| register == 0),
        }
    }

    /// Returns the logarithm of the number of registers.
    #[must_use]
    pub const fn precision(&self) -> u8 {
        self.precision
    }
}

impl Content {
    fn registers(&self, precision: u8) -> alloc::borrow::Cow<'_, [u8]> {
        match self {
            Self::Sparse(entries) => dense(entries, precision).into(),
            Self::Dense(registers) => registers.into(),
        }
    }
}

/// Returns the number of zeros of a hash after its first bits.
#[expect(clippy::cast_possible_truncation, reason = "at most 60")]
const fn zeros_after(hash: u64, bits: u32) -> u8 {
    (hash << bits | 1 << (bits - 1)).leading_zeros() as u8
}

/// Inserts an entry, or raises the zeros of the one that has its prefix. Returns `true` if something changed.
fn insert_entry(entries: &mut Vec<u32>, entry: u32) -> bool {
    match entries.binary_search_by_key(&(entry >> ZEROS_BITS), |entry| entry >> ZEROS_BITS) {
        Ok(at) if entry > entries[at] => entries[at] = entry,
        Ok(_) => return false,
        Err(at) => entries.insert(at, entry),
    }
    true
}

/// Returns the most entries of a sketch before it goes over to registers.
fn most_entries(precision: u8) -> usize {
    (1 << precision) / 8
}

/// Returns the registers of entries.
#[expect(clippy::cast_possible_truncation, reason = "at most 60")]
fn dense(entries: &[u32], precision: u8) -> Vec<u8> {
    let mut registers = alloc::vec![0; 1 << precision];
    for &entry in entries {
        let rest = PREFIX_BITS - u32::from(precision);
        let zeros = (entry << precision).leading_zeros();
        // The zeros that are counted follow if the prefix has no one any more.
        let zeros = if zeros >= rest { rest + (entry & ((1 << ZEROS_BITS) - 1)) } else { zeros };
        let register: &mut u8 = &mut registers[(entry >> (32 - precision)) as usize];
        *register = (*register).max(zeros as u8 + 1);
    }
    registers
}

fn least(registers: &[u8]) -> u8 {
    registers.iter().copied().min().unwrap_or(0)
}

#[expect(clippy::cast_possible_truncation, reason = "at most 65,535")]
fn put_u16(bytes: &mut Vec<u8>, number: usize) {
    bytes.extend((number as u16).to_le_bytes());
}

fn read_sparse(reader: &mut Reader<'_>, precision: u8) -> Result<Vec<u32>, FormatError> {
    // A signed number for the engines.
    let count = reader.u16_le("number of entries")?.within(0..=i16::MAX.cast_unsigned())?;
    reader.clone().bytes("entries", 4 * u64::from(count))?;
    let mut entries: Vec<u32> = Vec::with_capacity(count.into());
    for _ in 0..count {
        let entry = reader.u32_le("entry")?;
        let prefix = entry.value >> ZEROS_BITS;
        if entries.last().is_some_and(|last| last >> ZEROS_BITS >= prefix) {
            return Err(entry.invalid("of a greater prefix than the one before"));
        }
        if entry.value & ((1 << ZEROS_BITS) - 1) > 64 - PREFIX_BITS {
            return Err(entry.invalid("with at most 38 zeros in its low six bits"));
        }
        entries.push(entry.value);
    }
    debug_assert!(PRECISIONS.contains(&precision));
    Ok(entries)
}

fn read_dense(reader: &mut Reader<'_>, precision: u8, tag: u8) -> Result<Vec<u8>, FormatError> {
    let greatest = 64 - precision + 1;
    let baseline = reader.u8("baseline")?;
    let least_value = baseline.within(0..=greatest)?;
    let start = reader.offset();
    let nibbles = reader.bytes("registers", 1 << (precision - 1))?;
    let mut registers: Vec<u8> =
        nibbles.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|d| d + least_value).collect();
    let is_full =
        |registers: &[u8], at: usize| registers.get(at) == Some(&(least_value + MAX_DELTA));
    let mut overflows = Vec::new();
    if tag == DENSE_1 {
        // One at most, and none if a number is negative.
        let at = reader.u16_le("bucket of the overflow")?;
        let value = reader.u8("overflow")?;
        if at.value <= i16::MAX.cast_unsigned()
            && (1..=i8::MAX.cast_unsigned()).contains(&value.value)
        {
            overflows.push((at, value));
        }
    } else {
        let count = reader.u16_le("number of overflows")?.value;
        let mut ahead = reader.clone();
        ahead.bytes("buckets of overflows", 2 * u64::from(count))?;
        for _ in 0..count {
            overflows.push((reader.u16_le("bucket of an overflow")?, ahead.u8("overflow")?));
        }
        reader.bytes("overflows", count.into())?;
    }
    let check = |holds: bool, field: Field<u16>, allowed| field.require(holds, allowed);
    for (at, value) in overflows {
        let place = usize::from(at.value);
        check(is_full(&registers, place), at, "a register of 15 that has no other overflow")?;
        let most = greatest.saturating_sub(least_value + MAX_DELTA);
        registers[place] += value.within(1..=most)?;
    }
    if let Some(at) = registers.iter().position(|&value| value > greatest) {
        let allowed = format!("at most {greatest}");
        return Err(reader.invalid("register", start + at as u64 / 2, registers[at], allowed));
    }
    let found = least(&registers);
    if found != least_value {
        return Err(baseline.invalid(format!("{found}, the least register")));
    }
    Ok(registers)
}
