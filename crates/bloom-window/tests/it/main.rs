//! Tests of window filters.

extern crate alloc;

mod api;
pub mod bodies;
mod format;
mod laws;
mod mutations;
#[cfg(feature = "serde")]
mod serde;
mod statistics;
