//! What is to be reached, and whether it was.

use core::fmt;

use serde::Serialize;

use crate::membership::{Operation, Suite};
use crate::report::{Row, size};
use crate::stats::Median;

/// What a time is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Against {
    /// A peer, by the name of its crate.
    Peer(&'static str),
    /// What memory allows.
    Floor,
}

/// A ratio to be reached.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Goal {
    /// What is timed.
    pub operation: Operation,
    /// For filters of so many bytes.
    pub bytes: u64,
    /// Against what.
    pub against: Against,
    /// How many times as fast ours is to be.
    pub at_least: f64,
}

impl Goal {
    fn ratio(&self, row: &Row) -> Option<Median> {
        let same = row.operation == self.operation && row.bytes == self.bytes;
        match self.against {
            Against::Peer(name) => (same && row.peer == name).then_some(row.ratio),
            Against::Floor => same.then_some(row.floor.share),
        }
    }

    fn judge(&self, row: &Row) -> Option<Verdict> {
        let ratio = self.ratio(row)?;
        Some(Verdict {
            structure: row.structure,
            goal: *self,
            ratio,
            is_met: ratio.high >= self.at_least,
        })
    }
}

/// A goal and what was measured.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Verdict {
    /// The structure's name.
    pub structure: &'static str,
    /// The goal.
    pub goal: Goal,
    /// The ratio, with its interval.
    pub ratio: Median,
    /// Whether the interval reaches the goal.
    pub is_met: bool,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { structure, goal, ratio, is_met } = self;
        let peer = match goal.against {
            Against::Peer(name) => name,
            Against::Floor => "floor",
        };
        let task = format!("{structure} {} at {} against {peer}", goal.operation, size(goal.bytes));
        let verdict = match is_met {
            true if ratio.value < goal.at_least => "met, by the interval only",
            true => "met",
            false => "MISSED",
        };
        let Median { value, low, high } = ratio;
        write!(f, "{task:<46} {value:>5.2} [{low:.2}, {high:.2}] of {:<4} {verdict}", goal.at_least)
    }
}

/// Judges every goal of `suites` that a row speaks of, in the order of the goals.
#[must_use]
pub fn judge(suites: &[&Suite], rows: &[Row]) -> Vec<Verdict> {
    let of_suite = |suite: &Suite| {
        let rows: Vec<&Row> = rows.iter().filter(|row| row.structure == suite.name).collect();
        let verdict = |goal: &Goal| rows.iter().find_map(|row| goal.judge(row));
        suite.goals.iter().filter_map(verdict).collect::<Vec<_>>()
    };
    suites.iter().flat_map(|suite| of_suite(suite)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::row;

    const HIT: Goal = Goal {
        operation: Operation::Hit,
        bytes: 64,
        against: Against::Peer("peer"),
        at_least: 2.0,
    };

    #[test]
    fn a_goal_is_met_when_the_interval_reaches_it() {
        let ratio = |high| Row { ratio: Median { value: 1.5, low: 1.0, high }, ..row() };
        assert!(HIT.judge(&ratio(2.0)).is_some_and(|verdict| verdict.is_met));
        assert!(HIT.judge(&ratio(1.99)).is_some_and(|verdict| !verdict.is_met));
    }

    #[test]
    fn a_goal_speaks_of_its_own_row_only() {
        assert!(HIT.judge(&row()).is_some());
        assert!(HIT.judge(&Row { bytes: 128, ..row() }).is_none());
        assert!(HIT.judge(&Row { peer: "another", ..row() }).is_none());
        assert!(HIT.judge(&Row { operation: Operation::Miss, ..row() }).is_none());
    }

    #[test]
    fn the_floor_is_judged_by_the_share_of_it() {
        let goal = Goal { against: Against::Floor, at_least: 0.9, ..HIT };
        let share = Median { value: 0.95, low: 0.92, high: 0.97 };
        let mut row = row();
        row.floor.share = share;
        assert!(goal.judge(&row).is_some_and(|verdict| verdict.is_met && verdict.ratio == share));
    }
}
