//! The integration tests of `pds` in one binary, which links once.

mod cases;
mod compare;
mod dyn_filter;
mod dyn_sketch;
mod features;
mod panics;
mod reexports;
mod security;
mod sizes;
mod traits;
