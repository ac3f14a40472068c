//! Standard errors of estimates.

use libm::{exp, expm1, sqrt};

/// The information that a register stores. Its Fisher information depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sketch {
    /// HyperLogLog: the greatest rank.
    HyperLogLog,
    /// UltraLogLog: the greatest rank, and whether the two ranks below it have occurred.
    UltraLogLog,
}

impl Sketch {
    /// Returns the number of ranks below the greatest one that a register knows.
    const fn known_below(self) -> i32 {
        match self {
            Self::HyperLogLog => 0,
            Self::UltraLogLog => 2,
        }
    }
}

/// Returns the relative standard error of the best estimate of `items` distinct keys from `registers` registers.
///
/// The result is a fraction of `items`. It is 0 if `items` is not above 0 or NaN, and infinite if there are items but
/// no registers. It is exact in the limit of large numbers. With few registers the error is greater: by up to 7 % at
/// 16, and 2 % at 64. [`HllParams::standard_error_at`](crate::HllParams::standard_error_at) accounts for this.
///
/// The table has the error times the square root of the number of registers:
///
/// | items per register | HyperLogLog | UltraLogLog |
/// |---|---|---|
/// | far below 1 | 0.71 | 0.5 |
/// | 0.5 | 0.74 | 0.52 |
/// | 1 | 0.77 | 0.53 |
/// | limit | 1.037 | 0.761 |
///
/// The information of one register about the logarithm of its rate λ is a sum over ranks v. The terms are
/// y² / (e^y - 1), with y = λ / 2^v. Each term is weighted by the probability that the register determines whether v
/// has occurred. The variance of a Poisson number of keys is part of the inverse, and is subtracted.
///
/// # Examples
/// ```
/// use pds_params::hll::{Sketch, relative_standard_error};
///
/// let hll = relative_standard_error(Sketch::HyperLogLog, 1 << 14, 1e9);
/// assert!((hll * 128.0 - 1.0367).abs() < 1e-3);
/// ```
///
/// # References
/// Otmar Ertl, "UltraLogLog: A Practical and More Space-Efficient Alternative to HyperLogLog for
/// Approximate Distinct Counting", VLDB 2024, section 3; arXiv:2308.16862.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "registers are far below 2^53")]
pub fn relative_standard_error(sketch: Sketch, registers: u64, items: f64) -> f64 {
    // `max` of NaN and another number returns the other one.
    if items.max(0.0) == 0.0 {
        return 0.0;
    }
    let registers = registers as f64;
    let rate = items / registers;
    if rate < 1e-9 {
        // The only source of error is two keys in one register. This is the limit of the formula below, whose
        // difference would cancel.
        let variance = (0.5 + 1.0 / f64::from(1 << sketch.known_below())) / 3.0;
        return if items > 1.0 { sqrt(variance / registers) } else { 0.0 };
    }
    if rate == f64::INFINITY {
        // Saturated registers carry no information about the number.
        return f64::INFINITY;
    }
    let variance = 1.0 / information(sketch, rate) - 1.0 / rate;
    sqrt(variance.max(0.0) / registers)
}

/// Returns the Fisher information of a register about the logarithm of its rate.
fn information(sketch: Sketch, rate: f64) -> f64 {
    let below = f64::from(1 << sketch.known_below());
    let mut sum = 0.0;
    let mut y = rate / 2.0;
    // Ranks whose y is below 2^-60 have occurred in no register.
    while y > 1e-18 {
        // Above y = 700 a rank has certainly occurred, and e^y is infinite.
        if y < 700.0 {
            sum += y * y / expm1(y) * exp(-y / below);
        }
        y /= 2.0;
    }
    sum
}
