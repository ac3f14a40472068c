//! Abilities of structures besides answering.

use core::fmt;

/// The degree to which a structure has an ability.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ability {
    /// Not at all.
    #[default]
    No,
    /// Up to a limit, which [`Structure::caution`](crate::registry::Structure::caution) states.
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

/// The abilities of a filter besides answering, or those that are needed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Abilities {
    /// Take keys one at a time. A filter without this ability is built from all of its keys at once.
    pub insert: Ability,
    /// Remove a key that was inserted.
    pub remove: Ability,
    /// Merge all keys of another filter of the same shape.
    pub merge: Ability,
    /// Estimate how often a key was inserted.
    pub count: Ability,
    /// Take more keys than it was sized for. [`Limited`](Ability::Limited) if the error rate then rises.
    pub grow: Ability,
}

impl Abilities {
    /// Returns the abilities with their names in words, which follow "can" or "cannot".
    #[must_use]
    pub fn named(self) -> [(&'static str, Ability); 5] {
        [
            ("take keys one at a time", self.insert),
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

/// The abilities of a structure that counts, besides counting, or those that are needed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct CountAbilities {
    /// Subtract counts.
    pub remove: bool,
    /// Have an error with a mean of zero, instead of only upwards.
    pub unbiased: bool,
    /// List the most frequent keys, instead of only answering for a given key.
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
