//! The filter of a column.

use alloc::vec::Vec;
use core::fmt;

use bloom_blocked::{SplitBlockBloomFilter, SplitBlockBloomFilterView};
use pds_core::error::{BuildError, Incompatible, ParamError};
use pds_core::internal::{AHEAD, check_lengths};
use pds_core::storage::{RawBytes, WordSource, Words};
use pds_params::internal::ParamFault;

use super::header::{self, FORMAT};
use super::writer::{self, ParquetWriter};
use super::{ParquetFloat, ParquetValue};
use crate::FormatError;
use crate::reader::Reader;

/// Bytes of a block.
pub(super) const BLOCK_BYTES: usize = 32;

/// The Bloom filter of a column in a Parquet file: it sets the same bits for the same values as all writers.
///
/// Use it for Parquet files, and for engines that read these. It is a [`SplitBlockBloomFilter`] with the hash function of
/// the format: XXH64 with seed 0 of a value's plain encoding. [`ParquetValue`] lists the values of each type of column.
///
/// # Guarantees
/// - False negatives: never, if values are asked for in the physical type of the column.
/// - False positives: filters of [`new`](Self::new) keep their rate on average up to their number of values. Filters of the
///   size of a [writer](Self::for_writer) may miss it: 27,000 values at 1 % get 1.44 %.
///   [`rate_at`](Self::rate_at) and [`false_positive_rate`](Self::false_positive_rate) return the rate.
/// - Memory: 32 bytes per block; 10.5 bits per value at 1 %, before rounding up to a power of two.
/// - Insert and query: O(1), one block. Union: exact, requires equal blocks.
///
/// # Examples
/// ```
/// use pds_formats::parquet::ParquetBloomFilter;
///
/// let mut column = ParquetBloomFilter::new(1_000, 0.01)?;
/// column.insert("user/17");
/// let bytes = column.to_bytes();
///
/// let read = ParquetBloomFilter::from_bytes(&bytes)?;
/// assert!(read.contains("user/17") && !read.contains("user/18"));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # References
/// Apache Parquet format, "Bloom filter" (BloomFilter.md), version 2.10.
#[derive(Clone, PartialEq, Eq)]
pub struct ParquetBloomFilter<W = Words> {
    blocks: SplitBlockBloomFilter<W>,
}

/// A read-only [`ParquetBloomFilter`] that answers from the bytes of a file, without a copy.
pub type ParquetBloomFilterView<'a> = ParquetBloomFilter<RawBytes<&'a [u8]>>;

impl ParquetBloomFilter {
    /// Creates a filter that keeps a false-positive rate of `rate` up to `distinct_values` values.
    ///
    /// The size is the least power of two of bytes, from 32 to 128 MiB as in all files, for which the mean rate is at most
    /// `rate`.
    ///
    /// # Errors
    /// [`BuildError::Param`] if `distinct_values` is 0, if `rate` is not above 0 and below 1 or not above the rate of
    /// hash collisions, or if 128 MiB are too few for them. [`BuildError::Alloc`] if the allocator refuses the memory.
    ///
    /// # Examples
    /// ```
    /// use pds_formats::parquet::{ParquetBloomFilter, ParquetWriter};
    ///
    /// let filter = ParquetBloomFilter::new(27_000, 0.01)?;
    /// assert_eq!(format!("{:.5}", filter.rate_at(27_000)), "0.00049");
    /// // The formula of the writers falls short of the rate, and 32 KiB are not rounded up.
    /// let written = ParquetBloomFilter::for_writer(ParquetWriter::Arrow, 27_000, 0.01)?;
    /// assert_eq!(format!("{:.5}", written.rate_at(27_000)), "0.01444");
    /// # Ok::<(), pds_formats::error::BuildError>(())
    /// ```
    pub fn new(distinct_values: u64, rate: f64) -> Result<Self, BuildError> {
        Ok(Self { blocks: SplitBlockBloomFilter::new(distinct_values, rate)? })
    }

    /// Creates a filter of the size that this writer gives a column of this many distinct values.
    ///
    /// The formula of the writers assumes that all blocks are equally full. If its result is not rounded up much, the
    /// filter misses `rate`: by up to 1.5 times at 1 %, 2.1 times at 0.1 %. The size is never more than 128 MiB, so
    /// beyond some hundred million values the filter misses it by more. For a filter that keeps its rate use
    /// [`new`](Self::new).
    ///
    /// # Errors
    /// [`BuildError::Param`] if `distinct_values` is 0 or if `rate` is not above 0 and below 1.
    /// [`BuildError::Alloc`] if the allocator refuses the memory.
    pub fn for_writer(
        writer: ParquetWriter,
        distinct_values: u64,
        rate: f64,
    ) -> Result<Self, BuildError> {
        let bytes = writer.size_in_bytes(distinct_values, rate)?;
        Ok(Self { blocks: SplitBlockBloomFilter::with_blocks(bytes / BLOCK_BYTES as u64)? })
    }

    /// Creates a filter of existing blocks, whose bits must be of XXH64 hashes of plain-encoded values.
    ///
    /// # Errors
    /// [`ParamError`] if there are too many blocks for the format, which allows 2^26 - 1.
    pub fn from_blocks(blocks: SplitBlockBloomFilter) -> Result<Self, ParamError> {
        let (value, max) = (blocks.num_blocks(), header::MAX_BYTES / BLOCK_BYTES as u64);
        if value > max {
            let (parameter, min) = ("blocks", 1);
            return Err(ParamError(ParamFault::OutOfRange { parameter, value, min, max }));
        }
        Ok(Self { blocks })
    }

    /// As [`from_blocks`](Self::from_blocks), for blocks whose number is known to be allowed.
    pub(crate) const fn from_checked(blocks: SplitBlockBloomFilter) -> Self {
        Self { blocks }
    }

    /// Returns the structure without its hash function.
    #[must_use]
    pub fn into_blocks(self) -> SplitBlockBloomFilter {
        self.blocks
    }

    /// Reads header and bitset.
    ///
    /// # Errors
    /// [`FormatError`] if `bytes` are anything else, or more. Headers of `Murmur3`, which writers before 2020 left, are of the kind
    /// [`Hasher`](pds_core::error::DecodeErrorKind::Hasher).
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        let (filter, reader) = Self::read(bytes)?;
        reader.end()?;
        Ok(filter)
    }

    /// Reads header and bitset from the start of `bytes`. Returns the filter and the bytes after it.
    ///
    /// Old files say where a filter begins, but not how long it is.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes), except for bytes that follow.
    pub fn from_prefix(bytes: &[u8]) -> Result<(Self, &[u8]), FormatError> {
        Self::read(bytes).map(|(filter, mut reader)| (filter, reader.rest()))
    }

    fn read(bytes: &[u8]) -> Result<(Self, Reader<'_>), FormatError> {
        let (bitset, reader) = split(bytes)?;
        let blocks = SplitBlockBloomFilter::from_bitset(bitset)
            .map_err(|error| FormatError::structure(FORMAT, error))?;
        Ok((Self { blocks }, reader))
    }

    /// Inserts a value. Returns `true` if it was not contained before.
    pub fn insert<V: ParquetValue + ?Sized>(&mut self, value: &V) -> bool {
        self.blocks.insert_hash(value.parquet_hash())
    }

    /// Inserts many values. Returns how many were not contained before.
    pub fn insert_batch<V: ParquetValue>(&mut self, values: &[V]) -> usize {
        let mut hashes = [0; BATCH];
        let insert = |values: &[V]| {
            let hashes = &mut hashes[..values.len()];
            hashes.iter_mut().zip(values).for_each(|(hash, value)| *hash = value.parquet_hash());
            self.blocks.insert_hash_batch(hashes)
        };
        values.chunks(BATCH).map(insert).sum()
    }

    /// Inserts all values of `other`.
    ///
    /// # Errors
    /// [`Incompatible`] if the numbers of blocks differ. `self` is unchanged then.
    pub fn union_with(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.blocks.union_with(&other.blocks)
    }

    /// Returns the filter that Arrow makes of this one when it closes a file.
    ///
    /// Shrinks as [`shrink_to_rate`](Self::shrink_to_rate) does, but by Arrow's prediction: the rate of a half is the
    /// eighth power of its mean fill. The result may miss `rate`, by up to 1.5 times at 1 %.
    ///
    /// # Errors
    /// [`BuildError::Param`] if `rate` is not above 0 and below 1. [`BuildError::Alloc`] if the allocator refuses the
    /// memory.
    pub fn shrink_as_arrow(&self, rate: f64) -> Result<Self, BuildError> {
        writer::check_rate(rate)?;
        let mut blocks = self.blocks.try_clone()?;
        while eighth_power(fill_of_half(&blocks)) <= rate
            && let Some(half) = blocks.halved()?
        {
            blocks = half;
        }
        Ok(Self { blocks })
    }

    /// Removes all values.
    pub fn clear(&mut self) {
        self.blocks.clear();
    }
}

impl<'a> ParquetBloomFilterView<'a> {
    /// Opens header and bitset.
    ///
    /// # Errors
    /// As [`from_bytes`](ParquetBloomFilter::from_bytes).
    ///
    /// # Complexity
    /// Constant.
    pub fn open(bytes: &'a [u8]) -> Result<Self, FormatError> {
        let (bitset, reader) = split(bytes)?;
        reader.end()?;
        let blocks = SplitBlockBloomFilterView::open(bitset)
            .map_err(|error| FormatError::structure(FORMAT, error))?;
        Ok(Self { blocks })
    }
}

/// Returns the bitset of a filter, and the reader behind it.
fn split(bytes: &[u8]) -> Result<(&[u8], Reader<'_>), FormatError> {
    let mut reader = Reader::new(FORMAT, bytes);
    let length = header::read(&mut reader)?;
    let bitset = reader.bytes("bitset", length)?;
    Ok((bitset, reader))
}

/// Values that are hashed before their blocks are visited.
const BATCH: usize = 4 * AHEAD;

impl<W: WordSource> ParquetBloomFilter<W> {
    /// Tests whether a value may be in the column. `false` is certain.
    #[must_use]
    pub fn contains<V: ParquetValue + ?Sized>(&self, value: &V) -> bool {
        self.blocks.contains_hash(value.parquet_hash())
    }

    /// Tests whether a number that equals `value` may be in the column. `false` is certain.
    ///
    /// Numbers are hashed by their bytes, and equal numbers can differ in them. For either zero this tests both. For
    /// NaN it returns `true`, because there are too many payloads to test.
    ///
    /// # Examples
    /// ```
    /// use pds_formats::parquet::ParquetBloomFilter;
    ///
    /// let mut column = ParquetBloomFilter::new(1_000, 0.01)?;
    /// column.insert(&-0.0);
    /// assert!(!column.contains(&0.0), "other bytes");
    /// assert!(column.contains_float(0.0) && !column.contains_float(1.5));
    /// # Ok::<(), pds_formats::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn contains_float<F: ParquetFloat>(&self, value: F) -> bool {
        // NaN, of any payload, has no order to itself. Zero, of either sign, equals its negative.
        let (is_nan, is_zero) = (value.partial_cmp(&value).is_none(), value == -value);
        is_nan || self.contains(&value) || is_zero && self.contains(&-value)
    }

    /// Tests many values: `out[i]` is the answer for `values[i]`.
    ///
    /// # Panics
    /// If the slices differ in length.
    #[track_caller]
    pub fn contains_batch<V: ParquetValue>(&self, values: &[V], out: &mut [bool]) {
        check_lengths(values, out);
        let mut hashes = [0; BATCH];
        for (values, out) in values.chunks(BATCH).zip(out.chunks_mut(BATCH)) {
            let hashes = &mut hashes[..values.len()];
            hashes.iter_mut().zip(values).for_each(|(hash, value)| *hash = value.parquet_hash());
            self.blocks.contains_hash_batch(hashes, out);
        }
    }

    /// Returns header and bitset, as they stand in a file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        [header::write(self.blocks.size_in_bytes()), self.blocks.to_bitset()].concat()
    }

    /// Returns the smallest filter of the same values whose [rate](Self::false_positive_rate) is at most `rate`, by halves.
    ///
    /// The result equals the filter that the same values would have built at that size. Build with an upper bound of the
    /// number of values, and shrink before the file is written.
    ///
    /// # Errors
    /// [`BuildError::Param`] if `rate` is not above 0 and below 1, or below the current rate of this filter.
    /// [`BuildError::Alloc`] if the allocator refuses the memory.
    pub fn shrink_to_rate(&self, rate: f64) -> Result<ParquetBloomFilter, BuildError> {
        Ok(ParquetBloomFilter { blocks: self.blocks.shrink_to_rate(rate)? })
    }

    /// Returns the size of the bitset in bytes.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.blocks.size_in_bytes()
    }

    /// Predicts the mean false-positive rate of filters of this size that hold `distinct_values`.
    #[must_use]
    pub fn rate_at(&self, distinct_values: u64) -> f64 {
        self.blocks.rate_at(distinct_values)
    }

    /// Returns the current false-positive rate, from 0 to 1: the fraction of absent values that are answered `true`.
    ///
    /// # Complexity
    /// O(m) for m bits.
    #[must_use]
    pub fn false_positive_rate(&self) -> f64 {
        self.blocks.false_positive_rate()
    }

    /// Returns the structure without its hash function.
    #[must_use]
    pub const fn blocks(&self) -> &SplitBlockBloomFilter<W> {
        &self.blocks
    }
}

/// Returns the fill of a half as if both halves were independent: a bit of it is clear if two bits are clear.
fn fill_of_half(blocks: &SplitBlockBloomFilter) -> f64 {
    let clear = 1.0 - blocks.fill_ratio();
    1.0 - clear * clear
}

fn eighth_power(x: f64) -> f64 {
    let fourth = x * x * x * x;
    fourth * fourth
}

impl<W: WordSource> fmt::Debug for ParquetBloomFilter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = ["ParquetBloomFilter", "ParquetBloomFilter", "ParquetBloomFilterView"];
        f.debug_struct(W::name_of(names))
            .field("num_blocks", &self.blocks.num_blocks())
            .field("fill_ratio", &self.blocks.fill_ratio())
            .finish_non_exhaustive()
    }
}
