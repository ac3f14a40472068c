//! Choosing what answers *how often?* and *how many different ones?*, with reasons.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::reason::Titled;
use super::{Against, CountAbilities, HumanBytes, Reason};
use crate::params::ParamError;
use crate::registry::{ALL, Structure};

/// How a structure that counts keys is sized, and what it can do.
pub(crate) struct FrequencySizing {
    pub(crate) abilities: CountAbilities,
    pub(crate) size: fn(&CountNeeds) -> Result<SketchSize, ParamError>,
}

/// How a structure that counts distinct keys is sized, and what it can do.
pub(crate) struct CardinalitySizing {
    /// Whether it tells what two sets have in common.
    pub(crate) overlap: bool,
    pub(crate) size: fn(&DistinctNeeds) -> Result<SketchSize, ParamError>,
}

/// A size, and the call that builds the structure which has it, without the type in front.
pub(crate) struct SketchSize {
    pub(crate) bytes: u64,
    pub(crate) constructor: String,
}

/// What an estimate of frequencies is needed for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CountNeeds {
    /// Distinct keys, at most: what an exact map would hold.
    pub keys: u64,
    /// The sum of all counts, at most.
    pub total: u64,
    /// By which share of the total a count may be wrong.
    pub epsilon: f64,
    /// For which share of the keys it may be wrong by more.
    pub delta: f64,
    /// What it has to be able to do, at the least.
    pub abilities: CountAbilities,
}

impl CountNeeds {
    /// Counts of `keys` distinct keys with a sum of `total`, wrong by at most `epsilon` of it, and by more for a share of
    /// `delta` of the keys.
    #[must_use]
    pub fn new(keys: u64, total: u64, epsilon: f64, delta: f64) -> Self {
        Self { keys, total, epsilon, delta, abilities: CountAbilities::default() }
    }
}

/// What an estimate of a number of distinct keys is needed for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DistinctNeeds {
    /// Distinct keys, at most: what an exact set would hold.
    pub keys: u64,
    /// The relative standard error, at most.
    pub standard_error: f64,
    /// Whether it is asked how many keys two sets have in common.
    pub overlap: bool,
}

impl DistinctNeeds {
    /// The number of up to `keys` distinct keys, with a relative standard error of `standard_error`.
    #[must_use]
    pub const fn new(keys: u64, standard_error: f64) -> Self {
        Self { keys, standard_error, overlap: false }
    }
}

/// A structure that counts, sized, and why not the others.
#[derive(Debug, Clone)]
pub struct SketchRecommendation {
    choice: &'static Structure,
    bytes: u64,
    constructor: String,
    reasons: Vec<Reason>,
}

/// Chooses the smallest structure that counts keys as well as needed; none where no single one does all of it.
///
/// The error of a count sketch is a share of the root of the sum of squared counts, which is at most the total: it is
/// sized for the worst case, a single key, and far better than needed where counts are even.
///
/// # Errors
/// [`ParamError`] where no structure can keep the error.
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
/// # Ok::<(), pds::ParamError>(())
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
/// [`ParamError::NotAProbability`] when the standard error is not above 0 and below 1; another one where no structure can keep it.
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
/// # Ok::<(), pds::ParamError>(())
/// ```
pub fn recommend_distinct(
    needs: &DistinctNeeds,
) -> Result<Option<SketchRecommendation>, ParamError> {
    check_probability("standard_error", needs.standard_error)?;
    choose(ALL.iter().filter_map(|structure| {
        let sizing = structure.cardinality.as_ref()?;
        let lacks =
            (needs.overlap && !sizing.overlap).then_some("tell what two sets have in common");
        Some(Row { structure, size: (sizing.size)(needs), lacks })
    }))
}

fn check_probability(parameter: &'static str, value: f64) -> Result<(), ParamError> {
    if value > 0.0 && value < 1.0 {
        return Ok(());
    }
    Err(ParamError::NotAProbability { parameter, value })
}

/// A structure, its size, and what it lacks.
struct Row {
    structure: &'static Structure,
    size: Result<SketchSize, ParamError>,
    lacks: Option<&'static str>,
}

impl Row {
    /// What stands against it, where the chosen one takes `least` bytes.
    fn against(&self, least: u64) -> Against {
        match (self.lacks, &self.size) {
            (Some(ability), _) => Against::Lacks { ability, limited: false },
            (None, Err(error)) => Against::Impossible(*error),
            (None, &Ok(SketchSize { bytes, .. })) => {
                Against::Larger { bytes, ratio: bytes as f64 / least as f64 }
            }
        }
    }

    /// The bytes of a structure that does what is needed.
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
    /// Returns the structure that was chosen.
    #[must_use]
    pub const fn choice(&self) -> &'static Structure {
        self.choice
    }

    /// Returns the bytes that it takes; for heavy hitters and exact ones about, with keys of 8 bytes.
    #[must_use]
    pub const fn size_in_bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the expression of Rust that builds it: `pds::HyperLogLog::new(14)?`.
    #[must_use]
    pub fn expression(&self) -> String {
        format!("{}::{}", self.choice.path(), self.constructor)
    }

    /// Returns what stands against every other structure.
    pub fn reasons(&self) -> impl Iterator<Item = &Reason> {
        self.reasons.iter()
    }
}

impl fmt::Display for SketchRecommendation {
    /// Writes the choice, the line of Rust that builds it, what to mind, and a line for each of the others.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (title, size) = (Titled(self.choice), HumanBytes(self.bytes));
        writeln!(f, "{title}, {size}: the smallest of those that do what is needed.")?;
        writeln!(f, "    let mut sketch = {};", self.expression())?;
        writeln!(f, "To mind: {}", self.choice.caution)?;
        self.reasons().try_for_each(|reason| writeln!(f, "- {reason}"))
    }
}
