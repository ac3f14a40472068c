use super::Shape;
use super::sink::Sink;
use super::source::Source;
use crate::Kind;
use crate::error::DecodeError;
use crate::hash::PortableHasher;

/// A structure that has portable bytes, whatever it is: the bound of code that stores any of them.
///
/// It is for this family's structures alone, whose numbers [`Kind`] lists, and sealed; the functions of this
/// [module](crate::bytes) take and return them.
///
/// # Examples
/// ```
/// use pds_core::bytes::{Portable, SecretKey, to_vec};
///
/// /// What a structure costs to store, in bytes.
/// fn stored_bytes<P: Portable>(structure: &P) -> usize {
///     to_vec(structure, SecretKey::Omit).len()
/// }
/// ```
// What a structure says of itself so that the envelope can carry it is internal; header, checksums, streams, files
// and serde are done once for all structures.
pub trait Portable: Sized + Sealed {
    /// The hasher, which must hash alike on every machine.
    type Hasher: PortableHasher;

    /// The kind that stands in the header.
    const KIND: Kind;

    /// Returns the hasher.
    #[doc(hidden)]
    fn portable_hasher(&self) -> &Self::Hasher;

    /// Returns the shape and the design.
    #[doc(hidden)]
    fn shape(&self) -> Shape;

    /// Checks a shape and returns the length of its payload in bytes.
    ///
    /// # Errors
    /// [`DecodeError::Shape`] or [`DecodeError::Field`] where no structure has this shape.
    #[doc(hidden)]
    fn payload_bytes(shape: &Shape) -> Result<u64, DecodeError>;

    /// Writes the payload: exactly as many bytes as [`payload_bytes`](Self::payload_bytes) of the shape.
    ///
    /// # Errors
    /// Those of the sink.
    #[doc(hidden)]
    fn write_payload<S: Sink>(&self, sink: &mut S) -> Result<(), S::Error>;

    /// Builds the structure from a shape that [`payload_bytes`](Self::payload_bytes) accepted.
    ///
    /// # Errors
    /// Those of the source, and [`DecodeError`] where the payload contradicts the shape.
    #[doc(hidden)]
    fn read_payload<S: Source>(
        shape: &Shape,
        hasher: Self::Hasher,
        source: &mut S,
    ) -> Result<Self, S::Error>;
}

/// A structure of this family: what only `portable_methods` says of a type keeps others from having a kind.
#[doc(hidden)]
pub trait Sealed {}

/// Whether the secret key of a keyed hasher is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretKey {
    /// Not written; a reader of the bytes must be given the key.
    Omit,
    /// Written in clear.
    Include,
}
