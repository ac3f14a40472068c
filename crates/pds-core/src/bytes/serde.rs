//! Envelopes as serde values: bytes, or base64 text in human-readable formats.
//!
//! The same decoder reads them as any other bytes, so every serde format is as safe as `from_bytes`.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Display};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::{SeqAccess, Visitor};
pub use serde::ser::Error;
pub use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::writer::to_vec;
use super::{Envelope, FromEnvelope, Portable, SecretKey};
use crate::error::DecodeError;

/// Greatest capacity that is reserved for a length that a format announces.
const MOST_RESERVED: usize = 4096;

/// Serialises a structure with the seed of its hasher.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<P: Portable, S: Serializer>(
    structure: &P,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serialize_bytes(&to_vec(structure, SecretKey::Include), serializer)
}

/// Deserialises a structure.
///
/// # Errors
/// Those of the deserializer, and every [`DecodeError`] as a custom error.
pub fn deserialize<'de, P: Portable, D: Deserializer<'de>>(deserializer: D) -> Result<P, D::Error> {
    let decode = |bytes: &[u8]| P::from_envelope(Envelope::open(bytes)?, None);
    deserialize_bytes(decode, &P::KIND, deserializer)
}

/// Serialises bytes of any form.
///
/// # Errors
/// Those of the serializer.
pub fn serialize_bytes<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    if serializer.is_human_readable() {
        serializer.serialize_str(&STANDARD.encode(bytes))
    } else {
        serializer.serialize_bytes(bytes)
    }
}

/// Deserialises bytes of any form by `decode`. `name` says in errors what was expected.
///
/// # Errors
/// Those of the deserializer, and every [`DecodeError`] as a custom error.
pub fn deserialize_bytes<'de, T, D: Deserializer<'de>>(
    decode: impl Fn(&[u8]) -> Result<T, DecodeError>,
    name: &dyn Display,
    deserializer: D,
) -> Result<T, D::Error> {
    let visitor = Bytes { decode, name };
    // Binary formats are asked for a sequence, not for bytes. For bytes, bincode allocates what a hostile length claims,
    // and the reader of CBOR gives up at 4 KiB. Both encode a sequence of `u8` as they encode bytes.
    if deserializer.is_human_readable() {
        deserializer.deserialize_str(visitor)
    } else {
        deserializer.deserialize_seq(visitor)
    }
}

/// A structure whose serde form contains the secret key of its hasher in clear.
///
/// Deserialise the structure itself: it takes the key from the bytes. There is no serde form without the key, since no
/// format could pass it to `Deserialize`.
#[derive(Clone, Copy, Debug)]
pub struct WithKey<'a, P>(pub &'a P);

impl<P: Portable> Serialize for WithKey<'_, P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(self.0, serializer)
    }
}

/// Visitor that accepts bytes, text and sequences of bytes.
struct Bytes<'a, F> {
    decode: F,
    name: &'a dyn Display,
}

impl<'de, T, F: Fn(&[u8]) -> Result<T, DecodeError>> Visitor<'de> for Bytes<'_, F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "portable bytes ({}), as bytes or as base64 text", self.name)
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<T, E> {
        (self.decode)(bytes).map_err(E::custom)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        self.visit_bytes(&STANDARD.decode(text).map_err(E::custom)?)
    }

    fn visit_string<E: serde::de::Error>(self, text: String) -> Result<T, E> {
        self.visit_str(&text)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<T, A::Error> {
        let announced = sequence.size_hint().unwrap_or(0);
        let mut bytes = Vec::with_capacity(announced.min(MOST_RESERVED));
        while let Some(byte) = sequence.next_element()? {
            bytes.push(byte);
        }
        self.visit_bytes(&bytes)
    }
}
