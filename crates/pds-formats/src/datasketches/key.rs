//! Keys as DataSketches hashes them.

use crate::keys::conversions;

/// A key as DataSketches hashes it.
///
/// | key | hashed bytes |
/// |---|---|
/// | signed integers, and `u64` | the number as 8 bytes, the least significant first: `1i32` and `1i64` are one key |
/// | `f64` | its 8 bytes; -0.0 is 0.0 except in a Bloom filter, and every NaN is the NaN 0x7ff8000000000000 |
/// | `str` | UTF-8; an empty string is ignored |
/// | bytes | as they are; an empty byte string is ignored except in a Bloom filter |
///
/// Numbers, strings and slices convert into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DataSketchesKey<'a> {
    /// The 64 bits of a whole number.
    Number(u64),
    /// The 64 bits of a floating-point number.
    Float(u64),
    /// A string.
    Text(&'a str),
    /// A byte string.
    Bytes(&'a [u8]),
}

/// The bits of -0.0.
const NEGATIVE_ZERO: u64 = 1 << 63;

impl DataSketchesKey<'_> {
    /// Hashes the bytes of the key as sketches do. `None` for a key that is ignored.
    #[inline]
    pub(super) fn hash<T>(self, hash: impl FnOnce(&[u8]) -> T) -> Option<T> {
        match self {
            Self::Float(NEGATIVE_ZERO) => Some(hash(&[0; 8])),
            Self::Bytes([]) => None,
            _ => self.hash_in_filter(hash),
        }
    }

    /// Hashes the bytes of the key as Bloom filters do. `None` for a key that is ignored.
    #[inline]
    pub(super) fn hash_in_filter<T>(self, hash: impl FnOnce(&[u8]) -> T) -> Option<T> {
        match self {
            Self::Number(bits) | Self::Float(bits) => Some(hash(&bits.to_le_bytes())),
            Self::Text(text) => (!text.is_empty()).then(|| hash(text.as_bytes())),
            Self::Bytes(bytes) => Some(hash(bytes)),
        }
    }
}

conversions! {
    DataSketchesKey:
    number: i8 => Self::Number(i64::from(number).cast_unsigned());
    number: i16 => Self::Number(i64::from(number).cast_unsigned());
    number: i32 => Self::Number(i64::from(number).cast_unsigned());
    number: i64 => Self::Number(number.cast_unsigned());
    number: u64 => Self::Number(number);
    number: f64 => Self::Float(if number.is_nan() { 0x7ff8 << 48 } else { number.to_bits() });
    text: &'a str => Self::Text(text);
}
