//! The integration tests of `fuse` in one binary, which links once.

mod api;
mod backends;
mod format;
mod fuse_format;
mod fuse_laws;
mod fuse_statistics;
mod laws;
mod mutations;
#[cfg(feature = "serde")]
mod serde;
mod specification;
mod statistics;
mod updatable;
