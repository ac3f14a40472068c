//! Envelopes as serde values: bytes, or base64 text in human-readable formats.
//!
//! The same decoder reads them as any other bytes, so every serde format is as safe as `from_bytes`.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::{SeqAccess, Visitor};
pub use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::writer::to_vec;
use super::{Envelope, FromEnvelope, Portable, SecretKey};

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
    put(&to_vec(structure, SecretKey::Include), serializer)
}

/// Deserialises a structure.
///
/// # Errors
/// Those of the deserializer, and every [`DecodeError`](crate::error::DecodeError) as a custom error.
pub fn deserialize<'de, P: Portable, D: Deserializer<'de>>(deserializer: D) -> Result<P, D::Error> {
    // Binary formats are asked for a sequence, not for bytes. For bytes, bincode allocates what a hostile length claims,
    // and the reader of CBOR gives up at 4 KiB. Both encode a sequence of `u8` as they encode bytes.
    if deserializer.is_human_readable() {
        deserializer.deserialize_str(Envelopes(PhantomData))
    } else {
        deserializer.deserialize_seq(Envelopes(PhantomData))
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

fn put<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    if serializer.is_human_readable() {
        serializer.serialize_str(&STANDARD.encode(bytes))
    } else {
        serializer.serialize_bytes(bytes)
    }
}

/// Visitor that accepts bytes, text and sequences of bytes.
struct Envelopes<P>(PhantomData<P>);

impl<'de, P: Portable> Visitor<'de> for Envelopes<P> {
    type Value = P;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "portable bytes ({}), as bytes or as base64 text", P::KIND)
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<P, E> {
        Envelope::open(bytes)
            .and_then(|envelope| P::from_envelope(envelope, None))
            .map_err(E::custom)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<P, E> {
        self.visit_bytes(&STANDARD.decode(text).map_err(E::custom)?)
    }

    fn visit_string<E: serde::de::Error>(self, text: String) -> Result<P, E> {
        self.visit_str(&text)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<P, A::Error> {
        let announced = sequence.size_hint().unwrap_or(0);
        let mut bytes = Vec::with_capacity(announced.min(MOST_RESERVED));
        while let Some(byte) = sequence.next_element()? {
            bytes.push(byte);
        }
        self.visit_bytes(&bytes)
    }
}
