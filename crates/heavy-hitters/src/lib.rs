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
mod heavy_hitters;
#[cfg(feature = "alloc")]
mod key;
#[cfg(feature = "alloc")]
mod portable;
#[cfg(feature = "serde")]
pub mod serde_keys;
#[cfg(feature = "alloc")]
mod sketched;
#[cfg(feature = "alloc")]
mod summary;
#[cfg(feature = "alloc")]
mod top_k;

#[cfg(feature = "alloc")]
pub use builder::{HeavyHittersBuilder, SketchedHeavyHittersBuilder, TopKBuilder};
#[cfg(feature = "alloc")]
pub use heavy_hitters::{HeavyHitters, Hitter, Iter};
#[cfg(feature = "alloc")]
pub use key::PortableKey;
#[cfg(feature = "alloc")]
pub use sketched::SketchedHeavyHitters;
#[cfg(feature = "alloc")]
pub use top_k::TopK;
// The types in the signatures of this crate, so that its users need no dependency on `cms` or `pds-core`.
pub use cms;
#[cfg(feature = "alloc")]
pub use pds_core::bytes;
pub use pds_core::{error, hash};
pub use pds_params::HeavyHittersParams;
