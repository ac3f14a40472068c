//! A retrieval map that answers from its stored bytes.

use pds_core::bytes::{ByteOptions, Envelope, OpenView};
use pds_core::error::DecodeError;
use pds_core::hash::{DefaultHashBuilder, PortableHasher};
use pds_core::storage::{Stored, WordSource};

use super::RetrievalMap;
use super::portable::params_of;
use crate::codec;
use crate::system::System;

/// A read-only [`RetrievalMap`] that answers from its portable bytes, without a copy.
///
/// `B` is anything that gives bytes: `&[u8]`, `Vec<u8>`, `Arc<[u8]>`, a memory map. The view owns the `B`, so a program
/// can keep many views in one collection without lifetimes. The bytes may start at any address.
///
/// A view has all methods of [`RetrievalMap`] that read, such as [`get`](RetrievalMap::get).
///
/// [`open`](Self::open) checks the head and the length in constant time. Call [`verify`](Self::verify) to check the
/// payload too.
///
/// # Guarantees
/// - The answers are those of the map that wrote the bytes.
/// - If the payload is damaged and was not verified, answers may be wrong. No question panics, and
///   none reads outside the bytes.
/// - Do not truncate a file while it is mapped: the system then ends the process on access (`SIGBUS`). Replace files by
///   renaming, as [`ByteOptions::save`](pds_core::bytes::ByteOptions::save) does.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use fuse::{RetrievalMap, RetrievalMapView};
///
/// let map = RetrievalMap::new([("stored", 5)], 16)?;
/// let bytes: Arc<[u8]> = map.to_bytes().into();
///
/// let view: RetrievalMapView<Arc<[u8]>> = RetrievalMapView::open(bytes)?;
/// view.verify()?;
/// assert_eq!((view.get("stored"), view.get("absent")), (Some(5), None));
/// assert_eq!(view.to_map()?, map);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub type RetrievalMapView<B, S = DefaultHashBuilder> = RetrievalMap<S, Stored<B>>;

impl<B: AsRef<[u8]>> RetrievalMapView<B> {
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

impl<B: AsRef<[u8]>, S: PortableHasher> RetrievalMapView<B, S> {
    /// Returns the bytes that the view was opened from.
    #[must_use]
    pub const fn get_ref(&self) -> &B {
        self.words.get_ref()
    }

    /// Verifies the payload: its checksum, the exact list, and the unused bits.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// O(size): reads every byte.
    pub fn verify(&self) -> Result<(), DecodeError> {
        self.words.envelope().verify()?;
        codec::check(&self.system, self.words.as_words(), codec::payload_offset(&self.words))
    }

    /// Verifies the bytes and copies the map out of them.
    ///
    /// # Errors
    /// As [`verify`](Self::verify), and [`Alloc`](pds_core::error::DecodeErrorKind::Alloc) if the allocator refuses the memory.
    pub fn to_map(&self) -> Result<RetrievalMap<S>, DecodeError>
    where
        S: Clone,
    {
        self.words.envelope().decode(Some(self.hasher.clone()))
    }
}

impl<B: AsRef<[u8]>, S: PortableHasher> OpenView<B> for RetrievalMapView<B, S> {
    type Hasher = S;

    fn open_view(envelope: Envelope<B>, hasher: Option<S>) -> Result<Self, DecodeError> {
        let (words, hasher) = Stored::open::<RetrievalMap<S>>(envelope, hasher)?;
        let (params, value_bits) = params_of(&words.envelope().header().shape)?;
        codec::check_whole(&words)?;
        let at = codec::payload_offset(&words);
        let system = System::open(words.as_words(), params).map_err(|misfit| misfit.at(at))?;
        Ok(Self { words, system, value_bits, hasher })
    }
}
