//! A cuckoo filter that is asked straight from its bytes.

use pds_core::bytes::{Envelope, hasher_of};
use pds_core::{DecodeError, DefaultHashBuilder, PortableHasher};
use pds_params::CuckooParams;

use crate::CuckooFilter;
use crate::bytes::{check_table, params_of};
use crate::reading::reading_methods;
use crate::table::Table;

/// A [`CuckooFilter`] in borrowed bytes, such as a memory-mapped file: all questions, no copy.
///
/// Opening verifies the header and the length, in constant time; the payload is looked at only by
/// questions, and checked only by [`verify`](Self::verify). Bytes at any address will do.
///
/// # Guarantees
/// - The answers are those of the filter that wrote the bytes.
/// - From a payload that was damaged since and not verified: answers may be wrong, in both directions.
///   Never a panic, never a read outside the bytes.
/// - A mapped file must not be truncated while it is mapped: the system then ends the process on access
///   (`SIGBUS`), and no library can prevent it. Replace files by renaming, as [`CuckooFilter::save`] does.
///
/// # Examples
/// ```
/// use cuckoo::{CuckooFilter, CuckooFilterView};
///
/// let mut filter = CuckooFilter::new(1_000, 0.01)?;
/// filter.insert("stored")?;
/// let bytes = filter.to_bytes();
///
/// let view = CuckooFilterView::from_bytes(&bytes)?;
/// view.verify()?;
/// assert!(view.contains("stored") && !view.contains("absent"));
/// assert_eq!(view.to_filter()?, filter);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct CuckooFilterView<'a, S = DefaultHashBuilder> {
    envelope: Envelope<'a>,
    table: Table<&'a [[u8; 8]]>,
    params: CuckooParams,
    hasher: S,
}

impl<'a> CuckooFilterView<'a> {
    /// Opens portable bytes that hold a filter and nothing else.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong and where.
    ///
    /// # Complexity
    /// Constant.
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        Self::open(bytes, None)
    }
}

impl<'a, S: PortableHasher> CuckooFilterView<'a, S> {
    /// Opens portable bytes that hold the hasher's key, as [`CuckooFilter::with_key`] writes them.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes), and [`KeyMissing`](DecodeError::KeyMissing) when the key was
    /// left out.
    pub fn from_bytes_with_key(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        Self::open(bytes, None)
    }

    /// Opens portable bytes with this hasher: for those from which a secret key was left out.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes), and [`KeyMismatch`](DecodeError::KeyMismatch) when `hasher`
    /// is not the one that built the filter.
    pub fn from_bytes_with_hasher(bytes: &'a [u8], hasher: S) -> Result<Self, DecodeError> {
        Self::open(bytes, Some(hasher))
    }

    fn open(bytes: &'a [u8], hasher: Option<S>) -> Result<Self, DecodeError> {
        let envelope = Envelope::open_as::<CuckooFilter<S>>(bytes)?;
        let (params, len) = params_of(&envelope.header().shape)?;
        let hasher = hasher_of(envelope.header(), hasher)?;
        let table = Table::from_words(envelope.payload().as_chunks().0, &params, len);
        Ok(Self { envelope, table, params, hasher })
    }

    /// Verifies the payload: its checksum, the number of fingerprints, and that unused bits are zero.
    ///
    /// # Errors
    /// [`DecodeError::Checksum`], [`DecodeError::Shape`] or [`DecodeError::Padding`].
    ///
    /// # Complexity
    /// O(size): every byte is read.
    pub fn verify(&self) -> Result<(), DecodeError> {
        self.envelope.verify()?;
        check_table(&self.table, &self.params)
    }

    /// Copies the filter out of the bytes, which are verified.
    ///
    /// # Errors
    /// As [`verify`](Self::verify), and [`DecodeError::Alloc`] when memory is refused.
    pub fn to_filter(&self) -> Result<CuckooFilter<S>, DecodeError>
    where
        S: Clone,
    {
        self.envelope.decode(Some(self.hasher.clone()))
    }
}

reading_methods!(['a, S] CuckooFilterView<'a, S>);
