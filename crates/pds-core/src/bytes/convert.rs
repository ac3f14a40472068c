//! Traits that `ByteOptions` write and read by: for structures of one kind, and for those whose kind is known at run time only.

use super::writer::envelope_bytes;
use super::{Header, MaybeHasher, Portable, Sink};
use crate::error::DecodeError;

/// A structure that can be written as an envelope: every [`Portable`], and types that hold one of several.
pub trait ToEnvelope {
    /// The hasher of the structure.
    type Hasher: MaybeHasher;

    /// Returns the length of the envelope in bytes.
    fn envelope_bytes(&self) -> u64;

    /// Writes the envelope: a single call of [`Sink::put_envelope`].
    ///
    /// # Errors
    /// Those of the sink.
    fn put_in<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error>;
}

impl<P: Portable> ToEnvelope for P {
    type Hasher = P::Hasher;

    fn envelope_bytes(&self) -> u64 {
        envelope_bytes(self)
    }

    fn put_in<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put_envelope(self)
    }
}

/// A structure that can be read from an envelope: every [`Portable`], and types that hold one of several.
pub trait FromEnvelope: Sized {
    /// The hasher of the structure.
    type Hasher: MaybeHasher;

    /// Decodes an envelope with `hasher`, or with the one in the bytes.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset. A stream has its own errors besides.
    fn from_envelope<E: OpenEnvelope>(
        envelope: E,
        hasher: Option<Self::Hasher>,
    ) -> Result<Self, E::Error>;
}

impl<P: Portable> FromEnvelope for P {
    type Hasher = P::Hasher;

    fn from_envelope<E: OpenEnvelope>(
        envelope: E,
        hasher: Option<P::Hasher>,
    ) -> Result<Self, E::Error> {
        envelope.into_structure(hasher)
    }
}

/// An envelope whose head has been read: [`Envelope`](crate::bytes::Envelope) and `EnvelopeReader`.
pub trait OpenEnvelope {
    /// Why the rest cannot be decoded.
    type Error: From<DecodeError>;

    /// Returns the header, which says what the envelope holds.
    fn header(&self) -> &Header;

    /// Decodes the envelope, which must hold a `P`, and verifies all of it.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset. A stream has its own errors besides.
    fn into_structure<P: Portable>(self, hasher: Option<P::Hasher>) -> Result<P, Self::Error>;
}
