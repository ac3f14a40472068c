//! What every structure brings along to be measured: its rows, its peers, its goals.

use core::error::Error;

use crate::contest::{Contender, contest};
use crate::floor::Floor;
use crate::goals::Goal;
use crate::keys::Keys;
use crate::report::{FloorRow, Row};

/// From this size on, in bytes, a structure is measured by [`Effort::Full`] only.
pub const LARGE: u64 = 256 << 20;

/// The result of a suite: it stops at whatever keeps a contender from being built.
pub type Outcome = Result<(), Box<dyn Error>>;

/// A structure of ours, its peers and what it is to reach.
#[derive(Debug)]
pub struct Suite {
    /// The structure's name.
    pub name: &'static str,
    /// The crates it is compared with, whose versions are printed.
    pub peers: &'static [&'static str],
    /// What it is to reach.
    pub goals: &'static [Goal],
    /// Measures all its rows.
    pub run: fn(&mut Bench<'_>) -> Outcome,
}

/// The least pairs that a row or a goal is judged by: also the number where a pair takes long.
pub(crate) const LEAST_PAIRS: usize = 15;

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// The least that a goal is judged by.
    Quick,
    /// Half as many pairs again.
    Normal,
    /// Still more, and structures beyond the caches.
    Full,
}

impl Effort {
    /// How many pairs; odd, so that the median is one of them.
    #[must_use]
    pub const fn pairs(self) -> usize {
        match self {
            Self::Quick => LEAST_PAIRS,
            Self::Normal => 21,
            Self::Full => 31,
        }
    }

    /// The sizes that are measured, of all in bytes.
    #[must_use]
    pub fn sizes(self, all: &[u64]) -> Vec<u64> {
        all.iter().copied().filter(|&bytes| self == Self::Full || bytes < LARGE).collect()
    }
}

/// Takes the rows of one suite.
#[expect(missing_debug_implementations, reason = "a function takes the rows")]
pub struct Bench<'a> {
    structure: &'static str,
    effort: Effort,
    report: &'a mut dyn FnMut(Row),
}

impl<'a> Bench<'a> {
    /// Creates a bench for the structure of this name; each row is handed to `report` when it is done.
    pub fn new(structure: &'static str, effort: Effort, report: &'a mut dyn FnMut(Row)) -> Self {
        Self { structure, effort, report }
    }

    /// How much to measure.
    #[must_use]
    pub const fn effort(&self) -> Effort {
        self.effort
    }

    /// Takes a row.
    pub fn add(&mut self, mut row: Row) {
        row.structure = self.structure;
        (self.report)(row);
    }

    /// Times ours and a peer in turn, on the same blocks of `block` keys. The row waits for its
    /// quality and its notes; [`Bench::add`] takes it.
    pub fn duel(
        &self,
        [case, operation]: [&str; 2],
        peer: &'static str,
        (block, keys): (usize, Keys),
        contenders: [&mut dyn Contender; 2],
    ) -> Row {
        let [ours, theirs] = contest(self.effort.pairs(), block, keys, contenders);
        Row::timed([case, operation], peer, &ours, &theirs)
    }

    /// As [`duel`](Self::duel), with the floor as a third in turn, of which a key needs `lines` lines.
    pub fn duel_above(
        &self,
        (floor, lines): (&mut Floor, f64),
        [case, operation]: [&str; 2],
        peer: &'static str,
        (block, keys): (usize, Keys),
        [ours, theirs]: [&mut dyn Contender; 2],
    ) -> Row {
        let contenders: [&mut dyn Contender; 3] = [ours, theirs, floor];
        let [ours, theirs, line] = contest(self.effort.pairs(), block, keys, contenders);
        let row = Row::timed([case, operation], peer, &ours, &theirs);
        Row { floor: Some(FloorRow::of(line, &ours, lines)), ..row }
    }
}
