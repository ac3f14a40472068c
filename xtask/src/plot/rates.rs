//! Measured against promised rates, from the results of a validation. They are kept in the table of `docs/validation/rates.md`.

use super::chart::{Axis, Chart, Line};
use super::table;
use crate::validate::RATE_OF_PROMISE;
use core::error::Error;
use core::fmt::Write;
use serde::Deserialize;

/// The results that `cargo xtask validate --json` writes, as far as they are needed here.
#[derive(Deserialize)]
struct Results {
    command: String,
    date: String,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    structure: String,
    check: String,
    /// The promised rate.
    expected: f64,
    /// The mean rate of all instances.
    observed: f64,
    instances: u64,
}

/// All rows of one structure and one promised rate.
struct Group<'a> {
    structure: &'a str,
    promised: f64,
    rows: Vec<&'a Row>,
}

/// Returns the page that keeps the results of a validation.
///
/// # Errors
/// If the text is no result of a validation, or has no such rows.
pub(super) fn page(json: &str) -> Result<String, Box<dyn Error>> {
    let Results { command, date, rows } = serde_json::from_str(json)?;
    let groups = groups(&rows);
    if groups.is_empty() {
        return Err(
            format!("the results have no row of the check `{}`", RATE_OF_PROMISE.title).into()
        );
    }
    let mut page = format!(
        "# Measured against promised rates\n\nWritten by `cargo xtask plot --validation FILE` from the results of `{command} --json FILE`,\n{date}. \
         A row pools all filters of one structure and one promised rate, with all numbers of keys, kinds of keys and\nhashers. A share is a measured \
         mean rate, divided by the promised one: at most 1, but for chance.\n\n\
         | structure | promised rate | mean share | highest share | filters |\n|---|---|---|---|---|\n"
    );
    for Group { structure, promised, rows } in groups {
        let shares = || rows.iter().map(|row| row.observed / row.expected);
        let mean = shares().sum::<f64>() / rows.len() as f64;
        let (highest, filters) =
            (shares().fold(0.0, f64::max), rows.iter().map(|row| row.instances).sum::<u64>());
        writeln!(page, "| {structure} | {promised:.4} | {mean:.3} | {highest:.3} | {filters} |")?;
    }
    Ok(page)
}

fn groups(rows: &[Row]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for row in rows.iter().filter(|row| row.check == RATE_OF_PROMISE.title) {
        let same = |group: &&mut Group<'_>| {
            group.structure == row.structure && group.promised == row.expected
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.rows.push(row),
            None => groups.push(Group {
                structure: &row.structure,
                promised: row.expected,
                rows: vec![row],
            }),
        }
    }
    groups.sort_by(|a, b| a.structure.cmp(b.structure).then(b.promised.total_cmp(&a.promised)));
    groups
}

/// A structure, with its mean and its highest share of the promised rate.
type Shares = (String, [f64; 2]);

/// The promised rate of the chart: all structures are measured at it.
const CHARTED: f64 = 0.01;

/// Returns the chart of the page: for each structure a line from its mean share to its highest one.
///
/// # Errors
/// If the page cannot be read, or has no such table.
pub(super) fn chart() -> Result<Chart, Box<dyn Error>> {
    let page = super::document("validation/rates.md")?;
    let mut lines = shares(&page)?;
    lines.sort_by(|left, right| left.1[1].total_cmp(&right.1[1]));
    let height = lines.len() as f64 + 1.0;
    let promise =
        Line { name: "promised".to_owned(), group: None, points: vec![(1.0, 0.0), (1.0, height)] };
    let line = |(place, (name, shares)): (usize, Shares)| Line {
        name,
        group: Some(1),
        points: shares.map(|share| (share, place as f64 + 1.0)).to_vec(),
    };
    Ok(Chart {
        file: "rates",
        caption: "Measured false-positive rates where 1 % was promised",
        x: Axis {
            name: "share of the promised rate: mean and highest of all designs",
            range: 0.0..1.1,
            labels: 12,
            label: |share| format!("{share:.1}"),
        },
        y: Axis { name: "", range: 0.0..height, labels: 0, label: |_| String::new() },
        groups: &[],
        lines: lines.into_iter().enumerate().map(line).chain([promise]).collect(),
    })
}

/// Returns the names of the structures, with their mean and their highest share of the charted rate.
fn shares(page: &str) -> Result<Vec<Shares>, Box<dyn Error>> {
    let tables = table::all(page);
    let table = tables.first().ok_or("docs/validation/rates.md: no table")?;
    let mut shares = Vec::new();
    for row in &table.rows {
        let cell = |name| {
            table
                .cell(row, name)
                .ok_or_else(|| format!("docs/validation/rates.md: no column {name}"))
        };
        if cell("promised rate")?.parse::<f64>()? == CHARTED {
            let share = [cell("mean share")?.parse()?, cell("highest share")?.parse()?];
            shares.push((cell("structure")?.to_owned(), share));
        }
    }
    Ok(shares)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_one_rate_are_pooled_and_others_left_out() {
        let row = |check: &str, expected: f64, observed: f64| {
            format!(
                r#"{{"structure": "bloom", "check": "{check}", "expected": {expected}, "observed": {observed}, "instances": 3}}"#
            )
        };
        let check = RATE_OF_PROMISE.title;
        let rows = [
            row(check, 0.01, 0.009),
            row(check, 0.01, 0.008),
            row(check, 0.1, 0.1),
            row("another", 0.01, 5.0),
        ]
        .join(",");
        let json = |rows: &str| {
            format!(
                r#"{{"command": "cargo xtask validate", "date": "2026-02-28", "seed": 1, "rows": [{rows}]}}"#
            )
        };
        let page = page(&json(&rows)).unwrap();
        assert!(
            page.contains(
                "\n| bloom | 0.1000 | 1.000 | 1.000 | 3 |\n| bloom | 0.0100 | 0.850 | 0.900 | 6 |\n"
            ),
            "{page}"
        );
        assert!(page.contains("`cargo xtask validate --json FILE`,\n2026-02-28."), "{page}");
        assert_eq!(shares(&page).unwrap(), [("bloom".to_owned(), [0.85, 0.9])]);
        let error = super::page(&json("")).unwrap_err().to_string();
        assert_eq!(error, format!("the results have no row of the check `{check}`"));
    }
}
