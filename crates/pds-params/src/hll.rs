//! HyperLogLog and UltraLogLog: m = 2^p registers, n distinct keys.
//!
//! [`HllParams::standard_error`](crate::HllParams::standard_error) is a bound for an estimator, a precision and any number of keys.
//! [`CardinalityEstimator::error_constant`] is the limit for many registers that papers quote, which few registers exceed.

mod error;
pub(crate) mod params;
#[doc(hidden)]
pub mod sparse;

pub use error::{Sketch, relative_standard_error};
pub use params::CardinalityEstimator;

/// The least precision: 16 registers have an error of 28 %.
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
