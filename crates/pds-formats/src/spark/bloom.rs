//! Spark's `BloomFilter`.

use alloc::vec::Vec;
use core::f64::consts::LN_2;

use pds_core::error::{BuildError, DecodeErrorKind, Incompatible};

use super::SparkKey;
use crate::FormatError;
use crate::bits::{Bits, bloom_methods, rounded_hashes, usual_bits, whole_bits};
use crate::reader::Reader;

/// The name of the format in errors.
const FORMAT: &str = "Spark Bloom filter";

const V1: i32 = 1;
const V2: i32 = 2;

/// The number of words is a signed number of 32 bits.
const MAX_WORDS: u64 = i32::MAX as u64;

/// How a filter hashes, and which bytes it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SparkBloomVersion {
    /// Up to Spark 4.0: positions of 32 bits. Filters of more than some hundred million bits miss their rate.
    V1,
    /// From Spark 4.1: positions of 64 bits, and a seed.
    V2 {
        /// The seed, 0 by default.
        seed: i32,
    },
}

/// A Bloom filter with the bits of Spark's `BloomFilter`.
///
/// Use it to exchange filters with Spark. Otherwise use [`bloom_core::BloomFilter`], whose size keeps its rate.
///
/// # Guarantees
/// - False negatives: never, if integers are asked for as integers, and strings as strings.
/// - False positives: about the rate of [`new`](Self::new) at `expected_items`. [`false_positive_rate`](Self::false_positive_rate)
///   returns the rate of the current bits.
/// - Memory: the size of the bytes. Insert and query: O(k) for k hashes. Union: exact, requires equal shape and version.
///
/// # Examples
/// ```
/// use pds_formats::spark::{SparkBloomFilter, SparkBloomVersion};
///
/// let mut filter = SparkBloomFilter::new(SparkBloomVersion::V2 { seed: 0 }, 1_000, 0.03)?;
/// filter.insert("item:1");
/// filter.insert(17);
/// // `BloomFilter.readFrom` reads these bytes.
/// let bytes = filter.to_bytes();
///
/// let read = SparkBloomFilter::from_bytes(&bytes)?;
/// assert!(read.contains("item:1") && read.contains(17) && !read.contains("17"));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # References
/// Apache Spark 4.3, module `common/sketch`, classes `BloomFilterImpl` and `BloomFilterImplV2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SparkBloomFilter {
    version: SparkBloomVersion,
    bits: Bits,
}

impl SparkBloomFilter {
    /// Creates a filter of the size of `BloomFilter.create(expected_items, rate)`.
    ///
    /// The owner's formula neglects that filters are finite, so small ones may miss the rate by a few percent of it.
    ///
    /// # Errors
    /// [`BuildError::Param`] if `expected_items` is 0, if `rate` is not above 0 and below 1, or if the filter needs less
    /// than one bit or more than 2^31 - 1 words. [`BuildError::Alloc`] if the allocator refuses the memory.
    pub fn new(
        version: SparkBloomVersion,
        expected_items: u64,
        rate: f64,
    ) -> Result<Self, BuildError> {
        let num_bits = whole_bits(usual_bits(expected_items, rate)?, MAX_WORDS)?;
        let hashes = rounded_hashes(num_bits as f64 / expected_items as f64 * LN_2);
        Ok(Self { version, bits: Bits::new(num_bits, hashes)? })
    }

    /// Reads the bytes that `writeTo` wrote.
    ///
    /// # Errors
    /// [`FormatError`] if `bytes` are anything else, or more.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut reader = Reader::new(FORMAT, bytes);
        let version = reader.i32_be("version")?;
        let is_v2 = version
            .one_of(&[V1, V2], "1 or 2")
            .map_err(|error| error.of_kind(DecodeErrorKind::Version))?
            == V2;
        let hashes = reader.i32_be("number of hashes")?;
        let version = if is_v2 {
            SparkBloomVersion::V2 { seed: reader.i32_be("seed")?.value }
        } else {
            SparkBloomVersion::V1
        };
        let words = reader.i32_be("number of words")?.within(1..=i32::MAX)?;
        let words = u64::from(words.cast_unsigned());
        let bits = Bits::read(&mut reader, FORMAT, words, hashes, u64::from_be_bytes)?;
        reader.end()?;
        Ok(Self { version, bits })
    }

    /// Returns the bytes that `readFrom` reads.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let (version, seed) = match self.version {
            SparkBloomVersion::V1 => (V1, None),
            SparkBloomVersion::V2 { seed } => (V2, Some(seed)),
        };
        let mut bytes = version.to_be_bytes().to_vec();
        bytes.extend(self.bits.num_hashes().to_be_bytes());
        bytes.extend(seed.into_iter().flat_map(i32::to_be_bytes));
        // Constructors and readers allow no more words.
        bytes.extend_from_slice(&(self.words().len() as u64).to_be_bytes()[4..]);
        bytes.extend(self.words().iter().flat_map(|word| word.to_be_bytes()));
        bytes
    }

    /// Inserts a key, as `put` does. Returns `true` if it was not contained before.
    pub fn insert<'a>(&mut self, key: impl Into<SparkKey<'a>>) -> bool {
        let (version, bits) = (self.version, self.num_bits());
        self.bits.insert(version.positions(key.into(), bits))
    }

    /// Tests whether a key was possibly inserted, as `mightContain` does. `false` is certain.
    #[must_use]
    pub fn contains<'a>(&self, key: impl Into<SparkKey<'a>>) -> bool {
        self.bits.contains(self.version.positions(key.into(), self.num_bits()))
    }

    /// Inserts all keys of `other`, as `mergeInPlace` does.
    ///
    /// # Errors
    /// [`Incompatible`] if versions, seeds, bits or hashes differ. `self` is unchanged then.
    pub fn union_with(&mut self, other: &Self) -> Result<(), Incompatible> {
        let [ours, theirs] = [self.version, other.version].map(SparkBloomVersion::numbers);
        Incompatible::check_shape("version", ours[0], theirs[0])?;
        Incompatible::check_shape("seed, as an unsigned number,", ours[1], theirs[1])?;
        self.bits.union_with(&other.bits)
    }

    /// Returns the version of the bytes, which fixes the hash function.
    #[must_use]
    pub const fn version(&self) -> SparkBloomVersion {
        self.version
    }

    bloom_methods!();
}

impl SparkBloomVersion {
    /// Returns version and seed.
    fn numbers(self) -> [u64; 2] {
        match self {
            Self::V1 => [1, 0],
            Self::V2 { seed } => [2, seed.cast_unsigned().into()],
        }
    }

    /// Returns the positions of a key, without an end.
    fn positions(self, key: SparkKey<'_>, num_bits: u64) -> impl Iterator<Item = u64> {
        let (seed, is_wide) = match self {
            Self::V1 => (0, false),
            Self::V2 { seed } => (seed, true),
        };
        let [first, step] = key.hash_pair(seed);
        // A step of 32 bits is taken in 32 bits by version 1, so that the sum wraps.
        let start = i64::from(first) * if is_wide { i64::from(i32::MAX) } else { 1 };
        let sums = (1..).map(move |i: i64| start.wrapping_add(i.wrapping_mul(step.into())));
        sums.map(move |sum| {
            #[expect(clippy::cast_possible_truncation, reason = "version 1 has 32 bits")]
            let sum = if is_wide { sum } else { i64::from(sum as i32) };
            // Java's `~`, not the absolute value: it is never negative.
            let position = if sum < 0 { !sum } else { sum };
            position.cast_unsigned() % num_bits
        })
    }
}
