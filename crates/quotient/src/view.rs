//! A quotient filter that answers from its stored bytes.

use pds_core::bytes::{Envelope, OpenView};
use pds_core::error::DecodeError;
use pds_core::hash::{DefaultHashBuilder, PortableHasher};
use pds_core::storage::Stored;

use crate::QuotientFilter;
use crate::portable::{Contents, check_table, contents_of};
use crate::table::Table;

/// A read-only [`QuotientFilter`] that answers from its portable bytes, without a copy.
///
/// `B` is anything that gives bytes: `&[u8]`, `Vec<u8>`, `Arc<[u8]>`, a memory map. The view owns the `B`, so a program
/// can keep many views in one collection without lifetimes. The bytes may start at any address.
///
/// A view has all methods of [`QuotientFilter`] that read, such as [`contains`](QuotientFilter::contains).
///
/// [`open`](Self::open) checks the head and the length in constant time. Call [`verify`](Self::verify) to check the
/// payload too.
///
/// # Guarantees
/// - The answers are those of the filter that wrote the bytes.
/// - If the payload is damaged and was not verified, answers may be wrong in both directions. No question panics, and
///   none reads outside the bytes. A question may then take O(size).
/// - Do not truncate a file while it is mapped: the system then ends the process on access (`SIGBUS`). Replace files by
///   renaming, as [`ByteOptions::save`](pds_core::bytes::ByteOptions::save) does.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use quotient::{QuotientFilter, QuotientFilterView};
///
/// let mut filter = QuotientFilter::new(1_000, 0.01)?;
/// filter.insert("stored")?;
/// let bytes: Arc<[u8]> = filter.to_bytes().into();
///
/// let view: QuotientFilterView<Arc<[u8]>> = QuotientFilterView::open(bytes)?;
/// view.verify()?;
/// assert!(view.contains("stored") && !view.contains("absent"));
/// assert_eq!(view.to_filter()?, filter);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub type QuotientFilterView<B, S = DefaultHashBuilder> = QuotientFilter<S, Stored<B>>;

/// Defines the methods of a view, whose payload `check` checks.
macro_rules! view_methods {
    ($view:ident, $filter:ident, $to_filter:ident, $noun:literal, $check:path) => {
        impl<B: AsRef<[u8]>> $view<B> {
            #[doc = concat!("Opens portable bytes that hold one ", $noun, " and nothing else.")]
            ///
            /// For a hasher with a secret key use [`ByteOptions::open`](pds_core::bytes::ByteOptions::open).
            ///
            /// # Errors
            /// [`DecodeError`](pds_core::error::DecodeError) says what is wrong, and at which offset.
            ///
            /// # Complexity
            /// Constant.
            pub fn open(bytes: B) -> Result<Self, pds_core::error::DecodeError> {
                pds_core::bytes::ByteOptions::new().open(bytes)
            }
        }

        impl<B: AsRef<[u8]>, S: pds_core::hash::PortableHasher> $view<B, S> {
            /// Returns the bytes that the view was opened from.
            #[must_use]
            pub const fn get_ref(&self) -> &B {
                self.table.words().get_ref()
            }

            /// Verifies the payload: its checksum, the order of the entries and their number, and the unused bits.
            ///
            /// # Errors
            /// [`DecodeError`](pds_core::error::DecodeError) says what is wrong, and at which offset.
            ///
            /// # Complexity
            /// O(size): reads every byte.
            pub fn verify(&self) -> Result<(), pds_core::error::DecodeError> {
                let envelope = self.table.words().envelope();
                envelope.verify()?;
                let header = envelope.header();
                $check(&self.table, &header.shape, header.payload_offset())
            }

            #[doc = concat!("Verifies the bytes and copies the ", $noun, " out of them.")]
            ///
            /// # Errors
            /// As [`verify`](Self::verify), and [`Alloc`](pds_core::error::DecodeErrorKind::Alloc) if the allocator refuses the
            /// memory.
            pub fn $to_filter(&self) -> Result<$filter<S>, pds_core::error::DecodeError>
            where
                S: Clone,
            {
                self.table.words().envelope().decode(Some(self.hasher.clone()))
            }
        }
    };
}
pub(crate) use view_methods;

view_methods!(QuotientFilterView, QuotientFilter, to_filter, "filter", check_table);

impl<B: AsRef<[u8]>, S: PortableHasher> OpenView<B> for QuotientFilterView<B, S> {
    type Hasher = S;

    fn open_view(envelope: Envelope<B>, hasher: Option<S>) -> Result<Self, DecodeError> {
        let (words, hasher) = Stored::open::<QuotientFilter<S>>(envelope, hasher)?;
        let Contents { params, len, slots } = contents_of(&words.envelope().header().shape)?;
        let (quotients, width) = (params.num_slots(), params.remainder_bits());
        let table = Table::stored(words, quotients, width, slots, len)?;
        Ok(Self { table, params, hasher })
    }
}
