//! A quotient map that answers from its stored bytes.

use pds_core::bytes::{Envelope, OpenView};
use pds_core::error::DecodeError;
use pds_core::hash::{DefaultHashBuilder, PortableHasher};
use pds_core::storage::Stored;

use super::QuotientMap;
use super::portable::{Contents, check_table, contents_of};
use crate::table::Table;
use crate::view::view_methods;

/// A read-only [`QuotientMap`] that answers from its portable bytes, without a copy.
///
/// It is to that type what [`QuotientFilterView`](crate::QuotientFilterView) is to
/// [`QuotientFilter`](crate::QuotientFilter), with the same guarantees.
///
/// # Examples
/// ```
/// use quotient::{QuotientMap, QuotientMapView};
///
/// let mut map = QuotientMap::new(1_000, 0.01, 8)?;
/// map.insert("stored", 5)?;
/// let view = QuotientMapView::open(map.to_bytes())?;
/// view.verify()?;
/// assert_eq!((view.get("stored"), view.get("absent")), (Some(5), None));
/// assert_eq!(view.to_map()?, map);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub type QuotientMapView<B, S = DefaultHashBuilder> = QuotientMap<S, Stored<B>>;

view_methods!(QuotientMapView, QuotientMap, to_map, "map", check_table);

impl<B: AsRef<[u8]>, S: PortableHasher> OpenView<B> for QuotientMapView<B, S> {
    type Hasher = S;

    fn open_view(envelope: Envelope<B>, hasher: Option<S>) -> Result<Self, DecodeError> {
        let (words, hasher) = Stored::open::<QuotientMap<S>>(envelope, hasher)?;
        let contents = contents_of(&words.envelope().header().shape)?;
        let width = contents.width();
        let Contents { params, value_bits, len, slots } = contents;
        let table = Table::stored(words, params.num_slots(), width, slots, len)?;
        Ok(Self { table, params, value_bits, hasher })
    }
}
