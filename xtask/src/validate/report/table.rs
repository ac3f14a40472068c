//! The report on a terminal: a table of all rows, then a summary, the verdict last.

use super::{Report, count, number, percent};
use crate::validate::judge::{Row, Verdict};
use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};
use core::fmt;
use pds_testkit::pipe;
use std::io;

/// One line under the header and no others.
const RULE_UNDER_HEADER: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// Prints the report to standard output.
///
/// # Errors
/// When standard output fails; a reader that has left is no failure.
pub(crate) fn print(report: &Report) -> io::Result<()> {
    pipe::print(Page(report))
}

/// The whole report as text.
struct Page<'a>(&'a Report);

impl fmt::Display for Page<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let report = self.0;
        for group in report.groups() {
            writeln!(f, "\n{}", group[0].check.title)?;
            writeln!(f, "{}", rows(group))?;
        }
        writeln!(f, "\nSummary\n{}", summary(report))?;
        writeln!(
            f,
            "\nReal keys: {}. Seed {}. Took {:.0} s.",
            report.real_keys, report.seed, report.seconds
        )?;
        writeln!(
            f,
            "A faultless library fails such a run with probability {:.0e} ({:.1e} for each test).",
            report.false_alarm, report.false_alarm_of_each
        )?;
        writeln!(f, "To repeat: {}", report.command)?;
        for row in report.rows.iter().filter(|row| row.verdict == Verdict::Broken) {
            writeln!(f, "BROKEN: {}", sentence(row))?;
        }
        writeln!(f, "\n{}", report.verdict())
    }
}

/// The columns of a row, in the order of [`cells`].
pub(super) const HEADER: [&str; 12] = [
    "n",
    "rate",
    "shape",
    "keys",
    "hasher",
    "instances",
    "measured",
    "expected",
    "accepted",
    "events",
    "sees",
    "verdict",
];
/// The columns that hold numbers.
const NUMBERS: [usize; 8] = [0, 1, 5, 6, 7, 8, 9, 10];

/// Returns the rows of a check, in the columns that differ, below a line with those that are the same in all rows.
fn rows(group: &[Row]) -> String {
    let rows: Vec<[String; 12]> = group.iter().map(cells).collect();
    let is_same =
        |&column: &usize| rows.len() > 1 && rows.iter().all(|row| row[column] == rows[0][column]);
    let (same, differing): (Vec<usize>, Vec<usize>) = (0..HEADER.len()).partition(is_same);
    let header: Vec<&str> = differing.iter().map(|&column| HEADER[column]).collect();
    let numbers: Vec<usize> =
        (0..differing.len()).filter(|&place| NUMBERS.contains(&differing[place])).collect();
    let mut table = table(&header, &numbers);
    table.add_rows(rows.iter().map(|row| differing.iter().map(|&column| row[column].as_str())));
    let same = same.into_iter().filter(|&column| !rows[0][column].is_empty());
    let same: Vec<String> =
        same.map(|column| format!("{} {}", HEADER[column], rows[0][column])).collect();
    if same.is_empty() { table.to_string() } else { format!("all: {}\n{table}", same.join(", ")) }
}

/// A row as text.
pub(super) fn cells(row: &Row) -> [String; 12] {
    [
        row.case.items.to_string(),
        number(row.case.rate),
        row.case.shape.clone(),
        row.case.keys.to_owned(),
        row.case.hasher.to_owned(),
        row.case.instances.to_string(),
        number(row.observed),
        number(row.expected),
        accepted(row),
        row.events.map_or_else(String::new, number),
        row.sees.map_or_else(String::new, percent),
        mark(row.verdict).to_owned(),
    ]
}

/// The numbers that would have agreed.
fn accepted(row: &Row) -> String {
    match row.accepted {
        (None, high) => format!("..{}", number(high)),
        (Some(low), high) if low == high => number(low),
        (Some(low), high) => format!("{}..{}", number(low), number(high)),
    }
}

const fn mark(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Kept => "ok",
        Verdict::Weak => "weak",
        Verdict::Wide => "wide",
        Verdict::Expected => "expected",
        Verdict::Broken => "BROKEN",
    }
}

fn summary(report: &Report) -> Table {
    let mut table = table(
        &["check", "tests", "events", "sees at best", "at worst", "weak", "wide", "broken"],
        &[1, 2, 3, 4, 5, 6, 7],
    );
    table.add_rows(report.groups().map(|group| {
        let sees = || group.iter().filter_map(|row| row.sees);
        let chance = group[0].is_statistical();
        let show = |text: String| if chance { text } else { String::new() };
        [
            group[0].check.title.to_owned(),
            group.len().to_string(),
            show(number(group.iter().filter_map(|row| row.events).sum())),
            show(percent(sees().fold(f64::INFINITY, f64::min))),
            show(percent(sees().fold(0.0, f64::max))),
            show(count(group, Verdict::Weak).to_string()),
            show(count(group, Verdict::Wide).to_string()),
            count(group, Verdict::Broken).to_string(),
        ]
    }));
    table
}

/// A row in words, for the list of broken promises.
fn sentence(row: &Row) -> String {
    let case = &row.case;
    format!(
        "{} of {} with n = {}, rate {}, {}, {} keys, {} hasher: measured {}, accepted {}",
        row.check.title,
        case.structure,
        case.items,
        number(case.rate),
        case.shape,
        case.keys,
        case.hasher,
        number(row.observed),
        accepted(row),
    )
}

/// An empty table with some columns aligned to the right.
pub(super) fn table(header: &[&str], numbers: &[usize]) -> Table {
    let mut table = Table::new();
    table.load_style(RULE_UNDER_HEADER).set_header(header.to_vec());
    for &index in numbers {
        let column = table.column_mut(index).expect("a column of the header");
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::judge::{Case, judge};
    use crate::validate::measure::LOST_KEYS;

    #[test]
    fn columns_that_are_the_same_in_all_rows_stand_above_them() {
        let measured = |items| {
            let case = Case::random("toy", items, 0.5, "k 7");
            Case { hasher: "weak", instances: 3, ..case }.none(LOST_KEYS, 0)
        };
        let text = rows(&judge(vec![measured(1), measured(2)], 1e-9));
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        assert!(
            lines[0].starts_with("all: rate 0.5, shape k 7, keys random, hasher weak, instances 3"),
            "{text}"
        );
        assert_eq!((lines[1], lines[3], lines[4]), ("n", "1", "2"));
        assert!(rows(&judge(vec![measured(1)], 1e-9)).contains("random"), "one row shows all");
    }
}
