//! Measures of the age of a key.

use core::fmt::Debug;

use pds_core::bytes::{Kind, Shape};
use pds_core::error::{DecodeError, ParamError};
use pds_core::storage::WordSource;
use pds_params::window::Grid;

use crate::builder::Given;
use crate::columns::Columns;

/// A measure of the age of a key: [`LastKeys`](crate::LastKeys) or [`LastTicks`](crate::LastTicks).
///
/// It is the bound of what both kinds of filters have in common. Its methods are internal, and no other crate can implement it.
pub trait Age: Copy + Debug + sealed::Sealed {
    /// The kind in portable bytes.
    #[doc(hidden)]
    const KIND: Kind;

    /// The names of a filter when it is owned, shared, and a view.
    #[doc(hidden)]
    const NAMES: [&'static str; 3];

    /// Computes the parameters for a fresh filter.
    #[doc(hidden)]
    fn given(given: &Given) -> Result<Self, ParamError>;

    /// Returns the rows and columns.
    #[doc(hidden)]
    fn grid(&self) -> &Grid;

    /// Returns the number of generations.
    #[doc(hidden)]
    fn generations(&self) -> u32;

    /// Returns the number of keys that were expected in the live columns, and the promised rate.
    #[doc(hidden)]
    fn design(&self) -> (Option<u64>, Option<f64>);

    /// Says which columns are live.
    #[doc(hidden)]
    fn place(&self, columns: &mut Columns<impl WordSource>);

    /// Notes an insert.
    #[doc(hidden)]
    fn note_insert(&mut self, columns: &mut Columns);

    /// Notes that all keys are removed.
    #[doc(hidden)]
    fn note_clear(&mut self);

    /// Returns a column that must be clear, and the number of words from the first on in which it must.
    #[doc(hidden)]
    fn clear_part(&self) -> Option<(u32, u64)>;

    /// Returns the numbers of the shape, and the design.
    #[doc(hidden)]
    fn shape(&self) -> Shape;

    /// Reads what [`shape`](Self::shape) returns.
    #[doc(hidden)]
    fn of_shape(shape: &Shape) -> Result<Self, DecodeError>;
}

pub(crate) mod sealed {
    pub trait Sealed {}
    impl Sealed for crate::LastKeys {}
    impl Sealed for crate::LastTicks {}
}
