//! Read-only filters in portable bytes.

use pds_core::bytes::{ByteOptions, Envelope, OpenView};
use pds_core::error::DecodeError;
use pds_core::hash::{DefaultHashBuilder, PortableHasher};
use pds_core::storage::Stored;

use crate::{Age, AgingBloomFilter};

impl<A: Age, B: AsRef<[u8]>> AgingBloomFilter<A, DefaultHashBuilder, Stored<B>> {
    /// Opens portable bytes that hold one filter and nothing else. For a hasher with a secret key use
    /// [`ByteOptions::open`].
    ///
    /// The head and the length are checked. Call [`verify`](Self::verify) to check the payload too. If it is damaged and was not
    /// verified, answers may be wrong in both directions. No question panics, and none reads outside the bytes.
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

impl<A: Age, B: AsRef<[u8]>, S: PortableHasher> AgingBloomFilter<A, S, Stored<B>> {
    /// Returns the bytes that the view was opened from.
    #[must_use]
    pub const fn get_ref(&self) -> &B {
        self.columns.words().get_ref()
    }

    /// Verifies the payload: its checksum, and the bits that must be clear.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// O(size): reads every byte.
    pub fn verify(&self) -> Result<(), DecodeError> {
        let envelope = self.columns.words().envelope();
        envelope.verify()?;
        self.check_payload(envelope.header().payload_end())
    }

    /// Verifies the bytes and copies the filter out of them.
    ///
    /// # Errors
    /// As [`verify`](Self::verify), and [`Alloc`](pds_core::error::DecodeErrorKind::Alloc) if the allocator refuses the
    /// memory.
    pub fn to_filter(&self) -> Result<AgingBloomFilter<A, S>, DecodeError>
    where
        S: Clone,
    {
        self.columns.words().envelope().decode(Some(self.hasher.clone()))
    }
}

impl<A: Age, B: AsRef<[u8]>, S: PortableHasher> OpenView<B> for AgingBloomFilter<A, S, Stored<B>> {
    type Hasher = S;

    fn open_view(envelope: Envelope<B>, hasher: Option<S>) -> Result<Self, DecodeError> {
        let (words, hasher) = Stored::open::<AgingBloomFilter<A, S>>(envelope, hasher)?;
        let age = A::of_shape(&words.envelope().header().shape)?;
        Ok(Self::assembled(age, words, hasher))
    }
}
