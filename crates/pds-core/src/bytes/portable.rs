use core::ops::RangeInclusive;

use super::{MaybeHasher, Shape, Sink, Source};
use crate::Kind;
use crate::error::DecodeError;

/// A structure that has portable bytes, whatever it is: the bound of code that stores any of them.
///
/// Implement the trait to give a structure of your own portable bytes: it says its kind, its shape and its payload.
/// [`ByteOptions`](crate::bytes::ByteOptions) then add head, checksums, streams and files. The
/// [module's page](crate::bytes#a-kind-of-your-own) has an example.
pub trait Portable: Sized {
    /// The hasher, which must hash alike on every machine; [`NoHasher`](crate::bytes::NoHasher) where there is none.
    type Hasher: MaybeHasher;

    /// The kind that stands in the head.
    const KIND: Kind;

    /// Returns the hasher.
    fn portable_hasher(&self) -> &Self::Hasher;

    /// Returns the shape and the design.
    fn shape(&self) -> Shape;

    /// Returns how many bytes [`write_payload`](Self::write_payload) writes.
    ///
    /// [`after_envelope`](crate::bytes::after_envelope) counts envelopes inside the payload.
    fn payload_bytes(&self) -> u64;

    /// Checks a shape and returns how many bytes the payload of such a structure can have.
    ///
    /// It is asked before anything is allocated. Where the shape fixes the length, return `length..=length`.
    ///
    /// # Errors
    /// [`DecodeError`] where no structure has this shape.
    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError>;

    /// Writes the payload: exactly [`payload_bytes`](Self::payload_bytes) bytes.
    ///
    /// # Errors
    /// Those of the sink.
    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error>;

    /// Builds the structure from a shape that [`payload_range`](Self::payload_range) accepted.
    ///
    /// The whole payload must be taken. Do not allocate what a number claims before the bytes for it are there,
    /// unless it follows from [`Source::remaining`].
    ///
    /// # Errors
    /// Those of the source, and [`DecodeError`] where the payload contradicts the shape.
    fn read_payload<R: Source>(
        shape: &Shape,
        hasher: Self::Hasher,
        source: &mut R,
    ) -> Result<Self, R::Error>;
}

/// Whether the secret key of a keyed hasher is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretKey {
    /// Not written; a reader of the bytes must be given the key.
    Omit,
    /// Written in clear.
    Include,
}
