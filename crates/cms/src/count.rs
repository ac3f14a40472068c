//! Estimated frequencies and their bounds.

use core::cmp::Ordering;
use core::fmt;
use core::iter::Sum;
use core::ops::Add;

/// An estimate of how often a key occurred: an upper bound, unless it is saturated.
///
/// A counter that reaches its limit saturates: it stays there, and the truth may be greater.
/// [`is_saturated`](Self::is_saturated) reports this. A count compares with whole numbers by its value. Counts are ordered
/// by their values. Of two counts with equal values the saturated one is the greater, as in lists of frequent keys.
///
/// # Examples
/// ```
/// use cms::CountMinSketch;
///
/// let mut sketch = CountMinSketch::builder().error(0.01, 0.01).counters::<u8>().build()?;
/// assert_eq!(sketch.insert_many("often", 200), 200);
/// let count = sketch.insert_many("often", 200);
/// assert!(count.is_saturated() && count == 255);
/// assert_eq!(count.to_string(), "at least 255");
/// # Ok::<(), pds_core::error::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Count {
    value: u64,
    saturated: bool,
}

impl Count {
    /// Creates a count from the value of a counter. Counters of at least `full_from` may have lost counts.
    #[cfg(feature = "alloc")]
    #[inline]
    pub(crate) const fn new(counter: u64, full_from: u64) -> Self {
        Self { value: counter, saturated: counter >= full_from }
    }

    /// Returns the number of times.
    #[must_use]
    pub const fn value(self) -> u64 {
        self.value
    }

    /// Returns whether the counters of the key may have lost counts, because they reached their limit.
    ///
    /// The estimate is then *at least* [`value`](Self::value), and no upper bound is known.
    #[must_use]
    pub const fn is_saturated(self) -> bool {
        self.saturated
    }
}

#[cfg(feature = "alloc")]
impl Count {
    /// Returns whether a key that was inserted just now had certainly not come before.
    pub(crate) const fn is_first(self) -> bool {
        self.value == 1 && !self.saturated
    }
}

/// The sum of both, saturated if one of them is or if it would exceed 2^64 - 1. Upper bounds add up to one.
impl Add for Count {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let (value, overflows) = self.value.overflowing_add(other.value);
        Self {
            value: if overflows { u64::MAX } else { value },
            saturated: overflows || self.saturated || other.saturated,
        }
    }
}

/// Adds an exact number, as for [`Count`]s.
impl Add<u64> for Count {
    type Output = Self;

    fn add(self, exact: u64) -> Self {
        self + Self { value: exact, saturated: false }
    }
}

impl Sum for Count {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), Add::add)
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

/// An estimate of how often a key occurred, minus how often it was removed, from a sketch with signed counters.
///
/// Compares with whole numbers by its value.
///
/// # Examples
/// ```
/// use cms::CountSketch;
///
/// let mut sketch = CountSketch::new(0.1, 0.1)?;
/// assert_eq!(sketch.insert_many("often", 1 << 62), 1 << 62);
/// assert!(sketch.insert_many("often", 1 << 62).is_saturated());
/// // The lost part of the counts stays lost.
/// assert!(sketch.remove_many("often", 1 << 63).is_saturated());
/// # Ok::<(), pds_core::error::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SignedCount {
    value: i64,
    saturated: bool,
}

impl SignedCount {
    #[cfg(feature = "alloc")]
    #[inline]
    pub(crate) const fn new(value: i64, saturated: bool) -> Self {
        Self { value, saturated }
    }

    /// Returns the number of times.
    #[must_use]
    pub const fn value(self) -> i64 {
        self.value
    }

    /// Returns whether a counter of the key is saturated. The error of the estimate has no bound then.
    #[must_use]
    pub const fn is_saturated(self) -> bool {
        self.saturated
    }
}

impl From<SignedCount> for i64 {
    fn from(count: SignedCount) -> Self {
        count.value
    }
}

impl PartialEq<i64> for SignedCount {
    fn eq(&self, other: &i64) -> bool {
        self.value == *other
    }
}

impl PartialOrd<i64> for SignedCount {
    fn partial_cmp(&self, other: &i64) -> Option<Ordering> {
        self.value.partial_cmp(other)
    }
}

impl fmt::Display for SignedCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)?;
        f.write_str(if self.saturated { " (saturated)" } else { "" })
    }
}

/// A lower and an upper bound of the true count of a key.
///
/// The structure that returns the interval states how certain each bound is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountInterval {
    /// The lower bound: the key came at least so often.
    pub truth_at_least: u64,
    /// The upper bound: the key came at most so often. `None` if saturated counters give no bound.
    pub truth_at_most: Option<u64>,
}

impl CountInterval {
    /// Returns the interval from `error` below a count up to the count. A saturated count has no upper bound.
    #[cfg(feature = "alloc")]
    pub(crate) const fn below(count: Count, error: u64) -> Self {
        Self {
            truth_at_least: count.value.saturating_sub(error),
            truth_at_most: if count.saturated { None } else { Some(count.value) },
        }
    }

    /// Returns whether `count` lies between the bounds, both included.
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
