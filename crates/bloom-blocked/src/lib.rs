#![doc = include_str!("../README.md")]
#![no_std]
#![deny(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

#[cfg(feature = "alloc")]
mod arch;
#[cfg(all(feature = "alloc", target_has_atomic = "64"))]
mod atomic;
#[cfg(feature = "alloc")]
mod batch;
#[cfg(feature = "alloc")]
mod blocks;
#[cfg(feature = "alloc")]
mod builder;
#[cfg(feature = "alloc")]
mod filter;
#[cfg(feature = "alloc")]
mod kernel;
#[cfg(feature = "alloc")]
mod layout;
#[cfg(feature = "alloc")]
mod portable;
#[cfg(feature = "alloc")]
mod reading;
#[cfg(feature = "alloc")]
mod split_block;
#[cfg(feature = "alloc")]
mod view;

#[doc(hidden)]
#[cfg(feature = "alloc")]
pub use arch::backends;
#[cfg(all(feature = "alloc", target_has_atomic = "64"))]
pub use atomic::AtomicBlockedBloomFilter;
#[cfg(feature = "alloc")]
pub use builder::BlockedBloomFilterBuilder;
#[cfg(feature = "alloc")]
pub use filter::BlockedBloomFilter;
#[cfg(all(feature = "alloc", target_has_atomic = "64"))]
pub use split_block::AtomicSplitBlockBloomFilter;
#[cfg(feature = "alloc")]
pub use split_block::{SplitBlockBloomFilter, SplitBlockBloomFilterView};
#[cfg(feature = "alloc")]
pub use view::BlockedBloomFilterView;

#[cfg(feature = "alloc")]
pub use bloom_core::{Health, HealthStatus};
// The types in the signatures of this crate, so that its users need no dependency on `pds-core`.
#[cfg(feature = "alloc")]
pub use pds_core::{bytes, storage};
pub use pds_core::{error, hash};
pub use pds_params::{BlockedBloomParams, Estimate, Preference};
