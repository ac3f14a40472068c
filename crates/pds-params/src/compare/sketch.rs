//! Choosing what answers *how often?* and *how many different ones?*, with reasons.

use core::fmt;

use super::shape::set_slots;
use super::{Against, HumanBytes};
use crate::check::check_probability;
use crate::hll::CardinalityEstimator::{Improved, UltraFgra};
use crate::{CountMinParams, CountSketchParams, HeavyHittersParams, HllParams, ParamError};

/// The most structures that one question is put to.
const RIVALS: usize = 4;
/// Bytes of a 64-bit count.
const COUNT_BYTES: u64 = 8;

/// A structure that counts: keys, or different keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Sketch {
    /// The count-min sketch, as published.
    CountMin,
    /// The count sketch.
    CountSketch,
    /// The summary of heavy hitters.
    HeavyHitters,
    /// The standard library's map from 64-bit hashes to counts, which is exact.
    HashMap,
    /// The HyperLogLog sketch.
    HyperLogLog,
    /// The UltraLogLog sketch.
    UltraLogLog,
    /// The standard library's set of 64-bit hashes, which is exact.
    HashSet,
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
    /// Whether counts are taken back.
    pub remove: bool,
    /// Whether the mean of the errors has to be zero.
    pub unbiased: bool,
    /// Whether the most frequent keys are to be listed, and not only asked for.
    pub list: bool,
}

impl CountNeeds {
    /// Counts of `keys` distinct keys with a sum of `total`, wrong by at most `epsilon` of it, and by more for a share of
    /// `delta` of the keys.
    #[must_use]
    pub const fn new(keys: u64, total: u64, epsilon: f64, delta: f64) -> Self {
        Self { keys, total, epsilon, delta, remove: false, unbiased: false, list: false }
    }

    fn bytes(&self, sketch: Sketch) -> Result<u64, ParamError> {
        let (epsilon, delta) = (self.epsilon, self.delta);
        match sketch {
            Sketch::CountMin => {
                let counter_bytes = if self.total > u32::MAX.into() { 8 } else { 4 };
                Ok(CountMinParams::new(epsilon, delta)?.size_in_bytes(counter_bytes))
            }
            Sketch::CountSketch => Ok(CountSketchParams::new(epsilon, delta)?.size_in_bytes()),
            Sketch::HeavyHitters => Ok(HeavyHittersParams::new(epsilon)?.memory_bytes()),
            _ => exact(self.keys, COUNT_BYTES),
        }
    }

    /// What the structure lacks, in words that follow "cannot".
    const fn lacks(&self, sketch: Sketch) -> Option<&'static str> {
        match sketch {
            Sketch::CountMin | Sketch::HeavyHitters if self.remove => Some("take counts back"),
            Sketch::CountMin | Sketch::HeavyHitters if self.unbiased => {
                Some("do without bias: it errs upwards only")
            }
            Sketch::CountMin | Sketch::CountSketch if self.list => Some("list keys"),
            _ => None,
        }
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

    fn bytes(&self, sketch: Sketch) -> Result<u64, ParamError> {
        let of = |estimator| HllParams::for_standard_error(estimator, self.standard_error);
        match sketch {
            Sketch::HyperLogLog => Ok(of(Improved)?.dense_bytes()),
            Sketch::UltraLogLog => Ok(of(UltraFgra)?.dense_bytes()),
            _ => exact(self.keys, 0),
        }
    }

    const fn lacks(&self, sketch: Sketch) -> Option<&'static str> {
        match sketch {
            Sketch::UltraLogLog if self.overlap => Some("tell what two sets have in common"),
            _ => None,
        }
    }
}

/// Bytes of the standard library's table of hashes with something beside each: slots and control bytes.
fn exact(keys: u64, beside: u64) -> Result<u64, ParamError> {
    Ok(set_slots(keys.max(1), 1.0)? * (8 + beside + 1))
}

/// A structure that counts, sized, and why not the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SketchRecommendation {
    choice: Sketch,
    bytes: u64,
    reasons: [Option<(Sketch, Against)>; RIVALS],
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
/// use pds_params::compare::{CountNeeds, Sketch, recommend_counts};
///
/// // Ten million addresses, a billion requests.
/// let mut needs = CountNeeds::new(10_000_000, 1_000_000_000, 0.001, 0.01);
/// assert_eq!(recommend_counts(&needs)?.unwrap().choice(), Sketch::CountMin);
/// needs.list = true;
/// assert_eq!(recommend_counts(&needs)?.unwrap().choice(), Sketch::HeavyHitters);
/// # Ok::<(), pds_params::ParamError>(())
/// ```
pub fn recommend_counts(needs: &CountNeeds) -> Result<Option<SketchRecommendation>, ParamError> {
    check_probability("epsilon", needs.epsilon)?;
    check_probability("delta", needs.delta)?;
    let all = [Sketch::CountMin, Sketch::CountSketch, Sketch::HeavyHitters, Sketch::HashMap];
    choose(&all.map(|sketch| (sketch, needs.bytes(sketch), needs.lacks(sketch))))
}

/// Chooses the smallest structure that counts distinct keys as well as needed.
///
/// # Errors
/// [`ParamError::NotAProbability`] when the standard error is not above 0 and below 1; another one where no structure can keep it.
///
/// # Examples
/// ```
/// use pds_params::compare::{DistinctNeeds, Sketch, recommend_distinct};
///
/// let mut needs = DistinctNeeds::new(1_000_000_000, 0.01);
/// let recommendation = recommend_distinct(&needs)?.unwrap();
/// assert_eq!((recommendation.choice(), recommendation.size_in_bytes()), (Sketch::UltraLogLog, 8_192));
/// needs.overlap = true;
/// assert_eq!(recommend_distinct(&needs)?.unwrap().choice(), Sketch::HyperLogLog);
/// # Ok::<(), pds_params::ParamError>(())
/// ```
pub fn recommend_distinct(
    needs: &DistinctNeeds,
) -> Result<Option<SketchRecommendation>, ParamError> {
    check_probability("standard_error", needs.standard_error)?;
    let all = [Sketch::HyperLogLog, Sketch::UltraLogLog, Sketch::HashSet];
    choose(&all.map(|sketch| (sketch, needs.bytes(sketch), needs.lacks(sketch))))
}

/// A structure, the bytes that it takes, and what it lacks.
type Row = (Sketch, Result<u64, ParamError>, Option<&'static str>);

fn choose(rows: &[Row]) -> Result<Option<SketchRecommendation>, ParamError> {
    let sized = |&(sketch, bytes, _): &Row| bytes.ok().map(|bytes| (sketch, bytes));
    if let (Some(&(_, Err(error), _)), None) = (rows.first(), rows.iter().find_map(sized)) {
        return Err(error);
    }
    let able = rows.iter().filter(|(.., lacks)| lacks.is_none()).filter_map(sized);
    let Some((choice, bytes)) = able.min_by_key(|&(_, bytes)| bytes) else { return Ok(None) };
    let mut reasons = [None; RIVALS];
    let rivals = rows.iter().filter(|(sketch, ..)| *sketch != choice);
    for (reason, row) in reasons.iter_mut().zip(rivals) {
        *reason = Some((row.0, against(row, bytes)));
    }
    Ok(Some(SketchRecommendation { choice, bytes, reasons }))
}

/// What stands against a structure, where the chosen one takes `least` bytes.
fn against(&(_, bytes, lacks): &Row, least: u64) -> Against {
    match (lacks, bytes) {
        (Some(ability), _) => Against::Lacks { ability, limited: false },
        (None, Err(error)) => Against::Impossible(error),
        (None, Ok(bytes)) => Against::Larger { bytes, ratio: bytes as f64 / least as f64 },
    }
}

impl SketchRecommendation {
    /// The structure that was chosen.
    #[must_use]
    pub const fn choice(&self) -> Sketch {
        self.choice
    }

    /// The bytes that it takes; for heavy hitters and exact ones about, with keys of 8 bytes.
    #[must_use]
    pub const fn size_in_bytes(&self) -> u64 {
        self.bytes
    }

    /// What stands against every other structure.
    pub fn reasons(&self) -> impl Iterator<Item = &(Sketch, Against)> {
        self.reasons.iter().flatten()
    }
}

impl fmt::Display for SketchRecommendation {
    /// Writes the choice, and a line for each of the others.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = HumanBytes(self.bytes);
        writeln!(f, "{}, {size}: the smallest of those that do what is needed.", self.choice)?;
        self.reasons().try_for_each(|(sketch, against)| writeln!(f, "- {sketch}: {against}"))
    }
}

impl fmt::Display for Sketch {
    /// Writes the name in words, as in a sentence.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::CountMin => "count-min sketch",
            Self::CountSketch => "count sketch",
            Self::HeavyHitters => "summary of heavy hitters",
            Self::HashMap => "hash map of counts",
            Self::HyperLogLog => "HyperLogLog",
            Self::UltraLogLog => "UltraLogLog",
            Self::HashSet => "hash set of 64-bit hashes",
        })
    }
}
