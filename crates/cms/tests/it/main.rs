//! The integration tests of `cms` in one binary, which links once.

mod api;
mod cases;
mod format;
#[cfg(feature = "std")]
mod histories;
mod laws;
mod mutations;
#[cfg(feature = "serde")]
mod serde;
mod statistics;
mod storage;
#[cfg(feature = "std")]
mod streams;
