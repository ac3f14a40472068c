#![doc = include_str!("../README.md")]
#![no_std]
#![deny(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

pub mod batch;
pub mod builder;
#[cfg(feature = "alloc")]
pub mod bytes;
pub mod error;
mod filter;
pub mod hash;
#[cfg(feature = "alloc")]
pub mod memory;
pub mod traits;

#[cfg(feature = "std")]
pub use error::ReadError;
pub use error::{AllocError, BuildError, DecodeError, Estimate, Incompatible, ParamError};
pub use hash::{DefaultHashBuilder, PortableHasher, Raw, SipHashBuilder};
pub use traits::{Cardinality, Frequency, HashKey, Insert, Membership, Merge, Remove};
