//! Goals, which are lines of `goals.txt`, and verdicts.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::report::Row;
use crate::suite::Suite;
use pds_testkit::stats::Median;

/// The opponent of ours in a goal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Against {
    /// A peer, by crate name.
    Peer(&'static str),
    /// The peer with the best result.
    BestPeer,
    /// The limit of memory.
    Floor,
    /// A figure in the unit of the row. It is divided by ours.
    Figure(f64),
}

/// A ratio to reach.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Goal {
    /// The case, as named in its rows.
    pub case: &'static str,
    /// The operation, as named in its rows.
    pub operation: &'static str,
    /// The opponent.
    pub against: Against,
    /// The least factor by which ours must be faster, or smaller.
    pub at_least: f64,
}

impl Goal {
    fn speaks_of(&self, row: &Row) -> bool {
        let same = row.operation == self.operation && row.case == self.case;
        same && match self.against {
            Against::Peer(name) => row.peer == name,
            Against::BestPeer | Against::Floor | Against::Figure(_) => true,
        }
    }

    fn ratio(&self, row: &Row) -> Option<Median> {
        match self.against {
            Against::Floor => row.floor.map(|floor| floor.share),
            Against::Peer(_) | Against::BestPeer => Some(row.ratio),
            Against::Figure(figure) => Some(Median::exact(figure / row.ours)),
        }
    }

    const fn is_against_a_peer(&self) -> bool {
        matches!(self.against, Against::Peer(_) | Against::BestPeer)
    }

    /// Judges the goal by the row in which ours does worst, among the rows of the goal.
    fn judge(&self, structure: &'static str, rows: &[Row]) -> Verdict {
        let rows = rows.iter().filter(|row| row.structure == structure && self.speaks_of(row));
        let measured = rows.filter_map(|row| Some((row.peer, self.ratio(row)?)));
        let worst = measured.min_by(|(_, left), (_, right)| left.value.total_cmp(&right.value));
        Verdict {
            structure,
            goal: *self,
            peer: worst.map(|(peer, _)| peer).filter(|_| self.is_against_a_peer()),
            ratio: worst.map(|(_, ratio)| ratio),
            standing: Standing::of(self.at_least, worst.map(|(_, ratio)| ratio)),
        }
    }
}

/// The status of a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Standing {
    /// The median reaches the goal.
    Met,
    /// The interval reaches the goal, but the median does not. By the rule, the goal is met.
    MetByInterval,
    /// The whole interval is below the goal.
    Missed,
    /// This run has no row of the goal.
    NotMeasured,
}

impl Standing {
    fn of(at_least: f64, ratio: Option<Median>) -> Self {
        match ratio {
            None => Self::NotMeasured,
            Some(ratio) if ratio.value >= at_least => Self::Met,
            Some(ratio) if ratio.high >= at_least => Self::MetByInterval,
            Some(_) => Self::Missed,
        }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Met => "met",
            Self::MetByInterval => "met, by the interval only",
            Self::Missed => "missed",
            Self::NotMeasured => "not measured in this run",
        })
    }
}

/// A goal and its result.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Verdict {
    /// The structure's name.
    pub structure: &'static str,
    /// The goal.
    pub goal: Goal,
    /// The deciding peer, if there is one.
    pub peer: Option<&'static str>,
    /// The ratio, with its interval.
    pub ratio: Option<Median>,
    /// Whether the ratio reaches the goal.
    pub standing: Standing,
}

impl Verdict {
    /// Returns the goal in words.
    #[must_use]
    pub fn task(&self) -> String {
        let Self { structure, goal, .. } = self;
        let against = match (goal.against, self.peer) {
            (Against::Floor, _) => "the floor".to_owned(),
            (Against::Figure(figure), _) => figure.to_string(),
            (Against::Peer(name), _) => name.to_owned(),
            (Against::BestPeer, None) => "the best peer".to_owned(),
            (Against::BestPeer, Some(name)) => format!("the best peer ({name})"),
        };
        format!("{structure} {}, {} against {against}", goal.case, goal.operation)
    }

    /// Returns the ratio with its interval in words.
    #[must_use]
    pub fn reached(&self) -> String {
        self.ratio.map_or_else(|| "-".to_owned(), |ratio| ratio.to_string())
    }
}

/// Judges every goal of `suites`, in their order.
#[must_use]
pub fn judge(suites: &[&Suite], rows: &[Row]) -> Vec<Verdict> {
    let goals = all();
    let of_suite = |suite: &&Suite| {
        let name = suite.name;
        let goals = goals.iter().filter(move |(suite, _)| *suite == name);
        goals.map(move |(_, goal)| goal.judge(name, rows))
    };
    suites.iter().flat_map(of_suite).collect()
}

/// Returns the goals of `goals.txt`, each with the name of its suite.
///
/// # Panics
/// If a line is no goal.
fn all() -> Vec<(&'static str, Goal)> {
    let lines = include_str!("../goals.txt").lines();
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.flat_map(|line| goals(line).unwrap_or_else(|| panic!("no goal: {line}"))).collect()
}

/// Returns the goals of a line: one for each of its cases and operations.
fn goals(line: &'static str) -> Option<Vec<(&'static str, Goal)>> {
    let fields: Vec<&str> = line.split(" | ").collect();
    let &[suite, cases, operations, against, at_least] = fields.as_slice() else { return None };
    let against = match (against, against.strip_prefix("figure ")) {
        ("floor", _) => Against::Floor,
        ("best peer", _) => Against::BestPeer,
        (_, Some(figure)) => Against::Figure(figure.parse().ok()?),
        (peer, None) => Against::Peer(peer),
    };
    let at_least = at_least.parse().ok()?;
    let of_case = |case| {
        let goal = move |operation| (suite, Goal { case, operation, against, at_least });
        operations.split("; ").map(goal)
    };
    Some(cases.split("; ").flat_map(of_case).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::row;

    const HIT: Goal =
        Goal { case: "64 B", operation: "hit", against: Against::Peer("peer"), at_least: 2.0 };

    fn ratio(value: f64, high: f64) -> Row {
        Row { ratio: Median { value, low: 1.0, high }, ..row() }
    }

    fn standing(goal: &Goal, rows: &[Row]) -> Standing {
        goal.judge("ours", rows).standing
    }

    #[test]
    fn every_line_is_a_goal_of_a_suite() {
        for (name, goal) in all() {
            let suite = crate::SUITES.iter().find(|suite| suite.name == name);
            assert!(suite.is_some() && goal.at_least > 0.0, "{name}: {goal:?}");
        }
        assert!(goals("bloom | 8 MiB | hit | fastbloom").is_none());
        assert!(goals("bloom | 8 MiB | hit | fastbloom | twice").is_none());
        let figures = goals("hash | u64; 80-byte string | hash; again | figure 2 | 1").unwrap();
        assert!(figures.iter().all(|(_, goal)| goal.against == Against::Figure(2.0)));
        assert_eq!(figures.len(), 4);
    }

    #[test]
    fn a_goal_is_met_when_the_interval_reaches_it() {
        assert_eq!(standing(&HIT, &[ratio(2.0, 3.0)]), Standing::Met);
        assert_eq!(standing(&HIT, &[ratio(1.5, 2.0)]), Standing::MetByInterval);
        assert_eq!(standing(&HIT, &[ratio(1.5, 1.99)]), Standing::Missed);
    }

    #[test]
    fn a_goal_speaks_of_its_own_row_only() {
        assert_ne!(standing(&HIT, &[row()]), Standing::NotMeasured);
        let others = [
            Row { case: "128 B".into(), ..row() },
            Row { peer: "another", ..row() },
            Row { operation: "miss".into(), ..row() },
            Row { structure: "another", ..row() },
        ];
        assert_eq!(standing(&HIT, &others), Standing::NotMeasured);
    }

    #[test]
    fn the_best_peer_is_the_one_that_ours_does_worst_against() {
        let goal = Goal { against: Against::BestPeer, ..HIT };
        let verdict =
            goal.judge("ours", &[ratio(5.0, 5.0), Row { peer: "best", ..ratio(1.2, 1.5) }]);
        assert_eq!((verdict.peer, verdict.standing), (Some("best"), Standing::Missed));
    }

    #[test]
    fn a_figure_is_judged_by_ours_alone() {
        let goal = |figure| Goal { against: Against::Figure(figure), at_least: 1.0, ..HIT };
        assert_eq!(standing(&goal(2.0), &[row()]), Standing::Met);
        assert_eq!(standing(&goal(1.9), &[row()]), Standing::Missed);
        assert_eq!(goal(1.9).judge("ours", &[row()]).task(), "ours 64 B, hit against 1.9");
    }

    #[test]
    fn the_floor_is_judged_by_the_share_of_it() {
        let goal = Goal { against: Against::Floor, at_least: 0.9, ..HIT };
        let share = Median { value: 0.95, low: 0.92, high: 0.97 };
        let floor = row().floor.map(|floor| crate::report::FloorRow { share, ..floor });
        let verdict = goal.judge("ours", &[Row { floor, ..row() }]);
        assert_eq!((verdict.ratio, verdict.standing), (Some(share), Standing::Met));
        assert_eq!(standing(&goal, &[Row { floor: None, ..row() }]), Standing::NotMeasured);
    }
}
