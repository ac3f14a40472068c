//! De-duplication of URLs with SQL on a cluster, against their number: the table of `docs/at-scale.md`.

use super::chart::{Axis, Chart, Line};
use super::table::{self, Table};
use core::error::Error;

const SIZES: &str = "URLs per day";
/// Columns of the table, and the group of each.
const COLUMNS: [(&str, usize); 6] = [
    ("files, MB", 0),
    ("filters, MB", 0),
    ("shuffled, MB", 0),
    ("executor's peak, MB", 0),
    ("build, processor s", 1),
    ("ask, processor s", 1),
];

/// Returns the chart.
///
/// # Errors
/// If the page cannot be read, or lacks the table.
pub(super) fn chart() -> Result<Chart, Box<dyn Error>> {
    let text = super::document("at-scale.md")?;
    let tables = table::all(&text);
    let line = |(name, group): (&str, usize)| {
        let points = tables.iter().find_map(|table| points(table, name));
        let points = points.ok_or_else(|| format!("docs/at-scale.md: no column `{name}`"))?;
        Ok::<_, String>(Line { name: name.to_owned(), group: Some(group), points })
    };
    Ok(Chart {
        file: "at-scale-sql",
        caption: "De-duplication of URLs with SQL: the last points are reckoned",
        x: Axis { name: SIZES, range: 6.0..10.0, labels: 5, label: |x| format!("10^{x:.0}") },
        y: Axis { name: "", range: -1.0..6.0, labels: 8, label: |y| format!("10^{y:.0}") },
        groups: &["megabytes", "seconds of one processor"],
        lines: COLUMNS.into_iter().map(line).collect::<Result<_, _>>()?,
    })
}

/// Returns the logarithms of a column, beside those of the numbers of URLs.
fn points(table: &Table<'_>, name: &str) -> Option<Vec<(f64, f64)>> {
    let number = |cell: &str| cell.replace(',', "").parse::<f64>().ok();
    let point = |row: &Vec<&str>| {
        let size = table.cell(row, SIZES)?.strip_prefix("10^")?;
        Some((number(size)?, number(table.cell(row, name)?)?.log10()))
    };
    table.rows.iter().map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_those_of_the_table() {
        let page = "| URLs per day | files, MB |\n|---|---|\n| 10^6 | 100 |\n| 10^8 | 10,000 |\n";
        let [table] = &table::all(page)[..] else { panic!("one table") };
        assert_eq!(points(table, "files, MB"), Some(vec![(6.0, 2.0), (8.0, 4.0)]));
        assert_eq!(points(table, "filters, MB"), None);
    }
}
