#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod double_hash;

#[cfg(all(feature = "alloc", target_has_atomic = "64"))]
mod atomic;
#[cfg(feature = "alloc")]
mod bank;
#[cfg(feature = "alloc")]
mod batch;
#[cfg(feature = "alloc")]
mod bit_array;
#[cfg(feature = "alloc")]
mod builder;
#[cfg(feature = "alloc")]
mod filter;
#[cfg(feature = "alloc")]
mod health;
#[cfg(feature = "alloc")]
mod portable;
#[cfg(feature = "alloc")]
mod probing;
#[cfg(feature = "alloc")]
mod reading;
#[cfg(feature = "alloc")]
mod view;

pub use double_hash::DoubleHash;

#[cfg(all(feature = "alloc", target_has_atomic = "64"))]
pub use atomic::AtomicBloomFilter;
#[cfg(feature = "alloc")]
pub use bank::{FilterBank, push_error::PushError, sets::Sets, view::FilterBankView};
#[cfg(feature = "alloc")]
pub use bit_array::BitArray;
#[cfg(feature = "alloc")]
pub use builder::BloomFilterBuilder;
#[cfg(feature = "alloc")]
pub use filter::BloomFilter;
#[cfg(feature = "alloc")]
pub use health::{Health, HealthStatus};
// The types in the signatures of this crate, so that its users need no dependency on `pds-core`.
#[cfg(feature = "alloc")]
pub use pds_core::{bytes, storage};
pub use pds_core::{error, hash};
pub use pds_params::{BloomParams, Estimate};
#[cfg(feature = "alloc")]
pub use view::BloomFilterView;
