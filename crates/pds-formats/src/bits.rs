//! The bits of a Bloom filter in 64-bit words, whatever its owner's hash function.

use alloc::format;

use bloom_core::BitArray;
use pds_core::error::{BuildError, Incompatible};
use pds_params::Estimate;
use pds_params::ParamError;
use pds_params::bloom::{cardinality, rate_from_fill};
use pds_params::internal::ParamFault;

use crate::FormatError;
use crate::reader::{Field, Reader};

/// The bits of a filter in whole words, and the number of positions per key.
///
/// The owner computes the positions, the same number for every key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bits {
    array: BitArray,
    num_bits: u64,
    num_hashes: u32,
}

impl Bits {
    /// Allocates at least `num_bits` clear bits, and rounds them up to whole words.
    pub(crate) fn new(num_bits: u64, num_hashes: u32) -> Result<Self, BuildError> {
        let array = BitArray::zeroed(num_bits.next_multiple_of(64))?;
        Ok(Self { num_bits: array.num_bits(), array, num_hashes })
    }

    /// Reads `words` words with this order of bytes.
    ///
    /// `num_hashes` may be any number up to that of the bits: more positions have no use, and would make a query take
    /// longer than reading the input.
    pub(crate) fn read(
        reader: &mut Reader<'_>,
        format: &'static str,
        words: u64,
        num_hashes: Field<impl Copy + TryInto<u32> + Into<crate::format_error::Found>>,
        word: fn([u8; 8]) -> u64,
    ) -> Result<Self, FormatError> {
        let num_bits = words.saturating_mul(64);
        let hashes = num_hashes.value.try_into().unwrap_or(0);
        if hashes == 0 || u64::from(hashes) > num_bits {
            return Err(num_hashes.invalid(format!("from 1 to {num_bits}, the number of bits")));
        }
        let bytes = reader.bytes("words", words.saturating_mul(8))?;
        let words = bytes.as_chunks().0.iter().map(|&bytes| word(bytes));
        let array = BitArray::of_words(words).map_err(|error| FormatError::alloc(format, error))?;
        Ok(Self { num_bits: array.num_bits(), array, num_hashes: hashes })
    }

    /// Allocates the clear bits that an input states without having them.
    pub(crate) fn empty(
        format: &'static str,
        words: u64,
        num_hashes: u32,
    ) -> Result<Self, FormatError> {
        let array = BitArray::zeroed(words * 64).map_err(|e| FormatError::alloc(format, e))?;
        Ok(Self { num_bits: array.num_bits(), array, num_hashes })
    }

    /// Ignores the bits beyond this number, for an owner that counts single bits. They must be clear.
    pub(crate) fn cut_to(self, num_bits: u64) -> Self {
        Self { num_bits, ..self }
    }

    /// Sets the bits at these positions, of which the first `num_hashes` count. Returns `true` if one was clear.
    pub(crate) fn insert(&mut self, positions: impl Iterator<Item = u64>) -> bool {
        let num_hashes = self.num_hashes as usize;
        positions.take(num_hashes).fold(false, |new, position| self.array.set(position) | new)
    }

    /// Tests the bits at these positions, of which the first `num_hashes` count.
    pub(crate) fn contains(&self, positions: impl Iterator<Item = u64>) -> bool {
        positions.take(self.num_hashes as usize).all(|position| self.array.get(position))
    }

    pub(crate) fn union_with(&mut self, other: &Self) -> Result<(), Incompatible> {
        let hashes = [self.num_hashes, other.num_hashes].map(u64::from);
        Incompatible::check_shape("number of hashes", hashes[0], hashes[1])?;
        Incompatible::check_shape("number of bits", self.num_bits, other.num_bits)?;
        self.array.union_with(&other.array)
    }

    pub(crate) fn clear(&mut self) {
        self.array.clear();
    }

    pub(crate) const fn array(&self) -> &BitArray {
        &self.array
    }

    pub(crate) const fn num_bits(&self) -> u64 {
        self.num_bits
    }

    pub(crate) const fn num_hashes(&self) -> u32 {
        self.num_hashes
    }

    /// Returns the probability that all positions of an absent key are set.
    pub(crate) fn rate(&self) -> f64 {
        rate_from_fill(self.array.count_ones() as f64 / self.num_bits() as f64, self.num_hashes)
    }

    pub(crate) fn approx_len(&self) -> Estimate {
        cardinality(self.num_bits(), self.num_hashes, self.array.count_ones())
    }
}

/// Returns the bits of -n ln p / (ln 2)^2, which the libraries of the JVM truncate or round up.
pub(crate) fn usual_bits(items: u64, rate: f64) -> Result<f64, ParamError> {
    use core::f64::consts::LN_2;
    if items == 0 {
        let (parameter, min, max) = ("expected_items", 1, u64::MAX);
        return Err(ParamError(ParamFault::OutOfRange { parameter, value: 0, min, max }));
    }
    if !(rate > 0.0 && rate < 1.0) {
        let (parameter, value) = ("false_positive_rate", rate);
        return Err(ParamError(ParamFault::NotAProbability { parameter, value }));
    }
    Ok(-(items as f64) * libm::log(rate) / (LN_2 * LN_2))
}

/// Checks a number of bits against the most words that the format can count.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
pub(crate) fn whole_bits(bits: f64, max_words: u64) -> Result<u64, ParamError> {
    let max = max_words as f64 * 64.0;
    match bits {
        bits if bits < 1.0 => Err(ParamError(ParamFault::TooLow {
            parameter: "number of bits",
            value: bits,
            min: 1.0,
        })),
        bits if bits > max => {
            Err(ParamError(ParamFault::TooLarge { parameter: "number of bits", value: bits, max }))
        }
        bits => Ok(bits as u64),
    }
}

/// Rounds a number of hashes as Java does, to the nearest whole number and halves up. At least 1.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
pub(crate) fn rounded_hashes(hashes: f64) -> u32 {
    (libm::floor(hashes + 0.5) as u32).max(1)
}

/// The methods that every Bloom filter of this crate has, on its field `bits`.
macro_rules! bloom_methods {
    () => {
        /// Removes all keys.
        pub fn clear(&mut self) {
            self.bits.clear();
        }

        /// Returns the number of bits.
        #[must_use]
        pub const fn num_bits(&self) -> u64 {
            self.bits.num_bits()
        }

        /// Returns the number of hashes: the bits that are tested for a key.
        #[must_use]
        pub const fn num_hashes(&self) -> u32 {
            self.bits.num_hashes()
        }

        /// Returns the words of the filter. Bit `i` is bit `i % 64` of word `i / 64`.
        #[must_use]
        pub fn words(&self) -> &[u64] {
            self.bits.array().words()
        }

        /// Returns the number of set bits, in O(m) for m bits.
        #[must_use]
        pub fn count_ones(&self) -> u64 {
            self.bits.array().count_ones()
        }

        /// Returns the current false-positive rate, from 0 to 1: the fraction of absent keys that are answered `true`.
        ///
        /// # Complexity
        /// O(m) for m bits.
        #[must_use]
        pub fn false_positive_rate(&self) -> f64 {
            self.bits.rate()
        }

        /// Estimates the number of distinct keys from the number of set bits. Infinite if all are set.
        #[must_use]
        pub fn approx_len(&self) -> pds_params::Estimate {
            self.bits.approx_len()
        }
    };
}
pub(crate) use bloom_methods;
