//! The blocked counting filter: all counters of a key in one cache line.

use crate::ParamError;
use crate::bloom::HASH_COLLISION;
use crate::check::{check_collisions, check_items, check_range, check_rate};
use crate::design::{Design, design_methods};
use crate::internal::ParamFault;

/// Counters of 4 bits per line of 64 bytes: eight lanes of sixteen.
pub const LINE_COUNTERS: u64 = 128;

/// The greatest number of lines: 2^54, or 2^60 bytes. No address space is larger.
pub const MAX_LINES: u64 = 1 << 54;

/// Counters per lane. A key has one of them.
const LANE_COUNTERS: f64 = 16.0;

/// Lanes per line.
const LANES: i32 = 8;

/// The logarithm of the least probability of an empty line, e^-700, from which the sum can start.
///
/// Below it, a line has at least 500 keys, and a lane is clear with probability 10^-14.
const FULL: f64 = -700.0;

/// Returns the mean false-positive rate of a filter with one counter of 16 in each of the 8 lanes of a key's line.
///
/// The number of keys in a line is binomial. Given x keys, all lanes of a query are nonzero with probability
/// (1 - (15/16)^x)^8.
///
/// # References
/// Felix Putze, Peter Sanders and Johannes Singler, "Cache-, Hash- and Space-Efficient Bloom Filters",
/// WEA 2007, section 3, for the mixture.
#[must_use]
pub fn blocked_rate(lines: u64, items: u64) -> f64 {
    if items == 0 {
        return 0.0;
    }
    if lines <= 1 {
        return if lines == 1 { rate_of_line(items as f64) } else { 1.0 };
    }
    let log_empty = items as f64 * libm::log1p(-1.0 / lines as f64);
    if log_empty < FULL {
        return 1.0;
    }
    let (load, odds) = (items as f64 / lines as f64, 1.0 / (lines - 1) as f64);
    let mut weight = libm::exp(log_empty);
    let (mut keys, mut rate) = (0.0, 0.0);
    // All terms are positive, so nothing cancels.
    while keys <= items as f64 && (keys <= load || weight > rate * f64::EPSILON / 4.0) {
        rate += weight * rate_of_line(keys);
        weight *= (items as f64 - keys) / (keys + 1.0) * odds;
        keys += 1.0;
    }
    rate.min(1.0)
}

fn rate_of_line(keys: f64) -> f64 {
    let raised = -libm::expm1(keys * libm::log1p(-1.0 / LANE_COUNTERS));
    libm::pow(raised, f64::from(LANES))
}

/// Validated parameters of a blocked counting filter.
///
/// # Guarantees
/// - The mean false-positive rate at the designed number of items is at most the promised one. This includes the share
///   of absent keys whose whole 64-bit hash equals a stored one.
/// - No smaller number of lines keeps the promise.
/// - The same arguments give the same numbers on every machine.
///
/// # Examples
/// ```
/// use pds_params::BlockedCountingParams;
///
/// let params = BlockedCountingParams::new(1_000_000, 0.01)?;
/// assert!(params.rate_at(1_000_000) <= 0.01);
/// assert_eq!(format!("{:.1}", params.bits_per_item().unwrap()), "45.7");
/// # Ok::<(), pds_params::ParamError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockedCountingParams {
    /// Number of lines of 64 bytes, from 1 to [`MAX_LINES`].
    num_lines: u64,
    /// The design of the shape, if any.
    design: Design,
}

impl BlockedCountingParams {
    /// Computes the fewest lines for which the mean rate of `expected_items` is at most `rate`.
    ///
    /// # Errors
    /// If there are no items. If the rate is not between 0 and 1. If the rate is at or below the share of 64-bit hashes
    /// that collide. If more than [`MAX_LINES`] are needed.
    ///
    /// # Complexity
    /// At most about 100 evaluations of [`blocked_rate`].
    pub fn new(expected_items: u64, rate: f64) -> Result<Self, ParamError> {
        check_items(expected_items)?;
        check_rate(rate)?;
        check_collisions(expected_items, rate)?;
        let collisions = expected_items as f64 * HASH_COLLISION;
        let keeps = |lines| blocked_rate(lines, expected_items) + collisions <= rate;
        if !keeps(MAX_LINES) {
            let (parameter, max) = ("lines", MAX_LINES as f64);
            return Err(ParamError(ParamFault::TooLarge { parameter, value: 2.0 * max, max }));
        }
        let (mut fails, mut holds) = (0, 1);
        while !keeps(holds) {
            (fails, holds) = (holds, (2 * holds).min(MAX_LINES));
        }
        while holds - fails > 1 {
            let middle = fails + (holds - fails) / 2;
            if keeps(middle) { holds = middle } else { fails = middle }
        }
        Self::from_lines(holds)?.with_design(Some(expected_items), Some(rate))
    }

    /// Accepts the number of lines as given, without a design.
    ///
    /// # Errors
    /// If there are no lines or more than [`MAX_LINES`].
    pub fn from_lines(num_lines: u64) -> Result<Self, ParamError> {
        check_range("lines", num_lines, 1, MAX_LINES)?;
        Ok(Self { num_lines, design: Design::NONE })
    }

    /// Returns the number of lines of 64 bytes.
    #[must_use]
    pub fn num_lines(&self) -> u64 {
        self.num_lines
    }

    design_methods!();

    /// Returns the size of the lines in bytes.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.num_lines * 64
    }

    /// Returns the number of bits per expected item, if the filter is designed for a number of items.
    #[must_use]
    pub fn bits_per_item(&self) -> Option<f64> {
        self.expected_items().map(|items| self.num_lines as f64 * 512.0 / items as f64)
    }

    /// Predicts the mean false-positive rate at `items` items, by [`blocked_rate`].
    #[must_use]
    pub fn rate_at(&self, items: u64) -> f64 {
        blocked_rate(self.num_lines, items)
    }
}
