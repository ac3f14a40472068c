//! The integration tests of `cms` in one binary, which links once.

mod api;
mod cases;
mod format;
mod histories;
mod laws;
mod mutations;
#[cfg(feature = "serde")]
mod serde;
mod statistics;
mod storage;
mod streams;
