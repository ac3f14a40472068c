//! Read-only sketches in portable bytes.

use pds_core::bytes::{ByteOptions, Envelope, OpenView};
use pds_core::error::DecodeError;
use pds_core::hash::{DefaultHashBuilder, PortableHasher};
use pds_core::storage::Stored;

use crate::MinHash;
use crate::minima::Limit;
use crate::portable::{check_minima, params_of};

/// A read-only [`MinHash`] that is compared straight from its portable bytes, without a copy.
///
/// `B` is anything that gives bytes: `&[u8]`, `Vec<u8>`, `Arc<[u8]>`, a memory map. The view owns the `B`. The bytes may start
/// at any address.
///
/// # Examples
/// ```
/// use minhash::{MinHash, MinHashView};
///
/// let mut sketch = MinHash::new(128)?;
/// sketch.insert("stored");
/// let view = MinHashView::open(sketch.to_bytes())?;
/// view.verify()?;
/// assert_eq!(view.jaccard(&sketch)?.value, 1.0);
/// assert_eq!(view.to_sketch()?, sketch);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub type MinHashView<B, S = DefaultHashBuilder> = MinHash<S, Stored<B>>;

impl<B: AsRef<[u8]>> MinHashView<B> {
    /// Opens portable bytes that hold one sketch and nothing else. For a hasher with a secret key use
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

impl<B: AsRef<[u8]>, S: PortableHasher> MinHashView<B, S> {
    /// Returns the bytes that the view was opened from.
    #[must_use]
    pub const fn get_ref(&self) -> &B {
        self.minima.get_ref()
    }

    /// Verifies the payload: its checksum, and that inserts can have made the values.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// O(K): reads every byte.
    pub fn verify(&self) -> Result<(), DecodeError> {
        let envelope = self.minima.envelope();
        envelope.verify()?;
        check_minima(&self.minima, envelope.header().payload_end())
    }

    /// Verifies the bytes and copies the sketch out of them.
    ///
    /// # Errors
    /// As [`verify`](Self::verify), and [`Alloc`](pds_core::error::DecodeErrorKind::Alloc) if the allocator refuses the
    /// memory.
    pub fn to_sketch(&self) -> Result<MinHash<S>, DecodeError>
    where
        S: Clone,
    {
        self.minima.envelope().decode(Some(self.hasher.clone()))
    }
}

impl<B: AsRef<[u8]>, S: PortableHasher> OpenView<B> for MinHashView<B, S> {
    type Hasher = S;

    fn open_view(envelope: Envelope<B>, hasher: Option<S>) -> Result<Self, DecodeError> {
        let (minima, hasher) = Stored::open::<MinHash<S>>(envelope, hasher)?;
        let params = params_of(&minima.envelope().header().shape)?;
        Ok(Self { minima, params, limit: Limit::UNUSED, hasher })
    }
}
