//! Keys as Guava's funnels hand them to the hash function.

use alloc::vec::Vec;

use crate::hash::murmur3_128;
use crate::keys::conversions;

/// A key in the bytes that one of Guava's funnels makes of it.
///
/// | funnel | key |
/// |---|---|
/// | `Funnels.longFunnel()` | [`Long`](Self::Long), from `i64` |
/// | `Funnels.integerFunnel()` | [`Int`](Self::Int), from `i32`. It differs from the same number as `Long` |
/// | `Funnels.stringFunnel(UTF_8)` | [`Bytes`](Self::Bytes), from `&str` |
/// | `Funnels.unencodedCharsFunnel()` | [`Utf16`](Self::Utf16) |
/// | `Funnels.byteArrayFunnel()` | [`Bytes`](Self::Bytes), from `&[u8]` |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GuavaKey<'a> {
    /// A number of 64 bits.
    Long(i64),
    /// A number of 32 bits.
    Int(i32),
    /// A byte string, or a string in UTF-8.
    Bytes(&'a [u8]),
    /// A string in the UTF-16 of the JVM.
    Utf16(&'a str),
}

impl GuavaKey<'_> {
    /// Returns the halves of the hash.
    pub(super) fn hash_pair(self) -> [u64; 2] {
        match self {
            Self::Long(number) => murmur3_128(&number.to_le_bytes(), 0),
            Self::Int(number) => murmur3_128(&number.to_le_bytes(), 0),
            Self::Bytes(bytes) => murmur3_128(bytes, 0),
            Self::Utf16(text) => {
                let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
                murmur3_128(&bytes, 0)
            }
        }
    }
}

conversions! {
    GuavaKey:
    number: i64 => Self::Long(number);
    number: i32 => Self::Int(number);
    text: &'a str => Self::Bytes(text.as_bytes());
}
