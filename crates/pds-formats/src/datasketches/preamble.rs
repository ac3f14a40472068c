//! The first bytes of all sketches of DataSketches: preamble size, serial version and family.

use pds_core::error::DecodeErrorKind;

use crate::FormatError;
use crate::hash::murmur3_128;
use crate::reader::{Field, Reader};

/// The seed that all writers use unless they are told another one.
pub(super) const DEFAULT_SEED: u64 = 9_001;

/// The bit of the flags that marks numbers as big-endian. No library writes them since 2017.
pub(super) const BIG_ENDIAN: u8 = 1;

/// The largest sketch that is made of a few bytes which state a size and no content.
///
/// Sketches that hold nothing are written without their content. Memory for it is bounded, because the size may lie.
pub(super) const MAX_EMPTY_BYTES: u64 = 1 << 20;

/// Reads the first three bytes. Returns the preamble size, whose unit depends on the family.
pub(super) fn read(
    reader: &mut Reader<'_>,
    version: u8,
    family: u8,
) -> Result<Field<u8>, FormatError> {
    let size = reader.u8("preamble size")?;
    let serial = reader.u8("serial version")?;
    let found = reader.u8("family")?;
    // The family first: a version means something within its family only.
    found.equals(family).map_err(|error| error.of_kind(DecodeErrorKind::Kind))?;
    serial.equals(version).map_err(|error| error.of_kind(DecodeErrorKind::Version))?;
    Ok(size)
}

/// Reads the flags, of which `known` may be set.
pub(super) fn flags(reader: &mut Reader<'_>, known: u8) -> Result<u8, FormatError> {
    let flags = reader.u8("flags")?;
    if flags.value & BIG_ENDIAN & !known != 0 {
        return Err(flags.invalid("without bit 0, which marks big-endian numbers"));
    }
    if flags.value & !known != 0 {
        return Err(flags.invalid(alloc::format!("known flags, of the bits {known:#04x}")));
    }
    Ok(flags.value)
}

/// Reads the hash of a seed.
pub(super) fn seed_hash(reader: &mut Reader<'_>, seed: u64) -> Result<(), FormatError> {
    let field = reader.u16_le("seed hash")?;
    let expected = hash_of_seed(seed);
    if field.value == expected {
        return Ok(());
    }
    let allowed = alloc::format!("{expected}, that of seed {seed}");
    Err(field.invalid(allowed).of_kind(DecodeErrorKind::Hasher))
}

#[expect(clippy::cast_possible_truncation, reason = "the low 16 bits")]
pub(super) fn hash_of_seed(seed: u64) -> u16 {
    murmur3_128(&seed.to_le_bytes(), 0)[0] as u16
}
