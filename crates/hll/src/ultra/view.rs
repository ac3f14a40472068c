//! Views: UltraLogLog sketches that answer from portable bytes.

use pds_core::bytes::{ByteOptions, Envelope, OpenView};
use pds_core::error::DecodeError;
use pds_core::hash::{DefaultHashBuilder, PortableHasher};
use pds_core::storage::Stored;

use super::UltraLogLog;
use super::payload::Head;

/// A read-only [`UltraLogLog`] that answers from its portable bytes, without a copy.
///
/// `B` is anything that gives bytes: `&[u8]`, `Vec<u8>`, `Arc<[u8]>`, a memory map. The view owns the `B`, so a program
/// can keep many views in one collection without lifetimes. The bytes may start at any address.
///
/// A view has all methods of [`UltraLogLog`] that read, such as [`estimate`](UltraLogLog::estimate).
///
/// [`open`](Self::open) checks the head and the length in constant time. Call [`verify`](Self::verify) to check the
/// payload too.
///
/// # Guarantees
/// - The answers are those of the sketch that wrote the bytes.
/// - If the payload is damaged and was not verified, answers may be wrong. No query panics, and none reads outside the
///   bytes.
/// - Do not truncate a file while it is mapped: the system then ends the process on access (`SIGBUS`). Replace files by
///   renaming, as [`ByteOptions::save`](pds_core::bytes::ByteOptions::save) does.
///
/// # Examples
/// ```
/// use hll::{UltraLogLog, UltraLogLogView};
///
/// let mut seen = UltraLogLog::new(12)?;
/// seen.extend(0..50_000u32);
///
/// let view = UltraLogLogView::open(seen.to_bytes())?;
/// view.verify()?;
/// assert_eq!(view.estimate(), seen.estimate());
/// assert_eq!(view.to_sketch()?, seen);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub type UltraLogLogView<B, S = DefaultHashBuilder> = UltraLogLog<S, Stored<B>>;

impl<B: AsRef<[u8]>> UltraLogLogView<B> {
    /// Opens portable bytes that hold one sketch and nothing else. For a hasher with a secret key use [`ByteOptions::open`].
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

impl<B: AsRef<[u8]>, S: PortableHasher> UltraLogLogView<B, S> {
    /// Returns the bytes that the view was opened from.
    #[must_use]
    pub const fn get_ref(&self) -> &B {
        self.registers.get_ref()
    }

    /// Verifies the payload: its checksum, and whether keys can have left these registers.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// O(size): reads every byte.
    pub fn verify(&self) -> Result<(), DecodeError> {
        let envelope = self.registers.envelope();
        envelope.verify()?;
        let header = envelope.header();
        Head::from_shape(&header.shape)?.check(self.registers.payload(), header.payload_offset())
    }

    /// Verifies the bytes and copies the sketch out of them.
    ///
    /// # Errors
    /// As [`verify`](Self::verify).
    pub fn to_sketch(&self) -> Result<UltraLogLog<S>, DecodeError>
    where
        S: Clone,
    {
        self.registers.envelope().decode(Some(self.hasher.clone()))
    }
}

impl<B: AsRef<[u8]>, S: PortableHasher> OpenView<B> for UltraLogLogView<B, S> {
    type Hasher = S;

    fn open_view(envelope: Envelope<B>, hasher: Option<S>) -> Result<Self, DecodeError> {
        let (registers, hasher) = Stored::open::<UltraLogLog<S>>(envelope, hasher)?;
        let params = Head::from_shape(&registers.envelope().header().shape)?.params;
        Ok(Self { registers, params, hasher })
    }
}
