//! Suites: the rows of a structure.

use core::error::Error;

use crate::contest::{Contender, contest};
use crate::floor::Floor;
use crate::keys::Keys;
use crate::report::{FloorRow, Row};

/// The size in bytes from which a structure is measured only by [`Effort::Full`].
pub const LARGE: u64 = 256 << 20;

/// A value, or the error of a contender that cannot be built.
pub type Fallible<T> = Result<T, Box<dyn Error>>;

/// The result of a suite.
pub type Outcome = Fallible<()>;

/// A structure of ours, compared with its peers.
#[derive(Debug)]
pub struct Suite {
    /// The structure's name.
    pub name: &'static str,
    /// Measures all its rows.
    pub run: fn(&mut Bench<'_>) -> Outcome,
}

/// The least number of pairs for a row or a goal. It is also the number if a pair takes long.
pub(crate) const LEAST_PAIRS: usize = 15;

/// The amount of measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// The least number of pairs that a goal is judged by.
    Quick,
    /// Half as many pairs again.
    Normal,
    /// More pairs, and structures beyond the caches.
    Full,
}

impl Effort {
    /// Returns the number of pairs. It is odd, so the median is one of them.
    #[must_use]
    pub const fn pairs(self) -> usize {
        match self {
            Self::Quick => LEAST_PAIRS,
            Self::Normal => 21,
            Self::Full => 31,
        }
    }

    /// Returns the sizes in bytes to measure, out of all.
    #[must_use]
    pub fn sizes(self, all: &[u64]) -> Vec<u64> {
        all.iter().copied().filter(|&bytes| self == Self::Full || bytes < LARGE).collect()
    }
}

/// Collector of the rows of one suite.
#[expect(missing_debug_implementations, reason = "a function takes the rows")]
pub struct Bench<'a> {
    structure: &'static str,
    effort: Effort,
    pairs: usize,
    report: &'a mut dyn FnMut(Row),
}

impl<'a> Bench<'a> {
    /// Creates a collector for the structure with this name. Each finished row is passed to `report`.
    pub fn new(structure: &'static str, effort: Effort, report: &'a mut dyn FnMut(Row)) -> Self {
        Self { structure, effort, pairs: effort.pairs(), report }
    }

    /// Returns the collector of the same rows with another number of pairs.
    pub(crate) fn with_pairs(&mut self, pairs: usize) -> Bench<'_> {
        Bench { pairs, report: &mut *self.report, ..*self }
    }

    /// Returns the amount of measurement.
    #[must_use]
    pub const fn effort(&self) -> Effort {
        self.effort
    }

    /// Adds a row.
    pub fn add(&mut self, row: Row) {
        (self.report)(Row { structure: self.structure, ..row });
    }

    /// Times ours and a peer in turn, on the same blocks of some keys.
    ///
    /// Add quality and notes to the row, and pass it to [`Bench::add`].
    pub fn duel(
        &self,
        labels: [&str; 2],
        peer: &'static str,
        block: (usize, Keys),
        contenders: [&mut dyn Contender; 2],
    ) -> Row {
        let [ours, theirs] = contest(self.pairs, block, contenders);
        Row::timed(labels, peer, &ours, &theirs)
    }

    /// Times as [`duel`](Self::duel) does, with the floor as the third contender. A key needs `lines` lines of it.
    pub fn duel_above(
        &self,
        floor: Option<(&mut Floor, f64)>,
        labels: [&str; 2],
        peer: &'static str,
        block: (usize, Keys),
        [ours, theirs]: [&mut dyn Contender; 2],
    ) -> Row {
        let Some((floor, lines)) = floor else {
            return self.duel(labels, peer, block, [ours, theirs]);
        };
        let [ours, theirs, line] = contest(self.pairs, block, [ours, theirs, floor]);
        let row = Row::timed(labels, peer, &ours, &theirs);
        Row { floor: Some(FloorRow::of(line, &ours, lines)), ..row }
    }
}
