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
mod filter;
#[cfg(feature = "alloc")]
mod layer;
#[cfg(feature = "alloc")]
mod layered;
#[cfg(feature = "alloc")]
mod portable;
#[cfg(feature = "alloc")]
mod reading;
#[cfg(feature = "alloc")]
mod view;

#[cfg(feature = "alloc")]
pub use builder::ScalableBloomFilterBuilder;
#[cfg(feature = "alloc")]
pub use filter::{ScalableBlockedBloomFilter, ScalableBloomFilter};
#[cfg(feature = "alloc")]
pub use layer::{Layer, OwnedLayer};
#[cfg(feature = "alloc")]
pub use layered::{LayeredBloomFilter, Sighting};
#[cfg(feature = "alloc")]
pub use view::{
    LayeredBloomFilterView, LayersView, OfViews, Part, ScalableBlockedBloomFilterView,
    ScalableBloomFilterView, ViewLayer,
};
// The types in the signatures of this crate, so that its users need no dependency on the crates that define them.
#[cfg(feature = "alloc")]
pub use bloom_blocked::BlockedBloomFilter;
#[cfg(feature = "alloc")]
pub use bloom_core::{BloomFilter, Health, HealthStatus};
#[cfg(feature = "alloc")]
pub use pds_core::{bytes, storage};
pub use pds_core::{error, hash};
pub use pds_params::{Estimate, LayerDesign, LayeredParams, ScalableParams, Schedule};
