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
use pds_params::fuse::check_bits;

use super::FuseFilter;
use crate::fuse_table::{FuseTable, TableParams};

// The readers exist for the default hasher only, like `new`: `FuseFilter::from_bytes(&bytes)` then needs no type.
impl FuseFilter {
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

impl<S: PublicSeed> FuseFilter<S> {
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
impl<S: PublicSeed> serde::Serialize for FuseFilter<S> {
    fn serialize<Z: serde::Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serde::serialize(self, serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de, S: PortableHasher> serde::Deserialize<'de> for FuseFilter<S> {
    fn deserialize<Z: serde::Deserializer<'de>>(deserializer: Z) -> Result<Self, Z::Error> {
        serde::deserialize(deserializer)
    }
}

impl<S: PortableHasher> Portable for FuseFilter<S> {
    type Hasher = S;
    const KIND: Kind = Kind::FUSE;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        let TableParams { keys, width, growth, rest } = *self.table.params();
        Shape::new([keys, width.into(), growth.into(), rest])
    }

    fn payload_bytes(&self) -> u64 {
        self.size_in_bytes()
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        let bytes = layout_of(shape)?.len().saturating_mul(8);
        Ok(bytes..=bytes)
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put_words(self.table.words().iter().copied())
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let layout = layout_of(shape)?;
        let at = source.offset();
        let table = layout.open(take_words(source, layout.len())?);
        table.check(at)?;
        Ok(Self { table, hasher })
    }
}

/// Returns the layout that a head states.
pub(super) fn layout_of(shape: &Shape) -> Result<FuseTable<()>, DecodeError> {
    let numbers = shape.numbers(["keys", "fingerprint_bits", "growth", "rest"])?;
    shape.expect_no_design()?;
    let [keys, width, growth, rest] = numbers.values();
    let narrow = |value| u32::try_from(value).unwrap_or(u32::MAX);
    let params = TableParams { keys, width: narrow(width), growth: narrow(growth), rest };
    let checked = check_bits(params.width).and_then(|()| FuseTable::layout(params));
    checked.map_err(|error| numbers.error(error))
}
