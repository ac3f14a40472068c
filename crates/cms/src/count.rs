//! What an estimate of a frequency says.

use core::cmp::Ordering;
use core::fmt;

/// How often a key came, as a sketch tells it: an upper bound, unless its counters are full.
///
/// A counter that has reached its limit stands still, so that the truth may be greater:
/// [`is_saturated`](Self::is_saturated) says so. Compares with whole numbers by its value.
///
/// # Examples
/// ```
/// use cms::{CountMinParams, CountMinSketch};
///
/// let params = CountMinParams::new(0.01, 0.01)?;
/// let mut sketch = CountMinSketch::builder(params).counters::<u8>().build()?;
/// assert_eq!(sketch.insert_many("often", 200), 200);
/// let count = sketch.insert_many("often", 200);
/// assert!(count.is_saturated() && count == 255);
/// assert_eq!(count.to_string(), "at least 255");
/// # Ok::<(), pds_core::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Count {
    value: u64,
    saturated: bool,
}

impl Count {
    /// Takes what a counter says.
    #[cfg(feature = "alloc")]
    #[inline]
    pub(crate) fn of<C: crate::Counter>(counter: C) -> Self {
        Self { value: counter.into(), saturated: counter == C::MAX }
    }

    /// Returns the number of times.
    #[must_use]
    pub const fn value(self) -> u64 {
        self.value
    }

    /// Tells whether the counters are at their limit: the key came *at least* [`value`](Self::value)
    /// times, by what the sketch knows.
    #[must_use]
    pub const fn is_saturated(self) -> bool {
        self.saturated
    }
}

impl From<Count> for u64 {
    fn from(count: Count) -> Self {
        count.value
    }
}

impl PartialEq<u64> for Count {
    fn eq(&self, other: &u64) -> bool {
        self.value == *other
    }
}

impl PartialOrd<u64> for Count {
    fn partial_cmp(&self, other: &u64) -> Option<Ordering> {
        self.value.partial_cmp(other)
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.saturated {
            f.write_str("at least ")?;
        }
        self.value.fmt(f)
    }
}

/// Between which numbers the true count of a key lies.
///
/// How sure each end is, the structure that gives the interval says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountInterval {
    /// The key came at least so often.
    pub truth_at_least: u64,
    /// The key came at most so often; `None` where counters at their limit know no bound.
    pub truth_at_most: Option<u64>,
}

impl CountInterval {
    /// From `error` below a count up to it, or without an end where it is at its limit.
    #[cfg(feature = "alloc")]
    pub(crate) fn below(count: Count, error: u64) -> Self {
        Self {
            truth_at_least: count.value.saturating_sub(error),
            truth_at_most: (!count.saturated).then_some(count.value),
        }
    }

    /// Tells whether `count` lies between the ends, both included.
    #[must_use]
    pub fn contains(&self, count: u64) -> bool {
        count >= self.truth_at_least && self.truth_at_most.is_none_or(|most| count <= most)
    }
}

impl fmt::Display for CountInterval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.truth_at_most {
            Some(most) => write!(f, "{} to {most}", self.truth_at_least),
            None => write!(f, "{} or more", self.truth_at_least),
        }
    }
}
