//! What structures can do besides answering.

use core::fmt;

/// How far a structure can do something.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ability {
    /// Not at all.
    #[default]
    No,
    /// Up to a limit, which [`Structure::caution`](crate::registry::Structure::caution) tells.
    Limited,
    /// Always.
    Yes,
}

impl fmt::Display for Ability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::No => "no",
            Self::Limited => "limited",
            Self::Yes => "yes",
        })
    }
}

/// What a filter can do besides inserting and answering, or what it is asked to do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Abilities {
    /// Forget a key that was inserted.
    pub remove: Ability,
    /// Take in all keys of another one of the same shape.
    pub merge: Ability,
    /// Tell how often a key was inserted.
    pub count: Ability,
    /// Take more keys than it was sized for: [`Limited`](Ability::Limited) when it errs more often then.
    pub grow: Ability,
}

impl Abilities {
    /// Returns the abilities with their names in words, to be put after "can" and "cannot".
    #[must_use]
    pub fn named(self) -> [(&'static str, Ability); 4] {
        [
            ("remove keys", self.remove),
            ("be merged", self.merge),
            ("count keys", self.count),
            ("grow", self.grow),
        ]
    }

    /// Returns the first of `needed` that is lacking, in words.
    pub(super) fn lacks(self, needed: Self) -> Option<(&'static str, Ability)> {
        let pairs = self.named().into_iter().zip(needed.named());
        let mut lacking = pairs.filter(|((_, has), (_, needs))| has < needs);
        lacking.next().map(|(has, _)| has)
    }
}

/// What a structure that counts can do besides counting, or what it is asked to do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct CountAbilities {
    /// Take counts back.
    pub remove: bool,
    /// Err with a mean of zero, and not upwards only.
    pub unbiased: bool,
    /// List the most frequent keys, and not only answer for a given one.
    pub list: bool,
}

impl CountAbilities {
    /// Returns the first of `needed` that is lacking, in words that follow "cannot".
    pub(super) fn lacks(self, needed: Self) -> Option<&'static str> {
        [
            (needed.remove && !self.remove, "take counts back"),
            (needed.unbiased && !self.unbiased, "do without bias: it errs upwards only"),
            (needed.list && !self.list, "list keys"),
        ]
        .into_iter()
        .find_map(|(lacks, what)| lacks.then_some(what))
    }
}
