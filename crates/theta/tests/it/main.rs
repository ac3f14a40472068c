//! The integration tests of `theta` in one binary, which links once.

mod api;
mod format;
mod laws;
mod mutations;
#[cfg(feature = "serde")]
mod serde;
mod statistics;
mod vectors;
