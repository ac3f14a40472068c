//! MinHash: the error of similarity estimates, and bands and rows of an index.
//!
//! The *Jaccard index* J of two sets is the share of their union that is in both. A sketch has K values. Each is the least of
//! some random numbers of the keys, so two sketches agree at a value with probability J. The estimate is the share of values
//! that agree. Its standard error is sqrt(J (1 - J) / K) if the values are independent, which is the *unit* below.
//!
//! Sketches are made by rounds: in each of the first K rounds a key draws one of K bins and a number. In the K rounds after
//! them, each key draws a number for one bin, the same for all keys. A bin keeps the number of the earliest round, and among
//! those the least one: Søren Dahlgaard, Mathias Bæk Tejs Langhede, Jakob Bæk Tejs Houen and Mikkel Thorup, "Fast Similarity
//! Sketching", 2017, revised 2024, arXiv:1704.04370, section 2.

mod interval;
pub(crate) mod lsh;
pub(crate) mod params;

pub use interval::binomial_interval;

use crate::ParamError;
use crate::internal::ParamFault;
use libm::{exp, expm1, log1p, pow, sqrt};

/// The least number of values of a sketch.
#[doc(hidden)]
pub const MIN_VALUES: u32 = 16;

/// The greatest number of values of a sketch.
#[doc(hidden)]
pub const MAX_VALUES: u32 = 4_096;

/// The greatest number of bits per value of a signature.
#[doc(hidden)]
pub const MAX_BITS: u32 = 32;

/// Returns the standard error of the estimated Jaccard index in units of sqrt(J (1 - J) / K), if `union` keys are in one of
/// the two sets or in both.
///
/// It is exact for hashes that are random. It is 0.71 for small sets, 0.73 for `num_values` keys, and almost 1 for many.
/// It does not depend on J. 0 if there are fewer than two keys: the estimate is exact then.
///
/// # Examples
/// ```
/// use pds_params::minhash::error_in_units;
///
/// assert_eq!(format!("{:.3}", error_in_units(128, 20.0)), "0.708");
/// assert_eq!(format!("{:.3}", error_in_units(128, 1_000.0)), "0.934");
/// ```
// Let p be the probability that one key has the least number in both of two bins, and n the number of keys. Keys are
// exchangeable, so the numbers of bins per key and a random choice of the common keys give a variance of
// n / (n - 1) (1 + (K - 1) p - K / n) squared units. With u and v, the probabilities that a round leaves both bins and one bin
// empty, the sum over the two rounds in which the bins are filled is the closed form below. The last K rounds fill what is
// empty after K rounds, each bin independently.
#[must_use]
pub fn error_in_units(num_values: u32, union: f64) -> f64 {
    if union < 2.0 {
        return 0.0;
    }
    // Infinity has no product with 0.
    let (k, n) = (f64::from(num_values), union.min(f64::MAX));
    let both = n * log1p(-2.0 / k);
    let one = n * log1p(-1.0 / k);
    let never_both = exp(k * both);
    let filled_once = exp(one) * -expm1(both - one);
    let same = 2.0 * filled_once / -expm1(both) * (1.0 - never_both) + never_both;
    sqrt(n / (n - 1.0) * (1.0 + ((k - 1.0) * same - k) / n))
}

/// Returns the probability that two sets with this Jaccard index agree in all values of at least one band.
///
/// This is the S-curve 1 - (1 - J^rows)^bands: Jure Leskovec, Anand Rajaraman and Jeffrey Ullman, "Mining of Massive
/// Datasets", section 3.4.2.
///
/// # Examples
/// ```
/// assert_eq!(format!("{:.3}", pds_params::minhash::recall(0.8, 20.0, 5)), "1.000");
/// assert_eq!(format!("{:.3}", pds_params::minhash::recall(0.2, 20.0, 5)), "0.006");
/// ```
#[must_use]
pub fn recall(jaccard: f64, bands: f64, rows: u32) -> f64 {
    -expm1(bands * log1p(-pow(jaccard, rows.into())))
}

/// Checks that a parameter is a power of two from `min` to `max`, which is one itself.
pub(crate) fn check_power(
    parameter: &'static str,
    value: u32,
    min: u32,
    max: u32,
) -> Result<(), ParamError> {
    if value.is_power_of_two() && (min..=max).contains(&value) {
        return Ok(());
    }
    let (value, min, max) = (value.into(), min.into(), max.into());
    Err(ParamError(ParamFault::NotAPower { parameter, value, min, max }))
}
