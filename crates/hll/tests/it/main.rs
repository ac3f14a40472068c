//! The integration tests of `hll` in one binary, which links once.

mod api;
mod cases;
mod coverage;
#[cfg(feature = "std")]
mod errors;
mod format;
mod laws;
mod mutations;
mod reference;
#[cfg(feature = "serde")]
mod serde;
mod statistics;
