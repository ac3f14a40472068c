//! Time per lookup against size, of ours and of the best peers, from the tables of `docs/performance`.

use super::chart::{Axis, Chart, Line};
use super::table::{self, Table};
use core::error::Error;

/// Pages with the suites of one machine and backend, and the peer to draw beside ours.
const PAGES: [(&str, &[&str], &str, &str); 3] = [
    ("bloom", &["bloom"], "BloomFilter", "fastbloom"),
    ("blocked", &["blocked"], "BlockedBloomFilter", "sbbf-rs-safe"),
    ("cuckoo", &["cuckoo", "cuckoo-large"], "CuckooFilter", "cuckoofilter"),
];

/// Returns the chart.
///
/// # Errors
/// If a page cannot be read, or lacks rows.
pub(super) fn chart() -> Result<Chart, Box<dyn Error>> {
    let mut lines = Vec::new();
    for (page, suites, ours, peer) in PAGES {
        let text = super::document(&format!("performance/{page}.md"))?;
        let text = written(&text, suites);
        for (name, group, column) in [(ours, 0, "ours"), (peer, 1, "peer")] {
            let points = points(&text, peer, column);
            if points.len() < 2 {
                return Err(
                    format!("docs/performance/{page}.md: fewer than two sizes of {name}").into()
                );
            }
            lines.push(Line { name: name.to_owned(), group: Some(group), points });
        }
    }
    Ok(Chart {
        file: "lookups",
        caption: "Nanoseconds per lookup of a key that is absent, one by one",
        x: Axis { name: "size of the filter", range: 16.0..32.0, labels: 5, label: size },
        y: Axis { name: "", range: 1.0..8.0, labels: 8, label: |ns| format!("{:.0}", ns.exp2()) },
        groups: &["ours", "best peer"],
        lines,
    })
}

/// Returns the times of misses against a peer, by size.
fn points(page: &str, peer: &str, column: &str) -> Vec<(f64, f64)> {
    let tables = table::all(page);
    tables.iter().flat_map(|table| points_of(table, peer, column)).collect()
}

fn points_of(table: &Table<'_>, peer: &str, column: &str) -> Vec<(f64, f64)> {
    // The first column of this name holds the name of the peer, the second one its time.
    let time = |row: &[&str]| {
        let cell =
            if column == "ours" { table.cell(row, "ours") } else { table.cell_after(row, "ours") };
        cell?.parse::<f64>().ok()
    };
    let rows = table.rows.iter().filter(|row| {
        table.cell(row, "operation") == Some("miss") && table.cell(row, "peer") == Some(peer)
    });
    rows.filter_map(|row| Some((bytes(table.cell(row, "case")?)?.log2(), time(row)?.log2())))
        .collect()
}

/// Returns the places of a page that `cargo xtask bench` writes for some suites. Other tables are of other machines, backends or
/// days.
fn written(page: &str, suites: &[&str]) -> String {
    let mut inside = false;
    let opens = |line: &str| {
        let suite = line.strip_prefix("<!-- bench ").and_then(|rest| rest.split(' ').next());
        suite.is_some_and(|suite| suites.contains(&suite))
    };
    let lines = page.lines().filter(|line| {
        inside = opens(line) || inside && *line != "<!-- end -->";
        inside
    });
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// Reads a size such as `64 KiB`.
fn bytes(case: &str) -> Option<f64> {
    let (number, unit) = case.split_once(' ')?;
    let power = ["KiB", "MiB", "GiB"].iter().position(|one| *one == unit)?;
    Some(number.parse::<f64>().ok()? * 1024f64.powi(i32::try_from(power).ok()? + 1))
}

fn size(power: f64) -> String {
    let unit = (power / 10.0).floor();
    let name = if unit < 2.0 {
        "KiB"
    } else if unit < 3.0 {
        "MiB"
    } else {
        "GiB"
    };
    format!("{:.0} {name}", (power - 10.0 * unit).exp2())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_tables_that_the_benches_write() {
        let head = "| case | operation | peer | ours | peer | ratio |\n|---|---|---|---|---|---|\n";
        let page = format!(
            "<!-- bench small rows -->\n{head}\
            | 64 KiB | miss | a | 2.00 | 4.00 | 2.00 |\n| 64 KiB | miss | b | 2.00 | 8.00 | 4.00 |\n\
            | 8 MiB, hash-in | miss | a | 1.00 | 1.00 | 1.00 |\n| 1 GiB | hit | a | 1.00 | 1.00 | 1.00 |\n<!-- end -->\n\n\
            <!-- bench large rows -->\n{head}| 4 GiB | miss | a | 8.00 | 8.00 | 1.00 |\n<!-- end -->\n\n\
            <!-- bench other rows -->\n{head}| 2 GiB | miss | a | 8.00 | 8.00 | 1.00 |\n<!-- end -->\n\n\
            Another day:\n\n{head}| 1 MiB | miss | a | 4.00 | 4.00 | 1.00 |\n"
        );
        let page = written(&page, &["small", "large"]);
        assert_eq!(points(&page, "a", "ours"), [(16.0, 1.0), (32.0, 3.0)]);
        assert_eq!(points(&page, "b", "peer"), [(16.0, 3.0)]);
        assert_eq!(
            ["64 KiB", "8 MiB", "4 GiB", "1 %"].map(bytes),
            [Some(65536.0), Some(8388608.0), Some(4294967296.0), None]
        );
        assert_eq!([16.0, 20.0, 24.0, 32.0].map(size), ["64 KiB", "1 MiB", "16 MiB", "4 GiB"]);
    }
}
