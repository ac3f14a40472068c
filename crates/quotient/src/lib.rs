//! Quotient filters: unfinished. The blocks of slots and the code for their bits are there, the filter is not.
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
