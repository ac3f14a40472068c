//! Portable bytes of an UltraLogLog.

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

use super::UltraLogLog;
use super::payload::{Head, registers_of};
use crate::portable::take;

impl UltraLogLog {
    /// Reads portable bytes that hold one sketch and nothing else.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// O(m). Allocates the payload and the registers, 512 KiB at the most.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        ByteOptions::new().from_bytes(bytes)
    }

    /// Reads one sketch from a stream. Leaves what follows it in the reader.
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

impl<S: PublicSeed> UltraLogLog<S> {
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
impl<S: PublicSeed> serde::Serialize for UltraLogLog<S> {
    fn serialize<Z: serde::Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serde::serialize(self, serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de, S: PortableHasher> serde::Deserialize<'de> for UltraLogLog<S> {
    fn deserialize<Z: serde::Deserializer<'de>>(deserializer: Z) -> Result<Self, Z::Error> {
        serde::deserialize(deserializer)
    }
}

impl<S: PortableHasher> Portable for UltraLogLog<S> {
    type Hasher = S;

    const KIND: Kind = Kind::ULTRA_LOG_LOG;

    fn portable_hasher(&self) -> &S {
        self.hasher()
    }

    fn shape(&self) -> Shape {
        Head::new(&self.registers, self.params).shape()
    }

    fn payload_bytes(&self) -> u64 {
        Head::new(&self.registers, self.params).payload_bytes()
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        Ok(Head::from_shape(shape)?.payload_range())
    }

    fn write_payload<T: Sink>(&self, sink: &mut T) -> Result<(), T::Error> {
        match Head::new(&self.registers, self.params).list_of(&self.registers) {
            Some(list) => sink.put(&list),
            None => sink.put(&self.registers),
        }
    }

    fn read_payload<T: Source>(shape: &Shape, hasher: S, source: &mut T) -> Result<Self, T::Error> {
        let (head, at) = (Head::from_shape(shape)?, source.offset());
        let payload = take(source, head.payload_bytes())?;
        head.check(&payload, at)?;
        let registers = registers_of(payload, head.params);
        Ok(Self { registers, params: head.params, hasher })
    }
}
