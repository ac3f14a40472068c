//! The portable bytes of a sketch. `docs/format.md` of the workspace specifies them.

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
use pds_core::storage::WordSource;
use pds_params::MinHashParams;

use crate::MinHash;
use crate::minima::{EMPTY, round_of};

// The readers exist for the default hasher only, like `new`: `MinHash::from_bytes(&bytes)` then needs no type.
impl MinHash {
    /// Reads portable bytes that hold one sketch and nothing else.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// O(K). Allocates no more than the bytes justify.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        ByteOptions::new().from_bytes(bytes)
    }

    /// Reads one sketch from a stream. Leaves what follows it in the reader.
    ///
    /// # Errors
    /// [`ReadError`] if reading fails, or if the bytes are wrong.
    #[cfg(feature = "std")]
    pub fn read_from(reader: impl Read) -> Result<Self, ReadError> {
        ByteOptions::new().read_from(reader)
    }
}

impl<S: PublicSeed> MinHash<S> {
    /// Returns the portable bytes, which contain the seed of the hasher.
    ///
    /// For a hasher with a secret key, and for files, use [`ByteOptions`].
    ///
    /// # Complexity
    /// O(K); allocates the bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        ByteOptions::new().to_bytes(self)
    }

    /// Writes the portable bytes.
    ///
    /// # Errors
    /// Those of the writer.
    #[cfg(feature = "std")]
    pub fn write_to(&self, writer: impl Write) -> io::Result<()> {
        ByteOptions::new().write_to(self, writer)
    }
}

#[cfg(feature = "serde")]
impl<S: PublicSeed> serde::Serialize for MinHash<S> {
    fn serialize<Z: serde::Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serde::serialize(self, serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de, S: PortableHasher> serde::Deserialize<'de> for MinHash<S> {
    fn deserialize<Z: serde::Deserializer<'de>>(deserializer: Z) -> Result<Self, Z::Error> {
        serde::deserialize(deserializer)
    }
}

impl<S: PortableHasher> Portable for MinHash<S> {
    type Hasher = S;
    const KIND: Kind = Kind::MIN_HASH;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        Shape::new([self.num_values().into()])
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        let bytes = params_of(shape)?.size_in_bytes();
        Ok(bytes..=bytes)
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put_words(self.minima.iter().copied())
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let params = params_of(shape)?;
        let minima = take_words(source, params.num_values().into())?;
        check_minima(&minima, source.offset())?;
        Ok(Self::of_minima(minima, params, hasher))
    }
}

/// Returns the parameters that a shape stands for.
///
/// # Errors
/// If no sketch has this shape.
pub(crate) fn params_of(shape: &Shape) -> Result<MinHashParams, DecodeError> {
    shape.expect_no_design()?;
    let numbers = shape.numbers(["num_values"])?;
    let [values] = numbers.values().map(saturated);
    MinHashParams::new(values).map_err(|error| numbers.error(error))
}

/// Returns a number of a shape. One that is too great for its parameter stays too great.
pub(crate) fn saturated(number: u64) -> u32 {
    number.try_into().unwrap_or(u32::MAX)
}

/// Checks minima that end at offset `end`: inserts can have made them.
///
/// # Errors
/// [`DecodeError`] at the first minimum that is empty among others, or of a round that another bin has to itself or that does
/// not exist. At the least one if none is of the first round, which fills a bin with every key.
pub(crate) fn check_minima(minima: &impl WordSource, end: u64) -> Result<(), DecodeError> {
    let bins = minima.as_words().len();
    let start = end - 8 * bins as u64;
    let invalid = |bin: usize, found, allowed| {
        Err(DecodeError::invalid("a minimum", start + 8 * bin as u64, found, allowed))
    };
    let is_empty = minima.values().next() == Some(EMPTY);
    let mut earliest = (EMPTY, 0);
    for (bin, minimum) in minima.values().enumerate() {
        earliest = earliest.min((minimum, bin));
        if is_empty || minimum == EMPTY {
            if is_empty != (minimum == EMPTY) {
                return invalid(bin, minimum, "empty in all bins or in none");
            }
            continue;
        }
        // Rounds from 2 K on would belong to bins from K on.
        let own_bin = (round_of(minimum) as usize).checked_sub(bins);
        if own_bin.is_some_and(|own| own != bin) {
            return invalid(
                bin,
                minimum,
                "of one of the first K rounds, or of the round of its bin",
            );
        }
    }
    let (minimum, bin) = earliest;
    if !is_empty && round_of(minimum) != 0 {
        return invalid(bin, minimum, "of the first round in some bin");
    }
    Ok(())
}
