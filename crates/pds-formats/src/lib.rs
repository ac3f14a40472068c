#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;

pub mod hash;
#[cfg(feature = "parquet")]
pub mod milvus;
#[cfg(feature = "parquet")]
pub mod parquet;
#[cfg(feature = "redis")]
pub mod redis;

#[cfg(feature = "alloc")]
#[allow(dead_code, reason = "each format needs some of it")]
mod format_error;
#[cfg(feature = "alloc")]
#[allow(dead_code, reason = "each format needs some of it")]
mod reader;

#[cfg(feature = "alloc")]
pub use format_error::FormatError;

// The types in the signatures of this crate, so that its users need no dependency on `pds-core`.
pub use pds_core::error;
