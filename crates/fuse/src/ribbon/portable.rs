//! The portable bytes of a filter. `docs/format.md` of the workspace specifies them.

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

use pds_params::ribbon::Columns;

use super::RibbonFilter;
use crate::codec;
use crate::system::{RestForm, System, SystemParams};

// The readers exist for the default hasher only, like `new`: `RibbonFilter::from_bytes(&bytes)` then needs no type.
impl RibbonFilter {
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

impl<S: PublicSeed> RibbonFilter<S> {
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
impl<S: PublicSeed> serde::Serialize for RibbonFilter<S> {
    fn serialize<Z: serde::Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serde::serialize(self, serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de, S: PortableHasher> serde::Deserialize<'de> for RibbonFilter<S> {
    fn deserialize<Z: serde::Deserializer<'de>>(deserializer: Z) -> Result<Self, Z::Error> {
        serde::deserialize(deserializer)
    }
}

impl<S: PortableHasher> Portable for RibbonFilter<S> {
    type Hasher = S;
    const KIND: Kind = Kind::RIBBON;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        let params = self.system.params();
        let [keys, preset, seed, layers, rest] = params.numbers();
        Shape::new([keys, preset, seed, layers, rest, params.columns.steps().into()])
    }

    fn payload_bytes(&self) -> u64 {
        self.size_in_bytes()
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        let words = params_of(shape)?.words();
        Ok(8 * words.start()..=8 * words.end())
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put_words(self.words.iter().copied())
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let (params, at) = (params_of(shape)?, source.offset());
        let words = codec::take_all(source)?;
        let system = System::open(&words, params).map_err(|misfit| misfit.at(at))?;
        codec::check(&system, &words, at)?;
        Ok(Self { words, system, hasher })
    }
}

/// Returns the numbers that a head states.
pub(super) fn params_of(shape: &Shape) -> Result<SystemParams, DecodeError> {
    let [keys, preset, seed, layers, rest] = SystemParams::NAMES;
    let numbers = shape.numbers([keys, preset, seed, layers, rest, "columns"])?;
    shape.expect_no_design()?;
    let [keys, preset, seed, layers, rest, steps] = numbers.values();
    let steps = u32::try_from(steps).unwrap_or(u32::MAX);
    let system = [keys, preset, seed, layers, rest];
    Columns::from_steps(steps)
        .and_then(|columns| {
            SystemParams::from_numbers(columns, RestForm::Hashes, SystemParams::NAMES, system)
        })
        .map_err(|error| numbers.error(error))
}
