//! The portable bytes of the filters. `docs/format.md` of the workspace specifies them.

use alloc::vec::Vec;
use core::ops::RangeInclusive;
#[cfg(feature = "std")]
use std::io::{self, Read, Write};

use pds_core::bytes::{ByteOptions, Kind, Portable, Shape, Sink, Source};
#[cfg(feature = "std")]
use pds_core::error::ReadError;
use pds_core::error::{DecodeError, ParamError};
use pds_core::hash::{DefaultHashBuilder, PortableHasher, PublicSeed};
#[cfg(feature = "serde")]
use pds_core::internal::serde;
use pds_core::internal::take_words;
use pds_params::internal::ParamFault;
use pds_params::{BlockedCountingParams, BloomParams};

use crate::builder::of_counters;
use crate::counters::Counters;
use crate::lines::Lines;
use crate::{BlockedCountingBloomFilter, Counter, CountingBloomFilter};

// The readers exist for the default hasher only, like `new`.
impl<C: Counter> CountingBloomFilter<DefaultHashBuilder, C> {
    /// Reads portable bytes that hold one filter and nothing else.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// O(length of the bytes). Allocates no more than the bytes justify.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        ByteOptions::new().from_bytes(bytes)
    }

    /// Reads one filter from a stream. Leaves what follows it in the reader.
    ///
    /// Reads at most 1 GiB. For another limit use [`ByteOptions`].
    ///
    /// # Errors
    /// [`ReadError`] if reading fails, or if the bytes are wrong.
    #[cfg(feature = "std")]
    pub fn read_from(reader: impl Read) -> Result<Self, ReadError> {
        ByteOptions::new().read_from(reader)
    }
}

impl<S: PublicSeed, C: Counter> CountingBloomFilter<S, C> {
    /// Returns the portable bytes, which contain the seed of the hasher.
    ///
    /// For a hasher with a secret key, and for files, use [`ByteOptions`].
    ///
    /// # Complexity
    /// O(size); allocates the bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        ByteOptions::new().to_bytes(self)
    }

    /// Writes the portable bytes, 16 KiB at a time.
    ///
    /// # Errors
    /// Those of the writer.
    #[cfg(feature = "std")]
    pub fn write_to(&self, writer: impl Write) -> io::Result<()> {
        ByteOptions::new().write_to(self, writer)
    }
}

#[cfg(feature = "serde")]
impl<S: PublicSeed, C: Counter> serde::Serialize for CountingBloomFilter<S, C> {
    fn serialize<Z: serde::Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serde::serialize(self, serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de, S: PortableHasher, C: Counter> serde::Deserialize<'de> for CountingBloomFilter<S, C> {
    fn deserialize<Z: serde::Deserializer<'de>>(deserializer: Z) -> Result<Self, Z::Error> {
        serde::deserialize(deserializer)
    }
}

impl<S: PortableHasher, C: Counter> Portable for CountingBloomFilter<S, C> {
    type Hasher = S;
    const KIND: Kind = Kind::COUNTING_BLOOM;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        let (hashes, bits) = (self.num_hashes().into(), C::BITS.into());
        Shape::new([self.num_counters(), hashes, bits])
            .with_design(self.expected_items(), self.promised_rate())
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        // At most 2^60 words, so the length in bytes fits 64 bits.
        let bytes = 8 * <Counters<C>>::words_for(params_of::<C>(shape)?.num_bits());
        Ok(bytes..=bytes)
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put_words(self.counters.words().iter().copied())
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let params = params_of::<C>(shape)?;
        let words = take_words(source, <Counters<C>>::words_for(params.num_bits()))?;
        let counters = Counters::from_words(words, params.num_bits());
        counters.check_padding(source.offset())?;
        Ok(Self { counters, params, hasher })
    }
}

/// Returns the parameters that a head states.
pub(crate) fn params_of<C: Counter>(shape: &Shape) -> Result<BloomParams, DecodeError> {
    let numbers = shape.numbers(["counters", "hashes", "counter_bits"])?;
    let [counters, hashes, bits] = numbers.values();
    let expected = u64::from(C::BITS);
    if bits != expected {
        let parameter = "counter_bits";
        let error = ParamError(ParamFault::OutOfRange {
            parameter,
            value: bits,
            min: expected,
            max: expected,
        });
        return Err(numbers.error(error));
    }
    let hashes = u32::try_from(hashes).unwrap_or(u32::MAX);
    BloomParams::from_bits_and_hashes(counters, hashes)
        .and_then(|params| params.with_design(shape.expected_items(), shape.promised_rate()))
        .map_err(|error| numbers.error(of_counters(error)))
}

impl BlockedCountingBloomFilter {
    /// Reads portable bytes that hold one filter and nothing else.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// O(length of the bytes). Allocates no more than the bytes justify.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        ByteOptions::new().from_bytes(bytes)
    }

    /// Reads one filter from a stream. Leaves what follows it in the reader.
    ///
    /// Reads at most 1 GiB. For another limit use [`ByteOptions`].
    ///
    /// # Errors
    /// [`ReadError`] if reading fails, or if the bytes are wrong.
    #[cfg(feature = "std")]
    pub fn read_from(reader: impl Read) -> Result<Self, ReadError> {
        ByteOptions::new().read_from(reader)
    }
}

impl<S: PublicSeed> BlockedCountingBloomFilter<S> {
    /// Returns the portable bytes, which contain the seed of the hasher.
    ///
    /// For a hasher with a secret key, and for files, use [`ByteOptions`].
    ///
    /// # Complexity
    /// O(size); allocates the bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        ByteOptions::new().to_bytes(self)
    }

    /// Writes the portable bytes, 16 KiB at a time.
    ///
    /// # Errors
    /// Those of the writer.
    #[cfg(feature = "std")]
    pub fn write_to(&self, writer: impl Write) -> io::Result<()> {
        ByteOptions::new().write_to(self, writer)
    }
}

#[cfg(feature = "serde")]
impl<S: PublicSeed> serde::Serialize for BlockedCountingBloomFilter<S> {
    fn serialize<Z: serde::Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serde::serialize(self, serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de, S: PortableHasher> serde::Deserialize<'de> for BlockedCountingBloomFilter<S> {
    fn deserialize<Z: serde::Deserializer<'de>>(deserializer: Z) -> Result<Self, Z::Error> {
        serde::deserialize(deserializer)
    }
}

impl<S: PortableHasher> Portable for BlockedCountingBloomFilter<S> {
    type Hasher = S;
    const KIND: Kind = Kind::BLOCKED_COUNTING_BLOOM;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        Shape::new([self.num_lines()]).with_design(self.expected_items(), self.promised_rate())
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        let bytes = blocked_params_of(shape)?.size_in_bytes();
        Ok(bytes..=bytes)
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put_words(self.counters.words().iter().copied())
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let params = blocked_params_of(shape)?;
        let words = take_words(source, params.size_in_bytes() / 8)?;
        Ok(Self { counters: Lines::from_words(words, &params), params, hasher })
    }
}

/// Returns the parameters that a head states.
pub(crate) fn blocked_params_of(shape: &Shape) -> Result<BlockedCountingParams, DecodeError> {
    let numbers = shape.numbers(["lines"])?;
    let [lines] = numbers.values();
    BlockedCountingParams::from_lines(lines)
        .and_then(|params| params.with_design(shape.expected_items(), shape.promised_rate()))
        .map_err(|error| numbers.error(error))
}
