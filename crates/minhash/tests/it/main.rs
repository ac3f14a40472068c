//! The integration tests of `minhash` in one binary, which links once.

extern crate alloc;

mod index;
mod laws;
mod statistics;
