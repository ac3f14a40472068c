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
mod codec;
#[cfg(feature = "alloc")]
mod compact;
#[cfg(feature = "alloc")]
mod comparison;
mod hasher;
mod murmur;
#[cfg(feature = "alloc")]
mod set;
#[cfg(feature = "alloc")]
mod sketch;
#[cfg(feature = "alloc")]
mod table;
#[cfg(feature = "alloc")]
mod union;
#[cfg(feature = "alloc")]
mod view;

#[cfg(feature = "alloc")]
pub use builder::ThetaSketchBuilder;
#[cfg(feature = "alloc")]
pub use compact::CompactThetaSketch;
#[cfg(feature = "alloc")]
pub use comparison::Comparison;
pub use hasher::{ThetaHasher, ThetaKey};
#[cfg(feature = "alloc")]
pub use set::ThetaSet;
#[cfg(feature = "alloc")]
pub use sketch::ThetaSketch;
#[cfg(feature = "alloc")]
pub use union::ThetaUnion;
#[cfg(feature = "alloc")]
pub use view::ThetaSketchView;
// The types in the signatures of this crate, so that its users need no dependency on the crates that define them.
pub use pds_core::error;
pub use pds_params::{Estimate, ThetaParams};
