//! Numbers of a fixed number of bits, the highest bit of each first.

use alloc::vec::Vec;

/// Appends numbers of this many bits, at most 64. The last byte ends with zeros.
#[expect(clippy::cast_possible_truncation, reason = "byte by byte")]
pub fn pack_bits(numbers: impl Iterator<Item = u64>, bits: u32, bytes: &mut Vec<u8>) {
    // The bits that wait are the lowest ones of `waiting`.
    let (mut waiting, mut length) = (0_u128, 0);
    for number in numbers {
        waiting = waiting << bits | u128::from(number);
        length += bits;
        while length >= 8 {
            length -= 8;
            bytes.push((waiting >> length) as u8);
        }
    }
    if length > 0 {
        bytes.push((waiting << (8 - length)) as u8);
    }
}

/// Returns the number of this many bits, from 1 to 64, at an offset in bits. Bits behind the end are zero.
#[expect(
    clippy::cast_possible_truncation,
    reason = "an offset in bytes that are in memory, and at most 64 bits"
)]
#[must_use]
pub fn unpack_bits(body: &[u8], offset: u64, bits: u32) -> u64 {
    let rest = body.get((offset / 8) as usize..).unwrap_or_default();
    let window = rest.first_chunk().copied().unwrap_or_else(|| {
        let mut window = [0; 16];
        let length = rest.len().min(16);
        window[..length].copy_from_slice(&rest[..length]);
        window
    });
    (u128::from_be_bytes(window) << (offset % 8) >> (128 - bits)) as u64
}
