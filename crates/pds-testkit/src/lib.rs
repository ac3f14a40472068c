#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

#[cfg(feature = "allocation")]
pub mod allocation;
mod counts;
pub mod envelope;
#[cfg(feature = "formats")]
pub mod format;
pub mod golden;
pub mod hashers;
pub mod keys;
pub mod mutate;
pub mod page;
pub mod pipe;
pub mod portable;
pub mod program;
pub mod stats;
mod thread_time;
pub mod words;
pub mod zipf;

pub use thread_time::ThreadTime;
