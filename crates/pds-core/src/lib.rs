#![doc = include_str!("../README.md")]
#![no_std]
#![deny(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod arch;
mod batch;
#[cfg(feature = "alloc")]
pub mod bytes;
mod error;
pub mod hash;
#[doc(hidden)]
pub mod internal;
mod kind;
#[cfg(feature = "alloc")]
mod memory;
#[cfg(feature = "alloc")]
pub mod storage;
mod traits;

pub use error::{
    AllocError, BuildError, DecodeError, Estimate, Incompatible, InsertError, ParamError,
    SectionFault,
};
#[cfg(feature = "std")]
pub use error::{FileError, ReadError};
pub use hash::{
    Avalanching, DefaultHashBuilder, KeyHasher, Mixed, PortableHasher, Raw, SipHashBuilder,
};
pub use kind::Kind;
pub use traits::{Cardinality, DynInsert, Frequency, Insert, Membership, Merge, Remove};
