//! The split-block Bloom filter of the Apache Parquet format, bit for bit.

mod parquet;

use alloc::vec::Vec;
use core::fmt;

use pds_core::internal::{Words, prefetch};
use pds_core::{AllocError, BuildError, Incompatible, ParamError};
use pds_params::blocked::{MAX_SPLIT_BLOCKS as MAX_BLOCKS, split_block_rate_with_collisions};

pub use parquet::{ParquetBytesError, ParquetFloat, ParquetValue, ParquetWriter};

/// Lanes of a block, of 32 bits each.
const LANES: usize = 8;

/// Bytes of a block.
const BLOCK_BYTES: usize = 4 * LANES;

/// Words of 64 bits that a block takes; the even lanes are the lower halves.
const BLOCK_WORDS: usize = BLOCK_BYTES / 8;

/// The odd constants of the format, by which the lower half of a hash is multiplied for each lane.
const SALTS: [u32; LANES] = [
    0x47b6_137b,
    0x4497_4d91,
    0x8824_ad5b,
    0xa2b7_289d,
    0x7054_95c7,
    0x2df1_424b,
    0x9efc_4947,
    0x5c6b_fb31,
];

/// How many keys of a batch are under way at once.
const BATCH: usize = 64;

/// The Bloom filter that Parquet files hold for a column: it reads those of any writer, and writes the
/// same bits for the same values.
///
/// Choose it for Parquet files. Elsewhere a [`BlockedBloomFilter`](crate::BlockedBloomFilter) is smaller
/// at the same rate (by 4 % at 1 %, 10 % at 0.1 %), faster, and takes keys of any type.
///
/// Blocks have 256 bits, eight lanes of 32, and a value sets one bit in each. The hash is XXH64 with seed 0
/// of the value in Parquet's plain encoding; see [`ParquetValue`].
///
/// # Guarantees
/// - False negatives: never. False positives: E\[(1 - (31/32)^j)^8\], j the load of a block, Poisson with
///   mean 256 / c for c bits an item. Filters of [`new`](Self::new) keep their rate on average up to their number of
///   values; those of the size of a [writer](Self::for_writer) may miss it.
/// - Memory: 32 bytes per block; 10.5 bits per item at 1 %, before rounding up to a power of two.
/// - Insert and query: O(1), one block. Union: exact, requires equal blocks.
///
/// # Examples
/// ```
/// use bloom_blocked::SplitBlockBloomFilter;
///
/// let mut column = SplitBlockBloomFilter::new(1_000, 0.01)?;
/// column.insert("user/17");
/// let bitset = column.to_parquet_bytes();
///
/// let read = SplitBlockBloomFilter::from_parquet_bytes(&bitset)?;
/// assert!(read.contains("user/17") && !read.contains("user/18"));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # References
/// Apache Parquet format, "Bloom filter" (BloomFilter.md), version 2.10; Jim Apple, "Split block Bloom
/// filters", arXiv:2101.01719, 2021.
#[derive(Clone, PartialEq, Eq)]
pub struct SplitBlockBloomFilter {
    words: Words,
}

impl SplitBlockBloomFilter {
    /// Creates a filter that keeps a false-positive rate of `rate` up to `distinct_values` values.
    ///
    /// The size is the least power of two of bytes, from 32 to 128 MiB as in Parquet files, for which the mean rate is at
    /// most `rate`. [`rate_at`](Self::rate_at) returns the rate that follows. Other numbers of blocks are for
    /// [`with_blocks`](Self::with_blocks).
    ///
    /// # Errors
    /// [`BuildError::Param`] when `distinct_values` is 0, `rate` not above 0 and below 1 or not above the rate of hash
    /// collisions, or when 128 MiB are too few for them; [`BuildError::Alloc`] when the memory is refused.
    ///
    /// # Examples
    /// ```
    /// use bloom_blocked::{ParquetWriter, SplitBlockBloomFilter};
    ///
    /// let filter = SplitBlockBloomFilter::new(27_000, 0.01)?;
    /// assert_eq!(format!("{:.5}", filter.rate_at(27_000)), "0.00049");
    /// // The formula of the writers falls short of the rate, and 32 KiB are not rounded up.
    /// let written = SplitBlockBloomFilter::for_writer(ParquetWriter::Arrow, 27_000, 0.01)?;
    /// assert_eq!(format!("{:.5}", written.rate_at(27_000)), "0.01444");
    /// # Ok::<(), bloom_blocked::BuildError>(())
    /// ```
    pub fn new(distinct_values: u64, rate: f64) -> Result<Self, BuildError> {
        Self::with_blocks(parquet::blocks_for(distinct_values, rate)?)
    }

    /// Creates a filter of the size that this writer gives a column of this many distinct values.
    ///
    /// The writers' formula takes all blocks to be equally full. Where its result is not rounded up much, the filter misses
    /// `rate`: by up to 1.5 times at 1 %, 2.1 times at 0.1 %. The size is never more than 128 MiB, so that beyond some
    /// hundred million values it misses more. [`rate_at`](Self::rate_at) returns the rate that follows; a filter that
    /// keeps its rate is built by [`new`](Self::new).
    ///
    /// # Errors
    /// [`BuildError::Param`] when `distinct_values` is 0 or `rate` not above 0 and below 1;
    /// [`BuildError::Alloc`] when the memory is refused.
    pub fn for_writer(
        writer: ParquetWriter,
        distinct_values: u64,
        rate: f64,
    ) -> Result<Self, BuildError> {
        let bytes = writer.size_in_bytes(distinct_values, rate)?;
        Self::with_blocks(bytes / BLOCK_BYTES as u64)
    }

    /// Creates a filter of this many blocks of 32 bytes.
    ///
    /// # Errors
    /// [`BuildError::Param`] for no blocks or more than 2^32; [`BuildError::Alloc`] when the memory is
    /// refused.
    pub fn with_blocks(blocks: u64) -> Result<Self, BuildError> {
        if !(1..=MAX_BLOCKS).contains(&blocks) {
            let (parameter, min, max) = ("blocks", 1, MAX_BLOCKS);
            return Err(ParamError::OutOfRange { parameter, value: blocks, min, max }.into());
        }
        Ok(Self { words: Words::zeroed(blocks * BLOCK_WORDS as u64)? })
    }

    /// Reads the bitset of a filter, as it follows the header in a Parquet file.
    ///
    /// # Errors
    /// [`ParquetBytesError`] when `bitset` is empty or no whole number of blocks, or memory is refused.
    pub fn from_parquet_bytes(bitset: &[u8]) -> Result<Self, ParquetBytesError> {
        let (blocks, rest) = bitset.as_chunks::<BLOCK_BYTES>();
        let length = bitset.len() as u64;
        if !rest.is_empty() || blocks.is_empty() || blocks.len() as u64 > MAX_BLOCKS {
            return Err(ParquetBytesError::Length { bytes: length });
        }
        let mut words = Words::zeroed(length / 8)?;
        for (word, bytes) in words.iter_mut().zip(bitset.as_chunks().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        Ok(Self { words })
    }

    /// Returns the bitset, to be written behind a header in a Parquet file.
    #[must_use]
    pub fn to_parquet_bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Inserts a value. Returns `true` when it was not contained before.
    pub fn insert<V: ParquetValue + ?Sized>(&mut self, value: &V) -> bool {
        self.insert_hash(value.parquet_hash())
    }

    /// Tests whether a value is possibly contained; `false` is certain.
    #[must_use]
    pub fn contains<V: ParquetValue + ?Sized>(&self, value: &V) -> bool {
        self.contains_hash(value.parquet_hash())
    }

    /// Inserts many values. Returns how many were not contained before.
    pub fn insert_batch<V: ParquetValue>(&mut self, values: &[V]) -> usize {
        self.insert_each(values, V::parquet_hash)
    }

    /// Inserts many values by their XXH64. Returns how many were not contained before.
    pub fn insert_hash_batch(&mut self, hashes: &[u64]) -> usize {
        self.insert_each(hashes, |&hash| hash)
    }

    fn insert_each<V>(&mut self, values: &[V], hash: impl Fn(&V) -> u64) -> usize {
        let mut new = 0;
        for values in values.chunks(BATCH) {
            let hashes = self.send_for(values, &hash);
            new += hashes[..values.len()].iter().filter(|&&hash| self.insert_hash(hash)).count();
        }
        new
    }

    /// Inserts a value by its XXH64. Returns `true` when it was not contained before.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        let index = self.block_of(hash);
        let block = &mut self.words.as_chunks_mut::<BLOCK_WORDS>().0[index];
        let mut missing = 0;
        for (word, mask) in block.iter_mut().zip(masks(hash)) {
            missing |= mask & !*word;
            *word |= mask;
        }
        missing != 0
    }

    /// Tests whether a value with this XXH64 is possibly contained; `false` is certain.
    #[inline]
    #[must_use]
    pub fn contains_hash(&self, hash: u64) -> bool {
        let block = &self.words.as_chunks::<BLOCK_WORDS>().0[self.block_of(hash)];
        block.iter().zip(masks(hash)).fold(0, |missing, (word, mask)| missing | mask & !word) == 0
    }

    /// Tests whether a number that equals `value` is possibly contained; `false` is certain.
    ///
    /// Numbers are hashed by their bytes, and equal ones can differ in them. For either zero this asks for both. For NaN it
    /// returns `true`: there are too many payloads to ask for.
    ///
    /// # Examples
    /// ```
    /// use bloom_blocked::SplitBlockBloomFilter;
    ///
    /// let mut column = SplitBlockBloomFilter::new(1_000, 0.01)?;
    /// column.insert(&-0.0);
    /// assert!(!column.contains(&0.0), "other bytes");
    /// assert!(column.contains_float(0.0) && !column.contains_float(1.5));
    /// # Ok::<(), bloom_blocked::BuildError>(())
    /// ```
    #[must_use]
    pub fn contains_float<F: ParquetFloat>(&self, value: F) -> bool {
        value.is_nan() || self.contains(&value) || value.is_zero() && self.contains(&-value)
    }

    /// Tests many values: `out[i]` is the answer for `values[i]`.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_batch<V: ParquetValue>(&self, values: &[V], out: &mut [bool]) {
        self.contains_each(values, V::parquet_hash, out);
    }

    /// Tests many values by their XXH64: `out[i]` is the answer for `hashes[i]`.
    ///
    /// # Panics
    /// When the slices differ in length.
    pub fn contains_hash_batch(&self, hashes: &[u64], out: &mut [bool]) {
        self.contains_each(hashes, |&hash| hash, out);
    }

    fn contains_each<V>(&self, values: &[V], hash: impl Fn(&V) -> u64, out: &mut [bool]) {
        assert_eq!(values.len(), out.len(), "one answer a value");
        for (values, answers) in values.chunks(BATCH).zip(out.chunks_mut(BATCH)) {
            let hashes = self.send_for(values, &hash);
            answers.iter_mut().zip(hashes).for_each(|(answer, h)| *answer = self.contains_hash(h));
        }
    }

    /// Hashes up to [`BATCH`] values and asks for their blocks to be brought near.
    fn send_for<V>(&self, values: &[V], hash: impl Fn(&V) -> u64) -> [u64; BATCH] {
        let mut hashes = [0; BATCH];
        for (hashed, value) in hashes.iter_mut().zip(values) {
            *hashed = hash(value);
            prefetch(&self.words, self.block_of(*hashed) * BLOCK_WORDS);
        }
        hashes
    }

    /// Makes `self` the filter of the values of both.
    ///
    /// # Errors
    /// [`Incompatible::Shape`] when the numbers of blocks differ; nothing is changed then.
    pub fn union_with(&mut self, other: &Self) -> Result<(), Incompatible> {
        Incompatible::check_shape("number of blocks", self.num_blocks(), other.num_blocks())?;
        self.words.iter_mut().zip(&*other.words).for_each(|(word, theirs)| *word |= theirs);
        Ok(())
    }

    /// Returns the smallest filter of the same values whose [rate](Self::false_positive_rate) is at most `rate`, by
    /// halves.
    ///
    /// Neighbouring blocks are united, so that it equals the filter that the same values would have built at
    /// that size. It can hold no more values at that rate.
    ///
    /// # Errors
    /// [`BuildError::Param`] when `rate` is not above 0 and below 1, or below the rate that this filter has already;
    /// [`BuildError::Alloc`] when memory is refused.
    ///
    /// # Examples
    /// ```
    /// use bloom_blocked::SplitBlockBloomFilter;
    ///
    /// let mut column = SplitBlockBloomFilter::new(100_000, 0.01)?;
    /// (0..20_000i64).for_each(|value| {
    ///     column.insert(&value);
    /// });
    /// let small = column.shrink_to_rate(0.01)?;
    /// assert!(small.num_blocks() < column.num_blocks() && small.false_positive_rate() <= 0.01);
    /// assert!(small.shrink_to_rate(1e-6).is_err(), "the rate is higher already");
    /// # Ok::<(), bloom_blocked::BuildError>(())
    /// ```
    pub fn shrink_to_rate(&self, rate: f64) -> Result<Self, BuildError> {
        parquet::check_rate(rate)?;
        let own = self.false_positive_rate();
        if own > rate {
            let parameter = "false_positive_rate";
            return Err(ParamError::TooLow { parameter, value: rate, min: own }.into());
        }
        let mut smallest = self.try_clone()?;
        while smallest.num_blocks().is_multiple_of(2) {
            let half = smallest.halve()?;
            if half.false_positive_rate() > rate {
                break;
            }
            smallest = half;
        }
        Ok(smallest)
    }

    /// Returns the filter that Arrow makes of this one when it closes a file.
    ///
    /// As [`shrink_to_rate`](Self::shrink_to_rate), but Arrow predicts the rate of a half from the mean fill, whose eighth
    /// power it takes for the rate. The result may miss `rate`, by up to 1.5 times at 1 %.
    ///
    /// # Errors
    /// [`BuildError::Param`] when `rate` is not above 0 and below 1; [`BuildError::Alloc`] when memory is refused.
    pub fn shrink_as_arrow(&self, rate: f64) -> Result<Self, BuildError> {
        parquet::check_rate(rate)?;
        let mut smallest = self.try_clone()?;
        while smallest.num_blocks().is_multiple_of(2)
            && eighth_power(smallest.fill_of_half()) <= rate
        {
            smallest = smallest.halve()?;
        }
        Ok(smallest)
    }

    /// The fill of the half, as if the halves were independent: a bit of it is clear where two bits are.
    fn fill_of_half(&self) -> f64 {
        let clear = 1.0 - self.fill_ratio();
        1.0 - clear * clear
    }

    fn halve(&self) -> Result<Self, AllocError> {
        let mut words = Words::zeroed(self.words.len() as u64 / 2)?;
        let halves = words.as_chunks_mut::<BLOCK_WORDS>().0;
        for (half, [left, right]) in halves.iter_mut().zip(self.pairs()) {
            *half = core::array::from_fn(|i| left[i] | right[i]);
        }
        Ok(Self { words })
    }

    fn pairs(&self) -> impl Iterator<Item = &[[u64; BLOCK_WORDS]; 2]> {
        self.words.as_chunks::<BLOCK_WORDS>().0.as_chunks().0.iter()
    }

    /// Copies the filter, unless memory is refused.
    ///
    /// # Errors
    /// [`AllocError`] when it is.
    pub fn try_clone(&self) -> Result<Self, AllocError> {
        Ok(Self { words: self.words.try_clone()? })
    }

    /// Forgets all values.
    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Returns the number of blocks of 32 bytes.
    #[must_use]
    pub fn num_blocks(&self) -> u64 {
        self.words.len() as u64 / BLOCK_WORDS as u64
    }

    /// Returns the size of the blocks in bytes.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.words.size_in_bytes()
    }

    /// Returns the fraction of set bits, in O(m).
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "a ratio needs no more than the 53 bits of both"
    )]
    pub fn fill_ratio(&self) -> f64 {
        let ones: u64 = self.words.iter().map(|word| u64::from(word.count_ones())).sum();
        ones as f64 / (self.size_in_bytes() * 8) as f64
    }

    /// Predicts the mean false-positive rate of filters of this size that hold `distinct_values`.
    ///
    /// The share of absent values whose hash has its lower half in common with a stored one's of the same block is
    /// included.
    #[must_use]
    pub fn rate_at(&self, distinct_values: u64) -> f64 {
        split_block_rate_with_collisions(self.num_blocks(), distinct_values)
    }

    /// Returns the fraction of absent values that are answered `true` now, in [0, 1].
    ///
    /// It is the mean over all blocks of the product of the lanes' fills, in O(m).
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a mean needs no more than 53 bits")]
    pub fn false_positive_rate(&self) -> f64 {
        let lane = |lane: u32| f64::from(lane.count_ones()) / 32.0;
        let rate = |block: &[u64; BLOCK_WORDS]| {
            block.iter().map(|&word| lane(low(word)) * lane(low(word >> 32))).product::<f64>()
        };
        let blocks = self.words.as_chunks().0;
        blocks.iter().map(rate).sum::<f64>() / blocks.len() as f64
    }

    #[inline]
    fn block_of(&self, hash: u64) -> usize {
        (((hash >> 32) * self.num_blocks()) >> 32) as usize
    }
}

fn eighth_power(x: f64) -> f64 {
    let fourth = x * x * x * x;
    fourth * fourth
}

/// The bits of a value in its block: one in each lane.
#[inline]
fn masks(hash: u64) -> [u64; BLOCK_WORDS] {
    let lane = |i: usize| 1u64 << (low(hash).wrapping_mul(SALTS[i]) >> 27);
    core::array::from_fn(|word| lane(2 * word) | lane(2 * word + 1) << 32)
}

/// The lower half of a word.
#[expect(clippy::cast_possible_truncation, reason = "the lower half is what is wanted")]
const fn low(word: u64) -> u32 {
    word as u32
}

impl fmt::Debug for SplitBlockBloomFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SplitBlockBloomFilter")
            .field("num_blocks", &self.num_blocks())
            .field("fill_ratio", &self.fill_ratio())
            .finish_non_exhaustive()
    }
}
