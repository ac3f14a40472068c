//! Values of the `PostgreSQL` extension `postgresql-hll`, in its storage format of schema version 1.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

use pds_core::error::{DecodeErrorKind, Incompatible, ParamError};
use pds_core::internal::{pack_bits, unpack_bits};
use pds_params::Estimate;
use pds_params::internal::ParamFault;

use crate::FormatError;
use crate::hash::murmur3_128;
use crate::reader::Reader;

/// The name of the format in errors.
const FORMAT: &str = "postgresql-hll value";

const SCHEMA_VERSION: u8 = 1;

/// The types of values, in the low half of the first byte.
const EMPTY: u8 = 1;
const EXPLICIT: u8 = 2;
const SPARSE: u8 = 3;
const FULL: u8 = 4;

/// Logarithms of the number of registers. The format allows 31, but the extension holds 128 KiB of registers.
const LOG2M: RangeInclusive<u8> = 0..=17;
/// The most explicit hashes, which the extension holds in the same space, beside their number.
const MAX_EXPLICIT: u64 = 16_383;
const REGISTER_WIDTHS: RangeInclusive<u8> = 1..=8;

/// The code of a limit that the extension chooses, in the third byte. Others are 0, and 1 above a logarithm.
const AUTO: u8 = 63;
/// The greatest limit has the logarithm 17.
const MAX_THRESHOLD: u8 = 18;
const SPARSE_ENABLED: u8 = 0x40;

/// Parameters of a value. All of them stand in its bytes, and only values of equal parameters are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PostgresHllParams {
    /// The logarithm of the number of registers, 0 to 17. The extension's default is 11. It refuses to estimate below 4.
    pub log2m: u8,
    /// The bits of a register, 1 to 8. The default is 5.
    pub register_width: u8,
    /// Up to how many hashes are kept as they are.
    pub explicit: PostgresExplicit,
    /// Whether few registers are written with their numbers. The default is `true`.
    pub is_sparse_enabled: bool,
}

/// Up to how many hashes are kept as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PostgresExplicit {
    /// As many as take the space of the registers: `expthresh` -1, the default.
    Auto,
    /// None: `expthresh` 0.
    Off,
    /// 2 to this power, up to 17, but at most 16,383: the extension has no room for more.
    Log2(u8),
}

/// Parameters as the extension chooses them.
impl Default for PostgresHllParams {
    fn default() -> Self {
        let explicit = PostgresExplicit::Auto;
        Self { log2m: 11, register_width: 5, explicit, is_sparse_enabled: true }
    }
}

/// A sketch of distinct keys in the values of the `PostgreSQL` extension `postgresql-hll`.
///
/// Use it to exchange values with a database. Otherwise use [`hll::HyperLogLog`]. The standard error is 1.04 / √m for m
/// registers.
///
/// # Examples
/// ```
/// use pds_formats::postgres::PostgresHll;
///
/// let mut visitors = PostgresHll::new(Default::default())?;
/// visitors.insert_bigint(17);
/// visitors.insert_text("10.0.0.1");
/// // A value of the type `hll`, as `\x` and hexadecimal digits.
/// let value = visitors.to_bytes();
/// assert_eq!(PostgresHll::from_bytes(&value)?.estimate().value, 2.0);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # References
/// Aggregate Knowledge, "HLL storage specification" (STORAGE.md), version 1.0.0. Philippe Flajolet et al., "HyperLogLog: the
/// analysis of a near-optimal cardinality estimation algorithm", AofA 2007.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostgresHll {
    params: PostgresHllParams,
    content: Content,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Content {
    Empty,
    Explicit(BTreeSet<i64>),
    Sparse(BTreeMap<u32, u8>),
    Full(Vec<u8>),
}

impl PostgresHll {
    /// Creates an empty sketch.
    ///
    /// # Errors
    /// [`ParamError`] if a parameter is out of its range.
    pub fn new(params: PostgresHllParams) -> Result<Self, ParamError> {
        let power = match params.explicit {
            PostgresExplicit::Log2(power) => power,
            PostgresExplicit::Auto | PostgresExplicit::Off => 0,
        };
        let checks = [
            ("log2m", params.log2m, LOG2M),
            ("register_width", params.register_width, REGISTER_WIDTHS),
            ("logarithm of the explicit limit", power, 0..=MAX_THRESHOLD - 1),
        ];
        for (parameter, value, range) in checks {
            if !range.contains(&value) {
                let (value, min, max) =
                    (value.into(), (*range.start()).into(), (*range.end()).into());
                return Err(ParamError(ParamFault::OutOfRange { parameter, value, min, max }));
            }
        }
        Ok(Self { params, content: Content::Empty })
    }

    /// Reads a value.
    ///
    /// # Errors
    /// [`FormatError`] if `bytes` are anything else, or more.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut reader = Reader::new(FORMAT, bytes);
        let first = reader.u8("schema version and type")?;
        if first.value >> 4 != SCHEMA_VERSION {
            let error = reader.invalid("schema version", 0, first.value >> 4, "1");
            return Err(error.of_kind(DecodeErrorKind::Version));
        }
        let sizes = reader.u8("register width and log2m")?;
        let (register_width, log2m) = ((sizes.value >> 5) + 1, sizes.value & 31);
        if !LOG2M.contains(&log2m) {
            return Err(reader.invalid("log2m", sizes.offset, log2m, "at most 17"));
        }
        let limits = reader.u8("limits")?;
        let explicit = match limits.value & AUTO {
            0 => PostgresExplicit::Off,
            AUTO => PostgresExplicit::Auto,
            code if code <= MAX_THRESHOLD => PostgresExplicit::Log2(code - 1),
            code => {
                let (field, allowed) = ("code of the explicit limit", "0 to 18, or 63");
                return Err(reader.invalid(field, limits.offset, code, allowed));
            }
        };
        if limits.value & 0x80 != 0 {
            return Err(reader.invalid("top bit of the limits", limits.offset, 1u8, "0"));
        }
        let is_sparse_enabled = limits.value & SPARSE_ENABLED != 0;
        let params = PostgresHllParams { log2m, register_width, explicit, is_sparse_enabled };
        let content = match first.value & 15 {
            EMPTY => Content::Empty,
            EXPLICIT => Content::Explicit(read_explicit(&mut reader)?),
            SPARSE => Content::Sparse(read_sparse(&mut reader, params)?),
            FULL => Content::Full(read_full(&mut reader, params)?),
            0 => {
                let allowed = "1 to 4 (0 is UNDEFINED, which stands for no value at all)";
                return Err(reader.invalid("type", first.offset, 0u8, allowed));
            }
            of => return Err(reader.invalid("type", first.offset, of, "1 to 4")),
        };
        reader.end()?;
        Ok(Self { params, content })
    }

    /// Returns the value.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let params = self.params;
        let limits =
            params.explicit.code() | if params.is_sparse_enabled { SPARSE_ENABLED } else { 0 };
        let head = |of| {
            vec![SCHEMA_VERSION << 4 | of, (params.register_width - 1) << 5 | params.log2m, limits]
        };
        let width = u32::from(params.register_width);
        match &self.content {
            Content::Empty => head(EMPTY),
            Content::Explicit(hashes) => {
                let mut bytes = head(EXPLICIT);
                bytes.extend(hashes.iter().flat_map(|hash| hash.to_be_bytes()));
                bytes
            }
            Content::Sparse(registers) => {
                let word = |(&at, &value): (&u32, &u8)| u64::from(at) << width | u64::from(value);
                let mut bytes = head(SPARSE);
                pack_bits(registers.iter().map(word), width + u32::from(params.log2m), &mut bytes);
                bytes
            }
            Content::Full(registers) => {
                let mut bytes = head(FULL);
                pack_bits(registers.iter().map(|&value| value.into()), width, &mut bytes);
                bytes
            }
        }
    }

    /// Inserts a number as `hll_add(value, hll_hash_bigint(key))` does.
    pub fn insert_bigint(&mut self, key: i64) {
        self.insert_bytes(&key.to_le_bytes());
    }

    /// Inserts a number as `hll_add(value, hll_hash_integer(key))` does. It differs from the same `bigint`.
    pub fn insert_integer(&mut self, key: i32) {
        self.insert_bytes(&key.to_le_bytes());
    }

    /// Inserts a string as `hll_add(value, hll_hash_text(key))` does.
    pub fn insert_text(&mut self, key: &str) {
        self.insert_bytes(key.as_bytes());
    }

    /// Inserts a byte string as `hll_add(value, hll_hash_bytea(key))` does.
    pub fn insert_bytes(&mut self, key: &[u8]) {
        self.insert_hash(murmur3_128(key, 0)[0].cast_signed());
    }

    /// Inserts a hash as `hll_add(value, hash)` does.
    pub fn insert_hash(&mut self, hash: i64) {
        if let Content::Empty = self.content {
            self.content = if self.max_explicit() == 0 {
                self.no_registers()
            } else {
                Content::Explicit(BTreeSet::new())
            };
        }
        let limit = self.max_explicit();
        if let Content::Explicit(hashes) = &mut self.content {
            if hashes.insert(hash) && hashes.len() as u64 > limit {
                self.leave_explicit();
            }
            return;
        }
        let (register, value) = self.params.register_of(hash);
        self.raise(register, value);
    }

    /// Returns the most hashes that are kept as they are.
    fn max_explicit(&self) -> u64 {
        let limit = match self.params.explicit {
            PostgresExplicit::Off => 0,
            PostgresExplicit::Log2(power) => 1 << power,
            PostgresExplicit::Auto => self.params.full_bytes() / 8,
        };
        limit.min(MAX_EXPLICIT)
    }

    fn no_registers(&self) -> Content {
        if self.params.is_sparse_enabled {
            return Content::Sparse(BTreeMap::new());
        }
        Content::Full(vec![0; 1 << self.params.log2m])
    }

    fn leave_explicit(&mut self) {
        let registers = self.no_registers();
        if let Content::Explicit(hashes) = core::mem::replace(&mut self.content, registers) {
            for hash in hashes {
                let (register, value) = self.params.register_of(hash);
                self.raise(register, value);
            }
        }
    }

    /// Raises a register, if there are registers.
    fn raise(&mut self, register: u32, value: u8) {
        match &mut self.content {
            Content::Full(registers) => {
                let old = &mut registers[register as usize];
                *old = value.max(*old);
            }
            Content::Sparse(registers) if value > 0 => {
                let old = registers.entry(register).or_insert(0);
                *old = value.max(*old);
                // As many bits as of all registers.
                let word = u64::from(self.params.register_width + self.params.log2m);
                if registers.len() as u64 * word >= self.params.full_bits() {
                    let mut full = vec![0; 1 << self.params.log2m];
                    registers.iter().for_each(|(&at, &value)| full[at as usize] = value);
                    self.content = Content::Full(full);
                }
            }
            Content::Sparse(_) | Content::Empty | Content::Explicit(_) => {}
        }
    }

    /// Merges the keys of another sketch, as `hll_union` does.
    ///
    /// # Errors
    /// [`Incompatible`] if a parameter differs. `self` is unchanged then.
    pub fn merge(&mut self, other: &Self) -> Result<(), Incompatible> {
        let [ours, theirs] = [self.params, other.params];
        let check = Incompatible::check_shape;
        check("log2m", ours.log2m.into(), theirs.log2m.into())?;
        check("register width", ours.register_width.into(), theirs.register_width.into())?;
        let codes = [ours, theirs].map(|params| params.explicit.code().into());
        check("code of the explicit limit", codes[0], codes[1])?;
        let sparse = [ours, theirs].map(|params| params.is_sparse_enabled.into());
        check("sparse flag", sparse[0], sparse[1])?;
        match &other.content {
            Content::Empty => return Ok(()),
            Content::Explicit(hashes) => {
                hashes.iter().for_each(|&hash| self.insert_hash(hash));
                return Ok(());
            }
            Content::Sparse(_) | Content::Full(_) => {}
        }
        match self.content {
            Content::Empty => self.content = self.no_registers(),
            Content::Explicit(_) => self.leave_explicit(),
            Content::Sparse(_) | Content::Full(_) => {}
        }
        other.for_each_register(|register, value| self.raise(register, value));
        Ok(())
    }

    /// Visits the registers that are not 0, if there are registers.
    fn for_each_register(&self, mut visit: impl FnMut(u32, u8)) {
        match &self.content {
            Content::Sparse(registers) => {
                registers.iter().for_each(|(&at, &value)| visit(at, value))
            }
            Content::Full(registers) => {
                let registers = (0..).zip(registers).filter(|&(_, &value)| value > 0);
                registers.for_each(|(at, &value)| visit(at, value));
            }
            Content::Empty | Content::Explicit(_) => {}
        }
    }

    /// Returns the answer of `hll_cardinality`, with its standard error.
    ///
    /// The value is the extension's: by Flajolet's estimator, with linear counting for few keys, and the correction for a
    /// number that comes close to that of all hashes. Explicit hashes are counted.
    #[must_use]
    pub fn estimate(&self) -> Estimate {
        if let Content::Explicit(hashes) = &self.content {
            return Estimate { value: hashes.len() as f64, standard_error: 0.0 };
        }
        let m = libm::ldexp(1.0, self.params.log2m.into());
        let (mut set, mut sum) = (0.0, 0.0);
        self.for_each_register(|_, value| {
            set += 1.0;
            sum += libm::ldexp(1.0, -i32::from(value));
        });
        let clear = m - set;
        let alpha = match self.params.log2m {
            4 => 0.673,
            5 => 0.697,
            6 => 0.709,
            _ => 0.7213 / (1.0 + 1.079 / m),
        };
        let raw = alpha * m * m / (sum + clear);
        // The bits of a hash that registers can tell apart.
        let bits = (1i32 << self.params.register_width) - 2 + i32::from(self.params.log2m);
        let hashes = libm::ldexp(1.0, bits);
        let value = if clear > 0.0 && raw < 2.5 * m {
            m * libm::log(m / clear)
        } else if raw <= hashes / 30.0 {
            raw
        } else if raw < hashes {
            -hashes * libm::log1p(-raw / hashes)
        } else {
            f64::INFINITY
        };
        Estimate { value, standard_error: value * 1.04 / libm::sqrt(m) }
    }

    /// Returns the parameters.
    #[must_use]
    pub const fn params(&self) -> PostgresHllParams {
        self.params
    }
}

impl PostgresExplicit {
    /// Returns the code in the third byte.
    const fn code(self) -> u8 {
        match self {
            Self::Off => 0,
            Self::Auto => AUTO,
            Self::Log2(power) => power + 1,
        }
    }
}

impl PostgresHllParams {
    fn full_bits(self) -> u64 {
        u64::from(self.register_width) << self.log2m
    }

    /// Returns the bytes of all registers.
    fn full_bytes(self) -> u64 {
        self.full_bits().div_ceil(8)
    }

    /// Returns the register of a hash, and its value. The value is 0 if all other bits of the hash are.
    #[expect(clippy::cast_possible_truncation, reason = "the low bits, and a number up to 64")]
    fn register_of(self, hash: i64) -> (u32, u8) {
        let hash = hash.cast_unsigned();
        let register = hash as u32 & ((1 << self.log2m) - 1);
        let rest = hash >> self.log2m;
        let value = if rest == 0 { 0 } else { rest.trailing_zeros() + 1 };
        (register, value.min((1 << self.register_width) - 1) as u8)
    }
}

fn read_explicit(reader: &mut Reader<'_>) -> Result<BTreeSet<i64>, FormatError> {
    let mut hashes = BTreeSet::new();
    let mut last = None;
    // The extension reads, but does not write, none at all.
    while reader.remaining() > 0 {
        let hash = reader.i64_be("explicit hash")?;
        if last.is_some_and(|last| last >= hash.value) {
            return Err(hash.invalid("greater than the one before"));
        }
        last = Some(hash.value);
        hashes.insert(hash.value);
    }
    Ok(hashes)
}

fn read_sparse(
    reader: &mut Reader<'_>,
    params: PostgresHllParams,
) -> Result<BTreeMap<u32, u8>, FormatError> {
    let start = reader.offset();
    let bytes = reader.rest();
    let width = u32::from(params.register_width);
    let mut registers = BTreeMap::new();
    let mut words = Words::new(bytes, width + u32::from(params.log2m));
    while let Some((bit, word)) = words.next() {
        // The rest of the last byte is zero, and may be as long as a word.
        let left = bytes.len() as u64 * 8 - bit;
        if word == 0 && left < 8 {
            break;
        }
        let (register, value) = (word >> width, word & ((1 << width) - 1));
        let is_next = registers.last_key_value().is_none_or(|(&last, _)| last < register);
        if !is_next || value == 0 {
            let allowed = "a register after the one before, with a value above 0";
            return Err(reader.invalid("sparse register", start + bit / 8, word, allowed));
        }
        registers.insert(register, value.to_le_bytes()[0]);
    }
    check_padding(reader, start, bytes, &words)?;
    Ok(registers)
}

fn read_full(reader: &mut Reader<'_>, params: PostgresHllParams) -> Result<Vec<u8>, FormatError> {
    let start = reader.offset();
    let bytes = reader.bytes("registers", params.full_bytes())?;
    let mut words = Words::new(bytes, params.register_width.into());
    let mut registers = Vec::with_capacity(1 << params.log2m);
    while registers.len() < 1 << params.log2m
        && let Some((_, value)) = words.next()
    {
        registers.push(value.to_le_bytes()[0]);
    }
    check_padding(reader, start, bytes, &words)?;
    Ok(registers)
}

/// Checks the bits that no word takes.
fn check_padding(
    reader: &Reader<'_>,
    start: u64,
    bytes: &[u8],
    words: &Words<'_>,
) -> Result<(), FormatError> {
    let left = bytes.len() as u64 * 8 - words.bit;
    let last = bytes.last().copied().unwrap_or(0);
    // Shorter than a byte: longer words leave more only if the bytes end too early or too late.
    if left >= 8 || left > 0 && last & ((1 << left) - 1) != 0 {
        let at = start + bytes.len() as u64 - 1;
        let allowed = format!("less than a byte, and zero, but {left} bits are left");
        return Err(reader.invalid("last byte after the registers", at, last, allowed));
    }
    Ok(())
}

/// Words of some bits, the most significant first.
struct Words<'a> {
    bytes: &'a [u8],
    width: u32,
    bit: u64,
}

impl<'a> Words<'a> {
    const fn new(bytes: &'a [u8], width: u32) -> Self {
        Self { bytes, width, bit: 0 }
    }

    /// Returns the next word and the number of its first bit. `None` if less than a word is left.
    #[expect(clippy::cast_possible_truncation, reason = "up to 25 bits")]
    fn next(&mut self) -> Option<(u64, u32)> {
        let (start, end) = (self.bit, self.bit + u64::from(self.width));
        if end > self.bytes.len() as u64 * 8 {
            return None;
        }
        self.bit = end;
        Some((start, unpack_bits(self.bytes, start, self.width) as u32))
    }
}
