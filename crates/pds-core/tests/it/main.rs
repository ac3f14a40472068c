//! The integration tests of `pds-core` in one binary, which links once.

mod batch;
mod bytes;
mod errors;
mod hash;
mod key_hasher;
mod memory;
#[cfg(feature = "std")]
mod plain;
