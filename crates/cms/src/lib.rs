#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod count;

#[cfg(all(feature = "alloc", target_has_atomic = "64"))]
mod atomic;
#[cfg(feature = "alloc")]
mod builder;
#[cfg(feature = "alloc")]
mod cells;
#[cfg(feature = "alloc")]
mod count_sketch;
#[cfg(feature = "alloc")]
mod counter;
#[cfg(feature = "alloc")]
mod counters;
#[cfg(feature = "alloc")]
#[doc(hidden)]
pub mod internal;
#[cfg(feature = "alloc")]
mod numbers;
#[cfg(feature = "alloc")]
mod portable;
#[cfg(feature = "alloc")]
mod rows;
#[cfg(feature = "alloc")]
mod sketch;
#[cfg(feature = "alloc")]
mod view;

pub use count::{Count, CountInterval, SignedCount};

#[cfg(all(feature = "alloc", target_has_atomic = "64"))]
pub use atomic::AtomicCountMinSketch;
#[cfg(feature = "alloc")]
pub use builder::{CountMinSketchBuilder, CountSketchBuilder};
#[cfg(feature = "alloc")]
pub use count_sketch::CountSketch;
#[cfg(feature = "alloc")]
pub use counter::Counter;
// The types in the signatures of this crate, so that its users need no dependency on `pds-core`.
#[cfg(feature = "alloc")]
pub use counters::CounterStorage;
#[cfg(feature = "alloc")]
pub use pds_core::{bytes, storage};
pub use pds_core::{error, hash};
pub use pds_params::{CountMinParams, CountSketchParams};
#[cfg(feature = "alloc")]
pub use sketch::{CountMinSketch, InnerProduct, Update};
#[cfg(feature = "alloc")]
pub use view::{CountMinSketchView, CountSketchView};
