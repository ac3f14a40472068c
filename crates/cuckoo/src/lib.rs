#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

#[cfg(feature = "alloc")]
mod address;
#[cfg(feature = "alloc")]
mod builder;
#[cfg(feature = "alloc")]
mod filter;
#[cfg(feature = "alloc")]
mod lanes;
#[cfg(feature = "alloc")]
mod portable;
#[cfg(feature = "alloc")]
mod reading;
#[cfg(feature = "alloc")]
mod search;
#[cfg(feature = "alloc")]
mod table;
#[cfg(feature = "alloc")]
mod view;

#[cfg(feature = "alloc")]
pub use builder::CuckooFilterBuilder;
#[cfg(feature = "alloc")]
pub use filter::CuckooFilter;
#[cfg(feature = "alloc")]
pub use view::CuckooFilterView;
// The types in the signatures of this crate, so that its users need no dependency on `pds-core`.
#[cfg(feature = "alloc")]
pub use pds_core::{bytes, storage};
pub use pds_core::{error, hash};
pub use pds_params::CuckooParams;
