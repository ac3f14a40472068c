//! The Bloom filter that threads share.
