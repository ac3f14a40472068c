//! Tests of growing and layered filters.

extern crate alloc;

mod api;
mod format;
mod laws;
pub mod mutations;
#[cfg(feature = "serde")]
mod serde;
mod statistics;
