//! The Bloom filters of DataSketches.

use alloc::format;
use alloc::vec::Vec;
use core::f64::consts::LN_2;

use pds_core::error::{BuildError, Incompatible, ParamError};
use pds_params::internal::ParamFault;
use xxhash_rust::xxh64::xxh64;

use super::DataSketchesKey;
use super::preamble::{self, MAX_EMPTY_BYTES};
use crate::FormatError;
use crate::bits::{Bits, bloom_methods, usual_bits, whole_bits};
use crate::reader::Reader;

/// The name of the format in errors.
const FORMAT: &str = "DataSketches Bloom filter";

const FAMILY: u8 = 21;
const VERSION: u8 = 1;
/// Preamble sizes, in words of 8 bytes.
const WORDS_IF_EMPTY: u8 = 3;
const WORDS_OTHERWISE: u8 = 4;
const EMPTY: u8 = 4;
/// A count of set bits that the library has yet to compute.
const UNKNOWN_COUNT: u64 = u64::MAX;

/// The number of words is a signed number of 32 bits.
const MAX_WORDS: u64 = i32::MAX as u64;
/// The number of hashes is a signed number of 16 bits.
const MAX_HASHES: u64 = i16::MAX as u64;

/// A Bloom filter with the bits of DataSketches' `BloomFilter`.
///
/// Use it to exchange filters with DataSketches. Otherwise use [`bloom_core::BloomFilter`].
///
/// # Guarantees
/// - False negatives: never. An empty string is no key: it is neither inserted nor found.
/// - False positives: about the rate of [`new`](Self::new) at `expected_items`. [`false_positive_rate`](Self::false_positive_rate)
///   returns the rate of the current bits.
/// - Memory: the size of the bytes. Insert and query: O(k) for k hashes. Union: exact, requires equal shape and seed.
///
/// # Examples
/// ```
/// use pds_formats::datasketches::DataSketchesBloomFilter;
///
/// let mut filter = DataSketchesBloomFilter::new(9_001, 1_000, 0.01)?;
/// filter.insert("item:1");
/// // `BloomFilter.heapify` reads these bytes.
/// let bytes = filter.to_bytes();
///
/// let read = DataSketchesBloomFilter::from_bytes(&bytes)?;
/// assert!(read.contains("item:1") && !read.contains("item:2"));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # References
/// Apache DataSketches Java 6.2, package `filters.bloomfilter`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataSketchesBloomFilter {
    seed: u64,
    bits: Bits,
}

impl DataSketchesBloomFilter {
    /// Creates a filter of the size of `BloomFilterBuilder.createByAccuracy(expected_items, rate, seed)`.
    ///
    /// # Errors
    /// [`BuildError::Param`] if `expected_items` is 0, if `rate` is not above 0 and below 1, or if the filter needs more
    /// than 2^31 - 1 words. [`BuildError::Alloc`] if the allocator refuses the memory.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    pub fn new(seed: u64, expected_items: u64, rate: f64) -> Result<Self, BuildError> {
        let num_bits = whole_bits(libm::ceil(usual_bits(expected_items, rate)?), MAX_WORDS)?;
        let hashes = libm::ceil(num_bits as f64 / expected_items as f64 * LN_2) as u64;
        Self::with_size(seed, num_bits, hashes.max(1))
    }

    /// Creates a filter of at least `num_bits` bits, as `BloomFilterBuilder.createBySize(num_bits, num_hashes, seed)` does.
    ///
    /// # Errors
    /// [`BuildError::Param`] if `num_bits` is 0 or more than 2^31 - 1 words, or if `num_hashes` is 0, more than 32,767 or
    /// more than the number of bits. [`BuildError::Alloc`] if the allocator refuses the memory.
    pub fn with_size(seed: u64, num_bits: u64, num_hashes: u64) -> Result<Self, BuildError> {
        let num_bits = whole_bits(num_bits as f64, MAX_WORDS).map(|_| num_bits)?;
        let max = num_bits.next_multiple_of(64).min(MAX_HASHES);
        match u32::try_from(num_hashes) {
            Ok(hashes) if (1..=max).contains(&num_hashes) => {
                Ok(Self { seed, bits: Bits::new(num_bits, hashes)? })
            }
            _ => {
                let (parameter, value, min) = ("num_hashes", num_hashes, 1);
                Err(ParamError(ParamFault::OutOfRange { parameter, value, min, max }).into())
            }
        }
    }

    /// Reads the bytes of a filter.
    ///
    /// Bytes without content state a size only. Up to 1 MiB it is allocated; build a larger empty filter with
    /// [`with_size`](Self::with_size).
    ///
    /// # Errors
    /// [`FormatError`] if `bytes` are anything else, or more.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut reader = Reader::new(FORMAT, bytes);
        let size = preamble::read(&mut reader, VERSION, FAMILY)?;
        let is_empty = preamble::flags(&mut reader, EMPTY)? == EMPTY;
        size.equals(if is_empty { WORDS_IF_EMPTY } else { WORDS_OTHERWISE })?;
        let hashes = reader.u16_le("number of hashes")?;
        if u64::from(hashes.value) > MAX_HASHES {
            return Err(hashes.invalid(format!("at most {MAX_HASHES}, as in a signed number")));
        }
        reader.u16_le("unused field")?.equals(0)?;
        let seed = reader.u64_le("seed")?.value;
        let words = reader.i32_le("number of words")?;
        let num_words = u64::from(words.within(1..=i32::MAX)?.cast_unsigned());
        reader.i32_le("unused field")?.equals(0)?;
        if is_empty {
            reader.end()?;
            if num_words * 8 > MAX_EMPTY_BYTES {
                let allowed = format!("up to {} in a filter without bits", MAX_EMPTY_BYTES / 8);
                return Err(words.invalid(allowed));
            }
            if hashes.value == 0 || u64::from(hashes.value) > num_words * 64 {
                return Err(hashes.invalid(format!("from 1 to {}", num_words * 64)));
            }
            let bits = Bits::empty(FORMAT, num_words, hashes.value.into())?;
            return Ok(Self { seed, bits });
        }
        let count = reader.u64_le("number of set bits")?;
        let bits = Bits::read(&mut reader, FORMAT, num_words, hashes, u64::from_le_bytes)?;
        reader.end()?;
        if count.value != UNKNOWN_COUNT {
            count.equals(bits.array().count_ones())?;
        }
        Ok(Self { seed, bits })
    }

    /// Returns the bytes of the filter.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let count = self.count_ones();
        let (size, flags) = if count == 0 { (WORDS_IF_EMPTY, EMPTY) } else { (WORDS_OTHERWISE, 0) };
        let mut bytes = alloc::vec![size, VERSION, FAMILY, flags];
        bytes.extend(self.num_hashes().to_le_bytes());
        bytes.extend(self.seed.to_le_bytes());
        bytes.extend((self.words().len() as u64).to_le_bytes());
        if count > 0 {
            bytes.extend(count.to_le_bytes());
            bytes.extend(self.words().iter().flat_map(|word| word.to_le_bytes()));
        }
        bytes
    }

    /// Inserts a key. Returns `true` if it was not contained before.
    pub fn insert<'a>(&mut self, key: impl Into<DataSketchesKey<'a>>) -> bool {
        let positions = self.positions(key.into());
        positions.is_some_and(|positions| self.bits.insert(positions))
    }

    /// Tests whether a key was possibly inserted. `false` is certain.
    #[must_use]
    pub fn contains<'a>(&self, key: impl Into<DataSketchesKey<'a>>) -> bool {
        self.positions(key.into()).is_some_and(|positions| self.bits.contains(positions))
    }

    /// Inserts all keys of `other`.
    ///
    /// # Errors
    /// [`Incompatible`] if seeds, bits or hashes differ. `self` is unchanged then.
    pub fn union_with(&mut self, other: &Self) -> Result<(), Incompatible> {
        Incompatible::check_shape("seed", self.seed, other.seed)?;
        self.bits.union_with(&other.bits)
    }

    /// Returns the seed of the hash function.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    bloom_methods!();

    /// Returns the positions of a key, without an end. `None` for a key that is ignored.
    fn positions(&self, key: DataSketchesKey<'_>) -> Option<impl Iterator<Item = u64> + use<>> {
        let num_bits = self.num_bits();
        let [first, step] = key.hash_in_filter(|bytes| {
            let first = xxh64(bytes, self.seed);
            [first, xxh64(bytes, first)]
        })?;
        Some((1..).map(move |i: u64| (first.wrapping_add(i.wrapping_mul(step)) >> 1) % num_bits))
    }
}
