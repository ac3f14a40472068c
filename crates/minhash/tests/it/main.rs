//! The integration tests of `minhash` in one binary, which links once.

extern crate alloc;

mod api;
mod format;
mod index;
mod laws;
mod mutations;
#[cfg(feature = "serde")]
mod serde;
mod statistics;
