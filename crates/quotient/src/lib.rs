#![doc = include_str!("../README.md")]
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
#[cfg(feature = "alloc")]
mod builder;
#[cfg(feature = "alloc")]
mod counting;
#[cfg(feature = "alloc")]
mod filter;
#[cfg(feature = "alloc")]
mod fingerprint;
#[cfg(feature = "alloc")]
mod map;
#[cfg(all(test, feature = "std"))]
mod model;
#[cfg(feature = "alloc")]
mod payload;
#[cfg(feature = "alloc")]
mod portable;
#[cfg(feature = "alloc")]
mod reading;
#[cfg(feature = "alloc")]
mod resize;
#[cfg(feature = "alloc")]
mod sequence;
#[cfg(feature = "std")]
mod sharded;
#[cfg(feature = "alloc")]
mod table;
#[cfg(feature = "alloc")]
mod view;

#[cfg(feature = "alloc")]
pub use builder::{CountingQuotientFilterBuilder, QuotientFilterBuilder, QuotientMapBuilder};
#[cfg(feature = "alloc")]
pub use counting::{CountingQuotientFilter, CountingQuotientFilterView};
#[cfg(feature = "alloc")]
pub use filter::QuotientFilter;
#[cfg(feature = "alloc")]
pub use map::{QuotientMap, QuotientMapView};
#[cfg(feature = "std")]
pub use sharded::ShardedQuotientFilter;
#[cfg(feature = "alloc")]
pub use view::QuotientFilterView;
// The types in the signatures of this crate, so that its users need no dependency on `pds-core`.
#[cfg(feature = "alloc")]
pub use pds_core::{bytes, storage};
pub use pds_core::{error, hash};
pub use pds_params::QuotientParams;
