//! The integration tests of `theta` in one binary, which links once.

mod api;
mod format;
mod laws;
mod mutations;
mod statistics;
mod vectors;
