//! Hashes of keys.

use pds::hash::{DefaultHashBuilder, PortableHasher};

/// Returns the hash of a key by the default hasher, which every structure of this tool has.
///
/// A text in Rust has the hash of its bytes. So `filter.contains("text")` finds a line that this tool inserted, and the other way
/// round.
#[inline]
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    DefaultHashBuilder::default().hash_bytes(bytes)
}
