//! The integration tests of `bloom-counting` in one binary, which links once.

mod api;
mod backends;
mod cases;
mod format;
mod laws;
mod mutations;
#[cfg(feature = "serde")]
mod serde;
mod statistics;
