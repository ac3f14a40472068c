//! The integration tests of `bloom-core` in one binary, which links once.

mod api;
mod atomic;
mod bank;
mod cases;
mod durable;
mod format;
mod large;
mod laws;
mod logged;
mod many;
mod mutations;
#[cfg(feature = "serde")]
mod serde;
mod statistics;
mod stream;
mod transfer;
