//! Read-only signatures in portable bytes.

use pds_core::bytes::{ByteOptions, Envelope, OpenView};
use pds_core::error::DecodeError;
use pds_core::hash::{DefaultHashBuilder, PortableHasher};
use pds_core::storage::Stored;

use super::portable::params_of;
use super::{Signature, check_words};

/// A read-only [`Signature`] that is compared straight from its portable bytes, without a copy.
///
/// `B` is anything that gives bytes: `&[u8]`, `Vec<u8>`, `Arc<[u8]>`, a memory map. The view owns the `B`. The bytes may start
/// at any address.
pub type SignatureView<B, S = DefaultHashBuilder> = Signature<S, Stored<B>>;

impl<B: AsRef<[u8]>> SignatureView<B> {
    /// Opens portable bytes that hold one signature and nothing else. For a hasher with a secret key use
    /// [`ByteOptions::open`].
    ///
    /// The head and the length are checked. Call [`verify`](Self::verify) to check the payload too. If it is damaged and was not
    /// verified, answers may be wrong. No question panics, and none reads outside the bytes.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// Constant.
    pub fn open(bytes: B) -> Result<Self, DecodeError> {
        ByteOptions::new().open(bytes)
    }
}

impl<B: AsRef<[u8]>, S: PortableHasher> SignatureView<B, S> {
    /// Returns the bytes that the view was opened from.
    #[must_use]
    pub const fn get_ref(&self) -> &B {
        self.words.get_ref()
    }

    /// Verifies the payload: its checksum, and the bits that must be clear.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    pub fn verify(&self) -> Result<(), DecodeError> {
        let envelope = self.words.envelope();
        envelope.verify()?;
        check_words(&self.words, self.params, self.is_empty, envelope.header().payload_end())
    }

    /// Verifies the bytes and copies the signature out of them.
    ///
    /// # Errors
    /// As [`verify`](Self::verify), and [`Alloc`](pds_core::error::DecodeErrorKind::Alloc) if the allocator refuses the
    /// memory.
    pub fn to_signature(&self) -> Result<Signature<S>, DecodeError>
    where
        S: Clone,
    {
        self.words.envelope().decode(Some(self.hasher.clone()))
    }
}

impl<B: AsRef<[u8]>, S: PortableHasher> OpenView<B> for SignatureView<B, S> {
    type Hasher = S;

    fn open_view(envelope: Envelope<B>, hasher: Option<S>) -> Result<Self, DecodeError> {
        let (words, hasher) = Stored::open::<Signature<S>>(envelope, hasher)?;
        let (params, is_empty) = params_of(&words.envelope().header().shape)?;
        Ok(Self { words, params, is_empty, hasher })
    }
}
