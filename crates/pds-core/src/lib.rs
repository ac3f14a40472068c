#![doc = include_str!("../README.md")]
#![no_std]
#![deny(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod arch;
mod batch;
#[cfg(feature = "alloc")]
pub mod bytes;
#[cfg(feature = "std")]
pub mod durable;
pub mod error;
pub mod hash;
#[doc(hidden)]
pub mod internal;
mod kind;
#[cfg(feature = "alloc")]
pub mod many;
#[cfg(feature = "alloc")]
mod memory;
#[cfg(feature = "alloc")]
pub mod storage;
pub mod traits;
