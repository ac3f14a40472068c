//! How far estimates are from the truth.

use libm::{erfc, exp, expm1, log, sqrt};

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
/// 0 for no items. Times the square root of the registers it is 0.71 for HyperLogLog and 0.5 for UltraLogLog
/// while there are far fewer items than registers, and 1.037 and 0.761 from about ten items a register on. Exact as both numbers grow; within some percent from 64 registers on.
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

/// Returns the z that a standard normal variable exceeds in magnitude with probability `1 - confidence`.
///
/// 1.96 for 0.95. Infinite from 1 on, 0 up to 0. Newton's method on the logarithm of the tail, which is
/// concave, from above.
///
/// # Examples
/// ```
/// use pds_params::hll::normal_quantile;
///
/// assert!((normal_quantile(0.95) - 1.959_963_984_540_054).abs() < 1e-12);
/// ```
#[doc(hidden)]
#[must_use]
pub fn normal_quantile(confidence: f64) -> f64 {
    let tail = 1.0 - confidence;
    if tail.is_nan() || tail >= 1.0 {
        return 0.0;
    }
    if tail <= 0.0 {
        return f64::INFINITY;
    }
    let mut z = sqrt(-2.0 * log(tail));
    for _ in 0..60 {
        let outside = erfc(z / core::f64::consts::SQRT_2);
        let density = 2.0 * exp(-z * z / 2.0) / sqrt(core::f64::consts::TAU);
        let step = log(outside / tail) * outside / density;
        z += step;
        if step.abs() < 1e-15 * z {
            break;
        }
    }
    z
}
