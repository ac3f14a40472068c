#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

#[cfg(feature = "alloc")]
mod blocked;
#[cfg(feature = "alloc")]
mod builder;
#[cfg(feature = "alloc")]
mod counter;
#[cfg(feature = "alloc")]
mod counters;
#[cfg(feature = "alloc")]
mod filter;
#[cfg(feature = "alloc")]
mod line;
#[cfg(feature = "alloc")]
mod lines;
#[cfg(feature = "alloc")]
mod portable;
#[cfg(feature = "alloc")]
mod positions;
#[cfg(feature = "alloc")]
mod reading;
#[cfg(feature = "alloc")]
mod view;

#[cfg(feature = "alloc")]
pub use blocked::{
    BlockedCountingBloomFilter, BlockedCountingBloomFilterBuilder, BlockedCountingBloomFilterView,
};
#[cfg(feature = "alloc")]
pub use builder::CountingBloomFilterBuilder;
#[cfg(feature = "alloc")]
pub use counter::{Bits4, Bits8, Counter};
#[cfg(feature = "alloc")]
pub use filter::CountingBloomFilter;
#[cfg(feature = "alloc")]
#[doc(hidden)]
pub use lines::backends;
#[cfg(feature = "alloc")]
pub use view::CountingBloomFilterView;
// The types in the signatures of this crate, so that its users need no dependency on `pds-core`.
#[cfg(feature = "alloc")]
pub use bloom_core::BloomFilter;
#[cfg(feature = "alloc")]
pub use pds_core::{bytes, storage};
pub use pds_core::{error, hash};
pub use pds_params::{BlockedCountingParams, BloomParams, Estimate};
