//! Sizes as the writers of Parquet files choose them.

use pds_core::error::ParamError;
use pds_params::blocked::split_block_bits;
use pds_params::internal::ParamFault;

use super::filter::BLOCK_BYTES;

/// The largest filter that writers make: 128 MiB.
const MAX_BYTES: u64 = 128 << 20;

/// A program that writes Parquet files. Each rounds the size of a filter in its own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ParquetWriter {
    /// Arrow: the next power of two of the bits, which are truncated to a whole number. It may
    /// [shrink](super::ParquetBloomFilter::shrink_as_arrow) the filter when the file is closed.
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
    /// use pds_formats::parquet::ParquetWriter;
    ///
    /// assert_eq!(ParquetWriter::Arrow.size_in_bytes(1_000, 0.01)?, 2_048);
    /// assert_eq!(ParquetWriter::ParquetJava.size_in_bytes(74, 0.05)?, 128);
    /// assert_eq!(ParquetWriter::ParquetJava.size_in_bytes(75, 0.05)?, 64);
    /// # Ok::<(), pds_formats::error::ParamError>(())
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
