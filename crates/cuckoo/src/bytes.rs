//! The portable bytes of a filter. `docs/format.md` of the workspace specifies them.

use alloc::vec::Vec;
use core::ops::RangeInclusive;
#[cfg(feature = "std")]
use std::{io, path::Path};

use pds_core::bytes::{
    Header, Numbers, Portable, Shape, Sink, Source, WithKey, WithoutKey, from_slice,
};
use pds_core::hash::PublicSeed;
#[cfg(feature = "serde")]
use pds_core::internal::serde;
use pds_core::internal::{check_padding, take_words};
use pds_core::storage::WordSource;
use pds_core::{DecodeError, Kind, ParamError, PortableHasher};
#[cfg(feature = "std")]
use pds_core::{
    ReadError,
    bytes::{self, ReadLimits},
};
use pds_params::CuckooParams;

use crate::CuckooFilter;
use crate::table::Table;

// The readers without a suffix exist for the default hasher only, like `new`: `CuckooFilter::from_bytes(&bytes)` then
// needs no type.
impl CuckooFilter {
    /// Reads portable bytes that hold one filter and nothing else.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// O(length of the bytes). Allocates no more than the bytes justify.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        from_slice(bytes, None)
    }

    /// Reads the head of portable bytes: what they hold. Does not look at the payload.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    pub fn peek(bytes: &[u8]) -> Result<Header, DecodeError> {
        Header::peek(bytes)
    }

    /// Reads one filter from a stream. Leaves what follows it in the reader.
    ///
    /// Allocates the slots once, and refuses more than `limits` allow.
    ///
    /// # Errors
    /// [`ReadError`] if reading fails, or if the bytes are wrong.
    #[cfg(feature = "std")]
    pub fn read_from(reader: impl io::Read, limits: ReadLimits) -> Result<Self, ReadError> {
        bytes::read_from(reader, limits, None)
    }

    /// Loads a file that holds one filter and nothing else.
    ///
    /// # Errors
    /// [`ReadError`] if reading fails, or if the file is wrong.
    #[cfg(feature = "std")]
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        bytes::load(path.as_ref(), None)
    }
}

impl<S: PortableHasher> CuckooFilter<S> {
    /// Returns the portable bytes, which contain the seed of the hasher.
    ///
    /// A hasher with a secret key does not have this method. Call it on [`with_key()`](Self::with_key) or
    /// [`without_key()`](Self::without_key) then.
    ///
    /// # Complexity
    /// O(size); allocates the bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8>
    where
        S: PublicSeed,
    {
        self.with_key().to_bytes()
    }

    /// Writes the portable bytes, 16 KiB at a time.
    ///
    /// For a hasher with a secret key see [`to_bytes`](Self::to_bytes).
    ///
    /// # Errors
    /// Those of the writer.
    #[cfg(feature = "std")]
    pub fn write_to(&self, writer: impl io::Write) -> io::Result<()>
    where
        S: PublicSeed,
    {
        self.with_key().write_to(writer)
    }

    /// Saves the portable bytes to a file. A crash leaves the old file or the new one, complete.
    ///
    /// Writes a temporary file in the same folder, syncs it, renames it, and syncs the folder. For a hasher with a secret
    /// key see [`to_bytes`](Self::to_bytes).
    ///
    /// # Errors
    /// Those of the file system. Until the rename the old file is unchanged, and the temporary file is removed.
    #[cfg(feature = "std")]
    pub fn save(&self, path: impl AsRef<Path>) -> io::Result<()>
    where
        S: PublicSeed,
    {
        self.with_key().save(path)
    }

    /// Returns a wrapper whose `to_bytes`, `write_to`, `save` and serde forms contain the key of the hasher in clear.
    ///
    /// Whoever can read these bytes can craft keys. Read them with [`from_bytes_with_key`](Self::from_bytes_with_key).
    #[must_use]
    pub const fn with_key(&self) -> WithKey<'_, Self> {
        WithKey::new(self)
    }

    /// Returns a wrapper whose `to_bytes`, `write_to` and `save` omit the secret key of the hasher.
    ///
    /// Keep the key elsewhere: [`from_bytes_with_hasher`](Self::from_bytes_with_hasher) needs it, and without it the bytes
    /// are lost. For a hasher without a secret this changes nothing.
    #[must_use]
    pub const fn without_key(&self) -> WithoutKey<'_, Self> {
        WithoutKey::new(self)
    }

    /// Reads portable bytes with `hasher`. Use it for bytes that do not hold the secret key of the hasher.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes), and [`KeyMismatch`](DecodeError::KeyMismatch) if the filter was built with
    /// another hasher.
    pub fn from_bytes_with_hasher(bytes: &[u8], hasher: S) -> Result<Self, DecodeError> {
        from_slice(bytes, Some(hasher))
    }

    /// Reads portable bytes that hold the key or seed of the hasher, as [`with_key`](Self::with_key) writes them.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes), and [`KeyMissing`](DecodeError::KeyMissing) if the bytes do not hold the key.
    pub fn from_bytes_with_key(bytes: &[u8]) -> Result<Self, DecodeError> {
        from_slice(bytes, None)
    }

    /// Reads one filter from a stream with `hasher`; see [`from_bytes_with_hasher`](Self::from_bytes_with_hasher).
    ///
    /// # Errors
    /// [`ReadError`] if reading fails, or if the bytes are wrong.
    #[cfg(feature = "std")]
    pub fn read_from_with_hasher(
        reader: impl io::Read,
        limits: ReadLimits,
        hasher: S,
    ) -> Result<Self, ReadError> {
        bytes::read_from(reader, limits, Some(hasher))
    }

    /// Reads one filter and the key of its hasher from a stream; see
    /// [`from_bytes_with_key`](Self::from_bytes_with_key).
    ///
    /// # Errors
    /// [`ReadError`] if reading fails, or if the bytes are wrong.
    #[cfg(feature = "std")]
    pub fn read_from_with_key(
        reader: impl io::Read,
        limits: ReadLimits,
    ) -> Result<Self, ReadError> {
        bytes::read_from(reader, limits, None)
    }

    /// Loads a file with `hasher`; see [`from_bytes_with_hasher`](Self::from_bytes_with_hasher).
    ///
    /// # Errors
    /// [`ReadError`] if reading fails, or if the file is wrong.
    #[cfg(feature = "std")]
    pub fn load_with_hasher(path: impl AsRef<Path>, hasher: S) -> Result<Self, ReadError> {
        bytes::load(path.as_ref(), Some(hasher))
    }

    /// Loads a file that holds the key of the hasher; see [`from_bytes_with_key`](Self::from_bytes_with_key).
    ///
    /// # Errors
    /// [`ReadError`] if reading fails, or if the file is wrong.
    #[cfg(feature = "std")]
    pub fn load_with_key(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        bytes::load(path.as_ref(), None)
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

    fn payload_bytes(&self) -> u64 {
        self.params().size_in_bytes()
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
    Err(numbers.error(ParamError::OutOfRange { parameter: LEN, value, min, max }))
}
