//! Where the contents of a structure live: the storage parameter `W` of `BloomFilter<S, W>` and its kind.
//!
//! A structure is one type. Its storage decides which methods it has:
//!
//! | storage | contents | methods |
//! |---|---|---|
//! | [`Words`] | in memory of the structure's own | all |
//! | [`AtomicWords`] | in memory of the structure's own, shared by threads | those that read or copy; inserts, `clear` and unions with `&self` |
//! | [`Stored<B>`](Stored) | in portable bytes of the type `B` | those that read |
//! | [`RawBytes<B>`](RawBytes) | in bytes of another format, of the type `B` | those that read |
//!
//! Every storage is a [`WordSource`], which is the bound of the methods that read. [`Words`] and [`AtomicWords`] are
//! [`OwnedWords`] too. Name these types to keep a structure in a field, or to write a function for structures in any
//! storage. How a structure reads and writes its storage is internal and exempt from every promise of stability.

pub use crate::bytes::stored::Stored;
#[cfg(target_has_atomic = "64")]
pub use crate::memory::AtomicWords;
pub use crate::memory::{OwnedWords, RawBytes, WordSource, Words};
