use core::f64::consts::E;

use libm::{ceil, exp, log, pow};

use super::{
    MAX_DEPTH, check_bound, check_probability, check_range, check_shape, counters_in, width_from,
};
use crate::ParamError;

/// The shape of a count-min sketch, and the error that it keeps.
///
/// The estimate of a key exceeds its count by more than `epsilon` times the total of all counts with
/// probability `delta` at most, and never falls below it.
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
    /// Counters a row, at least 1.
    width: u64,
    /// Rows, from 1 to [`MAX_DEPTH`].
    depth: u32,
    /// The error as a fraction of the total.
    epsilon: f64,
    /// The probability that an estimate exceeds it.
    delta: f64,
}

impl CountMinParams {
    /// Takes the published shape: `ceil(e / epsilon)` counters a row, `ceil(ln(1 / delta))` rows.
    ///
    /// # Errors
    /// [`ParamError::NotAProbability`] when one of them is not above 0 and below 1,
    /// [`ParamError::TooLarge`] where more rows or counters would be needed than can be had.
    pub fn new(epsilon: f64, delta: f64) -> Result<Self, ParamError> {
        check_probability("epsilon", epsilon)?;
        let depth = depth_for(delta)?;
        Ok(Self { width: width_from(E / epsilon, depth)?, depth, epsilon, delta })
    }

    /// Finds the fewest counters for which Markov's inequality gives the bound:
    /// (1 / (width epsilon))^depth is at most `delta`.
    ///
    /// The published shape rounds the depth up at a fixed base e; here the width follows from the depth,
    /// and every depth is tried.
    ///
    /// # Errors
    /// As [`new`](Self::new).
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

    /// Takes width and depth as they are; epsilon is then `e / width` and delta `e^-depth`.
    ///
    /// # Errors
    /// [`ParamError::OutOfRange`] for no counters, no rows, or more than can be had.
    pub fn from_width_and_depth(width: u64, depth: u32) -> Result<Self, ParamError> {
        check_shape(width, depth)?;
        Ok(Self { width, depth, epsilon: E / width as f64, delta: exp(-f64::from(depth)) })
    }

    /// Takes a shape with the error it was designed for, as when it is read back.
    ///
    /// # Errors
    /// As [`from_width_and_depth`](Self::from_width_and_depth);
    /// [`ParamError::NotAProbability`] for an epsilon that is not above 0 or a delta that is not above 0 and below 1, and
    /// [`ParamError::TooLarge`] when epsilon is infinite or the shape does not keep the error.
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
        // Shapes that were computed from a delta meet it up to rounding.
        if least <= delta * (1.0 + 1e-9) {
            return Ok(Self { width, depth, epsilon, delta });
        }
        Err(ParamError::TooLarge { parameter: "delta", value: least, max: delta })
    }

    /// Finds the shape with the least epsilon among those of at most `bytes` bytes, for counters of
    /// `counter_bytes` bytes each.
    ///
    /// # Errors
    /// [`ParamError::NotAProbability`] when `delta` is not above 0 and below 1,
    /// [`ParamError::OutOfRange`] when the bytes are fewer than an epsilon below 1 needs, or no counter has that size.
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
        // An epsilon below 1 takes more than this width.
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

    /// Finds the shape with the least delta for `epsilon` among those of at most `bytes` bytes, for counters of
    /// `counter_bytes` bytes each.
    ///
    /// # Errors
    /// [`ParamError::NotAProbability`] when `epsilon` is not above 0 and below 1, [`ParamError::OutOfRange`] when not even
    /// one row of the bytes has more than `1 / epsilon` counters, or no counter has that size; [`ParamError::TooLarge`]
    /// when no row can have so many.
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
            // Below the least of floats it is 0, which is no bound that could be stored.
            let delta = excess_probability(width, depth, epsilon).max(f64::MIN_POSITIVE);
            (delta < 1.0).then_some(Self { width, depth, epsilon, delta })
        };
        let better = |best: Self, next: Self| if next.delta < best.delta { next } else { best };
        let best = (1..=MAX_DEPTH).filter_map(shape).reduce(better);
        let best = best.filter(|_| bytes <= super::MAX_COUNTERS * counter_bytes);
        best.ok_or_else(|| super::too_few_bytes(bytes, counter_bytes, 1..=1, |_| 1.0 / epsilon))
    }

    /// The number of counters a row.
    #[must_use]
    pub const fn width(&self) -> u64 {
        self.width
    }

    /// The number of rows.
    #[must_use]
    pub const fn depth(&self) -> u32 {
        self.depth
    }

    /// The number of counters.
    #[must_use]
    pub const fn counters(&self) -> u64 {
        self.width * self.depth as u64
    }

    /// The error of an estimate, as a fraction of the total, that is exceeded with probability
    /// [`delta`](Self::delta) at most.
    #[must_use]
    pub const fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// The probability with which an estimate may exceed its bound.
    #[must_use]
    pub const fn delta(&self) -> f64 {
        self.delta
    }

    /// The bytes of all counters, of `counter_bytes` bytes each, in whole 64-bit words; `u64::MAX` where it is more.
    #[must_use]
    pub const fn size_in_bytes(&self, counter_bytes: u64) -> u64 {
        self.counters().saturating_mul(counter_bytes).div_ceil(8).saturating_mul(8)
    }

    /// Bounds the probability that an estimate exceeds the count by more than `epsilon` times the
    /// total: (1 / (width epsilon))^depth by Markov's inequality in each row, and 1 at most. It is 1 where `epsilon` is not
    /// above 0.
    #[must_use]
    pub fn delta_at(&self, epsilon: f64) -> f64 {
        if epsilon > 0.0 {
            excess_probability(self.width, self.depth, epsilon).min(1.0)
        } else {
            1.0
        }
    }

    /// Predicts the mean by which one counter of a key exceeds its count, when the other keys' counts
    /// have this total.
    ///
    /// An estimate, which is the least of `depth` counters, exceeds it by less.
    #[must_use]
    pub fn mean_excess_of_a_row(&self, others: u64) -> f64 {
        others as f64 / self.width as f64
    }
}

/// `ceil(ln(1 / delta))` rows.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 1 to MAX_DEPTH")]
fn depth_for(delta: f64) -> Result<u32, ParamError> {
    check_probability("delta", delta)?;
    let (depth, max) = (ceil(-log(delta)), f64::from(MAX_DEPTH));
    if depth > max {
        return Err(ParamError::TooLarge { parameter: "depth", value: depth, max });
    }
    Ok(depth.max(1.0) as u32)
}

fn excess_probability(width: u64, depth: u32, epsilon: f64) -> f64 {
    pow(width as f64 * epsilon, -f64::from(depth))
}
