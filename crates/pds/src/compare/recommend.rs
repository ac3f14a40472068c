//! Recommendation of a membership filter, with reasons.

use alloc::vec::Vec;
use core::fmt;

use super::reason::Titled;
use super::table::compare;
use super::{Abilities, Ability, Against, Candidate, HumanBytes, Reason};
use crate::params::ParamError;
use crate::registry;

/// The criterion of the choice among the structures that have the needed abilities.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Priority {
    /// The fewest bytes.
    #[default]
    Memory,
    /// The fewest cache lines per lookup, then the fewest bytes.
    Speed,
}

/// The requirements on a membership filter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Needs {
    /// The greatest number of distinct keys.
    pub items: u64,
    /// The highest false-positive rate.
    pub rate: f64,
    /// The abilities that it needs at least.
    pub abilities: Abilities,
    /// The criterion of the choice.
    pub priority: Priority,
}

impl Needs {
    /// Requires a set of `items` keys at a false-positive rate of `rate`, which takes keys one at a time, in the least
    /// memory.
    ///
    /// If all keys are known before the first query, set `abilities.insert` to [`Ability::No`].
    #[must_use]
    pub fn new(items: u64, rate: f64) -> Self {
        let abilities = Abilities { insert: Ability::Yes, ..Abilities::default() };
        Self { items, rate, abilities, priority: Priority::default() }
    }
}

/// A chosen structure, and the reasons against the others.
#[derive(Debug, Clone)]
pub struct Recommendation {
    choice: Candidate,
    needs: Needs,
    reasons: Vec<Reason>,
}

/// Chooses a structure, and states the reason against every other one.
///
/// Returns `None` if no single structure has all needed abilities. Two side by side may have them.
///
/// # Errors
/// [`ParamError`] if no structure can keep the promise.
///
/// # Examples
/// ```
/// use pds::compare::{Ability, Needs, recommend};
/// use pds::registry;
///
/// let mut needs = Needs::new(1_000_000, 0.01);
/// needs.abilities.remove = Ability::Yes;
/// let recommendation = recommend(&needs)?.unwrap();
/// assert_eq!(recommendation.choice().structure(), &registry::QUOTIENT);
/// let text = recommendation.to_string();
/// assert!(text.contains("let mut filter = pds::QuotientFilter::new(1_000_000, 0.01)?;"));
/// assert!(text.contains("standard Bloom filter (BloomFilter): cannot remove keys"));
/// # Ok::<(), pds::error::ParamError>(())
/// ```
pub fn recommend(needs: &Needs) -> Result<Option<Recommendation>, ParamError> {
    let comparison = compare(needs.items, needs.rate)?;
    let able =
        comparison.candidates().filter(|one| one.abilities().lacks(needs.abilities).is_none());
    // They are in the order of their sizes. Among equally fast ones the first stays.
    let better = |best, next| match needs.priority {
        Priority::Speed if mean_lines(next) < mean_lines(best) => next,
        _ => best,
    };
    let Some(choice) = able.reduce(better) else { return Ok(None) };
    let rivals = registry::filters().filter(|&structure| structure != choice.structure());
    let against = |structure| match comparison.get(structure) {
        Ok(rival) => Against::of(rival, choice, needs),
        Err(error) => Against::Impossible(error),
    };
    let reasons =
        rivals.map(|structure| Reason { structure, against: against(structure) }).collect();
    Ok(Some(Recommendation { choice: choice.clone(), needs: *needs, reasons }))
}

fn mean_lines(candidate: &Candidate) -> f64 {
    candidate.lines_read().mean()
}

impl Against {
    /// Returns the reason against `rival` if `choice` was chosen.
    fn of(rival: &Candidate, choice: &Candidate, needs: &Needs) -> Self {
        if let Some((ability, has)) = rival.abilities().lacks(needs.abilities) {
            return Self::Lacks { ability, limited: has == Ability::Limited };
        }
        if needs.priority == Priority::Speed && mean_lines(rival) > mean_lines(choice) {
            return Self::Slower { lines: rival.lines_read(), choice: choice.lines_read() };
        }
        let bytes = rival.size_in_bytes();
        Self::Larger { bytes, ratio: bytes as f64 / choice.size_in_bytes() as f64 }
    }
}

impl Recommendation {
    /// Returns the chosen structure with its size.
    #[must_use]
    pub const fn choice(&self) -> &Candidate {
        &self.choice
    }

    /// Returns the reason against every other structure.
    pub fn reasons(&self) -> impl Iterator<Item = &Reason> {
        self.reasons.iter()
    }
}

impl fmt::Display for Recommendation {
    /// Writes the choice, the line of Rust that builds it, its caution, and a line for each of the others.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (structure, size) = (self.choice.structure(), HumanBytes(self.choice.size_in_bytes()));
        let merit = match self.needs.priority {
            Priority::Memory => "the smallest",
            Priority::Speed => "the fewest cache lines per lookup",
        };
        writeln!(f, "{}, {size}: {merit} of those that do what is needed.", Titled(structure))?;
        let is_static = structure.abilities().is_some_and(|has| has.insert == Ability::No);
        let pattern = if is_static { "filter" } else { "mut filter" };
        writeln!(f, "    let {pattern} = {};", self.choice.expression())?;
        writeln!(f, "Note: {}", structure.caution)?;
        self.reasons().try_for_each(|reason| writeln!(f, "- {reason}"))
    }
}
