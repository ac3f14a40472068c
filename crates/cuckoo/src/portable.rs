//! The portable bytes of a filter. `docs/format.md` of the workspace specifies them.

use alloc::vec::Vec;
use core::ops::RangeInclusive;
#[cfg(feature = "std")]
use std::io::{self, Read, Write};

use pds_core::bytes::{ByteOptions, Kind, Numbers, Portable, Shape, Sink, Source};
#[cfg(feature = "std")]
use pds_core::error::ReadError;
use pds_core::error::{DecodeError, ParamError};
use pds_core::hash::{PortableHasher, PublicSeed};
#[cfg(feature = "serde")]
use pds_core::internal::serde;
use pds_core::internal::{check_padding, take_words};
use pds_core::storage::WordSource;
use pds_params::CuckooParams;
use pds_params::internal::ParamFault;

use crate::CuckooFilter;
use crate::table::Table;

// The readers exist for the default hasher only, like `new`: `CuckooFilter::from_bytes(&bytes)` then needs no type.
impl CuckooFilter {
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

impl<S: PublicSeed> CuckooFilter<S> {
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
impl<S: PublicSeed> serde::Serialize for CuckooFilter<S> {
    fn serialize<Z: serde::Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serde::serialize(self, serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de, S: PortableHasher> serde::Deserialize<'de> for CuckooFilter<S> {
    fn deserialize<Z: serde::Deserializer<'de>>(deserializer: Z) -> Result<Self, Z::Error> {
        serde::deserialize(deserializer)
    }
}

impl<S: PortableHasher> Portable for CuckooFilter<S> {
    type Hasher = S;
    const KIND: Kind = Kind::CUCKOO;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        Shape::new([self.num_buckets(), self.fingerprint_bits().into(), self.len()])
            .with_design(self.expected_items(), self.promised_rate())
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        let bytes = params_of(shape)?.0.size_in_bytes();
        Ok(bytes..=bytes)
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put_words(self.table.words().iter().copied())
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let (params, len) = params_of(shape)?;
        let words = take_words(source, params.size_in_bytes() / 8)?;
        let table = Table::from_words(words, &params, len);
        check_table(&table, &params, shape, source.offset())?;
        Ok(Self { table, params, hasher })
    }
}

/// Returns the parameters and the number of fingerprints that a head states.
pub(crate) fn params_of(shape: &Shape) -> Result<(CuckooParams, u64), DecodeError> {
    let numbers = numbers_of(shape)?;
    let [buckets, bits, len] = numbers.values();
    let bits = u32::try_from(bits).unwrap_or(u32::MAX);
    let params = CuckooParams::from_buckets_and_fingerprint_bits(buckets, bits)
        .and_then(|params| params.with_design(shape.expected_items(), shape.promised_rate()))
        .map_err(|error| numbers.error(error))?;
    check_len(&numbers, 0, params.num_slots())?;
    Ok((params, len))
}

const LEN: &str = "fingerprints";

fn numbers_of(shape: &Shape) -> Result<Numbers<3>, DecodeError> {
    shape.numbers(["buckets", "fingerprint_bits", LEN])
}

/// Checks a payload that ends at offset `end`: the number of fingerprints, and the bits beyond the last slot.
///
/// # Errors
/// [`DecodeError`] if the slots hold another number of fingerprints than the head states, or if an unused bit is set.
// Every fingerprint is possible in every bucket, so their positions need no check.
pub(crate) fn check_table<W: WordSource>(
    table: &Table<W>,
    params: &CuckooParams,
    shape: &Shape,
    end: u64,
) -> Result<(), DecodeError> {
    let counted = table.iter().count() as u64;
    check_len(&numbers_of(shape)?, counted, counted)?;
    check_padding(end - 8, params.num_bits() % 64, table.last_word())
}

fn check_len(numbers: &Numbers<3>, min: u64, max: u64) -> Result<(), DecodeError> {
    let [.., value] = numbers.values();
    if (min..=max).contains(&value) {
        return Ok(());
    }
    Err(numbers.error(ParamError(ParamFault::OutOfRange { parameter: LEN, value, min, max })))
}
