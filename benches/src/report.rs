//! Rows, for people as a table and for programs as JSON.

use core::fmt;

use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

use crate::goals::Verdict;
use crate::machine::Machine;
use crate::membership::Operation;
use crate::stats::Median;

/// What was measured of one operation, against one peer. Times are medians, in nanoseconds a key.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The structure's name.
    pub structure: &'static str,
    /// The peer's name.
    pub peer: &'static str,
    /// Bytes of either filter.
    pub bytes: u64,
    /// Our code that ran.
    pub backend: &'static str,
    /// Whether ours, and the floor, asked for huge pages.
    pub huge_pages: bool,
    /// Whether most of the peer's bits were copied from ours instead of inserted by it.
    pub peer_preset: bool,
    /// What was done with each key.
    pub operation: Operation,
    /// How often both were timed in turn.
    pub pairs: usize,
    /// Our time.
    pub ns: f64,
    /// The peer's time.
    pub peer_ns: f64,
    /// How many times as fast ours is: the median over the pairs.
    pub ratio: Median,
    /// Our false positive rate.
    pub rate: f64,
    /// The peer's false positive rate.
    pub peer_rate: f64,
    /// What memory allows.
    pub floor: FloorRow,
    /// In what the peer is not equal.
    pub note: &'static str,
}

/// What memory allows, timed in the same rounds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct FloorRow {
    /// The time to read a random line of an array of the same size, with prefetches.
    pub ns_per_line: f64,
    /// The lines that a key needs, on average.
    pub lines_per_key: f64,
    /// The floor's time for so many lines as a share of our time.
    pub share: Median,
}

/// Everything that a run found.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Where.
    pub machine: Machine,
    /// Each operation against each peer.
    pub rows: Vec<Row>,
    /// What was to be reached.
    pub goals: Vec<Verdict>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.machine)?;
        writeln!(f, "{}\n", table(&self.rows))?;
        writeln!(
            f,
            "Times in ns a key, medians of interleaved pairs; ratio: peer's time by ours, [95 %]."
        )?;
        writeln!(
            f,
            "Floor: ns to read the lines a key needs from an array of the same size, prefetched."
        )?;
        for note in notes(&self.rows) {
            writeln!(f, "{note}")?;
        }
        writeln!(f)?;
        for verdict in &self.goals {
            writeln!(f, "{verdict}")?;
        }
        Ok(())
    }
}

/// Spells a number of bytes by the largest unit that divides it.
#[must_use]
pub fn size(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let exact = |&(shift, _): &(u32, _)| bytes >> shift > 0 && bytes.trailing_zeros() >= shift;
    match units.into_iter().find(exact) {
        Some((shift, unit)) => format!("{} {unit}", bytes >> shift),
        None => format!("{bytes} B"),
    }
}

fn table(rows: &[Row]) -> Table {
    const HEADER: [&str; 10] =
        ["structure", "size", "operation", "peer", "ns", "peer", "ratio", "rate", "peer", "floor"];
    const FIRST_NUMBER: usize = 4;
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header(HEADER).add_rows(rows.iter().map(cells));
    for column in table.column_iter_mut().skip(FIRST_NUMBER) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn cells(row: &Row) -> [String; 10] {
    let Median { value, low, high } = row.ratio;
    [
        row.structure.to_owned(),
        size(row.bytes),
        row.operation.to_string(),
        row.peer.to_owned(),
        format!("{:.1}", row.ns),
        format!("{:.1}", row.peer_ns),
        format!("{value:.2} [{low:.2}, {high:.2}]"),
        format!("{:.3} %", 100.0 * row.rate),
        format!("{:.3} %", 100.0 * row.peer_rate),
        format!("{:.1}", row.floor.ns_per_line * row.floor.lines_per_key),
    ]
}

/// What is to be said of some rows, once each.
fn notes(rows: &[Row]) -> Vec<String> {
    let mut notes = Vec::new();
    let mut say = |note: String| {
        if !notes.contains(&note) {
            notes.push(note);
        }
    };
    for row in rows {
        let Row { peer, bytes, .. } = row;
        if !row.note.is_empty() {
            say(format!("{peer}: {}.", row.note));
        }
        if row.huge_pages {
            say(format!("{}: ours and the floor on huge pages.", size(*bytes)));
        }
        if row.peer_preset {
            let preset = "preset to the design's fill with random bits (those of our filter)";
            say(format!(
                "{}: peers {preset}; insertions are of keys beyond the design.",
                size(*bytes)
            ));
        }
    }
    notes
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn row() -> Row {
        let one = Median { value: 1.0, low: 1.0, high: 1.0 };
        Row {
            structure: "ours",
            peer: "peer",
            bytes: 64,
            backend: "portable",
            huge_pages: false,
            peer_preset: false,
            operation: Operation::Hit,
            pairs: 15,
            ns: 2.0,
            peer_ns: 2.0,
            ratio: one,
            rate: 0.01,
            peer_rate: 0.01,
            floor: FloorRow { ns_per_line: 1.0, lines_per_key: 2.0, share: one },
            note: "hashes twice",
        }
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
        assert_eq!(notes(&[row(), row()]), ["peer: hashes twice."]);
        let preset = Row { peer_preset: true, huge_pages: true, ..row() };
        assert_eq!(notes(&[row(), preset]).len(), 3);
    }

    #[test]
    fn the_floor_counts_the_lines_of_a_key() {
        assert_eq!(cells(&row())[9], "2.0");
    }
}
