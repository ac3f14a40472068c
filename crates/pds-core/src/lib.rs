#![doc = include_str!("../README.md")]
#![no_std]
#![deny(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;

pub mod error;
pub mod hash;
#[cfg(feature = "alloc")]
pub mod memory;
pub mod traits;

pub use error::{AllocError, BuildError, Estimate, Incompatible, ParamError};
pub use hash::{DefaultHashBuilder, PortableHasher, Raw, SipHashBuilder};
pub use traits::{Cardinality, Frequency, HashKey, Insert, Membership, Merge, Remove};
