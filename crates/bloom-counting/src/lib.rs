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
mod bytes;
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
// What the signatures here are made of, so that `pds-core` need not be a dependency of their users.
#[cfg(feature = "alloc")]
pub use bloom_core::BloomFilter;
#[cfg(feature = "alloc")]
pub use pds_core::bytes::{ByteOptions, Header};
#[cfg(feature = "alloc")]
pub use pds_core::storage;
pub use pds_core::{
    AllocError, Avalanching, BuildError, DecodeError, DefaultHashBuilder, Estimate, Incompatible,
    KeyHasher, Kind, Mixed, ParamError, PortableHasher, Raw, SipHashBuilder,
};
#[cfg(feature = "std")]
pub use pds_core::{FileError, ReadError};
pub use pds_params::{BlockedCountingParams, BloomParams};
