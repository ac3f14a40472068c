//! The Bloom filters that clients of Milvus send with a query: `MBF1`.
//!
//! A client builds a filter of the values that it asks for. The server only probes it, so all clients must build the same
//! bytes. The bits are those of [`parquet`](crate::parquet): of XXH64 of an integer's eight bytes, or of a string's bytes.

use alloc::format;
use alloc::vec::Vec;

use bloom_blocked::SplitBlockBloomFilter;
use pds_core::error::{BuildError, DecodeErrorKind, Incompatible};

use crate::FormatError;
use crate::parquet::{ParquetBloomFilter, ParquetValue, ParquetWriter};
use crate::reader::Reader;

/// The name of the format in errors.
const FORMAT: &str = "Milvus Bloom filter";

const MAGIC: &str = "MBF1";
const VERSION: u16 = 1;
/// XXH64 in the split blocks of Parquet, the only one so far.
const ALGORITHM: u16 = 1;
const HEADER_BYTES: usize = 32;

/// The largest filter: 128 MiB.
const MAX_BLOCKS: u32 = 1 << 22;

/// The type of a filter's values. The server refuses a filter of strings for a field of integers, and the other way round.
const INTEGERS: u8 = 1;
const STRINGS: u8 = 2;

/// The filter that a client of Milvus sends with a query.
///
/// Its size follows the formula that all clients share, which may miss the rate: see
/// [`for_writer`](ParquetBloomFilter::for_writer). [`rate_at`](Self::rate_at) returns the rate that it reaches.
///
/// # Examples
/// ```
/// use pds_formats::milvus::MilvusBloomFilter;
///
/// let mut seen = MilvusBloomFilter::new(3, 0.001)?;
/// [17, 18, 19].into_iter().for_each(|id| {
///     seen.insert_integer(id);
/// });
/// // The template parameter of the filter expression.
/// let blob = seen.to_bytes();
/// assert!(MilvusBloomFilter::from_bytes(&blob)?.contains_integer(17));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # References
/// Milvus, design document 20260707, "Bloom Filter Membership Expression", section "Wire format".
#[derive(Clone, Debug, PartialEq)]
pub struct MilvusBloomFilter {
    filter: ParquetBloomFilter,
    declared_values: u64,
    declared_rate: f64,
    domains: u8,
}

impl MilvusBloomFilter {
    /// Creates a filter of the size that all clients give this number of values at this rate.
    ///
    /// # Errors
    /// [`BuildError::Param`] if `rate` is not above 0 and below 1. Other clients take rates from 0.0001 to 0.05.
    /// [`BuildError::Alloc`] if the allocator refuses the memory.
    pub fn new(values: u64, rate: f64) -> Result<Self, BuildError> {
        // Clients give an empty set the least size.
        let filter = ParquetBloomFilter::for_writer(ParquetWriter::Arrow, values.max(1), rate)?;
        Ok(Self { filter, declared_values: values, declared_rate: rate, domains: 0 })
    }

    /// Reads the bytes of a filter.
    ///
    /// # Errors
    /// [`FormatError`] if `bytes` are anything else, or more.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut reader = Reader::new(FORMAT, bytes);
        reader.magic(MAGIC)?;
        let version = reader.u16_le("version")?;
        version.equals(VERSION).map_err(|error| error.of_kind(DecodeErrorKind::Version))?;
        let algorithm = reader.u16_le("algorithm")?;
        algorithm
            .one_of(&[ALGORITHM], "1, XXH64 in split blocks")
            .map_err(|error| error.of_kind(DecodeErrorKind::Hasher))?;
        let declared_values = reader.u64_le("declared number of values")?.value;
        let declared_rate = reader.f64_le("declared rate")?.value;
        let blocks = reader.u32_le("number of blocks")?;
        let domains = reader.u8("domains")?.within(0..=INTEGERS | STRINGS)?;
        for _ in 29..HEADER_BYTES {
            reader.u8("reserved byte")?.equals(0)?;
        }
        if !blocks.value.is_power_of_two() || blocks.value > MAX_BLOCKS {
            return Err(blocks.invalid(format!("a power of two up to {MAX_BLOCKS}")));
        }
        let bitset = reader.bytes("blocks", u64::from(blocks.value) * 32)?;
        reader.end()?;
        let blocks = SplitBlockBloomFilter::from_bitset(bitset)
            .map_err(|error| FormatError::structure(FORMAT, error))?;
        let filter = ParquetBloomFilter::from_checked(blocks);
        Ok(Self { filter, declared_values, declared_rate, domains })
    }

    /// Returns the bytes of the filter.
    ///
    /// They declare the number of values and the rate of [`new`](Self::new), as the server logs them.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let blocks = self.filter.blocks();
        let mut bytes = MAGIC.as_bytes().to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(ALGORITHM.to_le_bytes());
        bytes.extend(self.declared_values.to_le_bytes());
        bytes.extend(self.declared_rate.to_le_bytes());
        bytes.extend_from_slice(&blocks.num_blocks().to_le_bytes()[..4]);
        bytes.push(self.domains);
        bytes.resize(HEADER_BYTES, 0);
        bytes.extend(blocks.to_bitset());
        bytes
    }

    /// Inserts an integer of any width. Returns `true` if it was not contained before.
    pub fn insert_integer(&mut self, value: i64) -> bool {
        self.insert(INTEGERS, &value)
    }

    /// Inserts a string. Returns `true` if it was not contained before.
    pub fn insert_string(&mut self, value: &str) -> bool {
        self.insert(STRINGS, value)
    }

    fn insert<V: ParquetValue + ?Sized>(&mut self, domain: u8, value: &V) -> bool {
        let is_first = self.domains & domain == 0;
        self.domains |= domain;
        self.filter.insert(value) || is_first
    }

    /// Tests whether an integer may be in the set. `false` is certain, also if only strings were inserted.
    #[must_use]
    pub fn contains_integer(&self, value: i64) -> bool {
        self.domains & INTEGERS != 0 && self.filter.contains(&value)
    }

    /// Tests whether a string may be in the set. `false` is certain, also if only integers were inserted.
    #[must_use]
    pub fn contains_string(&self, value: &str) -> bool {
        self.domains & STRINGS != 0 && self.filter.contains(value)
    }

    /// Inserts all values of `other`. The declared number of values becomes the sum.
    ///
    /// # Errors
    /// [`Incompatible`] if the numbers of blocks differ. `self` is unchanged then.
    pub fn union_with(&mut self, other: &Self) -> Result<(), Incompatible> {
        self.filter.union_with(&other.filter)?;
        self.domains |= other.domains;
        self.declared_values = self.declared_values.saturating_add(other.declared_values);
        Ok(())
    }

    /// Returns the number of values that the filter was made for.
    #[must_use]
    pub const fn declared_values(&self) -> u64 {
        self.declared_values
    }

    /// Returns the false-positive rate that the filter was made for. See [`rate_at`](Self::rate_at).
    #[must_use]
    pub const fn declared_rate(&self) -> f64 {
        self.declared_rate
    }

    /// Predicts the mean false-positive rate of filters of this size that hold `values` values.
    #[must_use]
    pub fn rate_at(&self, values: u64) -> f64 {
        self.filter.rate_at(values)
    }

    /// Returns the filter of the same bits for a Parquet file.
    #[must_use]
    pub fn into_parquet(self) -> ParquetBloomFilter {
        self.filter
    }
}
