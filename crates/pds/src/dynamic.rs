//! Structures whose kind is known only at run time.

mod filter;
mod filter_view;
mod kinds;
mod sketch;

use core::fmt;

pub use filter::DynFilter;
pub use filter_view::DynFilterView;
pub(crate) use kinds::{
    FilterKind, FilterVisitor, ReadFilter, ReadSketch, SketchKind, SketchVisitor, ViewFilter,
    filter_kind, sketch_kind,
};
pub use sketch::DynSketch;

use crate::bytes::Kind;

/// An operation that the structure does not support.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unsupported {
    /// The kind of the structure.
    pub kind: Kind,
    /// The operation in words, such as "remove keys".
    pub operation: &'static str,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the structure cannot {}: its kind is {}", self.operation, self.kind)
    }
}

impl core::error::Error for Unsupported {}
