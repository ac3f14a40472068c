//! The portable bytes of a map. `docs/format.md` of the workspace specifies them.

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
use pds_core::internal::{StoredWord, check_padding, take_words};
use pds_core::storage::WordSource;

use super::builder::table_width;
use super::{UpdatableMap, value_words};
use crate::fuse_table::{FuseTable, TableParams};
use crate::index;

// The readers exist for the default hasher only, like `new`: `UpdatableMap::from_bytes(&bytes)` then needs no type.
impl UpdatableMap {
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

impl<S: PublicSeed> UpdatableMap<S> {
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
impl<S: PublicSeed> serde::Serialize for UpdatableMap<S> {
    fn serialize<Z: serde::Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serde::serialize(self, serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de, S: PortableHasher> serde::Deserialize<'de> for UpdatableMap<S> {
    fn deserialize<Z: serde::Deserializer<'de>>(deserializer: Z) -> Result<Self, Z::Error> {
        serde::deserialize(deserializer)
    }
}

impl<S: PortableHasher> Portable for UpdatableMap<S> {
    type Hasher = S;
    const KIND: Kind = Kind::UPDATABLE;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        let TableParams { keys, growth, rest, .. } = *self.table.params();
        let [value_bits, check_bits] = [self.value_bits(), self.check_bits()].map(u64::from);
        Shape::new([keys, growth.into(), rest, value_bits, check_bits])
    }

    fn payload_bytes(&self) -> u64 {
        self.size_in_bytes()
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        let (layout, value_bits) = layout_of(shape)?;
        let bytes = num_words(&layout, value_bits).saturating_mul(8);
        Ok(bytes..=bytes)
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put_words(self.table.words().iter().copied())
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let (layout, value_bits) = layout_of(shape)?;
        let at = source.offset();
        let table = layout.open(take_words(source, num_words(&layout, value_bits))?);
        let map = Self { table, value_bits, hasher };
        map.check(at)?;
        Ok(map)
    }
}

impl<S, W: WordSource> UpdatableMap<S, W> {
    /// Checks what the payload at offset `at` could contradict.
    pub(super) fn check(&self, at: u64) -> Result<(), DecodeError> {
        self.table.check(at)?;
        let values = self.table.num_slots() * u64::from(self.value_bits);
        let last = self.table.len() + (values / 64);
        self.check_unused(at, last, values % 64)?;
        let exact = self.table.len() + values.div_ceil(64);
        let words = exact..exact + self.table.params().rest;
        words.into_iter().try_for_each(|word| self.check_unused(at, word, self.value_bits.into()))
    }

    /// Checks that only the `used` lowest bits of a word are set, if there are from 1 to 63.
    fn check_unused(&self, at: u64, word: u64, used: u64) -> Result<(), DecodeError> {
        match used % 64 {
            // There may be no such word.
            0 => Ok(()),
            used => check_padding(at + 8 * word, used, self.table.words()[index(word)].value()),
        }
    }
}

/// Returns the number of words of a map.
fn num_words(layout: &FuseTable<()>, value_bits: u32) -> u64 {
    layout.len().saturating_add(value_words(layout, value_bits))
}

/// Returns the layout that a head states, and the number of bits of a value.
pub(super) fn layout_of(shape: &Shape) -> Result<(FuseTable<()>, u32), DecodeError> {
    let names = ["keys", "growth", "rest", "value_bits", "check_bits"];
    let numbers = shape.numbers(names)?;
    shape.expect_no_design()?;
    let [keys, growth, rest, value_bits, check_bits] = numbers.values();
    let [growth, value_bits, check_bits] =
        [growth, value_bits, check_bits].map(|number| u32::try_from(number).unwrap_or(u32::MAX));
    let layout = table_width(value_bits, check_bits)
        .and_then(|width| FuseTable::layout(TableParams { keys, width, growth, rest }));
    let layout = layout.map_err(|error| numbers.error(error))?;
    Ok((layout, value_bits))
}
