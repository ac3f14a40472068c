//! The payload of `DUMP`: the value of a module's type, the version of the format, and a checksum.

use alloc::borrow::Cow;
use alloc::string::ToString as _;
use alloc::vec::Vec;

use crc::{CRC_64_REDIS, Crc, Table};
use pds_core::error::DecodeErrorKind;

use crate::FormatError;
use crate::format_error::Found;
use crate::reader::{Field, Reader};

/// The type of a value that a module saved.
const MODULE_VALUE: u8 = 7;

/// Codes of the item that follows in such a value.
const END: u64 = 0;
const UNSIGNED: u64 = 2;
const DOUBLE: u64 = 4;
const STRING: u64 = 5;

/// The first byte of a string that the server stored as a number of 1, 2 or 4 bytes, since it consists of the digits of that
/// number.
const NUMBER_8: u8 = 0xc0;
const NUMBER_16: u8 = 0xc1;
const NUMBER_32: u8 = 0xc2;

/// The first byte of a string that the server compressed, as it does by default with 21 bytes and more.
const COMPRESSED: u8 = 0xc3;

/// The version that a dump states. A server refuses dumps of a later version than its own.
///
/// Values of modules have the same bytes in all versions since Redis 5.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RdbVersion {
    /// Version 9 of Redis 5 and 6, which every later server reads.
    #[default]
    Redis5,
    /// Version 10.
    Redis7_0,
    /// Version 11, also of Valkey 7.2 and 8.
    Redis7_2,
    /// Version 12.
    Redis7_4,
}

impl RdbVersion {
    const fn number(self) -> u16 {
        match self {
            Self::Redis5 => 9,
            Self::Redis7_0 => 10,
            Self::Redis7_2 => 11,
            Self::Redis7_4 => 12,
        }
    }
}

/// Bytes of version and checksum.
const FOOTER_BYTES: usize = 10;

/// The checksum of a payload.
static CHECKSUM: Crc<u64, Table<1>> = Crc::<u64, Table<1>>::new(&CRC_64_REDIS);

/// The digits of the name of a type, of six bits each.
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The number that stands for name and version of a module's type: nine digits, and ten bits.
const fn type_id((name, version): (&str, u16)) -> u64 {
    let (name, mut id, mut i) = (name.as_bytes(), 0, 0);
    while i < 9 {
        let mut digit = 0;
        while DIGITS[digit] != name[i] {
            digit += 1;
        }
        id = id << 6 | digit as u64;
        i += 1;
    }
    id << 10 | version as u64
}

/// Reader of a payload.
pub(super) struct ModuleReader<'a> {
    reader: Reader<'a>,
}

impl<'a> ModuleReader<'a> {
    /// Verifies checksum, version and type.
    pub(super) fn new(
        format: &'static str,
        bytes: &'a [u8],
        type_of: (&str, u16),
    ) -> Result<Self, FormatError> {
        let whole = Reader::new(format, bytes);
        let Some((body, footer)) =
            bytes.len().checked_sub(FOOTER_BYTES).map(|at| bytes.split_at(at))
        else {
            let left = bytes.len() as u64;
            return Err(FormatError::truncated(format, "footer", 0, FOOTER_BYTES as u64, left));
        };
        let (version, sum) = footer.split_at(2);
        let at = body.len() as u64;
        let (expected, stored) = (CHECKSUM.checksum(&bytes[..body.len() + 2]), little(sum));
        if stored != expected {
            let allowed = alloc::format!("{expected}");
            let error = whole.invalid("checksum", at + 2, stored, allowed);
            return Err(error.of_kind(DecodeErrorKind::Checksum));
        }
        let version = little(version);
        if !(1..=80).contains(&version) {
            let error = whole.invalid("version of the dump", at, version, "from 1 to 80");
            return Err(error.of_kind(DecodeErrorKind::Version));
        }
        let mut reader = Self { reader: Reader::new(format, body) };
        let kind = |error: FormatError| error.of_kind(DecodeErrorKind::Kind);
        reader.reader.u8("type of the value")?.equals(MODULE_VALUE).map_err(kind)?;
        let id = reader.length("type of the module")?;
        let (offset, found) = (id.offset, id.value);
        if found >> 10 != type_id(type_of) >> 10 {
            let allowed = alloc::format!("\"{}\"", type_of.0);
            let error =
                reader.reader.invalid("type of the module", offset, name_of(found), allowed);
            return Err(kind(error));
        }
        if found != type_id(type_of) {
            let (found, allowed) = (found & 1023, alloc::format!("{}", type_of.1));
            let error = reader.reader.invalid("version of the type", offset, found, allowed);
            return Err(error.of_kind(DecodeErrorKind::Version));
        }
        Ok(reader)
    }

    /// Takes a number.
    pub(super) fn unsigned(&mut self, name: &'static str) -> Result<Field<u64>, FormatError> {
        self.opcode(UNSIGNED, "2, a number")?;
        self.length(name)
    }

    /// Takes a number of floating point.
    pub(super) fn double(&mut self, name: &'static str) -> Result<Field<f64>, FormatError> {
        self.opcode(DOUBLE, "4, a double")?;
        self.reader.f64_le(name)
    }

    /// Returns the error of a value at an offset.
    pub(super) fn invalid(
        &self,
        field: &'static str,
        offset: u64,
        found: impl Into<Found>,
        allowed: impl Into<Cow<'static, str>>,
    ) -> FormatError {
        self.reader.invalid(field, offset, found, allowed)
    }

    pub(super) const fn offset(&self) -> u64 {
        self.reader.offset()
    }

    /// Takes a byte string, which may be compressed, or stored as a number.
    pub(super) fn string(&mut self, name: &'static str) -> Result<Cow<'a, [u8]>, FormatError> {
        self.opcode(STRING, "5, a string")?;
        if let Some(first @ NUMBER_8..=NUMBER_32) = self.reader.peek() {
            self.reader.u8(name)?;
            let number = match first {
                NUMBER_8 => self.reader.i8(name)?.value.into(),
                NUMBER_16 => self.reader.i16_le(name)?.value.into(),
                _ => self.reader.i32_le(name)?.value,
            };
            return Ok(Cow::Owned(number.to_string().into_bytes()));
        }
        if self.reader.peek() != Some(COMPRESSED) {
            let length = self.length("length of a string")?;
            return self.reader.bytes(name, length.value).map(Cow::Borrowed);
        }
        self.reader.u8(name)?;
        let (length, whole) =
            (self.length("length of a compressed string")?, self.length("length of a string")?);
        // A compressed byte stands for 88 bytes at most.
        whole.require(whole.value / 88 <= length.value, "at most 88 per compressed byte")?;
        let taken = self.reader.bytes(name, length.value)?;
        let mut compressed = Reader::at(&self.reader, taken);
        lzf(&mut compressed, whole.value).map(Cow::Owned)
    }

    /// Refuses anything but the end. Returns the reader at it.
    pub(super) fn end(mut self) -> Result<Reader<'a>, FormatError> {
        self.opcode(END, "0, the end")?;
        self.reader.end()?;
        Ok(self.reader)
    }

    fn opcode(&mut self, expected: u64, allowed: &'static str) -> Result<(), FormatError> {
        self.length("opcode")?.one_of(&[expected], allowed).map(drop)
    }

    /// Takes a number of 6, 14, 32 or 64 bits. The two highest bits of the first byte say which.
    fn length(&mut self, name: &'static str) -> Result<Field<u64>, FormatError> {
        let first = self.reader.u8(name)?;
        let value = match first.value {
            byte @ 0..=0x3f => byte.into(),
            byte @ 0x40..=0x7f => {
                u64::from(byte & 0x3f) << 8 | u64::from(self.reader.u8(name)?.value)
            }
            0x80 => self.reader.u32_be(name)?.value.into(),
            0x81 => self.reader.u64_be(name)?.value,
            _ => return Err(first.invalid("0 to 129, the first byte of a number")),
        };
        Ok(first.with_value(value))
    }
}

/// Returns the name in the number of a type.
fn name_of(id: u64) -> Vec<u8> {
    (0..9).rev().map(|place| DIGITS[(id >> (10 + 6 * place) & 63) as usize]).collect()
}

/// Returns the number whose digits a string consists of.
fn number_of(bytes: &[u8]) -> Option<i32> {
    let digits = core::str::from_utf8(bytes).ok()?;
    let number: i32 = digits.parse().ok()?;
    // Without a plus sign and zeros in front.
    (number.to_string() == digits).then_some(number)
}

/// Decompresses a string: pieces as they are, and copies of what came before.
///
/// # References
/// Marc Lehmann, LibLZF, 2000: the format in `lzf_d.c`.
fn lzf(compressed: &mut Reader<'_>, length: u64) -> Result<Vec<u8>, FormatError> {
    const FIELD: &str = "compressed string";
    let mut bytes = Vec::new();
    while compressed.remaining() > 0 {
        let control = compressed.u8(FIELD)?;
        let piece = u64::from(control.value);
        if piece < 32 {
            bytes.extend_from_slice(compressed.bytes(FIELD, piece + 1)?);
        } else {
            let more = if piece >> 5 == 7 { compressed.u8(FIELD)?.value } else { 0 };
            let copied = (piece >> 5) + u64::from(more) + 2;
            let back =
                usize::from(control.value & 31) << 8 | usize::from(compressed.u8(FIELD)?.value);
            let Some(start) = bytes.len().checked_sub(back + 1) else {
                return Err(control.invalid("a copy from within the string"));
            };
            // A copy may reach into itself.
            (start..).zip(0..copied).for_each(|(at, _)| bytes.push(bytes[at]));
        }
        if bytes.len() as u64 > length {
            return Err(control.invalid("a piece that ends within the string"));
        }
    }
    if bytes.len() as u64 != length {
        let allowed = alloc::format!("{length} bytes in all");
        return Err(compressed.invalid(FIELD, compressed.offset(), bytes.len() as u64, allowed));
    }
    Ok(bytes)
}

fn little(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// Writer of a payload.
pub(super) struct ModuleWriter(Vec<u8>);

impl ModuleWriter {
    pub(super) fn new(type_of: (&str, u16)) -> Self {
        let mut writer = Self(alloc::vec![MODULE_VALUE]);
        writer.length(type_id(type_of));
        writer
    }

    pub(super) fn unsigned(&mut self, number: u64) {
        self.length(UNSIGNED);
        self.length(number);
    }

    pub(super) fn double(&mut self, number: f64) {
        self.length(DOUBLE);
        self.0.extend(number.to_le_bytes());
    }

    /// Writes a byte string as the server does without compression.
    pub(super) fn string(&mut self, bytes: &[u8]) {
        self.length(STRING);
        match number_of(bytes) {
            Some(number) => {
                let bytes = number.to_le_bytes();
                let (first, length) = match number {
                    -0x80..0x80 => (NUMBER_8, 1),
                    -0x8000..0x8000 => (NUMBER_16, 2),
                    _ => (NUMBER_32, 4),
                };
                self.0.push(first);
                self.0.extend_from_slice(&bytes[..length]);
            }
            None => {
                self.length(bytes.len() as u64);
                self.0.extend_from_slice(bytes);
            }
        }
    }

    pub(super) fn end(mut self, version: RdbVersion) -> Vec<u8> {
        self.length(END);
        self.0.extend(version.number().to_le_bytes());
        let sum = CHECKSUM.checksum(&self.0);
        self.0.extend(sum.to_le_bytes());
        self.0
    }

    /// Writes a number in the fewest bytes.
    fn length(&mut self, number: u64) {
        let big = number.to_be_bytes();
        match number {
            0..=0x3f => self.0.push(big[7]),
            0x40..=0x3fff => self.0.extend([0x40 | big[6], big[7]]),
            0x4000..=0xffff_ffff => {
                self.0.push(0x80);
                self.0.extend_from_slice(&big[4..]);
            }
            _ => {
                self.0.push(0x81);
                self.0.extend(big);
            }
        }
    }
}
