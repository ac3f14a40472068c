//! How far estimates are from the truth.

use libm::{exp, expm1, sqrt};

/// What a register remembers, which is what its Fisher information depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sketch {
    /// HyperLogLog: the greatest rank.
    HyperLogLog,
    /// UltraLogLog: the greatest rank, and whether the two ranks below it have occurred.
    UltraLogLog,
}

impl Sketch {
    /// How many ranks below the greatest one a register knows of.
    const fn known_below(self) -> i32 {
        match self {
            Self::HyperLogLog => 0,
            Self::UltraLogLog => 2,
        }
    }
}

/// Returns the relative standard error of the best estimate of `items` distinct keys by `registers`
/// registers, as a fraction of `items`.
///
/// It is 0 for a number of items that is not above 0, NaN included, and infinite for items in no registers. Times the square root of the registers it is 0.71 for HyperLogLog and 0.5 for UltraLogLog while there
/// are far fewer items than registers, 0.74 and 0.52 at half as many, 0.77 and 0.53 at as many, and tends to 1.037 and 0.761. Exact
/// as both numbers grow. Few registers exceed it, by up to 7 % at 16 and 2 % at 64;
/// [`HllParams::standard_error_at`](crate::HllParams::standard_error_at) accounts for that.
///
/// The information of one register about the logarithm of its rate λ is a sum over ranks v of
/// y² / (e^y - 1), y = λ / 2^v, each weighted by the probability that the register can tell whether v
/// has occurred. The variance of a Poisson number of keys, which is part of its inverse, is taken off.
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
    // Of NaN and another number, `max` is the other one.
    if items.max(0.0) == 0.0 {
        return 0.0;
    }
    let registers = registers as f64;
    let rate = items / registers;
    if rate < 1e-9 {
        // Two keys in one register are all that can go wrong: the limit of the formula below, whose
        // difference would cancel.
        let variance = (0.5 + 1.0 / f64::from(1 << sketch.known_below())) / 3.0;
        return if items > 1.0 { sqrt(variance / registers) } else { 0.0 };
    }
    if rate == f64::INFINITY {
        // Registers that are full tell nothing of the number.
        return f64::INFINITY;
    }
    let variance = 1.0 / information(sketch, rate) - 1.0 / rate;
    sqrt(variance.max(0.0) / registers)
}

/// The Fisher information of a register about the logarithm of its rate.
fn information(sketch: Sketch, rate: f64) -> f64 {
    let below = f64::from(1 << sketch.known_below());
    let mut sum = 0.0;
    let mut y = rate / 2.0;
    // Ranks whose y is below 2^-60 have occurred in no register.
    while y > 1e-18 {
        // Beyond y = 700 a rank has occurred for certain, and e^y is infinite.
        if y < 700.0 {
            sum += y * y / expm1(y) * exp(-y / below);
        }
        y /= 2.0;
    }
    sum
}
