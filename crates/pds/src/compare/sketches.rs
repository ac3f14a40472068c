//! Recommendation of structures for frequencies and for numbers of distinct keys, with reasons.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::reason::Titled;
use super::{Against, CountAbilities, HumanBytes, Reason};
use crate::params::ParamError;
use crate::registry::{ALL, Structure};
use pds_params::internal::ParamFault;

/// The sizing of a structure that counts keys, and its abilities.
pub(crate) struct FrequencySizing {
    pub(crate) abilities: CountAbilities,
    pub(crate) size: fn(&CountNeeds) -> Result<SketchSize, ParamError>,
}

/// The sizing of a structure that counts distinct keys, and its abilities.
pub(crate) struct CardinalitySizing {
    /// Whether it estimates how many keys two sets have in common.
    pub(crate) overlap: bool,
    pub(crate) size: fn(&DistinctNeeds) -> Result<SketchSize, ParamError>,
}

/// A size, and the call that builds the structure of this size, without the type before it.
pub(crate) struct SketchSize {
    pub(crate) bytes: u64,
    pub(crate) constructor: String,
}

/// The requirements on estimates of frequencies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CountNeeds {
    /// The greatest number of distinct keys: the size of an exact map.
    pub keys: u64,
    /// The greatest sum of all counts.
    pub total: u64,
    /// The greatest error of a count, as a share of the total.
    pub epsilon: f64,
    /// The share of the keys whose error may be greater.
    pub delta: f64,
    /// The abilities that it needs at least.
    pub abilities: CountAbilities,
}

impl CountNeeds {
    /// Requires counts of `keys` distinct keys with a sum of `total`. The error is at most `epsilon` of the sum, and
    /// greater only for a share of `delta` of the keys.
    #[must_use]
    pub fn new(keys: u64, total: u64, epsilon: f64, delta: f64) -> Self {
        Self { keys, total, epsilon, delta, abilities: CountAbilities::default() }
    }
}

/// The requirements on an estimate of a number of distinct keys.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DistinctNeeds {
    /// The greatest number of distinct keys: the size of an exact set.
    pub keys: u64,
    /// The greatest relative standard error.
    pub standard_error: f64,
    /// Whether the number of common keys of two sets is needed.
    pub overlap: bool,
}

impl DistinctNeeds {
    /// Requires the number of up to `keys` distinct keys, with a relative standard error of `standard_error`.
    #[must_use]
    pub const fn new(keys: u64, standard_error: f64) -> Self {
        Self { keys, standard_error, overlap: false }
    }
}

/// A chosen structure that counts, with its size, and the reasons against the others.
#[derive(Debug, Clone)]
pub struct SketchRecommendation {
    choice: &'static Structure,
    bytes: u64,
    constructor: String,
    reasons: Vec<Reason>,
}

/// Chooses the smallest structure that counts keys as well as needed. `None` if no single structure meets all
/// requirements.
///
/// The error of a count sketch is a share of the root of the sum of squared counts, which is at most the total. The
/// sketch is sized for the worst case, a single key. If counts are even, its error is far smaller than needed.
///
/// # Errors
/// [`ParamError`] if no structure can keep the error.
///
/// # Examples
/// ```
/// use pds::compare::{CountNeeds, recommend_counts};
/// use pds::registry;
///
/// // Ten million addresses, a billion requests.
/// let mut needs = CountNeeds::new(10_000_000, 1_000_000_000, 0.001, 0.01);
/// assert_eq!(recommend_counts(&needs)?.unwrap().choice(), &registry::COUNT_MIN);
/// needs.abilities.list = true;
/// assert_eq!(recommend_counts(&needs)?.unwrap().choice(), &registry::HEAVY_HITTERS);
/// # Ok::<(), pds::error::ParamError>(())
/// ```
pub fn recommend_counts(needs: &CountNeeds) -> Result<Option<SketchRecommendation>, ParamError> {
    check_probability("epsilon", needs.epsilon)?;
    check_probability("delta", needs.delta)?;
    choose(ALL.iter().filter_map(|structure| {
        let sizing = structure.frequency.as_ref()?;
        let lacks = sizing.abilities.lacks(needs.abilities);
        Some(Row { structure, size: (sizing.size)(needs), lacks })
    }))
}

/// Chooses the smallest structure that counts distinct keys as well as needed.
///
/// # Errors
/// If the standard error is not above 0 and below 1. Another [`ParamError`] if no
/// structure can keep it.
///
/// # Examples
/// ```
/// use pds::compare::{DistinctNeeds, recommend_distinct};
/// use pds::registry;
///
/// let mut needs = DistinctNeeds::new(1_000_000_000, 0.01);
/// let recommendation = recommend_distinct(&needs)?.unwrap();
/// assert_eq!(recommendation.choice(), &registry::ULTRA_LOG_LOG);
/// assert_eq!(recommendation.expression(), "pds::UltraLogLog::new(13)?");
/// needs.overlap = true;
/// assert_eq!(recommend_distinct(&needs)?.unwrap().choice(), &registry::HYPER_LOG_LOG);
/// # Ok::<(), pds::error::ParamError>(())
/// ```
pub fn recommend_distinct(
    needs: &DistinctNeeds,
) -> Result<Option<SketchRecommendation>, ParamError> {
    check_probability("standard_error", needs.standard_error)?;
    choose(ALL.iter().filter_map(|structure| {
        let sizing = structure.cardinality.as_ref()?;
        let lacks =
            (needs.overlap && !sizing.overlap).then_some("estimate the overlap of two sets");
        Some(Row { structure, size: (sizing.size)(needs), lacks })
    }))
}

fn check_probability(parameter: &'static str, value: f64) -> Result<(), ParamError> {
    if value > 0.0 && value < 1.0 {
        return Ok(());
    }
    Err(ParamError(ParamFault::NotAProbability { parameter, value }))
}

/// A structure, its size, and the abilities that it lacks.
struct Row {
    structure: &'static Structure,
    size: Result<SketchSize, ParamError>,
    lacks: Option<&'static str>,
}

impl Row {
    /// Returns the reason against it if the chosen structure takes `least` bytes.
    fn against(&self, least: u64) -> Against {
        match (self.lacks, &self.size) {
            (Some(ability), _) => Against::Lacks { ability, limited: false },
            (None, Err(error)) => Against::Impossible(*error),
            (None, &Ok(SketchSize { bytes, .. })) => {
                Against::Larger { bytes, ratio: bytes as f64 / least as f64 }
            }
        }
    }

    /// Returns the size in bytes of a structure that meets the requirements.
    fn able(&self) -> Option<u64> {
        self.size.as_ref().ok().filter(|_| self.lacks.is_none()).map(|size| size.bytes)
    }
}

fn choose(rows: impl Iterator<Item = Row>) -> Result<Option<SketchRecommendation>, ParamError> {
    let mut rows: Vec<Row> = rows.collect();
    let least = rows.iter().enumerate().filter_map(|(index, row)| Some((row.able()?, index))).min();
    let Some((bytes, index)) = least else {
        let impossible = rows.iter().all(|row| row.size.is_err());
        return match rows.into_iter().next() {
            Some(Row { size: Err(error), .. }) if impossible => Err(error),
            _ => Ok(None),
        };
    };
    let Row { structure: choice, size, .. } = rows.remove(index);
    let constructor = size?.constructor;
    let reason = |row: &Row| Reason { structure: row.structure, against: row.against(bytes) };
    let reasons = rows.iter().map(reason).collect();
    Ok(Some(SketchRecommendation { choice, bytes, constructor, reasons }))
}

impl SketchRecommendation {
    /// Returns the chosen structure.
    #[must_use]
    pub const fn choice(&self) -> &'static Structure {
        self.choice
    }

    /// Returns its size in bytes. For heavy hitters and exact structures this is approximate, with keys of 8 bytes.
    #[must_use]
    pub const fn size_in_bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the Rust expression that builds it: `pds::HyperLogLog::new(14)?`.
    #[must_use]
    pub fn expression(&self) -> String {
        format!("{}::{}", self.choice.path(), self.constructor)
    }

    /// Returns the reason against every other structure.
    pub fn reasons(&self) -> impl Iterator<Item = &Reason> {
        self.reasons.iter()
    }
}

impl fmt::Display for SketchRecommendation {
    /// Writes the choice, the line of Rust that builds it, its caution, and a line for each of the others.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (title, size) = (Titled(self.choice), HumanBytes(self.bytes));
        writeln!(f, "{title}, {size}: the smallest of those that do what is needed.")?;
        writeln!(f, "    let mut sketch = {};", self.expression())?;
        writeln!(f, "Note: {}", self.choice.caution)?;
        self.reasons().try_for_each(|reason| writeln!(f, "- {reason}"))
    }
}
