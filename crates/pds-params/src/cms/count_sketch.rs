use core::f64::consts::LN_2;

use libm::{exp, log, log1p, sqrt};

use super::{MAX_DEPTH, check_bound, check_probability, check_shape, width_from};
use crate::ParamError;
use crate::internal::ParamFault;

/// The shape of a count sketch, and its error bound.
///
/// The estimate of a key errs by more than `epsilon` times the norm of all counts with probability at most `delta`. The
/// norm is the root of the sum of the squares.
///
/// One row has the variance (sum of the squares) / width. By Chebyshev's inequality, it exceeds the error with
/// probability 1 / (width epsilon²). The median exceeds it if half of the rows do.
///
/// # Examples
/// ```
/// use pds_params::CountSketchParams;
///
/// let params = CountSketchParams::new(0.01, 0.01)?;
/// assert_eq!(params.depth() % 2, 1);
/// assert!(params.delta_at(0.01) <= 0.01);
/// # Ok::<(), pds_params::ParamError>(())
/// ```
///
/// # References
/// Moses Charikar, Kevin Chen and Martin Farach-Colton, "Finding Frequent Items in Data Streams",
/// ICALP 2002, lemmas 3 and 4.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CountSketchParams {
    /// Counters per row, at least 1.
    width: u64,
    /// Rows, from 1 to [`MAX_DEPTH`].
    depth: u32,
    epsilon: f64,
    delta: f64,
}

impl CountSketchParams {
    /// Computes the shape with the fewest counters that keeps the error bound, among odd depths.
    ///
    /// # Errors
    /// If `epsilon` or `delta` is not above 0 and below 1. If more counters are needed than possible.
    pub fn new(epsilon: f64, delta: f64) -> Result<Self, ParamError> {
        check_probability("epsilon", epsilon)?;
        check_probability("delta", delta)?;
        let shape = |depth| {
            let width = width_from(1.0 / (row_failure(depth, delta) * epsilon * epsilon), depth)?;
            let shape = Self { width, depth, epsilon, delta };
            let short = u64::from(shape.delta_at(epsilon) > delta);
            check_shape(width + short, depth)?;
            Ok(Self { width: width + short, ..shape })
        };
        let shapes = (3..MAX_DEPTH).step_by(2).map(shape).filter_map(Result::ok);
        shapes.fold(shape(1), |best, next| match best {
            Ok(best) if best.counters() <= next.counters() => Ok(best),
            _ => Ok(next),
        })
    }

    /// Accepts width and depth as given.
    ///
    /// Epsilon is the root of `3 / width`, the error that a row exceeds with probability 1/3.
    ///
    /// # Errors
    /// If there are no counters, no rows, or too many of them.
    pub fn from_width_and_depth(width: u64, depth: u32) -> Result<Self, ParamError> {
        check_shape(width, depth)?;
        let delta = median_failure(depth, 1.0 / 3.0);
        Ok(Self { width, depth, epsilon: sqrt(3.0 / width as f64), delta })
    }

    /// Accepts a shape with the error bound that it was designed for, for example from bytes.
    ///
    /// # Errors
    /// Those of [`from_width_and_depth`](Self::from_width_and_depth). If epsilon is not
    /// above 0, or delta is not above 0 and below 1. If epsilon is infinite, or the shape does
    /// not keep the bound.
    pub fn with_error(
        width: u64,
        depth: u32,
        epsilon: f64,
        delta: f64,
    ) -> Result<Self, ParamError> {
        check_shape(width, depth)?;
        check_bound("epsilon", epsilon)?;
        check_probability("delta", delta)?;
        let shape = Self { width, depth, epsilon, delta };
        let least = shape.delta_at(epsilon);
        // A shape that was computed from a delta keeps it up to rounding.
        if least <= delta * (1.0 + 1e-9) {
            return Ok(shape);
        }
        Err(ParamError(ParamFault::TooLarge { parameter: "delta", value: least, max: delta }))
    }

    /// Computes the shape with the least epsilon in at most `bytes` bytes, among odd depths.
    ///
    /// # Errors
    /// If `delta` is not above 0 and below 1. If `bytes` is too small for an epsilon below 1, or too large.
    ///
    /// # Examples
    /// ```
    /// use pds_params::CountSketchParams;
    ///
    /// let params = CountSketchParams::for_memory(1 << 20, 0.01)?;
    /// assert!(params.size_in_bytes() <= 1 << 20);
    /// assert!(params.epsilon() < 0.02);
    /// # Ok::<(), pds_params::ParamError>(())
    /// ```
    pub fn for_memory(bytes: u64, delta: f64) -> Result<Self, ParamError> {
        check_probability("delta", delta)?;
        // An epsilon below 1 requires more than this width.
        let widest = |depth| 1.0 / row_failure(depth, delta);
        let shape = |depth| {
            let width = bytes / 8 / u64::from(depth);
            let epsilon = sqrt(widest(depth) / width as f64);
            (epsilon < 1.0).then_some(Self { width, depth, epsilon, delta })
        };
        let better = |best: Self, next: Self| if next.epsilon < best.epsilon { next } else { best };
        let depths = (1..MAX_DEPTH).step_by(2);
        let best = depths.clone().filter_map(shape).reduce(better);
        let best = best.filter(|_| bytes <= super::MAX_COUNTERS * 8);
        best.ok_or_else(|| super::too_few_bytes(bytes, 8, depths, widest))
    }

    /// Returns the number of counters per row.
    #[must_use]
    pub const fn width(&self) -> u64 {
        self.width
    }

    /// Returns the number of rows.
    #[must_use]
    pub const fn depth(&self) -> u32 {
        self.depth
    }

    /// Returns the number of counters.
    #[must_use]
    pub const fn counters(&self) -> u64 {
        self.width * self.depth as u64
    }

    /// Returns the size of all counters in bytes, with 8 bytes each.
    #[must_use]
    pub const fn size_in_bytes(&self) -> u64 {
        self.counters() * 8
    }

    /// Returns the error bound of an estimate, as a fraction of the norm of all counts. It is exceeded with probability
    /// at most [`delta`](Self::delta).
    #[must_use]
    pub const fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// Returns the probability that an estimate exceeds its error bound.
    #[must_use]
    pub const fn delta(&self) -> f64 {
        self.delta
    }

    /// Returns an upper bound of the probability that an estimate errs by more than `epsilon` times the norm.
    ///
    /// It is 1 if `epsilon` is not above 0.
    #[must_use]
    pub fn delta_at(&self, epsilon: f64) -> f64 {
        let row = 1.0 / (self.width as f64 * epsilon * epsilon);
        if epsilon > 0.0 && row < 1.0 { median_failure(self.depth, row) } else { 1.0 }
    }

    /// Returns the standard deviation of one row's estimate, if the other keys' counts have this sum of squares.
    #[must_use]
    pub fn standard_error_of_a_row(&self, squares_of_others: f64) -> f64 {
        sqrt(squares_of_others / self.width as f64)
    }
}

/// Returns the greatest failure probability of a row for which the median of `depth` rows fails with at most `delta`.
// By bisection on the logarithm.
fn row_failure(depth: u32, delta: f64) -> f64 {
    // If each row fails with probability delta / 2, the median of any odd number of rows fails with less than delta.
    let (mut low, mut high) = (log(delta.min(0.5)) - LN_2, 0.0);
    for _ in 0..64 {
        let middle = f64::midpoint(low, high);
        if median_failure(depth, exp(middle)) <= delta {
            low = middle;
        } else {
            high = middle;
        }
    }
    exp(low)
}

/// Returns the probability that at least half of `depth` rows fail, each with probability `row` below 1.
fn median_failure(depth: u32, row: f64) -> f64 {
    let odds = log(row) - log1p(-row);
    let mut term = f64::from(depth) * log1p(-row);
    let mut sum = 0.0;
    for failing in 0..=depth {
        if failing >= depth.div_ceil(2) {
            sum += exp(term);
        }
        let next = f64::from(failing + 1);
        term += log(f64::from(depth - failing)) - log(next) + odds;
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_fails_when_half_of_the_rows_do() {
        assert!((median_failure(1, 0.2) - 0.2).abs() < 1e-15);
        // 3 p² (1 - p) + p³ at a quarter.
        assert!((median_failure(3, 0.25) - 0.15625).abs() < 1e-15);
        // One failing row of two moves the mean of the middle pair.
        assert!((median_failure(2, 0.1) - 0.19).abs() < 1e-15);
        assert!((median_failure(5, 0.5) - 0.5).abs() < 1e-14);
    }

    #[test]
    fn the_row_failure_is_the_greatest_that_keeps_the_median() {
        for depth in (1..MAX_DEPTH).step_by(2) {
            for delta in [0.6, 0.3, 0.01, 1e-6, 1e-12] {
                let row = row_failure(depth, delta);
                assert!(median_failure(depth, row) <= delta);
                let more = (row * 1.001).min(1.0 - 1e-12);
                assert!(median_failure(depth, more) > delta, "{depth} {delta}");
            }
        }
    }
}
