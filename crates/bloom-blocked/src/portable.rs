//! The portable bytes of a filter. `docs/format.md` of the workspace specifies them.

use alloc::vec::Vec;
use core::ops::RangeInclusive;
#[cfg(feature = "std")]
use std::io::{self, Read, Write};

use pds_core::bytes::{ByteOptions, Kind, Portable, Shape, Sink, Source};
use pds_core::error::DecodeError;
#[cfg(feature = "std")]
use pds_core::error::ReadError;
use pds_core::hash::{PortableHasher, PublicSeed};
#[cfg(feature = "serde")]
use pds_core::internal::serde;
use pds_core::internal::take_words;
use pds_core::storage::OwnedWords;
use pds_params::BlockedBloomParams;

use crate::BlockedBloomFilter;
use crate::blocks::Blocks;

// The readers exist for the default hasher only, like `new`: `BlockedBloomFilter::from_bytes(&bytes)` then needs no type.
impl BlockedBloomFilter {
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

impl<S: PublicSeed, W: OwnedWords> BlockedBloomFilter<S, W> {
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
impl<S: PublicSeed, W: OwnedWords> serde::Serialize for BlockedBloomFilter<S, W> {
    fn serialize<Z: serde::Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serde::serialize(self, serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de, S: PortableHasher, W: OwnedWords> serde::Deserialize<'de> for BlockedBloomFilter<S, W> {
    fn deserialize<Z: serde::Deserializer<'de>>(deserializer: Z) -> Result<Self, Z::Error> {
        serde::deserialize(deserializer)
    }
}

/// If other threads insert while the bytes are written, each word is written as it is at its own moment.
impl<S: PortableHasher, W: OwnedWords> Portable for BlockedBloomFilter<S, W> {
    type Hasher = S;
    const KIND: Kind = Kind::BLOCKED_BLOOM;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        Shape::new([self.num_blocks(), self.num_hashes().into()])
            .with_design(self.expected_items(), self.promised_rate())
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        let bytes = params_of(shape)?.size_in_bytes();
        Ok(bytes..=bytes)
    }

    fn write_payload<T: Sink>(&self, sink: &mut T) -> Result<(), T::Error> {
        sink.put_words(self.blocks.words().values())
    }

    fn read_payload<T: Source>(shape: &Shape, hasher: S, source: &mut T) -> Result<Self, T::Error> {
        let params = params_of(shape)?;
        let words = take_words(source, params.num_bits() / 64)?;
        Ok(Self { blocks: Blocks::from_words(words.into(), &params), params, hasher })
    }
}

/// Returns the parameters that a head states.
pub(crate) fn params_of(shape: &Shape) -> Result<BlockedBloomParams, DecodeError> {
    let numbers = shape.numbers(["blocks", "hashes"])?;
    let [blocks, hashes] = numbers.values();
    let hashes = u32::try_from(hashes).unwrap_or(u32::MAX);
    BlockedBloomParams::from_blocks_and_hashes(blocks, hashes)
        .and_then(|params| params.with_design(shape.expected_items(), shape.promised_rate()))
        .map_err(|error| numbers.error(error))
}
