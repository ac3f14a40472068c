//! The portable bytes of a signature. `docs/format.md` of the workspace specifies them.

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
use pds_params::SignatureParams;

use super::{Signature, check_words};
use crate::portable::saturated;

impl Signature {
    /// Reads portable bytes that hold one signature and nothing else.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        ByteOptions::new().from_bytes(bytes)
    }

    /// Reads one signature from a stream. Leaves what follows it in the reader.
    ///
    /// # Errors
    /// [`ReadError`] if reading fails, or if the bytes are wrong.
    #[cfg(feature = "std")]
    pub fn read_from(reader: impl Read) -> Result<Self, ReadError> {
        ByteOptions::new().read_from(reader)
    }
}

impl<S: PublicSeed> Signature<S> {
    /// Returns the portable bytes, which contain the seed of the hasher.
    ///
    /// For a hasher with a secret key, and for files, use [`ByteOptions`].
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
impl<S: PublicSeed> serde::Serialize for Signature<S> {
    fn serialize<Z: serde::Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serde::serialize(self, serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de, S: PortableHasher> serde::Deserialize<'de> for Signature<S> {
    fn deserialize<Z: serde::Deserializer<'de>>(deserializer: Z) -> Result<Self, Z::Error> {
        serde::deserialize(deserializer)
    }
}

impl<S: PortableHasher> Portable for Signature<S> {
    type Hasher = S;
    const KIND: Kind = Kind::MIN_HASH_SIGNATURE;

    fn portable_hasher(&self) -> &S {
        &self.hasher
    }

    fn shape(&self) -> Shape {
        let (values, bits) = (self.params.num_values(), self.params.bits());
        Shape::new([values.into(), bits.into(), self.is_empty.into()])
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        let bytes = params_of(shape)?.0.size_in_bytes();
        Ok(bytes..=bytes)
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put_words(self.words.iter().copied())
    }

    fn read_payload<R: Source>(shape: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let (params, is_empty) = params_of(shape)?;
        let words = take_words(source, params.size_in_bytes() / 8)?;
        check_words(&words, params, is_empty, source.offset())?;
        Ok(Self { words, params, is_empty, hasher })
    }
}

/// Returns the parameters that a shape stands for, and whether the set is empty.
///
/// # Errors
/// If no signature has this shape.
pub(super) fn params_of(shape: &Shape) -> Result<(SignatureParams, bool), DecodeError> {
    shape.expect_no_design()?;
    let numbers = shape.numbers(["num_values", "bits", "is_empty"])?;
    let [values, bits, empty] = numbers.values().map(saturated);
    if empty > 1 {
        return Err(numbers.field(2, "0 or 1"));
    }
    let params = SignatureParams::new(values, bits).map_err(|error| numbers.error(error))?;
    Ok((params, empty == 1))
}
