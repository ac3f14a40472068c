//! Snapshots of RedisBloom. The fields of a value in a snapshot are those in the payload of `DUMP`, which `pds-formats`
//! reads and writes.
//!
//! A value is in memory up to three times while it is loaded, and twice while it is saved: RedisBloom's format has each table
//! in one string.

use std::borrow::Cow;

use crc::{CRC_64_REDIS, Crc, Table};

use crate::server::{Load, Save, TypeName};

/// Codes of the item that follows in a payload.
const END: u64 = 0;
const UNSIGNED: u64 = 2;
const DOUBLE: u64 = 4;
const STRING: u64 = 5;

/// The type of a value that a module saved, and the oldest version of payloads with such values.
const MODULE_VALUE: u8 = 7;
const VERSION: u16 = 9;

/// Bytes of version and checksum at the end of a payload.
const FOOTER_BYTES: usize = 10;

static CHECKSUM: Crc<u64, Table<1>> = Crc::<u64, Table<1>>::new(&CRC_64_REDIS);

/// The digits of the name of a type, of six bits each.
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Reads fields from a snapshot, and collects them into a payload.
pub(crate) struct Recorder<'a, 'b> {
    file: &'a mut Load<'b>,
    payload: Vec<u8>,
}

impl<'a, 'b> Recorder<'a, 'b> {
    /// Begins the payload of a value of this type.
    pub(crate) fn new(file: &'a mut Load<'b>, name: &TypeName) -> Self {
        let digit = |byte: u8| DIGITS.iter().position(|&digit| digit == byte).unwrap_or(0) as u64;
        let id = name.name.bytes().fold(0, |id, byte| id << 6 | digit(byte)) << 10;
        let id = id | u64::from(name.version.unsigned_abs());
        let mut recorder = Self { file, payload: vec![MODULE_VALUE] };
        recorder.number(id);
        recorder
    }

    fn number(&mut self, number: u64) {
        self.payload.push(0x81);
        self.payload.extend(number.to_be_bytes());
    }

    /// Reads a number.
    pub(crate) fn unsigned(&mut self) -> Result<u64, String> {
        let number = self.file.unsigned()?;
        self.number(UNSIGNED);
        self.number(number);
        Ok(number)
    }

    /// Reads a floating-point number.
    pub(crate) fn double(&mut self) -> Result<(), String> {
        let number = self.file.double()?;
        self.number(DOUBLE);
        self.payload.extend(number.to_le_bytes());
        Ok(())
    }

    /// Reads a string of bytes.
    pub(crate) fn bytes(&mut self) -> Result<(), String> {
        let bytes = self.file.bytes()?;
        self.number(STRING);
        self.number(bytes.len() as u64);
        self.payload.try_reserve(bytes.len()).map_err(|_| "no memory for the value")?;
        self.payload.extend_from_slice(&bytes);
        Ok(())
    }

    /// Returns the payload.
    pub(crate) fn end(mut self) -> Vec<u8> {
        self.number(END);
        self.payload.extend(VERSION.to_le_bytes());
        let sum = CHECKSUM.checksum(&self.payload);
        self.payload.extend(sum.to_le_bytes());
        self.payload
    }
}

/// Writes the fields of a payload into a snapshot.
pub(crate) fn save(payload: &[u8], file: &mut Save<'_>) {
    let end = payload.len().saturating_sub(FOOTER_BYTES);
    let mut fields = Fields(payload.get(1..end).unwrap_or_default());
    let _type = fields.number();
    while let Some(opcode) = fields.number() {
        let written = match opcode {
            UNSIGNED => fields.number().map(|number| file.unsigned(number)),
            DOUBLE => fields.array().map(|bytes| file.double(f64::from_le_bytes(bytes))),
            STRING => fields.string().map(|bytes| file.bytes(&bytes)),
            _ => None,
        };
        if written.is_none() {
            break;
        }
    }
}

/// Returns the first numbers among the fields of a payload.
pub(crate) fn numbers<const N: usize>(payload: &[u8]) -> [u64; N] {
    let mut fields = Fields(payload.get(1..).unwrap_or_default());
    let _type = fields.number();
    std::array::from_fn(|_| {
        let _opcode = fields.number();
        fields.number().unwrap_or(0)
    })
}

/// The rest of a payload.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    /// Takes a string. One that consists of the digits of a small number may be stored as that number.
    fn string(&mut self) -> Option<Cow<'a, [u8]>> {
        let number = match self.0.first()? {
            0xc0 => self.array().map(|[_, byte]| i8::from_le_bytes([byte]).into()),
            0xc1 => self.array().map(|[_, a, b]| i16::from_le_bytes([a, b]).into()),
            0xc2 => self.array().map(|[_, a, b, c, d]| i32::from_le_bytes([a, b, c, d])),
            _ => {
                let length = usize::try_from(self.number()?).ok()?;
                return self.take(length).map(Cow::Borrowed);
            }
        };
        number.map(|number: i32| Cow::Owned(number.to_string().into_bytes()))
    }

    /// Takes a number of 6, 14, 32 or 64 bits.
    fn number(&mut self) -> Option<u64> {
        let [first] = self.array()?;
        match first {
            0..=0x3f => Some(first.into()),
            0x40..=0x7f => {
                let [second] = self.array()?;
                Some(u64::from(first & 0x3f) << 8 | u64::from(second))
            }
            0x80 => self.array().map(|bytes| u32::from_be_bytes(bytes).into()),
            0x81 => self.array().map(u64::from_be_bytes),
            _ => None,
        }
    }
}
