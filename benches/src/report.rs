//! Rows: a table for people, and JSON for programs.

pub mod markdown;

use core::fmt;
use std::collections::HashSet;

use comfy_table::{CellAlignment, Table, presets};
use serde::{Deserialize, Serialize};

use crate::goals::Verdict;
use crate::machine::Machine;
use pds_testkit::stats::Median;

/// The measurement of one operation, against one peer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The structure's name.
    pub structure: &'static str,
    /// The backend of ours, or none if it has no choice.
    pub backend: Option<&'static str>,
    /// The bytes of ours, if the row is of one size.
    pub bytes: Option<u64>,
    /// The size, the precision or another property that distinguishes rows of one operation.
    pub case: String,
    /// The operation on each key.
    pub operation: String,
    /// The peer's name.
    pub peer: &'static str,
    /// The unit of the two figures. Less is better.
    pub unit: Unit,
    /// Our figure. For times, the median.
    pub ours: f64,
    /// The peer's figure.
    pub theirs: f64,
    /// The peer's figure divided by ours: the factor by which ours is faster or smaller. For times, the median over the
    /// pairs.
    pub ratio: Median,
    /// The number of pairs of turns, or 0 for figures without noise.
    pub pairs: usize,
    /// The errors of both, if they have any.
    pub quality: Option<Quality>,
    /// The limit of memory, if it was timed.
    pub floor: Option<FloorRow>,
    /// Differences between the two, for the reader.
    pub notes: Vec<String>,
}

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// Time per operation, in nanoseconds.
    Nanoseconds,
    /// Memory, in bytes.
    Bytes,
    /// Memory per key, in bits.
    BitsPerItem,
    /// Error relative to the truth.
    Error,
}

/// Measured errors of both sides.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Quality {
    /// The kind of error: "rate" of false positives, or "error" relative to the truth.
    pub kind: &'static str,
    /// Ours, as a fraction.
    pub ours: f64,
    /// The peer's, as a fraction.
    pub theirs: f64,
    /// Half the widths of their 95 % intervals, if the row reports them.
    pub half_widths: Option<[f64; 2]>,
}

/// The half width of a normal interval of 95 %, in standard errors.
const Z_95: f64 = 1.959_964;

/// The limit of memory, timed in the same rounds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct FloorRow {
    /// The time to read a random line of an array of the same size, with prefetches. If the operation writes, the line
    /// is written as well.
    pub ns_per_line: f64,
    /// The lines that a key needs, on average.
    pub lines_per_key: f64,
    /// The floor's time for these lines as a share of our time.
    pub share: Median,
}

impl FloorRow {
    /// Creates a floor from the times of a line and of ours, round by round, in nanoseconds.
    #[must_use]
    pub fn of(line: Vec<f64>, ours: &[f64], lines_per_key: f64) -> Self {
        let shares = line.iter().zip(ours).map(|(line, ours)| lines_per_key * line / ours);
        let share = Median::of(shares.collect());
        Self { ns_per_line: Median::of(line).value, lines_per_key, share }
    }
}

impl Row {
    /// Creates a row from the times of both, round by round, in nanoseconds.
    #[must_use]
    pub fn timed(labels: [&str; 2], peer: &'static str, ours: &[f64], theirs: &[f64]) -> Self {
        let medians = [ours, theirs].map(|times| Median::of(times.to_vec()).value);
        let ratios = ours.iter().zip(theirs).map(|(ours, theirs)| theirs / ours);
        Self {
            ratio: Median::of(ratios.collect()),
            pairs: ours.len(),
            ..Self::exact(labels, peer, Unit::Nanoseconds, medians)
        }
    }

    /// Creates a row from figures without noise: ours and the peer's.
    #[must_use]
    pub fn exact(
        [case, operation]: [&str; 2],
        peer: &'static str,
        unit: Unit,
        [ours, theirs]: [f64; 2],
    ) -> Self {
        Self {
            structure: "",
            backend: None,
            bytes: None,
            case: case.to_owned(),
            operation: operation.to_owned(),
            peer,
            unit,
            ours,
            theirs,
            ratio: Median::exact(theirs / ours),
            pairs: 0,
            quality: None,
            floor: None,
            notes: Vec::new(),
        }
    }

    /// Adds the errors of both.
    #[must_use]
    pub fn quality(self, kind: &'static str, [ours, theirs]: [f64; 2]) -> Self {
        Self { quality: Some(Quality { kind, ours, theirs, half_widths: None }), ..self }
    }

    /// Adds the rates of both, measured with this many absent keys, as 95 % intervals.
    #[must_use]
    pub fn rates(self, rates: [f64; 2], keys: u64) -> Self {
        let half_width = |rate: f64| Z_95 * (rate * (1.0 - rate) / keys as f64).sqrt();
        let ([ours, theirs], half_widths) = (rates, Some(rates.map(half_width)));
        Self { quality: Some(Quality { kind: "rate", ours, theirs, half_widths }), ..self }
    }

    /// Adds the bytes of ours.
    #[must_use]
    pub fn bytes(self, bytes: u64) -> Self {
        Self { bytes: Some(bytes), ..self }
    }

    /// Adds a note below the table.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Adds a difference of the peer from ours as a note, unless it is empty.
    #[must_use]
    pub fn difference(self, peer: &str, note: &str) -> Self {
        if note.is_empty() { self } else { self.note(format!("{peer} {note}.")) }
    }

    /// Divides both times by the number of smaller operations that each consists of.
    #[must_use]
    pub fn per(self, operations: f64) -> Self {
        Self { ours: self.ours / operations, theirs: self.theirs / operations, ..self }
    }
}

/// The results of a run.
#[derive(Debug, Serialize, Deserialize)]
// The names in it are borrowed from a text that is never freed.
#[serde(bound(deserialize = "'de: 'static"))]
pub struct Report {
    /// The command that repeats the run.
    pub command: String,
    /// The machine.
    pub machine: Machine,
    /// Each operation against each peer.
    pub rows: Vec<Row>,
    /// The goals and their verdicts.
    pub goals: Vec<Verdict>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n\n{}\n", self.machine, table(&HEADER, FIRST_NUMBER, &self.rows, cells))?;
        EXPLANATION.iter().try_for_each(|line| writeln!(f, "{line}"))?;
        notes(&self.rows).try_for_each(|note| writeln!(f, "{note}"))?;
        writeln!(f, "\n{}", table(&GOAL_HEADER, 1, &self.goals, goal_cells))
    }
}

/// Explanations of the columns, one per line.
pub(crate) const EXPLANATION: [&str; 3] = [
    "Times in ns per operation, medians over rounds; ratio: the peer's figure divided by ours, with its 95 % interval.",
    "Err: the measured false-positive rate of filters, the relative error of sketches.",
    "Floor: ns to reach the lines that a key needs in an array of the same size, with prefetches.",
];

const HEADER: [&str; 10] =
    ["structure", "case", "operation", "peer", "ours", "peer", "ratio", "err", "peer", "floor"];
const FIRST_NUMBER: usize = 4;
const GOAL_HEADER: [&str; 4] = ["goal", "at least", "reached", "verdict"];

fn table<T, const N: usize>(
    header: &[&str; N],
    first_number: usize,
    rows: &[T],
    cells: impl Fn(&T) -> [String; N],
) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header(header).add_rows(rows.iter().map(cells));
    for column in table.column_iter_mut().skip(first_number) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn cells(row: &Row) -> [String; 10] {
    let [ours, theirs] = [row.ours, row.theirs].map(|figure| row.unit.spell(figure));
    let [our_error, their_error] = row.errors();
    let [structure, peer] = [row.structure, row.peer].map(str::to_owned);
    let [case, operation] = [&row.case, &row.operation].map(String::clone);
    let (ratio, floor) = (row.ratio.to_string(), row.floor_time());
    [structure, case, operation, peer, ours, theirs, ratio, our_error, their_error, floor]
}

fn goal_cells(verdict: &Verdict) -> [String; 4] {
    let Verdict { goal, standing, .. } = verdict;
    [verdict.task(), goal.at_least.to_string(), verdict.reached(), standing.to_string()]
}

impl Row {
    /// Returns the errors of both in words, empty if there are none.
    pub(crate) fn errors(&self) -> [String; 2] {
        let Some(Quality { ours, theirs, half_widths, .. }) = self.quality else {
            return Default::default();
        };
        let spell = |error: f64| match 100.0 * error {
            percent if percent == 0.0 || percent >= 0.1 => format!("{percent:.3} %"),
            percent => format!("{percent:.1e} %"),
        };
        let interval =
            |(error, half): (f64, f64)| format!("{:.4} ± {:.4} %", 100.0 * error, 100.0 * half);
        match half_widths {
            None => [ours, theirs].map(spell),
            Some([our_half, their_half]) => [(ours, our_half), (theirs, their_half)].map(interval),
        }
    }

    /// Returns the floor's time for a key in words, empty if it was not timed.
    pub(crate) fn floor_time(&self) -> String {
        self.floor.map_or_else(String::new, |FloorRow { ns_per_line, lines_per_key, .. }| {
            Unit::Nanoseconds.spell(ns_per_line * lines_per_key)
        })
    }
}

impl Unit {
    /// Formats a figure, with the unit unless it is a time.
    pub(crate) fn spell(self, figure: f64) -> String {
        match self {
            Self::Nanoseconds if figure < 10.0 => format!("{figure:.2}"),
            Self::Nanoseconds if figure < 1000.0 => format!("{figure:.1}"),
            Self::Nanoseconds => format!("{figure:.0}"),
            Self::Bytes => format!("{figure:.0} B"),
            Self::BitsPerItem => format!("{figure:.2} bits"),
            Self::Error => format!("{:.3} %", 100.0 * figure),
        }
    }
}

/// Formats a number of bytes with the largest unit that divides it.
#[must_use]
pub fn size(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let exact = |&(shift, _): &(u32, _)| bytes >> shift > 0 && bytes.trailing_zeros() >= shift;
    match units.into_iter().find(exact) {
        Some((shift, unit)) => format!("{} {unit}", bytes >> shift),
        None => format!("{bytes} B"),
    }
}

/// Returns the notes of some rows, each once.
pub(crate) fn notes<'a>(rows: impl IntoIterator<Item = &'a Row>) -> impl Iterator<Item = &'a str> {
    let mut told = HashSet::new();
    let all = rows.into_iter().flat_map(|row| &row.notes);
    all.map(String::as_str).filter(move |&note| told.insert(note))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn row() -> Row {
        let floor = FloorRow { ns_per_line: 1.0, lines_per_key: 2.0, share: Median::exact(1.0) };
        let row = Row::exact(["64 B", "hit"], "peer", Unit::Nanoseconds, [2.0, 3.0]);
        let row = row.quality("rate", [0.01, 0.02]).note("hashes twice.");
        Row { structure: "ours", floor: Some(floor), ..row }
    }

    #[test]
    fn a_ratio_is_how_many_times_as_fast_ours_is() {
        let times = |ns: f64| vec![ns; 15];
        let row = Row::timed(["", ""], "peer", &times(2.0), &times(3.0));
        assert_eq!((row.ours, row.theirs, row.ratio.value, row.pairs), (2.0, 3.0, 1.5, 15));
    }

    #[test]
    fn a_program_reads_bytes_and_backend_of_every_row() {
        let row = Row { backend: Some("avx2"), ..row().bytes(64) };
        let json = serde_json::to_value(&row).expect("numbers and words");
        assert_eq!((&json["bytes"], &json["backend"]), (&64.into(), &"avx2".into()));
        let bare = serde_json::to_value(super::tests::row()).expect("numbers and words");
        assert!(bare["bytes"].is_null() && bare["backend"].is_null());
    }

    #[test]
    fn a_rate_is_told_with_its_interval_where_the_row_is_there_for_it() {
        let row = row().rates([0.01, 0.000_1], 1_000_000);
        assert_eq!(row.errors(), ["1.0000 ± 0.0195 %", "0.0100 ± 0.0020 %"]);
    }

    #[test]
    fn sizes_are_exact() {
        let sizes = [(64, "64 B"), (65_536, "64 KiB"), (8 << 20, "8 MiB"), (1_025, "1025 B")];
        for (bytes, expected) in sizes {
            assert_eq!(size(bytes), expected);
        }
    }

    #[test]
    fn a_note_is_given_once() {
        assert!(notes(&[row(), row()]).eq(["hashes twice."]));
        assert_eq!(notes(&[row(), row().note("another")]).count(), 2);
    }

    #[test]
    fn a_row_shows_errors_and_the_floor_where_they_were_measured() {
        assert_eq!(cells(&row())[4..], ["2.00", "3.00", "1.50", "1.000 %", "2.000 %", "2.00"]);
        let bare = Row::exact(["", ""], "peer", Unit::Bytes, [100.0, 520.0]);
        assert_eq!(cells(&bare)[4..], ["100 B", "520 B", "5.20", "", "", ""]);
    }
}
