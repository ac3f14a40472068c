//! An updatable map that answers from its stored bytes.

use pds_core::bytes::{ByteOptions, Envelope, OpenView};
use pds_core::error::DecodeError;
use pds_core::hash::{DefaultHashBuilder, PortableHasher};
use pds_core::storage::Stored;

use super::UpdatableMap;
use super::portable::layout_of;

/// A read-only [`UpdatableMap`] that answers from its portable bytes, without a copy.
///
/// `B` is anything that gives bytes: `&[u8]`, `Vec<u8>`, `Arc<[u8]>`, a memory map. The view owns the `B`, so a program
/// can keep many views in one collection without lifetimes. The bytes may start at any address.
///
/// A view has all methods of [`UpdatableMap`] that read, such as [`get`](UpdatableMap::get).
///
/// [`open`](Self::open) checks the head and the length in constant time. Call [`verify`](Self::verify) to check the
/// payload too.
///
/// # Guarantees
/// - The answers are those of the map that wrote the bytes.
/// - If the payload is damaged and was not verified, answers may be wrong in both directions. No question panics, and
///   none reads outside the bytes.
/// - Do not truncate a file while it is mapped: the system then ends the process on access (`SIGBUS`). Replace files by
///   renaming, as [`ByteOptions::save`](pds_core::bytes::ByteOptions::save) does.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use fuse::{UpdatableMap, UpdatableMapView};
///
/// let map = UpdatableMap::new([("stored", 5)], 20)?;
/// let bytes: Arc<[u8]> = map.to_bytes().into();
///
/// let view: UpdatableMapView<Arc<[u8]>> = UpdatableMapView::open(bytes)?;
/// view.verify()?;
/// assert_eq!((view.get("stored"), view.get("absent")), (Some(5), None));
/// assert_eq!(view.to_map()?, map);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub type UpdatableMapView<B, S = DefaultHashBuilder> = UpdatableMap<S, Stored<B>>;

impl<B: AsRef<[u8]>> UpdatableMapView<B> {
    /// Opens portable bytes that hold one map and nothing else. For a hasher with a secret key use [`ByteOptions::open`].
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

impl<B: AsRef<[u8]>, S: PortableHasher> UpdatableMapView<B, S> {
    /// Returns the bytes that the view was opened from.
    #[must_use]
    pub const fn get_ref(&self) -> &B {
        self.table.storage().get_ref()
    }

    /// Verifies the payload: its checksum, the salts, the exact list, and the unused bits.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// O(size): reads every byte.
    pub fn verify(&self) -> Result<(), DecodeError> {
        let envelope = self.table.storage().envelope();
        envelope.verify()?;
        self.check(envelope.header().payload_offset())
    }

    /// Verifies the bytes and copies the map out of them.
    ///
    /// # Errors
    /// As [`verify`](Self::verify), and [`Alloc`](pds_core::error::DecodeErrorKind::Alloc) if the allocator refuses the memory.
    pub fn to_map(&self) -> Result<UpdatableMap<S>, DecodeError>
    where
        S: Clone,
    {
        self.table.storage().envelope().decode(Some(self.hasher.clone()))
    }
}

impl<B: AsRef<[u8]>, S: PortableHasher> OpenView<B> for UpdatableMapView<B, S> {
    type Hasher = S;

    fn open_view(envelope: Envelope<B>, hasher: Option<S>) -> Result<Self, DecodeError> {
        let (words, hasher) = Stored::open::<UpdatableMap<S>>(envelope, hasher)?;
        let (layout, value_bits) = layout_of(&words.envelope().header().shape)?;
        Ok(Self { table: layout.open(words), value_bits, hasher })
    }
}
