#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

#[cfg(feature = "alloc")]
mod builder;
#[cfg(feature = "alloc")]
mod comparison;
#[cfg(feature = "alloc")]
mod index;
#[cfg(feature = "alloc")]
mod minima;
#[cfg(feature = "alloc")]
mod portable;
#[cfg(feature = "alloc")]
mod reading;
#[cfg(feature = "alloc")]
mod signature;
#[cfg(feature = "alloc")]
mod sketch;
#[cfg(feature = "alloc")]
mod view;

#[cfg(feature = "alloc")]
pub use builder::MinHashBuilder;
#[cfg(feature = "alloc")]
pub use comparison::Comparison;
#[cfg(feature = "alloc")]
pub use index::{LshIndex, LshIndexBuilder, LshIndexView};
#[cfg(feature = "alloc")]
pub use signature::{Signature, SignatureView};
#[cfg(feature = "alloc")]
pub use sketch::MinHash;
#[cfg(feature = "alloc")]
pub use view::MinHashView;
// The types in the signatures of this crate, so that its users need no dependency on the crates that define them.
#[cfg(feature = "alloc")]
pub use pds_core::{bytes, storage};
pub use pds_core::{error, hash};
pub use pds_params::{Estimate, LshParams, MinHashParams, SignatureParams};
