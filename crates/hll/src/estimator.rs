//! Estimators of the number of distinct keys: pure functions of how many registers have each value.
//!
//! `counts[r]` is the number of registers of value `r`, and the counts add up to m.

mod fgra;
mod improved;
#[cfg(feature = "alloc")]
mod interval;
#[cfg(feature = "alloc")]
mod joint;
mod likelihood;

#[cfg(feature = "alloc")]
pub(crate) use fgra::ultra_likelihood;
pub use fgra::{ultra_fgra, ultra_maximum_likelihood};
#[cfg(feature = "alloc")]
pub(crate) use improved::linear_counting;
pub use improved::{FINITE_SIZE, improved, improved_to};
#[cfg(feature = "alloc")]
pub use interval::interval;
#[cfg(feature = "alloc")]
pub use joint::Overlap;
#[cfg(feature = "alloc")]
pub(crate) use joint::{HASHES, JointCounts, Maximum, Side, sparse_overlap};
pub use likelihood::{Likelihood, maximum_likelihood};
