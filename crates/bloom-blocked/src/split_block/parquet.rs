//! Values as Parquet hashes them, and sizes as its writers choose them.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Neg;

use pds_core::error::ParamError;
use pds_params::blocked::{split_block_bits, split_blocks};
use pds_params::internal::ParamFault;
use xxhash_rust::xxh64::xxh64;

use super::BLOCK_BYTES;

/// The largest filter that writers make: 128 MiB.
const MAX_BYTES: u64 = 128 << 20;

/// A value of a Parquet column, hashed as the format says: XXH64 with seed 0 of the plain encoding.
///
/// The physical type of a column determines the hashed bytes. The logical type alone does not.
///
/// | logical type | physical type | ask with |
/// |---|---|---|
/// | integers of up to 32 bits, date, time in milliseconds | INT32 | `i32`; `u32` as `i32`, bit for bit |
/// | integers of 64 bits, timestamps, other times | INT64 | `i64`; `u64` as `i64`, bit for bit |
/// | decimal | INT32, INT64 | the unscaled number: 5.00 of scale 2 is `500_i32` or `500_i64` |
/// | decimal | `FIXED_LEN_BYTE_ARRAY` | the unscaled number in two's complement, big endian, in the column's length: `500_i32.to_be_bytes()` for 4 bytes |
/// | decimal | `BYTE_ARRAY` | the same in as many bytes as the writer took, by the format the fewest: `[0x01, 0xF4]` |
/// | none | FLOAT, DOUBLE | `f32`, `f64`: see below |
/// | float of 16 bits | `FIXED_LEN_BYTE_ARRAY` | the two bytes, little endian |
/// | string, enum, JSON, BSON | `BYTE_ARRAY` | the bytes, without a length |
/// | UUID | `FIXED_LEN_BYTE_ARRAY` | the 16 bytes, big endian |
/// | interval | `FIXED_LEN_BYTE_ARRAY` | the 12 bytes: months, days, milliseconds, each little endian |
/// | none | INT96 | the 12 bytes |
/// | none | BOOLEAN | the format has no filters for it |
///
/// # Equal values of unequal bytes
/// A filter knows bytes only. `0.0` and `-0.0` are equal, and most queries treat all NaNs as equal, but their hashes
/// differ. Use [`contains_float`](super::SplitBlockBloomFilter::contains_float). Convert a decimal to the scale of the
/// column first: 5.0 and 5.00 are 50 and 500 unscaled.
///
/// # References
/// Apache Parquet format, "Bloom filter" (BloomFilter.md), "Encodings" (Encodings.md) and "Logical types"
/// (LogicalTypes.md), version 2.10.
pub trait ParquetValue {
    /// Returns the hash.
    fn parquet_hash(&self) -> u64;
}

/// `i32`, `i64`, `f32` and `f64`; `[u8]`, `[u8; N]`, `Vec<u8>`, `str` and `String`; references to these.
impl<V: plain::Plain + ?Sized> ParquetValue for V {
    #[inline]
    fn parquet_hash(&self) -> u64 {
        xxh64(self.plain().as_ref(), 0)
    }
}

mod plain {
    /// A value with a plain encoding of its own.
    pub trait Plain {
        fn plain(&self) -> impl AsRef<[u8]>;
    }
}

macro_rules! plain {
    ($($value:ty, $to:ident;)*) => {$(
        impl plain::Plain for $value {
            #[inline]
            fn plain(&self) -> impl AsRef<[u8]> {
                self.$to()
            }
        }
    )*};
}
plain! {
    i32, to_le_bytes;
    i64, to_le_bytes;
    f32, to_le_bytes;
    f64, to_le_bytes;
    str, as_bytes;
    String, as_bytes;
    Vec<u8>, as_slice;
}

impl plain::Plain for [u8] {
    #[inline]
    fn plain(&self) -> impl AsRef<[u8]> {
        self
    }
}

impl<const N: usize> plain::Plain for [u8; N] {
    #[inline]
    fn plain(&self) -> impl AsRef<[u8]> {
        self
    }
}

impl<V: plain::Plain + ?Sized> plain::Plain for &V {
    #[inline]
    fn plain(&self) -> impl AsRef<[u8]> {
        (**self).plain()
    }
}

/// A floating-point number of a Parquet column, FLOAT or DOUBLE.
pub trait ParquetFloat: ParquetValue + Copy + PartialOrd + Neg<Output = Self> {}

impl ParquetFloat for f32 {}
impl ParquetFloat for f64 {}

/// A program that writes Parquet files. Each rounds the size of a filter in its own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ParquetWriter {
    /// Arrow: the next power of two of the bits, which are truncated to a whole number. It may
    /// [shrink](super::SplitBlockBloomFilter::shrink_as_arrow) the filter when the file is closed.
    Arrow,
    /// `DuckDB`: the next power of two of the bytes, which are truncated to a whole number.
    DuckDb,
    /// parquet-java, and with it Spark: as the others, but from a number of bits that is up to 255 higher and has one
    /// bit cleared. Therefore more values may get a smaller filter.
    ParquetJava,
}

impl ParquetWriter {
    /// Returns the bytes of the filter that the program makes: a power of two from 32 to 2^27.
    ///
    /// # Errors
    /// [`ParamError`] if `distinct_values` is 0 or if `rate` is not above 0 and below 1.
    ///
    /// # Examples
    /// ```
    /// use bloom_blocked::ParquetWriter;
    ///
    /// assert_eq!(ParquetWriter::Arrow.size_in_bytes(1_000, 0.01)?, 2_048);
    /// assert_eq!(ParquetWriter::ParquetJava.size_in_bytes(74, 0.05)?, 128);
    /// assert_eq!(ParquetWriter::ParquetJava.size_in_bytes(75, 0.05)?, 64);
    /// # Ok::<(), bloom_blocked::error::ParamError>(())
    /// ```
    pub fn size_in_bytes(self, distinct_values: u64, rate: f64) -> Result<u64, ParamError> {
        check(distinct_values, rate)?;
        let limit = 8 * MAX_BYTES;
        #[expect(clippy::cast_possible_truncation, reason = "the whole part is what is wanted")]
        #[expect(clippy::cast_sign_loss, reason = "a number of bits is never negative")]
        let bits = (split_block_bits(distinct_values, rate) as u64).min(limit);
        let bytes = match self {
            Self::Arrow => bits.next_power_of_two() / 8,
            Self::DuckDb => (bits / 8).next_power_of_two(),
            // The mask was meant to clear the lowest eight bits, but clears the ninth.
            Self::ParquetJava => (((bits + 255) & !256) / 8).next_power_of_two(),
        };
        Ok(bytes.clamp(BLOCK_BYTES as u64, MAX_BYTES))
    }
}

/// Returns the least power of two of blocks that keeps the rate, up to the largest filter of the writers.
pub(super) fn blocks_for(distinct_values: u64, rate: f64) -> Result<u64, ParamError> {
    check(distinct_values, rate)?;
    let (blocks, max) = (split_blocks(distinct_values, rate)?, MAX_BYTES / BLOCK_BYTES as u64);
    if blocks <= max {
        return Ok(blocks.next_power_of_two());
    }
    #[expect(clippy::cast_precision_loss, reason = "an error names the size roughly")]
    let (value, max) = (blocks as f64, max as f64);
    Err(ParamError(ParamFault::TooLarge { parameter: "blocks", value, max }))
}

fn check(distinct_values: u64, rate: f64) -> Result<(), ParamError> {
    if distinct_values == 0 {
        let (parameter, min, max) = ("distinct_values", 1, u64::MAX);
        return Err(ParamError(ParamFault::OutOfRange { parameter, value: 0, min, max }));
    }
    check_rate(rate)
}

pub(super) fn check_rate(rate: f64) -> Result<(), ParamError> {
    if rate > 0.0 && rate < 1.0 {
        return Ok(());
    }
    Err(ParamError(ParamFault::NotAProbability { parameter: "false_positive_rate", value: rate }))
}
