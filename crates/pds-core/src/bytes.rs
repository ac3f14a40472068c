//! One portable envelope for every structure: header, payload, checksums, little endian.
//!
//! `docs/format.md` of the workspace specifies it to the last byte. A structure implements
//! [`Portable`], which says its kind, its shape and its payload; the methods that users see
//! (`to_bytes`, `from_bytes`, `write_to`, ...) come from the macro
//! [`portable_methods`](crate::portable_methods), one definition for all structures.
//!
//! A decoder checks lengths before it allocates, recomputes what can be derived, and refuses what it
//! does not know. The header's checksum is always verified, the payload's wherever a structure is
//! built; only a view leaves it to an explicit `verify`.

pub(crate) mod decode;
mod encode;
#[cfg(feature = "std")]
mod file;
mod header;
mod methods;
pub(crate) mod portable;
#[cfg(feature = "serde")]
pub(crate) mod serde;
pub(crate) mod sink;
pub(crate) mod source;
#[cfg(feature = "std")]
mod stream;
mod twin;
pub(crate) mod view;

pub use decode::from_slice;
pub use encode::{KeyChosen, WithKey, WithoutKey, to_vec};
#[cfg(feature = "std")]
pub use file::{load, save};
pub use header::{Header, Shape};
pub use portable::{Portable, SecretKey};
#[cfg(feature = "std")]
pub use stream::{ReadLimits, read_from, write_to};
