//! The Bloom filters of Google's Guava.
//!
//! They are what `BloomFilter.writeTo` writes and `BloomFilter.readFrom` reads. The bytes do not say which funnel turned objects
//! into bytes: [`GuavaKey`] has the funnels of the library.

mod bloom;
mod key;

pub use bloom::{GuavaBloomFilter, GuavaStrategy};
pub use key::GuavaKey;
