//! The integration tests of `cuckoo` in one binary, which links once.

mod api;
mod cases;
mod format;
mod laws;
mod mutations;
mod room;
#[cfg(feature = "serde")]
mod serde;
mod statistics;
mod storage;
