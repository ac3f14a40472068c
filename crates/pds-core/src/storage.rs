//! Where the contents of a structure live: the last type parameter of `CuckooFilter<S, W>` and its kind.
//!
//! A structure is one type. Its storage decides which methods it has:
//!
//! | storage | contents | methods |
//! |---|---|---|
//! | [`Words`] | in memory of the structure's own | all |
//! | [`Stored<B>`](Stored) | in portable bytes of the type `B` | those that read |
//!
//! Every storage is a [`WordSource`], which is the bound of the methods that read. Name these types to keep a structure
//! in a field, or to write a function for structures in any storage. How a structure reads and writes its storage is
//! internal and exempt from every promise of stability.

pub use crate::bytes::stored::Stored;
pub use crate::memory::{WordSource, Words};
