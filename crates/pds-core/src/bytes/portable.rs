use core::ops::RangeInclusive;

use super::writer::count_payload;
use super::{MaybeHasher, Shape, Sink, Source};
use crate::bytes::Kind;
use crate::error::DecodeError;

/// A structure with portable bytes. Use it as the bound of code that stores any structure.
///
/// Implement the trait to give a structure of your own portable bytes: it says its kind, its shape and its payload.
/// [`ByteOptions`](crate::bytes::ByteOptions) then add head, checksums, streams and files. The
/// [module's page](crate::bytes#a-kind-of-your-own) has an example.
pub trait Portable: Sized {
    /// The hasher, which must hash alike on every machine. [`NoHasher`](crate::bytes::NoHasher) if there is none.
    type Hasher: MaybeHasher;

    /// The kind in the head.
    const KIND: Kind;

    /// Returns the hasher.
    fn portable_hasher(&self) -> &Self::Hasher;

    /// Returns the shape and the design.
    fn shape(&self) -> Shape;

    /// Returns the number of bytes that [`write_payload`](Self::write_payload) writes.
    ///
    /// The provided method counts them. Implement it only if the number is known and the bytes take long to make.
    fn payload_bytes(&self) -> u64 {
        count_payload(self)
    }

    /// Checks a shape. Returns the range of payload lengths that it allows, in bytes.
    ///
    /// Called before anything is allocated. Return `length..=length` if the shape determines the length.
    ///
    /// # Errors
    /// [`DecodeError`] if no structure has this shape.
    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError>;

    /// Writes the payload: the same bytes whenever it is called on the same structure.
    ///
    /// # Errors
    /// Those of the sink.
    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error>;

    /// Builds the structure from a shape that [`payload_range`](Self::payload_range) accepted.
    ///
    /// Take the whole payload. Do not allocate for a count in the payload before its bytes have been read, unless
    /// [`Source::remaining`] bounds it.
    ///
    /// # Errors
    /// Those of the source, and [`DecodeError`] if the payload contradicts the shape.
    fn read_payload<R: Source>(
        shape: &Shape,
        hasher: Self::Hasher,
        source: &mut R,
    ) -> Result<Self, R::Error>;
}

/// Whether the secret key of a keyed hasher is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretKey {
    /// Do not write the key. A reader of the bytes needs it.
    Omit,
    /// Write the key in clear.
    Include,
}
