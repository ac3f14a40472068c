#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;

#[cfg(feature = "datasketches")]
pub mod datasketches;
#[cfg(feature = "dcso")]
pub mod dcso;
#[cfg(feature = "guava")]
pub mod guava;
pub mod hash;
#[cfg(feature = "parquet")]
pub mod milvus;
#[cfg(feature = "parquet")]
pub mod parquet;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(feature = "presto")]
pub mod presto;
#[cfg(feature = "redis")]
pub mod redis;
#[cfg(feature = "spark")]
pub mod spark;
#[cfg(feature = "xorf")]
pub mod xorf;

#[cfg(any(feature = "datasketches", feature = "dcso", feature = "guava", feature = "spark"))]
#[allow(dead_code, unused_imports, reason = "each format needs some of it")]
mod bits;
#[cfg(feature = "alloc")]
#[allow(dead_code, reason = "each format needs some of it")]
mod format_error;
#[cfg(any(feature = "datasketches", feature = "guava", feature = "spark"))]
mod keys;
#[cfg(feature = "alloc")]
#[allow(dead_code, reason = "each format needs some of it")]
mod memory;
#[cfg(feature = "alloc")]
#[allow(dead_code, reason = "each format needs some of it")]
mod reader;
#[cfg(feature = "alloc")]
mod recognise;

#[cfg(feature = "alloc")]
pub use format_error::FormatError;
#[cfg(feature = "alloc")]
pub use recognise::{Recognised, recognise};

// The types in the signatures of this crate, so that its users need no dependency on `pds-core`.
pub use pds_core::error;
