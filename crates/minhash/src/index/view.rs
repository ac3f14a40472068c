//! Read-only indexes in portable bytes.

use pds_core::bytes::{ByteOptions, Envelope, OpenView};
use pds_core::error::DecodeError;
use pds_core::hash::{DefaultHashBuilder, PortableHasher};
use pds_core::storage::Stored;

use super::LshIndex;
use super::changes::Changes;
use super::portable::{check_entries, params_of};
use super::sorted::Sorted;

/// A read-only [`LshIndex`] that answers from its portable bytes, without a copy.
///
/// `B` is anything that gives bytes: `&[u8]`, `Vec<u8>`, `Arc<[u8]>`, a memory map. The view owns the `B`. The bytes may start
/// at any address.
///
/// # Examples
/// ```
/// use minhash::{LshIndex, LshIndexView, MinHash};
///
/// let mut sketch = MinHash::new(128)?;
/// sketch.insert("stored");
/// let mut index = LshIndex::new(128, 0.8, 0.95)?;
/// index.insert(17, &sketch)?;
///
/// let view = LshIndexView::open(index.to_bytes())?;
/// view.verify()?;
/// assert_eq!(view.query(&sketch)?, [17]);
/// assert_eq!(view.to_index()?, index);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub type LshIndexView<B, S = DefaultHashBuilder> = LshIndex<S, Stored<B>>;

impl<B: AsRef<[u8]>> LshIndexView<B> {
    /// Opens portable bytes that hold one index and nothing else. For a hasher with a secret key use
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

impl<B: AsRef<[u8]>, S: PortableHasher> LshIndexView<B, S> {
    /// Returns the bytes that the view was opened from.
    #[must_use]
    pub const fn get_ref(&self) -> &B {
        self.sorted.words.get_ref()
    }

    /// Verifies the payload: its checksum, that the entries ascend, and that all bands have the same documents.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset. Also if the allocator refuses the memory.
    ///
    /// # Complexity
    /// O(bands documents log documents): reads every byte. Allocates 8 bytes per document.
    pub fn verify(&self) -> Result<(), DecodeError> {
        let envelope = self.sorted.words.envelope();
        envelope.verify()?;
        check_entries(&self.sorted, self.params, envelope.header().payload_end())
    }

    /// Verifies the bytes and copies the index out of them.
    ///
    /// # Errors
    /// As [`verify`](Self::verify), and [`Alloc`](pds_core::error::DecodeErrorKind::Alloc) if the allocator refuses the
    /// memory.
    pub fn to_index(&self) -> Result<LshIndex<S>, DecodeError>
    where
        S: Clone,
    {
        self.sorted.words.envelope().decode(Some(self.hasher.clone()))
    }
}

impl<B: AsRef<[u8]>, S: PortableHasher> OpenView<B> for LshIndexView<B, S> {
    type Hasher = S;

    fn open_view(envelope: Envelope<B>, hasher: Option<S>) -> Result<Self, DecodeError> {
        let (words, hasher) = Stored::open::<LshIndex<S>>(envelope, hasher)?;
        let (params, documents) = params_of(&words.envelope().header().shape)?;
        let sorted = Sorted::new(words, documents);
        Ok(Self { sorted, changes: Changes::default(), params, hasher })
    }
}
