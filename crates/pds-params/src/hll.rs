//! HyperLogLog and UltraLogLog: m = 2^p registers, n distinct keys.
//!
//! The relative standard errors here are those of the finest estimator that the state allows (the
//! inverse of the Fisher information), for the number of keys in question; the limits for many keys
//! are the constants that papers quote.

mod error;
pub(crate) mod params;
#[doc(hidden)]
pub mod sparse;

pub use error::{Sketch, normal_quantile, relative_standard_error};
pub use params::CardinalityEstimator;

/// The least precision: below 16 registers the error exceeds 26 %.
pub const MIN_PRECISION: u32 = 4;

/// The greatest precision: 2^18 registers, an error of 0.2 %.
///
/// Beyond, registers cost more than the little accuracy they add.
pub const MAX_PRECISION: u32 = 18;

/// The precision of the sparse form, whatever that of the sketch is.
///
/// 26 bits of a hash for the register and 6 for its rank fill a 32-bit word, and a set of a thousand
/// is counted with an error of 0.01 %. One precision for all makes the sparse form of a set the same
/// at every precision of the sketch.
pub const SPARSE_PRECISION: u32 = 26;
