//! The portable bytes of a filter. `docs/format.md` of the workspace specifies them.

use alloc::vec::Vec;
use core::ops::RangeInclusive;
#[cfg(feature = "std")]
use std::io::{self, Read, Write};

use pds_core::bytes::{ByteOptions, Kind, Portable, Shape, Sink, Source};
#[cfg(feature = "std")]
use pds_core::error::ReadError;
use pds_core::error::{DecodeError, ParamError};
use pds_core::hash::{PortableHasher, PublicSeed};
#[cfg(feature = "serde")]
use pds_core::internal::serde;
use pds_core::internal::{self, StoredWord, take_words};
use pds_core::storage::{OwnedWords, WordSource};
use pds_params::BloomParams;

use crate::{BitArray, BloomFilter};

// The readers exist for the default hasher only, like `new`: `BloomFilter::from_bytes(&bytes)` then needs no type.
impl BloomFilter {
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

impl<S: PublicSeed, W: OwnedWords> BloomFilter<S, W> {
    /// Returns the portable bytes, which contain the seed of the hasher.
    ///
    /// For a hasher with a secret key, and for files, use [`ByteOptions`]. If other threads insert into a shared filter
    /// meanwhile, each word is written as it is at its own moment.
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
impl<S: PublicSeed, W: OwnedWords> serde::Serialize for BloomFilter<S, W> {
    fn serialize<Z: serde::Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serde::serialize(self, serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de, S: PortableHasher, W: OwnedWords> serde::Deserialize<'de> for BloomFilter<S, W> {
    fn deserialize<Z: serde::Deserializer<'de>>(deserializer: Z) -> Result<Self, Z::Error> {
        serde::deserialize(deserializer)
    }
}

/// The bytes of a shared filter are those of the plain one.
impl<S: PortableHasher, W: OwnedWords> Portable for BloomFilter<S, W> {
    type Hasher = S;
    const KIND: Kind = Kind::BLOOM;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        Shape::new([self.num_bits(), self.num_hashes().into()])
            .with_design(self.expected_items(), self.promised_rate())
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        let bytes = params_of(shape)?.size_in_bytes();
        Ok(bytes..=bytes)
    }

    fn write_payload<K: Sink>(&self, sink: &mut K) -> Result<(), K::Error> {
        sink.put_words(self.bits.storage().values())
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let params = params_of(shape)?;
        let words = take_words(source, params.num_bits().div_ceil(64))?;
        let bits = BitArray::from_words(W::from(words), params.num_bits());
        check_padding(&bits, source.offset())?;
        Ok(Self { bits, params, hasher })
    }
}

/// Returns the parameters that a head states.
pub(crate) fn params_of(shape: &Shape) -> Result<BloomParams, DecodeError> {
    let numbers = shape.numbers(["bits", "hashes"])?;
    let [bits, hashes] = numbers.values();
    filter_params(bits, hashes, shape).map_err(|error| numbers.error(error))
}

/// Returns the parameters of these bits and hashes, with the design of a shape.
pub(crate) fn filter_params(
    bits: u64,
    hashes: u64,
    shape: &Shape,
) -> Result<BloomParams, ParamError> {
    let hashes = u32::try_from(hashes).unwrap_or(u32::MAX);
    BloomParams::from_bits_and_hashes(bits, hashes)?
        .with_design(shape.expected_items(), shape.promised_rate())
}

/// Checks the bits beyond the last one, in a payload that ends at offset `end`.
///
/// # Errors
/// [`DecodeError`] if one of them is set.
pub(crate) fn check_padding<W: WordSource>(
    bits: &BitArray<W>,
    end: u64,
) -> Result<(), DecodeError> {
    let last = bits.storage().as_words().last().map_or(0, StoredWord::value);
    internal::check_padding(end - 8, bits.num_bits() % 64, last)
}
