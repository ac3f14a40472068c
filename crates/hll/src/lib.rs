#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

#[cfg(feature = "alloc")]
pub mod storage;

#[cfg(all(feature = "alloc", target_has_atomic = "8"))]
mod atomic;
#[cfg(feature = "alloc")]
mod batch;
#[cfg(feature = "alloc")]
mod builder;
#[cfg(feature = "alloc")]
mod coupon;
#[cfg(feature = "alloc")]
mod dense;
mod estimator;
#[cfg(feature = "alloc")]
mod martingale;
#[cfg(feature = "alloc")]
mod portable;
#[cfg(feature = "alloc")]
mod sketch;
#[cfg(feature = "alloc")]
mod sparse;
#[cfg(feature = "alloc")]
mod ultra;
#[cfg(feature = "alloc")]
mod view;

#[cfg(all(feature = "alloc", target_has_atomic = "8"))]
pub use atomic::AtomicHyperLogLog;
#[cfg(feature = "alloc")]
pub use builder::{HyperLogLogBuilder, UltraLogLogBuilder};
#[cfg(feature = "alloc")]
pub use estimator::Overlap;
#[cfg(feature = "alloc")]
pub use sketch::HyperLogLog;
#[cfg(feature = "alloc")]
pub use ultra::{UltraLogLog, UltraLogLogView};
#[cfg(feature = "alloc")]
pub use view::HyperLogLogView;

/// The estimators and operations on registers, for the validation of this workspace, which draws registers that no sketch
/// can be filled with, and for the sketches of other systems. Exempt from every promise of stability.
#[doc(hidden)]
pub mod internal {
    #[cfg(feature = "alloc")]
    pub use crate::dense::{histogram, merge, packed, unpacked};
    #[cfg(feature = "alloc")]
    pub use crate::estimator::interval;
    pub use crate::estimator::{
        FINITE_SIZE, Likelihood, improved, improved_to, maximum_likelihood, ultra_fgra,
        ultra_maximum_likelihood,
    };
}

// The types in the signatures of this crate, so that its users need no dependency on `pds-core`.
#[cfg(feature = "alloc")]
pub use pds_core::bytes;
pub use pds_core::{error, hash};
pub use pds_params::{Estimate, HllParams};
