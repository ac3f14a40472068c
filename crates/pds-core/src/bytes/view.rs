use super::{Envelope, MaybeHasher};
use crate::error::DecodeError;

/// A view of portable bytes of the type `B`: a structure that answers from them without a copy.
///
/// [`ByteOptions::open`](crate::bytes::ByteOptions::open) calls it.
pub trait OpenView<B>: Sized {
    /// The hasher of the structure.
    type Hasher: MaybeHasher;

    /// Opens an envelope with `hasher`, or with the one in the bytes.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    fn open_view(envelope: Envelope<B>, hasher: Option<Self::Hasher>) -> Result<Self, DecodeError>;
}
