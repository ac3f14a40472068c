//! The bytes of HLL sketches: a preamble of 8 bytes, then coupons or registers.

use alloc::format;
use alloc::vec::Vec;

use super::hll::{Content, DataSketchesHll, HllRegisters, LG_K, MAX_VALUE, Registers};
use super::hll_coupons::{
    ADDRESS_BITS, ADDRESS_MASK, LG_FIRST_TABLE, LG_LIST, LIST_SLOTS, MAX_PROBES, Table,
};
use super::hll_statistics::{Statistics, count};
use super::preamble;
use crate::FormatError;
use crate::reader::Reader;

const FORMAT: &str = "DataSketches HLL sketch";

const FAMILY: u8 = 7;
const VERSION: u8 = 1;
/// Preamble sizes, in words of 4 bytes, and the modes of the same content.
const LIST: [u8; 2] = [2, 0];
const SET: [u8; 2] = [3, 1];
const REGISTERS: [u8; 2] = [10, 2];

/// The bits of the flags.
const EMPTY: u8 = 4;
const COMPACT: u8 = 8;
const OUT_OF_ORDER: u8 = 16;
/// See [`DataSketchesHll::has_flag_32`].
const FLAG_32: u8 = 32;

/// The register of four bits whose value is an exception.
const EXCEPTION: u8 = 15;
/// The value of such a register until its exception is read.
const UNKNOWN: u8 = u8::MAX;

/// Logarithm of the slots of the first table of exceptions, by that of the registers.
const LG_EXCEPTIONS: [u8; 22] =
    [0, 2, 2, 2, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5, 6, 7, 8, 9, 10, 11, 12, 13];

/// The fields of the first 8 bytes that depend on the content.
struct Head {
    lg_k: u8,
    lg_slots: crate::reader::Field<u8>,
    is_compact: bool,
    has_flag_32: bool,
    /// The number of coupons of a list, or the least value of registers.
    small: crate::reader::Field<u8>,
    width: HllRegisters,
}

pub(super) fn read(bytes: &[u8]) -> Result<DataSketchesHll, FormatError> {
    let mut reader = Reader::new(FORMAT, bytes);
    let size = preamble::read(&mut reader, VERSION, FAMILY)?;
    let lg_k = reader.u8("lg_k")?.within(LG_K)?;
    let lg_slots = reader.u8("lg_arr")?;
    let flags = preamble::flags(&mut reader, EMPTY | COMPACT | OUT_OF_ORDER | FLAG_32)?;
    let small = reader.u8("list count or least value")?;
    let mode = reader.u8("mode")?;
    let width = match mode.value >> 2 {
        0 => HllRegisters::Hll4,
        1 => HllRegisters::Hll6,
        2 => HllRegisters::Hll8,
        _ => return Err(mode.invalid("a register width (bits 2 and 3) of 0, 1 or 2 and no more")),
    };
    let [is_compact, is_out_of_order, has_flag_32] =
        [COMPACT, OUT_OF_ORDER, FLAG_32].map(|flag| flags & flag != 0);
    let head = Head { lg_k, lg_slots, is_compact, has_flag_32, small, width };
    let (expected, content) = match mode.value & 3 {
        0 => (LIST[0], list(&mut reader, &head)?),
        1 => (SET[0], set(&mut reader, &head)?),
        2 => (REGISTERS[0], Content::Registers(registers(&mut reader, &head)?)),
        _ => return Err(mode.invalid("a mode (bits 0 and 1) of 0, 1 or 2")),
    };
    size.equals(expected)?;
    reader.end()?;
    let is_updatable = !is_compact;
    let sketch =
        DataSketchesHll { lg_k, width, is_updatable, is_out_of_order, has_flag_32, content };
    if sketch.is_empty() != (flags & EMPTY != 0) {
        let allowed = "with bit 2 set if and only if the sketch is empty";
        return Err(reader.invalid("flags", 5, flags, allowed));
    }
    Ok(sketch)
}

/// Reads a coupon or an exception, each with a value above 0.
fn entry(reader: &mut Reader<'_>, field: &'static str) -> Result<u32, FormatError> {
    let entry = reader.u32_le(field)?;
    if entry.value >> ADDRESS_BITS == 0 {
        return Err(entry.invalid("a number with a value in its upper 6 bits"));
    }
    Ok(entry.value)
}

fn list(reader: &mut Reader<'_>, head: &Head) -> Result<Content, FormatError> {
    head.lg_slots.equals(LG_LIST)?;
    let count = usize::from(head.small.within(0..=7)?);
    let mut coupons = Vec::new();
    for _ in 0..count {
        let offset = reader.offset();
        let coupon = entry(reader, "coupon")?;
        if coupons.contains(&coupon) {
            return Err(reader.invalid("coupon", offset, coupon, "different from those before"));
        }
        coupons.push(coupon);
    }
    if !head.is_compact {
        for _ in count..LIST_SLOTS {
            reader.u32_le("free slot")?.equals(0)?;
        }
    }
    Ok(Content::List(coupons))
}

fn set(reader: &mut Reader<'_>, head: &Head) -> Result<Content, FormatError> {
    head.small.equals(0)?;
    let lg_slots = head.lg_slots.within(LG_FIRST_TABLE..=head.lg_k.saturating_sub(3))?;
    let slots = 1u32 << lg_slots;
    // A table of twice the size follows one that is more than 3/4 full.
    // A table takes over from a list of eight.
    let least = if lg_slots == LG_FIRST_TABLE { 8 } else { slots / 8 * 3 + 1 };
    let count = reader.u32_le("number of coupons")?.within(least..=slots / 4 * 3)?;
    let written = if head.is_compact { count } else { slots };
    let mut slots = Vec::with_capacity(table_capacity(reader, written)?);
    // A compact sketch goes on in the table that its coupons make, an updatable one in its own.
    let mut table = Table::new(LG_FIRST_TABLE);
    for _ in 0..written {
        let offset = reader.offset();
        if !head.is_compact && reader.clone().u32_le("slot")?.value == 0 {
            reader.u32_le("slot")?;
            slots.push(0);
            continue;
        }
        let coupon = entry(reader, "coupon")?;
        slots.push(coupon);
        if head.is_compact && !insert(&mut table, coupon) {
            let allowed = "different from those before, as hashes are";
            return Err(reader.invalid("coupon", offset, coupon, allowed));
        }
    }
    if head.is_compact {
        return Ok(Content::Set { table, as_read: Some(slots) });
    }
    let found = slots.iter().filter(|&&slot| slot != 0).count() as u64;
    if found != u64::from(count) {
        let allowed = format!("{found}, as the slots say");
        return Err(reader.invalid("number of coupons", 8, count, allowed));
    }
    let Some(table) = Table::of_slots(slots, MAX_PROBES) else {
        let allowed = "such that every coupon is in a slot where it is looked for, as hashes are";
        return Err(reader.invalid("number of coupons", 8, count, allowed));
    };
    Ok(Content::Set { table, as_read: None })
}

/// Inserts a coupon, and grows the table as the library does. `false` if it was there, or takes long to find its place.
fn insert(table: &mut Table, coupon: u32) -> bool {
    table.insert(coupon, coupon, MAX_PROBES).is_ok()
        && (!table.is_full() || table.grow(|coupon| coupon, MAX_PROBES).is_ok())
}

/// Returns the number of entries of 4 bytes to take memory for.
fn table_capacity(reader: &Reader<'_>, entries: u32) -> Result<usize, FormatError> {
    reader.clone().bytes("entries", 4 * u64::from(entries)).map(|bytes| bytes.len() / 4)
}

fn registers(reader: &mut Reader<'_>, head: &Head) -> Result<Registers, FormatError> {
    let min = head.small.within(0..=MAX_VALUE)?;
    let hip = reader.f64_le("HIP estimate")?;
    if !(hip.value.is_finite() && hip.value >= 0.0) {
        return Err(hip.invalid("finite and not negative"));
    }
    let stored = [reader.f64_le("kxq0")?, reader.f64_le("kxq1")?];
    let stored_num_at_min = reader.u32_le("registers of the least value")?;
    let num_exceptions = reader.u32_le("number of exceptions")?;
    let k = 1u64 << head.lg_k;
    let start = reader.offset();
    let mut exceptions = None;
    let values = match head.width {
        HllRegisters::Hll8 => reader.bytes("registers", k)?.to_vec(),
        HllRegisters::Hll6 => {
            let bytes = reader.bytes("registers", 3 * k / 4)?;
            // The library reads two bytes for each register, so one more follows.
            reader.u8("byte after the registers")?.equals(0)?;
            hll::internal::unpacked(bytes)
        }
        HllRegisters::Hll4 => {
            let (values, read) = four_bits(reader, head, min, num_exceptions.value)?;
            exceptions = Some(read);
            values
        }
    };
    let Statistics { least, greatest, num_least, sums } = Statistics::of(&values);
    if greatest > MAX_VALUE
        && let Some(at) = values.iter().position(|&value| value > MAX_VALUE)
    {
        let offset = if head.width == HllRegisters::Hll4 { at / 2 } else { at } as u64;
        return Err(reader.invalid("register", start + offset, values[at], "at most 63"));
    }
    if head.width != HllRegisters::Hll4 {
        num_exceptions.equals(0)?;
    }
    if least < min {
        return Err(head.small.invalid(format!("at most {least}, the least register")));
    }
    let stored_sums = stored.map(|sum| sum.value);
    let num_at_min = if least == min { num_least } else { 0 };
    let registers = Registers { values, hip: hip.value, sums, min, num_at_min, exceptions };
    // A union of the Java library that has still to compute them says so.
    if !head.has_flag_32 {
        // The libraries' unions book 1 for each value above 31 in the wrong one of the sums. Estimates take the total.
        let [total, stored_total] = [sums, stored_sums].map(|sums| sums[0] + sums[1]);
        let is_close = (total - stored_total).abs() <= 1e-12 * k as f64;
        if !is_close {
            for (field, sum) in stored.into_iter().zip(sums) {
                field.equals(sum)?;
            }
        }
        stored_num_at_min.equals(num_at_min)?;
    }
    Ok(registers)
}

/// Returns registers of four bits. [`UNKNOWN`] are those that have an exception.
fn unpacked_nibbles(bytes: &[u8], min: u8) -> Vec<u8> {
    let value = |nibble| if nibble == EXCEPTION { UNKNOWN } else { nibble + min };
    let mut values = alloc::vec![0; 2 * bytes.len()];
    for (pair, byte) in values.as_chunks_mut().0.iter_mut().zip(bytes) {
        *pair = [value(byte & 15), value(byte >> 4)];
    }
    values
}

/// Reads registers of four bits and their exceptions. Returns the values, and the entries in the order of the bytes.
#[expect(clippy::type_complexity, reason = "used once")]
fn four_bits(
    reader: &mut Reader<'_>,
    head: &Head,
    min: u8,
    num_exceptions: u32,
) -> Result<(Vec<u8>, (u8, Vec<u32>)), FormatError> {
    let bytes = reader.bytes("registers", 1 << (head.lg_k - 1))?;
    let mut values = unpacked_nibbles(bytes, min);
    let marked = count(&values, UNKNOWN);
    if marked != num_exceptions {
        let allowed = format!("{marked}, the number of registers that have one");
        return Err(reader.invalid("number of exceptions", 36, num_exceptions, allowed));
    }
    let first = LG_EXCEPTIONS[usize::from(head.lg_k)];
    let lg_slots = if head.lg_slots.value == 0 { first } else { head.lg_slots.value };
    // Up to 3/4 of the slots are taken, by up to 2^lg_k exceptions.
    let most = head.lg_k + 1;
    if !(first..=most).contains(&lg_slots) {
        return Err(head.lg_slots.invalid(format!("0, or from {first} to {most}")));
    }
    let written = if head.is_compact { num_exceptions } else { 1 << lg_slots };
    let mut entries = Vec::with_capacity(table_capacity(reader, written)?);
    let mut found = 0;
    for _ in 0..written {
        if !head.is_compact && reader.clone().u32_le("slot")?.value == 0 {
            reader.u32_le("slot")?;
            entries.push(0);
            continue;
        }
        let offset = reader.offset();
        let exception = entry(reader, "exception")?;
        let slot = (exception & ADDRESS_MASK) as usize;
        let value = (exception >> ADDRESS_BITS).to_le_bytes()[0];
        if values.get(slot) != Some(&UNKNOWN) || value < min + EXCEPTION {
            let allowed =
                "the only one of a register of 15, with a value that four bits cannot hold";
            return Err(reader.invalid("exception", offset, exception, allowed));
        }
        values[slot] = value;
        found += 1;
        entries.push(exception);
    }
    if found != num_exceptions {
        let allowed = format!("{found}, as the slots say");
        return Err(reader.invalid("number of exceptions", 36, num_exceptions, allowed));
    }
    Ok((values, (head.lg_slots.value, entries)))
}

/// Writes the bytes, compact or with room for updates.
pub(super) fn write(sketch: &DataSketchesHll, is_compact: bool) -> Vec<u8> {
    let width = match sketch.width {
        HllRegisters::Hll4 => 0,
        HllRegisters::Hll6 => 4,
        HllRegisters::Hll8 => 8,
    };
    let mut flags = if is_compact { COMPACT } else { 0 };
    if sketch.is_out_of_order {
        flags |= OUT_OF_ORDER;
    }
    if sketch.is_empty() {
        flags |= EMPTY;
    }
    if sketch.has_flag_32 {
        flags |= FLAG_32;
    }
    let head = |[size, mode]: [u8; 2], lg_slots, small| {
        alloc::vec![size, VERSION, FAMILY, sketch.lg_k, lg_slots, flags, small, mode | width]
    };
    let put = |bytes: &mut Vec<u8>, entries: &[u32]| {
        let written = entries.iter().filter(|&&entry| entry != 0 || !is_compact);
        bytes.extend(written.flat_map(|entry| entry.to_le_bytes()));
    };
    match &sketch.content {
        Content::List(coupons) => {
            let mut bytes = head(LIST, LG_LIST, coupons.len().to_le_bytes()[0]);
            put(&mut bytes, coupons);
            if !is_compact {
                bytes.resize(8 + 4 * LIST_SLOTS, 0);
            }
            bytes
        }
        Content::Set { table, as_read } => {
            let mut bytes = head(SET, table.lg_slots(), 0);
            bytes.extend_from_slice(&(table.count() as u64).to_le_bytes()[..4]);
            // A table that was read compact has no free slots.
            put(
                &mut bytes,
                as_read.as_ref().filter(|_| is_compact).map_or(table.slots(), |read| read),
            );
            bytes
        }
        Content::Registers(registers) => {
            let (lg_slots, exceptions) = match sketch.width {
                HllRegisters::Hll4 => exceptions(registers, sketch.lg_k, is_compact),
                HllRegisters::Hll6 | HllRegisters::Hll8 => (0, Vec::new()),
            };
            let mut bytes = head(REGISTERS, lg_slots, registers.min);
            bytes.extend(registers.hip.to_le_bytes());
            bytes.extend(registers.sums.into_iter().flat_map(f64::to_le_bytes));
            bytes.extend(registers.num_at_min.to_le_bytes());
            let count = exceptions.iter().filter(|&&entry| entry != 0).count() as u64;
            bytes.extend_from_slice(&count.to_le_bytes()[..4]);
            match sketch.width {
                HllRegisters::Hll8 => bytes.extend(&registers.values),
                HllRegisters::Hll6 => {
                    bytes.extend(hll::internal::packed(&registers.values));
                    bytes.push(0);
                }
                HllRegisters::Hll4 => {
                    let nibble = |value: u8| (value - registers.min).min(EXCEPTION);
                    let pairs = registers.values.as_chunks().0;
                    bytes.extend(pairs.iter().map(|&[low, high]| nibble(low) | nibble(high) << 4));
                    put(&mut bytes, &exceptions);
                }
            }
            bytes
        }
    }
}

/// Returns the table that the library fills with these entries from this size on. `None` if an entry takes long to find its
/// place, as slots can be chosen to.
fn exception_table(entries: &[u32], lg_slots: u8) -> Option<Table> {
    let mut table = Table::new(lg_slots);
    for &entry in entries {
        table.insert(entry & ADDRESS_MASK, entry, MAX_PROBES).ok()?;
        if table.is_full() {
            table.grow(|entry| entry & ADDRESS_MASK, MAX_PROBES).ok()?;
        }
    }
    Some(table)
}

/// Returns the exceptions in the order of the library's table, and the field that tells its size.
fn exceptions(registers: &Registers, lg_k: u8, is_compact: bool) -> (u8, Vec<u32>) {
    let first = LG_EXCEPTIONS[usize::from(lg_k)];
    if let Some((lg_slots, entries)) = &registers.exceptions {
        let lg = if *lg_slots == 0 { first } else { *lg_slots };
        if is_compact || entries.len() == 1 << lg {
            return (*lg_slots, entries.clone());
        }
    }
    let values = (0u32..).zip(&registers.values);
    let entries = values.filter(|&(_, &value)| value - registers.min >= EXCEPTION);
    let entries: Vec<u32> =
        entries.map(|(slot, &value)| u32::from(value) << ADDRESS_BITS | slot).collect();
    // With as many places as registers no entries meet.
    let table = exception_table(&entries, first).or_else(|| exception_table(&entries, lg_k + 1));
    let table = table.unwrap_or_else(|| Table::new(first));
    (if table.count() == 0 { 0 } else { table.lg_slots() }, table.slots().to_vec())
}
