//! Choosing a structure, with reasons.

use core::fmt;

use super::table::{STRUCTURES, compare};
use super::{Abilities, Ability, Candidate, HumanBytes, LinesRead, Structure};
use crate::ParamError;

/// What to choose by, among the structures that can do what is needed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Priority {
    /// The fewest bytes.
    #[default]
    Memory,
    /// The fewest cache lines a lookup, then the fewest bytes.
    Speed,
}

/// What a structure is needed for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Needs {
    /// Distinct keys, at most.
    pub items: u64,
    /// The share of absent keys that may be taken for present.
    pub rate: f64,
    /// What it has to be able to do, at the least.
    pub abilities: Abilities,
    /// What to choose by.
    pub priority: Priority,
}

impl Needs {
    /// A set of `items` keys at a false-positive rate of `rate`, in the least memory.
    #[must_use]
    pub fn new(items: u64, rate: f64) -> Self {
        Self { items, rate, abilities: Abilities::default(), priority: Priority::default() }
    }
}

/// A structure, and why not the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recommendation {
    choice: Candidate,
    needs: Needs,
    reasons: [Option<Reason>; STRUCTURES],
}

/// Why a structure was not chosen; prints itself in words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reason {
    /// The structure that was not chosen.
    pub structure: Structure,
    /// What stands against it.
    pub against: Against,
}

/// What stands against a structure.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Against {
    /// It cannot keep the promise.
    Impossible(ParamError),
    /// It cannot do what is needed, or only up to a limit.
    Lacks {
        /// What it would have to do, in words: "remove keys".
        ability: &'static str,
        /// Whether it can do so within limits.
        limited: bool,
    },
    /// It takes more memory.
    Larger {
        /// Its bytes.
        bytes: u64,
        /// How many times as many as the choice takes.
        ratio: f64,
    },
    /// It reads more cache lines a lookup.
    Slower {
        /// What it reads.
        lines: LinesRead,
        /// What the choice reads.
        choice: LinesRead,
    },
}

/// Chooses a structure, and tells for every other one what stands against it.
///
/// Returns none where no single structure can do all that is needed: two side by side can.
///
/// # Errors
/// [`ParamError`] where no structure can keep the promise.
///
/// # Examples
/// ```
/// use pds_params::compare::{Ability, Needs, Structure, recommend};
///
/// let mut needs = Needs::new(1_000_000, 0.01);
/// needs.abilities.remove = Ability::Yes;
/// let recommendation = recommend(&needs)?.unwrap();
/// assert_eq!(recommendation.choice().structure(), Structure::Cuckoo);
/// assert!(recommendation.to_string().contains("standard Bloom filter: cannot remove keys"));
/// # Ok::<(), pds_params::ParamError>(())
/// ```
pub fn recommend(needs: &Needs) -> Result<Option<Recommendation>, ParamError> {
    let comparison = compare(needs.items, needs.rate)?;
    let able =
        comparison.candidates().filter(|one| one.abilities().lacks(needs.abilities).is_none());
    // They are in the order of their sizes; of equally fast ones the first stays.
    let better = |best, next| match needs.priority {
        Priority::Speed if mean_lines(next) < mean_lines(best) => next,
        _ => best,
    };
    let Some(&choice) = able.reduce(better) else { return Ok(None) };
    let mut reasons = [None; STRUCTURES];
    let rivals = Structure::ALL.into_iter().filter(|&structure| structure != choice.structure());
    for (reason, structure) in reasons.iter_mut().zip(rivals) {
        let against = match comparison.get(structure) {
            Ok(rival) => Against::of(&rival, &choice, needs),
            Err(error) => Against::Impossible(error),
        };
        *reason = Some(Reason { structure, against });
    }
    Ok(Some(Recommendation { choice, needs: *needs, reasons }))
}

fn mean_lines(candidate: &Candidate) -> f64 {
    candidate.lines_read().mean()
}

impl Against {
    /// What stands against `rival`, where `choice` was chosen.
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
    /// The structure that was chosen, sized.
    #[must_use]
    pub fn choice(&self) -> &Candidate {
        &self.choice
    }

    /// What stands against every other structure.
    pub fn reasons(&self) -> impl Iterator<Item = &Reason> {
        self.reasons.iter().flatten()
    }
}

impl fmt::Display for Recommendation {
    /// Writes the choice, what to mind, and a line for each of the others.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (structure, size) = (self.choice.structure(), HumanBytes(self.choice.size_in_bytes()));
        let merit = match self.needs.priority {
            Priority::Memory => "the smallest",
            Priority::Speed => "the fewest cache lines a lookup",
        };
        writeln!(f, "{structure}, {size}: {merit} of those that do what is needed.")?;
        writeln!(f, "To mind: {}", structure.caution())?;
        self.reasons().try_for_each(|reason| writeln!(f, "- {reason}"))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.structure, self.against)
    }
}

impl fmt::Display for Against {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Impossible(error) => error.fmt(f),
            Self::Lacks { ability, limited: false } => write!(f, "cannot {ability}"),
            Self::Lacks { ability, limited: true } => write!(f, "can {ability} up to a limit only"),
            Self::Larger { bytes, ratio } => {
                let decimals = if ratio < 99.995 { 2 } else { 0 };
                write!(f, "{}, {ratio:.decimals$} times as much", HumanBytes(bytes))
            }
            Self::Slower { lines, choice } => write!(
                f,
                "reads {:.1} cache lines for a present key and {:.1} for an absent one, \
                 against {:.1} and {:.1}",
                lines.present, lines.absent, choice.present, choice.absent
            ),
        }
    }
}
