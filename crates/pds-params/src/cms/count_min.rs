use core::f64::consts::E;

use libm::{ceil, exp, log, pow};

use super::{
    MAX_DEPTH, check_bound, check_probability, check_range, check_shape, counters_in, width_from,
};
use crate::ParamError;
use crate::internal::ParamFault;

/// The shape of a count-min sketch, and its error bound.
///
/// The estimate of a key never falls below its count. It exceeds the count by more than `epsilon` times the total of
/// all counts with probability at most `delta`.
///
/// # Examples
/// ```
/// use pds_params::CountMinParams;
///
/// let published = CountMinParams::new(0.001, 0.01)?;
/// assert_eq!((published.width(), published.depth()), (2_719, 5));
/// let least = CountMinParams::least_memory(0.001, 0.01)?;
/// assert_eq!((least.width(), least.depth()), (2_512, 5));
/// # Ok::<(), pds_params::ParamError>(())
/// ```
///
/// # References
/// Graham Cormode and S. Muthukrishnan, "An Improved Data Stream Summary: The Count-Min Sketch and its
/// Applications", Journal of Algorithms 55(1), 2005, theorem 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CountMinParams {
    /// Counters per row, at least 1.
    width: u64,
    /// Rows, from 1 to [`MAX_DEPTH`].
    depth: u32,
    /// The error as a fraction of the total.
    epsilon: f64,
    /// The probability that an estimate exceeds this error.
    delta: f64,
}

impl CountMinParams {
    /// Computes the published shape: `ceil(e / epsilon)` counters per row, `ceil(ln(1 / delta))` rows.
    ///
    /// # Errors
    /// If `epsilon` or `delta` is not above 0 and below 1. If more rows or counters are needed than possible.
    pub fn new(epsilon: f64, delta: f64) -> Result<Self, ParamError> {
        check_probability("epsilon", epsilon)?;
        let depth = depth_for(delta)?;
        Ok(Self { width: width_from(E / epsilon, depth)?, depth, epsilon, delta })
    }

    /// Computes the shape with the fewest counters whose error bound follows from Markov's inequality:
    /// (1 / (width epsilon))^depth is at most `delta`.
    ///
    /// The published shape rounds the depth up at the fixed base e. This function tries every depth, and computes the
    /// width from the depth.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    pub fn least_memory(epsilon: f64, delta: f64) -> Result<Self, ParamError> {
        check_probability("epsilon", epsilon)?;
        check_probability("delta", delta)?;
        let shape = |depth| {
            let width = width_from(pow(delta, -1.0 / f64::from(depth)) / epsilon, depth)?;
            let width = width + u64::from(excess_probability(width, depth, epsilon) > delta);
            check_shape(width, depth)?;
            Ok(Self { width, depth, epsilon, delta })
        };
        let shapes = (2..=MAX_DEPTH).map(shape).filter_map(Result::ok);
        shapes.fold(shape(1), |best, next| match best {
            Ok(best) if best.counters() <= next.counters() => Ok(best),
            _ => Ok(next),
        })
    }

    /// Accepts width and depth as given. Epsilon is `e / width`, and delta is `e^-depth`.
    ///
    /// # Errors
    /// If there are no counters, no rows, or too many of them.
    pub fn from_width_and_depth(width: u64, depth: u32) -> Result<Self, ParamError> {
        check_shape(width, depth)?;
        Ok(Self { width, depth, epsilon: E / width as f64, delta: exp(-f64::from(depth)) })
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
        let least = excess_probability(width, depth, epsilon);
        // A shape that was computed from a delta keeps it up to rounding.
        if least <= delta * (1.0 + 1e-9) {
            return Ok(Self { width, depth, epsilon, delta });
        }
        Err(ParamError(ParamFault::TooLarge { parameter: "delta", value: least, max: delta }))
    }

    /// Computes the shape with the least epsilon in at most `bytes` bytes, for counters of `counter_bytes` bytes each.
    ///
    /// # Errors
    /// If `delta` is not above 0 and below 1. If `bytes` is too small for an epsilon below 1, or no counter has
    /// `counter_bytes` bytes.
    ///
    /// # Examples
    /// ```
    /// use pds_params::CountMinParams;
    ///
    /// let params = CountMinParams::for_memory(1 << 20, 4, 0.01)?;
    /// assert!(params.size_in_bytes(4) <= 1 << 20);
    /// assert!(params.epsilon() < 5e-5);
    /// # Ok::<(), pds_params::ParamError>(())
    /// ```
    pub fn for_memory(bytes: u64, counter_bytes: u64, delta: f64) -> Result<Self, ParamError> {
        check_probability("delta", delta)?;
        check_range("counter_bytes", counter_bytes, 1, 8)?;
        // An epsilon below 1 requires more than this width.
        let widest = |depth: u32| pow(delta, -1.0 / f64::from(depth));
        let shape = |depth| {
            let width = counters_in(bytes, counter_bytes) / u64::from(depth);
            let epsilon = widest(depth) / width as f64;
            (epsilon < 1.0).then_some(Self { width, depth, epsilon, delta })
        };
        let better = |best: Self, next: Self| if next.epsilon < best.epsilon { next } else { best };
        let best = (1..=MAX_DEPTH).filter_map(shape).reduce(better);
        let best = best.filter(|_| bytes <= super::MAX_COUNTERS * counter_bytes);
        best.ok_or_else(|| super::too_few_bytes(bytes, counter_bytes, 1..=MAX_DEPTH, widest))
    }

    /// Computes the shape with the least delta for `epsilon` in at most `bytes` bytes, for counters of `counter_bytes`
    /// bytes each.
    ///
    /// # Errors
    /// If `epsilon` is not above 0 and below 1. If the bytes do not suffice for one row of more than `1 / epsilon`
    /// counters, or no counter has `counter_bytes` bytes. If no row can have so many counters.
    ///
    /// # Examples
    /// ```
    /// use pds_params::CountMinParams;
    ///
    /// let params = CountMinParams::least_delta(64 << 10, 4, 0.001)?;
    /// assert_eq!((params.width(), params.depth()), (2_730, 6));
    /// assert!(params.delta() < 0.003);
    /// # Ok::<(), pds_params::ParamError>(())
    /// ```
    pub fn least_delta(bytes: u64, counter_bytes: u64, epsilon: f64) -> Result<Self, ParamError> {
        check_probability("epsilon", epsilon)?;
        check_range("counter_bytes", counter_bytes, 1, 8)?;
        width_from(1.0 / epsilon, 1)?;
        let shape = |depth| {
            let width = counters_in(bytes, counter_bytes) / u64::from(depth);
            // Below the least float the result is 0, and a bound of 0 cannot be stored.
            let delta = excess_probability(width, depth, epsilon).max(f64::MIN_POSITIVE);
            (delta < 1.0).then_some(Self { width, depth, epsilon, delta })
        };
        let better = |best: Self, next: Self| if next.delta < best.delta { next } else { best };
        let best = (1..=MAX_DEPTH).filter_map(shape).reduce(better);
        let best = best.filter(|_| bytes <= super::MAX_COUNTERS * counter_bytes);
        best.ok_or_else(|| super::too_few_bytes(bytes, counter_bytes, 1..=1, |_| 1.0 / epsilon))
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

    /// Returns the error bound of an estimate, as a fraction of the total. It is exceeded with probability at most
    /// [`delta`](Self::delta).
    #[must_use]
    pub const fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// Returns the probability that an estimate exceeds its error bound.
    #[must_use]
    pub const fn delta(&self) -> f64 {
        self.delta
    }

    /// Returns the size of all counters in bytes, in whole 64-bit words, for counters of `counter_bytes` bytes.
    ///
    /// The result saturates at `u64::MAX`.
    #[must_use]
    pub const fn size_in_bytes(&self, counter_bytes: u64) -> u64 {
        self.counters().saturating_mul(counter_bytes).div_ceil(8).saturating_mul(8)
    }

    /// Returns an upper bound of the probability that an estimate exceeds the count by more than `epsilon` times the
    /// total.
    ///
    /// The bound is (1 / (width epsilon))^depth by Markov's inequality in each row, and at most 1. It is 1 if `epsilon`
    /// is not above 0.
    #[must_use]
    pub fn delta_at(&self, epsilon: f64) -> f64 {
        if epsilon > 0.0 {
            excess_probability(self.width, self.depth, epsilon).min(1.0)
        } else {
            1.0
        }
    }

    /// Predicts the mean by which one counter of a key exceeds its count, if the other keys' counts have the total
    /// `others`.
    ///
    /// An estimate is the least of `depth` counters, and exceeds the count by less.
    #[must_use]
    pub fn mean_excess_of_a_row(&self, others: u64) -> f64 {
        others as f64 / self.width as f64
    }
}

/// Returns `ceil(ln(1 / delta))` rows.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 1 to MAX_DEPTH")]
fn depth_for(delta: f64) -> Result<u32, ParamError> {
    check_probability("delta", delta)?;
    let (depth, max) = (ceil(-log(delta)), f64::from(MAX_DEPTH));
    if depth > max {
        return Err(ParamError(ParamFault::TooLarge { parameter: "depth", value: depth, max }));
    }
    Ok(depth.max(1.0) as u32)
}

fn excess_probability(width: u64, depth: u32, epsilon: f64) -> f64 {
    pow(width as f64 * epsilon, -f64::from(depth))
}
