//! Structures in fewer bytes, to send them: [`Compressed`] and [`Delta`].
//!
//! Both work on the payload of an envelope, so every structure with portable bytes has them. This is why they are here and
//! not in the crate of one filter.

mod chunk;
mod coded;
mod compressed;
mod delta;

pub use compressed::Compressed;
pub use delta::Delta;
#[cfg(feature = "std")]
pub(crate) use delta::fingerprint_of;
