//! Bumped ribbon systems: sizes, and rates of the filters that stand on them.
//!
//! A system stores a number of bits, its *columns*, for each key of a static set. It solves one linear equation over GF(2)
//! per key and column, whose unknowns are *slots*. The coefficients of a key lie in a window of 64 consecutive slots.
//! Each layer has a few slots less than keys. Keys that do not fit are *bumped* into the next layer. The last layer has
//! room for all of its keys and is solved by trying seeds.
//!
//! Peter C. Dillinger, Lorenz Hübschle-Schneider, Peter Sanders and Stefan Walzer, "Fast Succinct Retrieval and
//! Approximate Membership Using Ribbon", SEA 2022, sections 3 and 4.

pub(crate) mod params;

use crate::ParamError;
use crate::check::{check_range, check_rate};
use crate::internal::ParamFault;

/// Number of slots in the window of a key, and in a group.
#[doc(hidden)]
pub const WINDOW: u64 = 64;

/// Number of starts of windows that share a threshold.
#[doc(hidden)]
pub const BUCKET: u64 = 128;

/// The four thresholds of a bucket: keys whose window starts below, counted from the start of the bucket, are bumped.
#[doc(hidden)]
pub const THRESHOLDS: [u64; 4] = [0, 13, 33, BUCKET];

/// Number of bits of a threshold.
#[doc(hidden)]
pub const THRESHOLD_BITS: u64 = 2;

/// Greatest number of layers before the last one.
#[doc(hidden)]
pub const MAX_LAYERS: usize = 8;

/// Greatest number of keys of a system.
#[doc(hidden)]
pub const MAX_KEYS: u64 = 1 << 48;

/// Number of seeds of a last layer.
///
/// A seed fails with a probability of at most 3/4, so all of them fail once in 10^16 builds.
#[doc(hidden)]
pub const MAX_SEEDS: u64 = 128;

/// Greatest number of keys in a last layer.
#[doc(hidden)]
pub const MAX_LAST_KEYS: u64 = 2_048;

/// Least number of keys in a segment of a layer that has several.
// Each segment costs 64 slots, and its rows should fit into the second cache.
const SEGMENT_KEYS: u64 = 1 << 17;

/// Number of steps from one whole number of columns to the next.
#[doc(hidden)]
pub const STEPS: u32 = 256;

/// Greatest number of columns of a filter.
#[doc(hidden)]
pub const MAX_FILTER_COLUMNS: u32 = 32;

/// Greatest number of columns of any system.
#[doc(hidden)]
pub const MAX_COLUMNS: u32 = 64;

/// How much of the size is given for the speed of construction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Preset {
    /// The fewest bits.
    #[default]
    Compact,
    /// Faster construction, and about 1 % more bits.
    Quick,
}

impl Preset {
    /// Returns the slots of a layer per 1,000 keys.
    const fn slots_per_thousand(self) -> u64 {
        match self {
            Self::Compact => 965,
            Self::Quick => 1_000,
        }
    }
}

/// Number of columns in steps of 1/256: a whole number, and the share of the windows that have one more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Columns {
    steps: u32,
}

impl Columns {
    /// Returns a whole number of columns, from 0 to 64.
    ///
    /// # Errors
    /// If there are more than 64.
    pub fn whole(columns: u32) -> Result<Self, ParamError> {
        check_range("columns", columns.into(), 0, MAX_COLUMNS.into())?;
        Ok(Self { steps: columns * STEPS })
    }

    /// Returns this number of steps, from 1/256 of a column to 32 columns.
    ///
    /// # Errors
    /// If it is 0, or more than 32 columns.
    pub fn from_steps(steps: u32) -> Result<Self, ParamError> {
        let max = MAX_FILTER_COLUMNS * STEPS;
        check_range("columns", steps.into(), 1, max.into())?;
        Ok(Self { steps })
    }

    /// Returns this number of columns, above 0 and at most 32. It is rounded up to a multiple of 1/256.
    ///
    /// # Errors
    /// [`ParamError`] if it is not above 0, or above 32.
    pub fn from_f64(columns: f64) -> Result<Self, ParamError> {
        let (parameter, value) = ("columns", columns);
        let (min, max) = (1.0 / f64::from(STEPS), f64::from(MAX_FILTER_COLUMNS));
        if columns > max {
            return Err(ParamError(ParamFault::TooLarge { parameter, value, max }));
        }
        // Not a number is not above 0 either.
        if columns > 0.0 {
            return Ok(Self { steps: whole_number(libm::ceil(columns * f64::from(STEPS))) });
        }
        Err(ParamError(ParamFault::TooLow { parameter, value, min }))
    }

    /// Returns the fewest columns that keep a false-positive rate.
    ///
    /// # Errors
    /// If the rate is not above 0 and below 1. If it needs more
    /// than 32 columns.
    ///
    /// # Examples
    /// ```
    /// use pds_params::ribbon::Columns;
    ///
    /// let columns = Columns::for_rate(0.01)?;
    /// assert_eq!(columns.as_f64(), 6.722_656_25);
    /// assert!(columns.rate() <= 0.01 && columns.rate() > 0.009_97);
    /// # Ok::<(), pds_params::ParamError>(())
    /// ```
    pub fn for_rate(rate: f64) -> Result<Self, ParamError> {
        check_rate(rate)?;
        let (needed, max) = (-libm::log2(rate), f64::from(MAX_FILTER_COLUMNS));
        if rate < libm::exp2(-max) {
            return Err(ParamError(ParamFault::TooLarge {
                parameter: "columns",
                value: needed,
                max,
            }));
        }
        let whole = libm::floor(needed).min(max);
        // `whole` columns have the rate 2^-whole or less. From there on each step takes off the same part.
        let share = 2.0 * (1.0 - rate * libm::exp2(whole));
        let step = libm::ceil(share * f64::from(STEPS));
        let steps = whole * f64::from(STEPS) + step.clamp(0.0, f64::from(STEPS));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from 0 to 2^13"
        )]
        let mut columns = Self { steps: steps as u32 };
        // The logarithm may be wrong in its last bit.
        while columns.rate() > rate {
            columns.steps += 1;
        }
        Ok(columns)
    }

    /// Returns the number of steps.
    #[must_use]
    pub const fn steps(self) -> u32 {
        self.steps
    }

    /// Returns the number of columns that every window has.
    #[must_use]
    pub const fn every(self) -> u32 {
        self.steps / STEPS
    }

    /// Returns the greatest number of columns that a window has.
    #[must_use]
    pub const fn most(self) -> u32 {
        self.steps.div_ceil(STEPS)
    }

    /// Returns the number of columns as a number.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        f64::from(self.steps) / f64::from(STEPS)
    }

    /// Returns the promised false-positive rate of a filter: x 2^-(r + 1) + (1 - x) 2^-r if a share x of the windows has
    /// r + 1 columns and the others have r.
    #[must_use]
    pub fn rate(self) -> f64 {
        let share = f64::from(self.steps % STEPS) / f64::from(STEPS);
        libm::exp2(-f64::from(self.every())) * (1.0 - share / 2.0)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "from 0 to 2^13")]
fn whole_number(number: f64) -> u32 {
    number as u32
}

/// Returns the columns of a map: one for each bit of a value, from 1 to 64, and for each check bit, from 0 to 32.
///
/// # Errors
/// [`ParamError`] if one of them is out of range, or both are more than 64.
#[doc(hidden)]
pub fn map_columns(value_bits: u32, check_bits: u32) -> Result<Columns, ParamError> {
    check_range("check_bits", check_bits.into(), 0, MAX_FILTER_COLUMNS.into())?;
    check_range("value_bits", value_bits.into(), 1, (MAX_COLUMNS - check_bits).into())?;
    Columns::whole(value_bits + check_bits)
}

/// Checks the number of columns of the first stage of an exact filter, from 0 to 32.
///
/// # Errors
/// [`ParamError`] if there are more.
#[doc(hidden)]
pub fn first_columns(columns: u32) -> Result<Columns, ParamError> {
    check_range("columns", columns.into(), 0, MAX_FILTER_COLUMNS.into())?;
    Columns::whole(columns)
}

/// Returns the columns of the first stage of the smallest exact filter that includes some keys and excludes others.
///
/// r columns let 2^-r of the excluded keys pass. One column more costs a bit per included key, and saves a bit for half of
/// the excluded keys that pass. It pays as long as these are more. A part of a column saves the same part, so that no number
/// between whole ones is better.
#[doc(hidden)]
#[must_use]
pub fn exact_columns(include: u64, exclude: u64) -> Columns {
    let pays = |columns: &u32| exclude >> (columns + 1) > include;
    let columns = (0..MAX_FILTER_COLUMNS).take_while(pays).count();
    #[expect(clippy::cast_possible_truncation, reason = "at most 32")]
    let steps = columns as u32 * STEPS;
    Columns { steps }
}

/// Returns the least number of bits that tell `include` keys from `exclude` others: the logarithm to base 2 of the number of
/// ways to choose them.
///
/// # Examples
/// ```
/// let bits = pds_params::ribbon::exact_bound(2, 2);
/// assert!((bits - 6f64.log2()).abs() < 1e-12);
/// ```
#[doc(hidden)]
#[must_use]
pub fn exact_bound(include: u64, exclude: u64) -> f64 {
    let log_factorial = |n: f64| libm::lgamma(n + 1.0);
    let (include, exclude) = (include as f64, exclude as f64);
    let ways = log_factorial(include + exclude) - log_factorial(include) - log_factorial(exclude);
    ways / core::f64::consts::LN_2
}

/// The columns of a layer: how many each group of 64 slots has.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width {
    /// Columns of every group.
    pub columns: u32,
    /// Number of groups, from the first on, that have one column more.
    pub wider_groups: u64,
}

impl Width {
    /// Returns the columns of a layer of `groups` groups if `wider` of them are to have one more.
    const fn new(columns: Columns, wider: u64, groups: u64) -> Self {
        if wider >= groups && wider > 0 {
            return Self { columns: columns.every() + 1, wider_groups: 0 };
        }
        Self { columns: columns.every(), wider_groups: wider }
    }

    /// Returns the greatest number of columns that a group has.
    #[must_use]
    pub const fn most(self) -> u32 {
        self.columns + (self.wider_groups > 0) as u32
    }

    /// Returns the number of columns of `groups` groups, from the first on.
    #[must_use]
    pub const fn words(self, groups: u64) -> u64 {
        let wider = if groups < self.wider_groups { groups } else { self.wider_groups };
        self.columns as u64 * groups + wider
    }
}

/// A layer of which keys may be bumped: segments of equal size, each of whole buckets and 64 slots for the windows of the
/// last one.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayerShape {
    segments: u64,
    buckets: u64,
}

impl LayerShape {
    /// Returns the layer for a number of keys.
    #[must_use]
    pub fn new(keys: u64, preset: Preset) -> Self {
        let segments = (keys / SEGMENT_KEYS).max(1);
        let slots = u128::from(keys) * u128::from(preset.slots_per_thousand()) / 1_000;
        let slots = u64::try_from(slots).unwrap_or(u64::MAX).saturating_sub(segments * WINDOW);
        let buckets = slots.div_ceil(BUCKET * segments).max(1) * segments;
        Self { segments, buckets }
    }

    /// Returns the number of segments.
    #[must_use]
    pub const fn segments(self) -> u64 {
        self.segments
    }

    /// Returns the number of buckets of all segments.
    #[must_use]
    pub const fn buckets(self) -> u64 {
        self.buckets
    }

    /// Returns the number of places where a window can start.
    #[must_use]
    pub const fn starts(self) -> u64 {
        self.buckets * BUCKET
    }

    /// Returns the number of groups of 64 slots.
    #[must_use]
    pub const fn groups(self) -> u64 {
        self.starts() / WINDOW + self.segments
    }

    /// Returns the columns.
    #[must_use]
    pub fn width(self, columns: Columns) -> Width {
        let starts = self.starts();
        let needed = needed_starts(columns, starts);
        let per_segment = starts / self.segments;
        let (full, part) = (needed / per_segment, needed % per_segment);
        let groups = full * (self.groups() / self.segments) + groups_for(part);
        Width::new(columns, groups, self.groups())
    }

    /// Returns the number of 64-bit words of all thresholds.
    #[must_use]
    pub const fn threshold_words(self) -> u64 {
        (self.buckets * THRESHOLD_BITS).div_ceil(64)
    }

    /// Returns the number of 64-bit words of the solution.
    #[must_use]
    pub fn solution_words(self, columns: Columns) -> u64 {
        self.width(columns).words(self.groups())
    }
}

/// The last layer, which has a seed and takes all of its keys.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastShape {
    slots: u64,
}

impl LastShape {
    /// Returns the last layer for a number of keys.
    ///
    /// A seed solves it with a probability of 0.28 to 0.4: counted for 400 to 2,000 random sets of each of 40 sizes up to
    /// 2,000 keys.
    #[must_use]
    pub const fn new(keys: u64) -> Self {
        Self { slots: keys + keys / 64 }
    }

    /// Returns the number of slots.
    #[must_use]
    pub const fn slots(self) -> u64 {
        self.slots
    }

    /// Returns the number of slots in a window: 64, or all if there are fewer.
    #[must_use]
    pub const fn window(self) -> u64 {
        if self.slots < WINDOW { self.slots } else { WINDOW }
    }

    /// Returns the number of places where a window can start.
    #[must_use]
    pub const fn starts(self) -> u64 {
        if self.slots == 0 { 0 } else { self.slots - self.window() + 1 }
    }

    /// Returns the number of whole groups of 64 slots.
    #[must_use]
    pub const fn full_groups(self) -> u64 {
        self.slots / WINDOW
    }

    /// Returns the number of slots after the last whole group.
    #[must_use]
    pub const fn tail(self) -> u64 {
        self.slots % WINDOW
    }

    /// Returns the columns.
    #[must_use]
    pub fn width(self, columns: Columns) -> Width {
        let groups = groups_for(needed_starts(columns, self.starts()));
        Width::new(columns, groups, self.slots.div_ceil(WINDOW))
    }

    /// Returns the number of 64-bit words of the solution. Each column of the last group has only as many bits as slots.
    #[must_use]
    pub fn solution_words(self, columns: Columns) -> u64 {
        let width = self.width(columns);
        width.words(self.full_groups()) + (self.tail() * u64::from(width.columns)).div_ceil(64)
    }
}

/// Returns how many of the starts of windows must have one column more.
const fn needed_starts(columns: Columns, starts: u64) -> u64 {
    let share = (columns.steps % STEPS) as u128 * starts as u128;
    #[expect(clippy::cast_possible_truncation, reason = "at most `starts`")]
    let needed = share.div_ceil(STEPS as u128) as u64;
    needed
}

/// Returns the number of groups that contain the windows from the first `starts` starts.
const fn groups_for(starts: u64) -> u64 {
    if starts == 0 { 0 } else { (starts + WINDOW - 1).div_ceil(WINDOW) }
}
