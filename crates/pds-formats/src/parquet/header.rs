//! The header before a bitset: a struct of Thrift's compact protocol.
//!
//! Field 1 is the number of bytes of the bitset. Fields 2 to 4 are unions for the algorithm, the hash function and the
//! compression, each with one member that holds an empty struct.

use alloc::vec::Vec;

use pds_core::error::DecodeErrorKind;

use super::filter::BLOCK_BYTES;
use crate::FormatError;
use crate::reader::Reader;

/// The name of the format in errors.
pub(super) const FORMAT: &str = "Parquet Bloom filter";

/// The first bytes of a file.
const FILE_MAGIC: &[u8] = b"PAR1";

/// A field whose id is one more than that of the field before, and a number of 32 bits, or a struct.
const NEXT_I32: u8 = 0x15;
const NEXT_STRUCT: u8 = 0x1c;
/// The end of a struct.
const STOP: u8 = 0;

/// The greatest length of a bitset: the greatest multiple of 32 in an `i32`.
pub(super) const MAX_BYTES: u64 = (1 << 31) - BLOCK_BYTES as u64;

/// Reads the header. Returns the length of the bitset.
pub(super) fn read(reader: &mut Reader<'_>) -> Result<u64, FormatError> {
    refuse_file(reader)?;
    refuse_murmur(reader)?;
    expect(reader, "header", &[NEXT_I32], "0x15, the field \"number of bytes\"")?;
    let (offset, length) = (reader.offset(), zigzag(reader)?);
    let is_sound = |length: &u64| {
        (1..=MAX_BYTES).contains(length) && length.is_multiple_of(BLOCK_BYTES as u64)
    };
    let Some(length) = u64::try_from(length).ok().filter(is_sound) else {
        let allowed = "a multiple of 32 from 32 to 2^31 - 32";
        return Err(reader.invalid("number of bytes", offset, length, allowed));
    };
    union(reader, "algorithm", "0x1c1c0000, which is BLOCK")?;
    union(reader, "hash function", "0x1c1c0000, which is XXHASH")?;
    // Headers of Murmur3 had no compression, and the same tag for their hash.
    union(
        reader,
        "compression",
        "0x1c1c0000, which is UNCOMPRESSED (without one, the hash is the old Murmur3)",
    )?;
    expect(reader, "header", &[STOP], "0, its end")?;
    Ok(length)
}

/// Refuses a whole file, and says where its filters are.
fn refuse_file(reader: &Reader<'_>) -> Result<(), FormatError> {
    match reader.clone().bytes("magic number", FILE_MAGIC.len() as u64) {
        Ok(found) if found == FILE_MAGIC => {
            let allowed = "that of a filter: this is a whole file, and its metadata say where the filter of a column begins \
                           (`bloom_filter_offset`)";
            Err(reader.invalid("header", reader.offset(), found, allowed))
        }
        _ => Ok(()),
    }
}

/// Refuses the header that parquet-cpp and parquet-java wrote before 2020: three numbers of 32 bits, which are the length
/// of the bitset, 0 for `Murmur3` and 0 for the algorithm.
fn refuse_murmur(reader: &Reader<'_>) -> Result<(), FormatError> {
    let mut old = reader.clone();
    let numbers = [(); 3].map(|()| old.u32_le("number").ok().map(|field| field.value));
    if let [Some(length), Some(0), Some(0)] = numbers
        && length.is_multiple_of(32)
    {
        let (offset, allowed) =
            (reader.offset() + 4, "XXHASH in a header of Thrift (0 is the old Murmur3)");
        let error = reader.invalid("hash function", offset, 0u32, allowed);
        return Err(error.of_kind(DecodeErrorKind::Hasher));
    }
    Ok(())
}

/// Reads a union of one possible member.
fn union(
    reader: &mut Reader<'_>,
    field: &'static str,
    allowed: &'static str,
) -> Result<(), FormatError> {
    expect(reader, field, &[NEXT_STRUCT, NEXT_STRUCT, STOP, STOP], allowed)
}

fn expect(
    reader: &mut Reader<'_>,
    field: &'static str,
    expected: &[u8],
    allowed: &'static str,
) -> Result<(), FormatError> {
    let offset = reader.offset();
    let found = reader.bytes(field, expected.len() as u64)?;
    if found == expected {
        return Ok(());
    }
    let error = reader.invalid(field, offset, found, allowed);
    Err(if field == "compression" || field == "hash function" {
        error.of_kind(DecodeErrorKind::Hasher)
    } else {
        error
    })
}

/// Reads a number of 32 bits: its zigzag form, seven bits per byte, the lowest first.
fn zigzag(reader: &mut Reader<'_>) -> Result<i64, FormatError> {
    let mut number = 0;
    for shift in (0..35).step_by(7) {
        let byte = reader.u8("number of bytes")?;
        number |= i64::from(byte.value & 0x7f) << shift;
        if byte.value == 0 && shift > 0 {
            return Err(byte.invalid("above 0, in as few bytes as the number needs"));
        }
        if byte.value & 0x80 == 0 {
            return Ok(number >> 1 ^ -(number & 1));
        }
        if shift == 28 {
            return Err(byte.invalid("the last of at most five bytes, below 128"));
        }
    }
    unreachable!("the fifth byte ends the number or is refused")
}

/// Returns the header of a bitset of this length.
pub(super) fn write(length: u64) -> Vec<u8> {
    debug_assert!(length <= MAX_BYTES);
    let mut header = alloc::vec![NEXT_I32];
    let mut number = 2 * length;
    while number >= 0x80 {
        header.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    header.push(number.to_le_bytes()[0]);
    (0..3).for_each(|_| header.extend([NEXT_STRUCT, NEXT_STRUCT, STOP, STOP]));
    header.push(STOP);
    header
}
