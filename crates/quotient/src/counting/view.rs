//! A counting quotient filter that answers from its stored bytes.

use pds_core::bytes::{Envelope, OpenView};
use pds_core::error::DecodeError;
use pds_core::hash::{DefaultHashBuilder, PortableHasher};
use pds_core::storage::Stored;

use super::CountingQuotientFilter;
use super::portable::{Contents, check_table, contents_of};
use crate::table::Table;
use crate::view::view_methods;

/// A read-only [`CountingQuotientFilter`] that answers from its portable bytes, without a copy.
///
/// It is to that type what [`QuotientFilterView`](crate::QuotientFilterView) is to
/// [`QuotientFilter`](crate::QuotientFilter), with the same guarantees.
///
/// # Examples
/// ```
/// use quotient::{CountingQuotientFilter, CountingQuotientFilterView};
///
/// let mut filter = CountingQuotientFilter::new(1_000, 0.01)?;
/// filter.insert_many("stored", 5)?;
/// let view = CountingQuotientFilterView::open(filter.to_bytes())?;
/// view.verify()?;
/// assert_eq!((view.count("stored"), view.count("absent")), (5, 0));
/// assert_eq!(view.to_filter()?, filter);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub type CountingQuotientFilterView<B, S = DefaultHashBuilder> =
    CountingQuotientFilter<S, Stored<B>>;

view_methods!(CountingQuotientFilterView, CountingQuotientFilter, to_filter, "filter", check_table);

impl<B: AsRef<[u8]>, S: PortableHasher> OpenView<B> for CountingQuotientFilterView<B, S> {
    type Hasher = S;

    fn open_view(envelope: Envelope<B>, hasher: Option<S>) -> Result<Self, DecodeError> {
        let (words, hasher) = Stored::open::<CountingQuotientFilter<S>>(envelope, hasher)?;
        let Contents { params, len, used, slots } = contents_of(&words.envelope().header().shape)?;
        let (quotients, width) = (params.num_slots(), params.remainder_bits() + 1);
        let table = Table::stored(words, quotients, width, slots, used)?;
        Ok(Self { table, params, len, hasher })
    }
}
