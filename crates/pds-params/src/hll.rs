//! HyperLogLog and UltraLogLog: m = 2^p registers, n distinct keys.
//!
//! [`HllParams::standard_error`](crate::HllParams::standard_error) is an upper bound for an estimator, a precision and
//! any number of keys. [`CardinalityEstimator::error_constant`] is the limit for many registers, which papers quote.
//! Sketches with few registers exceed it.

mod error;
pub(crate) mod params;
#[doc(hidden)]
pub mod sparse;

// `HllParams::standard_error_at` answers for a sketch.
#[doc(hidden)]
pub use error::{Sketch, relative_standard_error};
pub use params::CardinalityEstimator;

/// The least precision: 16 registers, an error of 28 %.
#[doc(hidden)]
pub const MIN_PRECISION: u32 = 4;

/// The greatest precision: 2^18 registers, an error of 0.2 %.
///
/// Beyond, the cost of the registers outweighs the small gain in accuracy.
#[doc(hidden)]
pub const MAX_PRECISION: u32 = 18;

/// The precision of the sparse form, for sketches of every precision.
///
/// The register takes 26 bits of a hash, and its rank 6. Together they fill a 32-bit word. A set of a thousand keys is
/// counted with an error of 0.01 %. The sparse form of a set is the same at every precision of the sketch.
#[doc(hidden)]
pub const SPARSE_PRECISION: u32 = 26;
