//! Structures whose kind is known only at run time.

mod filter;
mod filter_view;
mod kinds;
mod sketch;

pub use filter::DynFilter;
pub use filter_view::DynFilterView;
pub(crate) use kinds::{
    FilterKind, FilterVisitor, ReadFilter, ReadSketch, SketchKind, SketchVisitor, ViewFilter,
    changes, filter_kind, sketch_kind,
};
pub use sketch::DynSketch;
