//! The portable bytes of a map. `docs/format.md` of the workspace specifies them.

use alloc::vec::Vec;
use core::ops::RangeInclusive;
#[cfg(feature = "std")]
use std::io::{self, Read, Write};

use pds_core::bytes::Kind;
use pds_core::bytes::{ByteOptions, Portable, Shape, Sink, Source};
use pds_core::error::DecodeError;
#[cfg(feature = "std")]
use pds_core::error::ReadError;
use pds_core::hash::PortableHasher;
use pds_core::hash::PublicSeed;
#[cfg(feature = "serde")]
use pds_core::internal::serde;

use pds_params::ribbon::map_columns;

use super::RetrievalMap;
use crate::codec;
use crate::system::{RestForm, System, SystemParams};

// The readers exist for the default hasher only, like `new`: `RetrievalMap::from_bytes(&bytes)` then needs no type.
impl RetrievalMap {
    /// Reads portable bytes that hold one map and nothing else.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// O(length of the bytes). Allocates no more than the bytes justify.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        ByteOptions::new().from_bytes(bytes)
    }

    /// Reads one map from a stream. Leaves what follows it in the reader.
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

impl<S: PublicSeed> RetrievalMap<S> {
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
impl<S: PublicSeed> serde::Serialize for RetrievalMap<S> {
    fn serialize<Z: serde::Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serde::serialize(self, serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de, S: PortableHasher> serde::Deserialize<'de> for RetrievalMap<S> {
    fn deserialize<Z: serde::Deserializer<'de>>(deserializer: Z) -> Result<Self, Z::Error> {
        serde::deserialize(deserializer)
    }
}

impl<S: PortableHasher> Portable for RetrievalMap<S> {
    type Hasher = S;
    const KIND: Kind = Kind::RETRIEVAL;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        let [keys, preset, seed, layers, rest] = self.system.params().numbers();
        let [value_bits, check_bits] = [self.value_bits(), self.check_bits()].map(u64::from);
        Shape::new([keys, preset, seed, layers, rest, value_bits, check_bits])
    }

    fn payload_bytes(&self) -> u64 {
        self.size_in_bytes()
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        let words = params_of(shape)?.0.words();
        Ok(8 * words.start()..=8 * words.end())
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put_words(self.words.iter().copied())
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let ((params, value_bits), at) = (params_of(shape)?, source.offset());
        let words = codec::take_all(source)?;
        let system = System::open(&words, params).map_err(|misfit| misfit.at(at))?;
        codec::check(&system, &words, at)?;
        Ok(Self { words, system, value_bits, hasher })
    }
}

/// Returns the numbers that a head states, and the number of bits of a value.
pub(super) fn params_of(shape: &Shape) -> Result<(SystemParams, u32), DecodeError> {
    let [keys, preset, seed, layers, rest] = SystemParams::NAMES;
    let numbers = shape.numbers([keys, preset, seed, layers, rest, "value_bits", "check_bits"])?;
    shape.expect_no_design()?;
    let [keys, preset, seed, layers, rest, value_bits, check_bits] = numbers.values();
    let [value_bits, check_bits] =
        [value_bits, check_bits].map(|bits| u32::try_from(bits).unwrap_or(u32::MAX));
    let system = [keys, preset, seed, layers, rest];
    map_columns(value_bits, check_bits)
        .and_then(|columns| {
            SystemParams::from_numbers(columns, RestForm::Bits, SystemParams::NAMES, system)
        })
        .map(|params| (params, value_bits))
        .map_err(|error| numbers.error(error))
}
