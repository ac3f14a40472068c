#![doc = include_str!("../README.md")]
#![no_std]
#![deny(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

#[cfg(feature = "alloc")]
mod arch;
#[cfg(feature = "alloc")]
mod codec;
mod construction_error;
#[cfg(feature = "alloc")]
mod entries;
#[cfg(feature = "alloc")]
mod equation;
#[cfg(feature = "alloc")]
mod exact;
#[cfg(feature = "alloc")]
mod fuse;
#[cfg(feature = "alloc")]
mod fuse_build;
#[cfg(feature = "alloc")]
mod fuse_table;
#[cfg(feature = "alloc")]
mod graph;
#[cfg(feature = "alloc")]
mod options;
#[cfg(feature = "alloc")]
mod peel;
#[cfg(feature = "alloc")]
mod progress;
#[cfg(feature = "alloc")]
mod rest;
#[cfg(feature = "alloc")]
mod retrieval;
#[cfg(feature = "alloc")]
mod ribbon;
#[cfg(feature = "alloc")]
mod solve;
#[cfg(feature = "alloc")]
mod system;
#[cfg(feature = "alloc")]
mod threads;
#[cfg(feature = "alloc")]
mod updatable;

#[cfg(feature = "alloc")]
use pds_core::internal::AHEAD;

#[doc(hidden)]
#[cfg(feature = "alloc")]
pub use arch::backends;
pub use construction_error::ConstructionError;
#[cfg(feature = "alloc")]
pub use exact::{ExactFilter, ExactFilterBuilder, ExactFilterView};
#[cfg(feature = "alloc")]
pub use fuse::{FuseFilter, FuseFilterBuilder, FuseFilterView};
#[cfg(feature = "alloc")]
pub use progress::Progress;
#[cfg(feature = "alloc")]
pub use retrieval::{RetrievalMap, RetrievalMapBuilder, RetrievalMapView};
#[cfg(feature = "alloc")]
pub use ribbon::{RibbonFilter, RibbonFilterBuilder, RibbonFilterView};
#[cfg(feature = "alloc")]
pub use updatable::{UpdatableMap, UpdatableMapBuilder, UpdatableMapView};
// The types in the signatures of this crate, so that its users need no dependency on `pds-core`.
#[cfg(feature = "alloc")]
pub use pds_core::{bytes, storage};
pub use pds_core::{error, hash};
pub use pds_params::ribbon::Preset;

/// Returns whether a batch of so many keys gains by prefetching in a table of so many words.
///
/// It does not in the second cache of most processors, nor if the batch is over before the first of its keys arrives.
// Measured at 10^4, 10^5 and 5 * 10^5 keys of 8 bits: there, a loop of single lookups was the faster one.
#[cfg(feature = "alloc")]
const fn is_worth_prefetching(words: usize, keys: usize) -> bool {
    words > 1 << 17 && keys > AHEAD
}

/// Returns a rate at which strangers are met, with those whose whole hash is that of one of `keys` keys.
#[cfg(feature = "alloc")]
fn with_collisions(rate: f64, keys: u64) -> f64 {
    (rate + keys as f64 * pds_params::bloom::HASH_COLLISION).min(1.0)
}

/// Returns a number of things in memory as an index.
#[cfg(feature = "alloc")]
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "things in memory have `usize` indices")]
const fn index(number: u64) -> usize {
    number as usize
}
