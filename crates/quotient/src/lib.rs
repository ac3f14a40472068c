//! Quotient filters: unfinished. The table and its sequences are there, never compiled; the filter is not.
#![no_std]
#![deny(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

#[cfg(feature = "alloc")]
mod arch;
#[cfg(feature = "alloc")]
mod blocks;
#[cfg(all(test, feature = "std"))]
mod model;
#[cfg(feature = "alloc")]
mod sequence;
#[cfg(feature = "alloc")]
mod table;
