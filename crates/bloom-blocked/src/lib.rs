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
mod bytes;
#[cfg(feature = "alloc")]
mod estimates;
#[cfg(feature = "alloc")]
mod filter;
#[cfg(feature = "alloc")]
mod layout;
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
#[cfg(feature = "alloc")]
pub use split_block::{
    ParquetBytesError, ParquetFloat, ParquetValue, ParquetWriter, SplitBlockBloomFilter,
};
#[cfg(feature = "alloc")]
pub use view::BlockedBloomFilterView;

#[cfg(feature = "alloc")]
pub use bloom_core::{Health, HealthStatus};
// What the signatures here are made of, so that `pds-core` need not be a dependency of their users.
#[cfg(feature = "alloc")]
pub use pds_core::bytes::{ByteOptions, Header};
pub use pds_core::{
    AllocError, Avalanching, BuildError, DecodeError, DefaultHashBuilder, Estimate, Incompatible,
    KeyHasher, Kind, Mixed, ParamError, PortableHasher, Raw, SipHashBuilder,
};
#[cfg(feature = "std")]
pub use pds_core::{FileError, ReadError};
pub use pds_params::{BlockedBloomParams, Preference};
