#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

#[cfg(feature = "alloc")]
mod age;
#[cfg(feature = "alloc")]
mod builder;
mod clock_error;
#[cfg(feature = "alloc")]
mod columns;
#[cfg(feature = "alloc")]
mod filter;
#[cfg(feature = "alloc")]
mod last_keys;
#[cfg(feature = "alloc")]
mod last_ticks;
#[cfg(feature = "alloc")]
mod portable;
#[cfg(feature = "alloc")]
mod reading;
#[cfg(feature = "alloc")]
mod view;

#[cfg(feature = "alloc")]
pub use age::Age;
#[cfg(feature = "alloc")]
pub use builder::AgingBloomFilterBuilder;
pub use clock_error::ClockError;
#[cfg(feature = "alloc")]
pub use filter::AgingBloomFilter;
#[cfg(feature = "alloc")]
pub use last_keys::{LastKeys, WindowBloomFilter, WindowBloomFilterView};
#[cfg(feature = "alloc")]
pub use last_ticks::{LastTicks, TimedBloomFilter, TimedBloomFilterView};
// The types in the signatures of this crate, so that its users need no dependency on the crates that define them.
#[cfg(feature = "alloc")]
pub use bloom_core::{Health, HealthStatus};
#[cfg(feature = "alloc")]
pub use pds_core::{bytes, storage};
pub use pds_core::{error, hash};
pub use pds_params::{Estimate, TimedParams, WindowParams};
