//! Views: HyperLogLog sketches that answer from portable bytes.

use pds_core::bytes::{ByteOptions, Envelope, OpenView};
use pds_core::error::DecodeError;
use pds_core::hash::{DefaultHashBuilder, PortableHasher};
use pds_core::storage::Stored;
use pds_params::HllParams;

use crate::HyperLogLog;
use crate::portable::{StoredForm, check_plain, form_of, ranks};
use crate::storage::RegisterSource;

/// Storage of a read-only [`HyperLogLog`]: portable bytes, read in place.
#[derive(Clone, Debug)]
pub struct StoredRegisters<B> {
    bytes: Stored<B>,
    params: HllParams,
    form: StoredForm,
}

impl<B: AsRef<[u8]>> RegisterSource for StoredRegisters<B> {
    fn params(&self) -> HllParams {
        self.params
    }

    fn entries(&self) -> Option<u64> {
        match self.form {
            StoredForm::Sparse { entries } => Some(entries),
            StoredForm::Dense => None,
        }
    }

    fn counts(&self) -> [u32; 64] {
        let mut counts = [0; 64];
        ranks(self.bytes.payload()).for_each(|rank| counts[usize::from(rank)] += 1);
        counts
    }

    fn size_in_bytes(&self) -> u64 {
        self.form.payload_bytes(self.params)
    }

    fn name_of([.., view]: [&'static str; 3]) -> &'static str {
        view
    }
}

/// A read-only [`HyperLogLog`] that answers from its portable bytes, without a copy.
///
/// `B` is anything that gives bytes: `&[u8]`, `Vec<u8>`, `Arc<[u8]>`, a memory map. The view owns the `B`, so a program
/// can keep many views in one collection without lifetimes. The bytes may start at any address.
///
/// A view has all methods of [`HyperLogLog`] that read, such as [`estimate`](HyperLogLog::estimate).
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
/// use std::sync::Arc;
/// use hll::{HyperLogLog, HyperLogLogView};
///
/// let mut seen = HyperLogLog::new(12)?;
/// seen.extend(0..50_000u32);
/// let bytes: Arc<[u8]> = seen.to_bytes().into();
///
/// let view: HyperLogLogView<Arc<[u8]>> = HyperLogLogView::open(bytes)?;
/// view.verify()?;
/// assert_eq!(view.estimate(), seen.estimate());
/// assert_eq!(view.to_sketch()?, seen);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub type HyperLogLogView<B, S = DefaultHashBuilder> = HyperLogLog<S, StoredRegisters<B>>;

impl<B: AsRef<[u8]>> HyperLogLogView<B> {
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

impl<B: AsRef<[u8]>, S: PortableHasher> HyperLogLogView<B, S> {
    /// Returns the bytes that the view was opened from.
    #[must_use]
    pub const fn get_ref(&self) -> &B {
        self.registers.bytes.get_ref()
    }

    /// Verifies the payload: its checksum, and whether keys can have left these entries or ranks.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// O(size): reads every byte.
    pub fn verify(&self) -> Result<(), DecodeError> {
        let StoredRegisters { bytes, params, form } = &self.registers;
        bytes.envelope().verify()?;
        let at = bytes.envelope().header().payload_offset();
        check_plain(*params, *form, bytes.payload(), at)
    }

    /// Verifies the bytes and copies the sketch out of them.
    ///
    /// # Errors
    /// As [`verify`](Self::verify).
    pub fn to_sketch(&self) -> Result<HyperLogLog<S>, DecodeError>
    where
        S: Clone,
    {
        self.registers.bytes.envelope().decode(Some(self.hasher.clone()))
    }
}

impl<B: AsRef<[u8]>, S: PortableHasher> OpenView<B> for HyperLogLogView<B, S> {
    type Hasher = S;

    fn open_view(envelope: Envelope<B>, hasher: Option<S>) -> Result<Self, DecodeError> {
        let (bytes, hasher) = Stored::open::<HyperLogLog<S>>(envelope, hasher)?;
        let (params, form) = form_of(&bytes.envelope().header().shape)?;
        Ok(Self { registers: StoredRegisters { bytes, params, form }, hasher })
    }
}
