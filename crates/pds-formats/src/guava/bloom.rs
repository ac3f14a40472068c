//! Guava's `BloomFilter`.

use alloc::vec::Vec;
use core::f64::consts::LN_2;

use pds_core::error::{BuildError, DecodeErrorKind, Incompatible, ParamError};
use pds_params::internal::ParamFault;

use super::GuavaKey;
use crate::FormatError;
use crate::bits::{Bits, bloom_methods, rounded_hashes, usual_bits, whole_bits};
use crate::reader::Reader;

/// The name of the format in errors.
const FORMAT: &str = "Guava Bloom filter";

/// The number of words is a signed number of 32 bits.
const MAX_WORDS: u64 = i32::MAX as u64;

/// The number of hashes is one byte.
const MAX_HASHES: u32 = 255;

/// How a filter makes positions of a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GuavaStrategy {
    /// `MURMUR128_MITZ_32`, of filters that were made before Guava 17. Positions have 31 bits.
    Murmur128Mitz32,
    /// `MURMUR128_MITZ_64`, of all filters made since. Positions have 63 bits.
    Murmur128Mitz64,
}

/// A Bloom filter with the bits of Guava's `BloomFilter`.
///
/// Use it to exchange filters with programs of the JVM. Otherwise use [`bloom_core::BloomFilter`], whose size keeps its
/// rate.
///
/// # Guarantees
/// - False negatives: never, if keys are asked for through the same funnel.
/// - False positives: about the rate of [`new`](Self::new) at `expected_items`. [`false_positive_rate`](Self::false_positive_rate)
///   returns the rate of the current bits, Guava's `expectedFpp`.
/// - Memory: the size of the bytes. Insert and query: O(k) for k hashes. Union: exact, requires equal shape and strategy.
///
/// # Examples
/// ```
/// use pds_formats::guava::{GuavaBloomFilter, GuavaKey};
///
/// let mut filter = GuavaBloomFilter::new(1_000, 0.03)?;
/// filter.insert(17_i64);
/// // `BloomFilter.readFrom(stream, Funnels.longFunnel())` reads these bytes.
/// let bytes = filter.to_bytes();
///
/// let read = GuavaBloomFilter::from_bytes(&bytes)?;
/// assert!(read.contains(17_i64));
/// assert!(!read.contains(17_i32), "another funnel");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # References
/// Google, Guava 33.6, package `com.google.common.hash`, classes `BloomFilter` and `BloomFilterStrategies`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuavaBloomFilter {
    strategy: GuavaStrategy,
    bits: Bits,
}

impl GuavaBloomFilter {
    /// Creates a filter of the size and the strategy of `BloomFilter.create(funnel, expected_items, rate)`.
    ///
    /// # Errors
    /// As [`with_strategy`](Self::with_strategy).
    pub fn new(expected_items: u64, rate: f64) -> Result<Self, BuildError> {
        Self::with_strategy(GuavaStrategy::Murmur128Mitz64, expected_items, rate)
    }

    /// Creates a filter of another strategy, for union with old filters.
    ///
    /// # Errors
    /// [`BuildError::Param`] if `expected_items` is 0, if `rate` is not above 0 and below 1, or if the filter needs less
    /// than one bit, more than 2^31 - 1 words or more than 255 hashes. [`BuildError::Alloc`] if the allocator refuses the
    /// memory.
    pub fn with_strategy(
        strategy: GuavaStrategy,
        expected_items: u64,
        rate: f64,
    ) -> Result<Self, BuildError> {
        let num_bits = whole_bits(usual_bits(expected_items, rate)?, MAX_WORDS)?;
        let hashes = rounded_hashes(-libm::log(rate) / LN_2);
        if hashes > MAX_HASHES {
            let (parameter, value, max) = ("number of hashes", hashes.into(), MAX_HASHES.into());
            return Err(ParamError(ParamFault::TooLarge { parameter, value, max }).into());
        }
        Ok(Self { strategy, bits: Bits::new(num_bits, hashes)? })
    }

    /// Reads the bytes that `writeTo` wrote.
    ///
    /// # Errors
    /// [`FormatError`] if `bytes` are anything else, or more.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut reader = Reader::new(FORMAT, bytes);
        let strategy = match reader.i8("strategy")? {
            field if field.value == 0 => GuavaStrategy::Murmur128Mitz32,
            field if field.value == 1 => GuavaStrategy::Murmur128Mitz64,
            field => {
                let allowed = "0 (MURMUR128_MITZ_32) or 1 (MURMUR128_MITZ_64)";
                return Err(field.invalid(allowed).of_kind(DecodeErrorKind::Hasher));
            }
        };
        let hashes = reader.u8("number of hashes")?;
        let words = reader.i32_be("number of words")?.within(1..=i32::MAX)?;
        let words = u64::from(words.cast_unsigned());
        let bits = Bits::read(&mut reader, FORMAT, words, hashes, u64::from_be_bytes)?;
        reader.end()?;
        Ok(Self { strategy, bits })
    }

    /// Returns the bytes that `readFrom` reads.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = alloc::vec![match self.strategy {
            GuavaStrategy::Murmur128Mitz32 => 0,
            GuavaStrategy::Murmur128Mitz64 => 1,
        }];
        // Constructors and readers allow no more hashes and words.
        bytes.extend_from_slice(&self.num_hashes().to_be_bytes()[3..]);
        bytes.extend_from_slice(&(self.words().len() as u64).to_be_bytes()[4..]);
        bytes.extend(self.words().iter().flat_map(|word| word.to_be_bytes()));
        bytes
    }

    /// Inserts a key, as `put` does. Returns `true` if it was not contained before.
    pub fn insert<'a>(&mut self, key: impl Into<GuavaKey<'a>>) -> bool {
        let [first, second] = key.into().hash_pair();
        let bits = self.num_bits();
        match self.strategy {
            GuavaStrategy::Murmur128Mitz32 => self.bits.insert(positions_32(first, bits)),
            GuavaStrategy::Murmur128Mitz64 => self.bits.insert(positions_64(first, second, bits)),
        }
    }

    /// Tests whether a key was possibly inserted, as `mightContain` does. `false` is certain.
    #[must_use]
    pub fn contains<'a>(&self, key: impl Into<GuavaKey<'a>>) -> bool {
        let [first, second] = key.into().hash_pair();
        let bits = self.num_bits();
        match self.strategy {
            GuavaStrategy::Murmur128Mitz32 => self.bits.contains(positions_32(first, bits)),
            GuavaStrategy::Murmur128Mitz64 => self.bits.contains(positions_64(first, second, bits)),
        }
    }

    /// Inserts all keys of `other`, as `putAll` does.
    ///
    /// The bytes do not name the funnel, so this cannot compare funnels.
    ///
    /// # Errors
    /// [`Incompatible`] if strategies, bits or hashes differ. `self` is unchanged then.
    pub fn union_with(&mut self, other: &Self) -> Result<(), Incompatible> {
        let [ours, theirs] = [self.strategy, other.strategy].map(GuavaStrategy::name);
        Incompatible::check_mode("strategy", ours, theirs)?;
        self.bits.union_with(&other.bits)
    }

    /// Returns the answer of `approximateElementCount`. `None` if all bits are set: Guava throws an exception then.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative")]
    pub fn approximate_element_count(&self) -> Option<u64> {
        let bits = self.num_bits() as f64;
        let fill = self.count_ones() as f64 / bits;
        let count = -libm::log1p(-fill) * bits / f64::from(self.num_hashes());
        (fill < 1.0).then(|| libm::floor(count + 0.5) as u64)
    }

    /// Returns how positions are made of a hash.
    #[must_use]
    pub const fn strategy(&self) -> GuavaStrategy {
        self.strategy
    }

    bloom_methods!();
}

impl GuavaStrategy {
    const fn name(self) -> &'static str {
        match self {
            Self::Murmur128Mitz32 => "MURMUR128_MITZ_32",
            Self::Murmur128Mitz64 => "MURMUR128_MITZ_64",
        }
    }
}

/// Returns positions of the halves of the first half of the hash, without an end.
#[expect(clippy::cast_possible_truncation, reason = "the two halves")]
fn positions_32(hash: u64, num_bits: u64) -> impl Iterator<Item = u64> {
    let [first, step] = [hash as i32, (hash >> 32) as i32];
    (1i32..).map(move |i| {
        let sum = first.wrapping_add(i.wrapping_mul(step));
        // Java's `~`, not the absolute value: it is never negative.
        u64::from(if sum < 0 { !sum } else { sum }.cast_unsigned()) % num_bits
    })
}

/// Returns positions of both halves of the hash, without an end.
fn positions_64(first: u64, step: u64, num_bits: u64) -> impl Iterator<Item = u64> {
    (0..).map(move |i: u64| (first.wrapping_add(i.wrapping_mul(step)) & (u64::MAX >> 1)) % num_bits)
}
