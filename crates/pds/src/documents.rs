//! The code blocks of the workspace's documents, compiled and run as documentation tests of this module.

#[doc = include_str!("../../../docs/accuracy.md")]
mod accuracy {}

#[doc = include_str!("../../../docs/choosing.md")]
mod choosing {}

#[doc = include_str!("../../../docs/cookbook.md")]
mod cookbook {}

#[doc = include_str!("../../../docs/security.md")]
mod security {}
