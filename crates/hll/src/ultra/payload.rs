//! The payload of portable bytes: all registers, or a list of those with keys while the list is shorter.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::RangeInclusive;

use pds_core::bytes::Shape;
use pds_core::error::DecodeError;
use pds_params::HllParams;

use super::register::{histogram, is_possible};
use crate::portable::params_of;

/// Bytes of an entry of the list: 256 times the register, plus its value.
const ENTRY_BYTES: usize = 4;

/// The number of the head that says how many registers have keys.
const WITH_KEYS: usize = 1;

/// The numbers in the head of portable bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    pub(crate) params: HllParams,
    with_keys: u64,
}

impl Head {
    pub(crate) fn new(registers: &[u8], params: HllParams) -> Self {
        // The sum of a chunk fits into a byte, so vectors add as many as they have bytes.
        let count =
            |chunk: &[u8]| chunk.iter().map(|&register| u8::from(register != 0)).sum::<u8>();
        let with_keys = registers.chunks(128).map(|chunk| u64::from(count(chunk))).sum();
        Self { params, with_keys }
    }

    pub(crate) fn from_shape(shape: &Shape) -> Result<Self, DecodeError> {
        let numbers = shape.numbers(["precision", "the number of registers with keys"])?;
        let params = params_of(shape, &numbers)?;
        let with_keys = numbers.values()[WITH_KEYS];
        if with_keys > params.num_registers() {
            return Err(numbers.field(WITH_KEYS, "at most 2^precision"));
        }
        Ok(Self { params, with_keys })
    }

    pub(crate) fn shape(self) -> Shape {
        Shape::new([self.params.precision().into(), self.with_keys])
    }

    pub(crate) fn payload_bytes(self) -> u64 {
        (ENTRY_BYTES as u64 * self.with_keys).min(self.params.num_registers())
    }

    pub(crate) fn payload_range(self) -> RangeInclusive<u64> {
        self.payload_bytes()..=self.payload_bytes()
    }

    /// Returns the payload of a sketch, `None` if it is the registers.
    #[expect(clippy::cast_possible_truncation, reason = "there are 2^18 registers at most")]
    pub(crate) fn list_of(self, registers: &[u8]) -> Option<Vec<u8>> {
        if self.payload_bytes() == self.params.num_registers() {
            return None;
        }
        // Every register is written, and the next one over it if it has no keys: which have is unpredictable. So there is
        // one place more.
        let mut list = vec![[0; ENTRY_BYTES]; self.with_keys as usize + 1];
        let mut len = 0;
        for (first, eight) in (0u32..).step_by(8).zip(registers.as_chunks::<8>().0) {
            if u64::from_ne_bytes(*eight) == 0 {
                continue;
            }
            for (index, &register) in (first..).zip(eight) {
                list[len] = (index << 8 | u32::from(register)).to_le_bytes();
                len += usize::from(register != 0);
            }
        }
        list.truncate(len);
        Some(list.into_flattened())
    }

    /// Checks a payload of the length that this head states, which starts at offset `at`.
    pub(crate) fn check(self, payload: &[u8], at: u64) -> Result<(), DecodeError> {
        match Payload::new(payload, self.params) {
            Payload::List(entries) => self.check_list(entries, at),
            Payload::Registers(registers) => self.check_registers(registers, at),
        }
    }

    fn check_list(self, entries: &[[u8; ENTRY_BYTES]], at: u64) -> Result<(), DecodeError> {
        let mut least = 0;
        for (offset, &entry) in (at..).step_by(ENTRY_BYTES).zip(entries) {
            let found = u32::from_le_bytes(entry).into();
            let wrong = |allowed| Err(DecodeError::invalid("an entry", offset, found, allowed));
            let (index, register) = index_and_value(entry);
            if register == 0 || !is_possible(register, self.params.precision()) {
                return wrong("of a value that keys can leave");
            }
            if index as u64 >= self.params.num_registers() {
                return wrong("of a register below 2^precision");
            }
            if index < least {
                return wrong("of a greater register than the entry before");
            }
            least = index + 1;
        }
        Ok(())
    }

    fn check_registers(self, registers: &[u8], at: u64) -> Result<(), DecodeError> {
        let possible = |register| is_possible(register, self.params.precision());
        if let Some((offset, &found)) = (at..).zip(registers).find(|&(_, &found)| !possible(found))
        {
            let allowed = "one that keys can leave";
            return Err(DecodeError::invalid("a register", offset, found.into(), allowed));
        }
        let found = Self::new(registers, self.params).with_keys;
        if found != self.with_keys {
            let (name, allowed) = ("the number of registers with keys", "that of the head");
            return Err(DecodeError::invalid(name, at, found, allowed));
        }
        Ok(())
    }
}

/// Registers, as a payload has them.
#[derive(Clone, Copy)]
pub(crate) enum Payload<'a> {
    /// The registers with keys. All others are 0.
    List(&'a [[u8; ENTRY_BYTES]]),
    Registers(&'a [u8]),
}

impl<'a> Payload<'a> {
    /// Tells the two apart by their length: a list is shorter than all registers.
    pub(crate) fn new(bytes: &'a [u8], params: HllParams) -> Self {
        if (bytes.len() as u64) < params.num_registers() {
            Self::List(bytes.as_chunks().0)
        } else {
            Self::Registers(bytes)
        }
    }

    /// Counts the registers of each value.
    #[expect(clippy::cast_possible_truncation, reason = "there are 2^18 registers at most")]
    pub(crate) fn counts(self, params: HllParams) -> [u32; 256] {
        let entries = match self {
            Self::Registers(registers) => return histogram(registers),
            Self::List(entries) => entries,
        };
        let mut counts = [0; 256];
        counts[0] = (params.num_registers() - entries.len() as u64) as u32;
        for &entry in entries {
            counts[usize::from(index_and_value(entry).1)] += 1;
        }
        counts
    }
}

/// Returns all registers of a payload that was checked.
pub(crate) fn registers_of(payload: Vec<u8>, params: HllParams) -> Vec<u8> {
    let Payload::List(entries) = Payload::new(&payload, params) else { return payload };
    let mut registers = vec![0; 1 << params.precision()];
    for (index, value) in entries.iter().copied().map(index_and_value) {
        registers[index] = value;
    }
    registers
}

fn index_and_value(entry: [u8; ENTRY_BYTES]) -> (usize, u8) {
    ((u32::from_le_bytes(entry) >> 8) as usize, entry[0])
}
