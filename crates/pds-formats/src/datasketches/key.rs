//! Keys as DataSketches hashes them.

/// A key as DataSketches hashes it.
///
/// | key | hashed bytes |
/// |---|---|
/// | signed integers, and `u64` | the number as 8 bytes, the least significant first: `1i32` and `1i64` are one key |
/// | `f64` | its 8 bytes; -0.0 is 0.0, and every NaN is the NaN 0x7ff8000000000000 |
/// | `str` | UTF-8; an empty string is ignored |
/// | bytes | as they are; an empty byte string is ignored |
///
/// Numbers, strings and slices convert into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DataSketchesKey<'a> {
    /// The 64 bits of a number.
    Number(u64),
    /// A string or a byte string.
    Bytes(&'a [u8]),
}

impl DataSketchesKey<'_> {
    /// Hashes the bytes of the key. `None` for a key that is ignored.
    pub(super) fn hash<T>(self, hash: impl FnOnce(&[u8]) -> T) -> Option<T> {
        match self {
            Self::Number(number) => Some(hash(&number.to_le_bytes())),
            Self::Bytes(bytes) => (!bytes.is_empty()).then(|| hash(bytes)),
        }
    }
}

macro_rules! from_integers {
    ($($number:ty)*) => {$(
        impl From<$number> for DataSketchesKey<'_> {
            fn from(number: $number) -> Self {
                Self::Number(i64::from(number).cast_unsigned())
            }
        }
    )*};
}
from_integers! { i8 i16 i32 i64 }

impl From<u64> for DataSketchesKey<'_> {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<f64> for DataSketchesKey<'_> {
    fn from(number: f64) -> Self {
        Self::Number(match number {
            number if number.is_nan() => 0x7ff8 << 48,
            // Either zero.
            0.0 => 0,
            number => number.to_bits(),
        })
    }
}

impl<'a> From<&'a [u8]> for DataSketchesKey<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'a> From<&'a str> for DataSketchesKey<'a> {
    fn from(text: &'a str) -> Self {
        Self::Bytes(text.as_bytes())
    }
}
