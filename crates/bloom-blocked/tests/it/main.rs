//! The integration tests of `bloom-blocked` in one binary, which links once.

mod api;
mod atomic;
mod backends;
mod cases;
mod format;
mod laws;
mod mutations;
#[cfg(feature = "serde")]
mod serde;
mod split_block;
mod statistics;
