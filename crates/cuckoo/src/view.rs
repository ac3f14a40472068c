//! A cuckoo filter that is asked straight from its bytes.

use pds_core::bytes::Envelope;
use pds_core::internal::view_methods;
use pds_core::{DecodeError, DefaultHashBuilder};
use pds_params::CuckooParams;

use crate::CuckooFilter;
use crate::bytes::{self, params_of};
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
    envelope: Envelope<&'a [u8]>,
    table: Table<&'a [[u8; 8]]>,
    params: CuckooParams,
    hasher: S,
}

view_methods!(CuckooFilterView of CuckooFilter, to_filter, check_table);

impl<'a, S> CuckooFilterView<'a, S> {
    fn of_envelope(envelope: Envelope<&'a [u8]>, hasher: S) -> Result<Self, DecodeError> {
        let (params, len) = params_of(&envelope.header().shape)?;
        let table = Table::from_words(envelope.borrowed_payload().as_chunks().0, &params, len);
        Ok(Self { envelope, table, params, hasher })
    }

    fn check_table(&self) -> Result<(), DecodeError> {
        let header = self.envelope.header();
        bytes::check_table(&self.table, &self.params, &header.shape, header.payload_end())
    }
}

reading_methods!(['a, S] CuckooFilterView<'a, S>);
