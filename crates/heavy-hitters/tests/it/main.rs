//! The integration tests of `heavy-hitters` in one binary, which links once.

mod addresses;
mod api;
mod cases;
mod format;
#[cfg(feature = "std")]
#[path = "../../../cms/tests/it/histories/mod.rs"]
mod histories;
mod laws;
mod mutations;
#[cfg(feature = "serde")]
mod serde;
mod summaries;
