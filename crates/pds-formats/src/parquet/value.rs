//! Values as Parquet hashes them.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Neg;

use pds_core::error::{BuildError, ParamError};
use pds_params::internal::ParamFault;
use xxhash_rust::xxh64::xxh64;

use crate::hash::xxh64_number::{hash_32, hash_64};
use crate::memory::reserved;

/// A value of a Parquet column, hashed as the format says: XXH64 with seed 0 of the plain encoding.
///
/// The physical type of a column determines the hashed bytes. The logical type alone does not.
///
/// | logical type | physical type | ask with |
/// |---|---|---|
/// | integers of up to 32 bits, date, time in milliseconds | INT32 | `i8`, `i16`, `i32`; `u8`, `u16`, `u32` |
/// | integers of 64 bits, timestamps, other times | INT64 | `i64`, `u64` |
/// | decimal | INT32, INT64 | the unscaled number: 5.00 of scale 2 is `500_i32` or `500_i64` |
/// | decimal | `FIXED_LEN_BYTE_ARRAY` | [`ParquetDecimal::fixed`] with the unscaled number and the column's length |
/// | decimal | `BYTE_ARRAY` | [`ParquetDecimal::shortest`] |
/// | none | FLOAT, DOUBLE | `f32`, `f64`: see below |
/// | float of 16 bits | `FIXED_LEN_BYTE_ARRAY` | the two bytes, little endian |
/// | string, enum, JSON, BSON | `BYTE_ARRAY` | the bytes, without a length |
/// | UUID | `FIXED_LEN_BYTE_ARRAY` | the 16 bytes, big endian |
/// | interval | `FIXED_LEN_BYTE_ARRAY` | the 12 bytes: months, days, milliseconds, each little endian |
/// | none | INT96 | the 12 bytes |
/// | none | BOOLEAN | the format has no filters for it; the Rust crate `parquet` writes some: `[u8; 1]`, 0 or 1 |
///
/// # Equal values of unequal bytes
/// A filter knows bytes only. `0.0` and `-0.0` are equal, and most queries treat all NaNs as equal, but their hashes
/// differ. Use [`contains_float`](super::ParquetBloomFilter::contains_float). Convert a decimal to the scale of the
/// column first: 5.0 and 5.00 are 50 and 500 unscaled.
///
/// # References
/// Apache Parquet format, "Bloom filter" (BloomFilter.md), "Encodings" (Encodings.md) and "Logical types"
/// (LogicalTypes.md), version 2.10.
pub trait ParquetValue {
    /// Returns the hash.
    fn parquet_hash(&self) -> u64;
}

/// Integers of up to 64 bits, `f32` and `f64`; `[u8]`, `[u8; N]`, `Vec<u8>`, `str` and `String`; [`ParquetDecimal`];
/// references to these.
impl<V: plain::Plain + ?Sized> ParquetValue for V {
    #[inline]
    fn parquet_hash(&self) -> u64 {
        self.hash_plain()
    }
}

mod plain {
    /// A value with a plain encoding of its own, by the hash of that.
    pub trait Plain {
        fn hash_plain(&self) -> u64;
    }
}

/// Numbers, each with the one of 32 or 64 bits whose bytes a column holds. Unsigned ones keep their bits.
macro_rules! numbers {
    ($($value:ty, $number:ident => $hash:ident($word:expr);)*) => {$(
        impl plain::Plain for $value {
            #[inline]
            fn hash_plain(&self) -> u64 {
                let $number = *self;
                $hash($word)
            }
        }
    )*};
}
numbers! {
    i8, number => hash_32(i32::from(number).cast_unsigned());
    i16, number => hash_32(i32::from(number).cast_unsigned());
    i32, number => hash_32(number.cast_unsigned());
    u8, number => hash_32(number.into());
    u16, number => hash_32(number.into());
    u32, number => hash_32(number);
    f32, number => hash_32(number.to_bits());
    i64, number => hash_64(number.cast_unsigned());
    u64, number => hash_64(number);
    f64, number => hash_64(number.to_bits());
}

/// Values that are bytes.
macro_rules! bytes {
    ($($value:ty, $to:ident;)*) => {$(
        impl plain::Plain for $value {
            #[inline]
            fn hash_plain(&self) -> u64 {
                xxh64(self.$to(), 0)
            }
        }
    )*};
}
bytes! {
    str, as_bytes;
    String, as_bytes;
    Vec<u8>, as_slice;
    ParquetDecimal, bytes;
}

impl plain::Plain for [u8] {
    #[inline]
    fn hash_plain(&self) -> u64 {
        xxh64(self, 0)
    }
}

impl<const N: usize> plain::Plain for [u8; N] {
    #[inline]
    fn hash_plain(&self) -> u64 {
        xxh64(self, 0)
    }
}

impl<V: plain::Plain + ?Sized> plain::Plain for &V {
    #[inline]
    fn hash_plain(&self) -> u64 {
        (**self).hash_plain()
    }
}

/// A floating-point number of a Parquet column, FLOAT or DOUBLE.
pub trait ParquetFloat: ParquetValue + Copy + PartialOrd + Neg<Output = Self> {}

impl ParquetFloat for f32 {}
impl ParquetFloat for f64 {}

/// A decimal of a column of bytes: its unscaled number in two's complement, big endian.
///
/// # Examples
/// ```
/// use pds_formats::parquet::{ParquetDecimal, ParquetValue};
///
/// // 5.00 with a scale of 2, in a column of FIXED_LEN_BYTE_ARRAY(4) and in one of BYTE_ARRAY.
/// assert_eq!(ParquetDecimal::fixed(500, 4)?.bytes(), [0, 0, 1, 0xf4]);
/// assert_eq!(ParquetDecimal::shortest(500).bytes(), [1, 0xf4]);
/// assert!(ParquetDecimal::fixed(500, 1).is_err(), "does not fit");
/// # Ok::<(), pds_formats::error::BuildError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParquetDecimal(Vec<u8>);

impl ParquetDecimal {
    /// Creates a value of a column of fixed length, in bytes.
    ///
    /// # Errors
    /// [`BuildError::Param`] if the number does not fit, or if `length` is above 2^31 - 1, the greatest of a column.
    /// [`BuildError::Alloc`] if the allocator refuses the memory.
    pub fn fixed(unscaled: i128, length: usize) -> Result<Self, BuildError> {
        let shortest = Self::shortest(unscaled).0;
        let (value, min, max) = (length as u64, shortest.len() as u64, i32::MAX as u64);
        if !(min..=max).contains(&value) {
            let parameter = "length of a decimal in bytes";
            return Err(ParamError(ParamFault::OutOfRange { parameter, value, min, max }).into());
        }
        let mut bytes = reserved(value)?;
        bytes.resize(length - shortest.len(), if unscaled < 0 { 0xff } else { 0 });
        bytes.extend(shortest);
        Ok(Self(bytes))
    }

    /// Creates a value of a column of variable length, in the fewest bytes, as the format demands.
    #[must_use]
    pub fn shortest(unscaled: i128) -> Self {
        let bytes = unscaled.to_be_bytes();
        // A leading byte goes if the sign of the rest is the same.
        let is_needed = |pair: &[u8]| {
            i16::from_be_bytes([pair[0], pair[1]]) != i16::from(pair[1].cast_signed())
        };
        let start = bytes.windows(2).position(is_needed).unwrap_or(bytes.len() - 1);
        Self(bytes[start..].to_vec())
    }

    /// Returns the bytes that the column holds.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}
