//! Tables of pages, written from results.
//!
//! A page marks the place of a table by two lines, and everything between them is replaced:
//!
//! ```text
//! <!-- bench quotient rows -->
//! <!-- end -->
//! ```
//!
//! The first line names a suite and a part: `run` (command, machine and peers), `rows` or `goals`.

use alloc::collections::BTreeSet;
use core::error::Error;
use core::iter;
use std::fs;
use std::path::Path;

use super::{GOAL_HEADER, HEADER, Report, Row, cells, goal_cells, notes};

const END: &str = "<!-- end -->";

/// Replaces the tables of a report in all pages of a folder. Returns the names of the changed files.
///
/// # Errors
/// If a file cannot be read or written, a place is not closed or names an unknown part, or a suite with rows has no place.
pub fn write(report: &Report, folder: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let mut left: BTreeSet<&str> = report.rows.iter().map(|row| row.structure).collect();
    let mut changed = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let (name, page) = (path.display().to_string(), fs::read_to_string(&path)?);
        let (replaced, suites) =
            replace(&page, report).map_err(|error| format!("{name}: {error}"))?;
        left.retain(|suite| !suites.contains(suite));
        if replaced != page {
            fs::write(&path, replaced)?;
            changed.push(name);
        }
    }
    if left.is_empty() {
        return Ok(changed);
    }
    let (folder, suites) = (folder.display(), left.into_iter().collect::<Vec<_>>().join(", "));
    Err(format!("{folder}: no page has a line `<!-- bench SUITE rows -->` for {suites}").into())
}

/// Returns a page with the parts of a report in their places, and the suites that have one.
fn replace<'a>(page: &str, report: &'a Report) -> Result<(String, Vec<&'a str>), String> {
    let (mut text, mut suites) = (String::new(), Vec::new());
    let mut lines = page.split_inclusive('\n');
    while let Some(line) = lines.next() {
        text += line;
        let Some((suite, part)) = place(line) else { continue };
        let line = line.trim_end();
        let mut left = lines.clone();
        let old: String = lines.by_ref().take_while(|line| line.trim_end() != END).collect();
        left.find(|line| line.trim_end() == END)
            .ok_or_else(|| format!("`{line}` without `{END}`"))?;
        let rows: Vec<&Row> = report.rows.iter().filter(|row| row.structure == suite).collect();
        text += &match rows.first() {
            None => old,
            Some(row) => {
                suites.push(row.structure);
                contents(report, &rows, part)
                    .ok_or_else(|| format!("`{line}`: the part is run, rows or goals"))?
            }
        };
        text += END;
        text += "\n";
    }
    Ok((text, suites))
}

/// Returns the suite and the part of a line that opens a place.
fn place(line: &str) -> Option<(&str, &str)> {
    line.trim_end().strip_prefix("<!-- bench ")?.strip_suffix(" -->")?.split_once(' ')
}

fn contents(report: &Report, rows: &[&Row], part: &str) -> Option<String> {
    let suite = rows[0].structure;
    Some(match part {
        "run" => run(report, rows),
        // The first column names the structure, which the page does.
        "rows" => table(&HEADER[1..], rows.iter().map(|row| cells(row)[1..].to_vec()).collect()),
        "goals" => {
            let goals = report.goals.iter().filter(|verdict| verdict.structure == suite);
            table(&GOAL_HEADER, goals.map(|verdict| goal_cells(verdict).to_vec()).collect())
        }
        _ => return None,
    })
}

/// Returns the command, the machine and the notes of some rows.
fn run(report: &Report, rows: &[&Row]) -> String {
    let machine = report.machine.to_string();
    let machine: Vec<&str> = machine.lines().filter(|line| !line.is_empty()).collect();
    let notes: String = notes(rows.iter().copied()).map(|note| format!("- {note}\n")).collect();
    format!("Command: `{}`. Machine: {}.\n\n{notes}", report.command, machine.join("; "))
}

/// Returns a table without the columns that are empty in all rows.
fn table(header: &[&str], rows: Vec<Vec<String>>) -> String {
    let used: Vec<usize> = (0..header.len())
        .filter(|&column| rows.iter().any(|row| !row[column].is_empty()))
        .collect();
    let line = |cell: &dyn Fn(usize) -> String| {
        let cells: Vec<String> =
            used.iter().map(|&column| cell(column).replace('|', "\\|")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let head = line(&|column| header[column].to_owned());
    let rule = format!("|{}\n", "---|".repeat(used.len()));
    let body = rows.iter().map(|row| line(&|column| row[column].clone()));
    iter::once(head + &rule).chain(body).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goals::judge;
    use crate::machine::Machine;
    use crate::report::tests::row;

    fn report() -> Report {
        Report {
            command: "cargo xtask bench --quick".to_owned(),
            machine: Machine::inspect(["fastbloom"].into_iter()),
            goals: judge(&[], &[]),
            rows: vec![row(), Row { floor: None, ..row() }],
        }
    }

    fn page(suite: &str, part: &str) -> String {
        format!("Before.\n\n<!-- bench {suite} {part} -->\nold\n{END}\n\nAfter.\n")
    }

    #[test]
    fn a_place_is_filled_and_the_text_around_it_stays() {
        let report = report();
        let (replaced, suites) = replace(&page("ours", "rows"), &report).unwrap();
        assert_eq!(suites, ["ours"]);
        let expected = "Before.\n\n<!-- bench ours rows -->\n\
            | case | operation | peer | ours | peer | ratio | err | peer | floor |\n|---|---|---|---|---|---|---|---|---|\n\
            | 64 B | hit | peer | 2.00 | 3.00 | 1.50 | 1.000 % | 2.000 % | 2.00 |\n\
            | 64 B | hit | peer | 2.00 | 3.00 | 1.50 | 1.000 % | 2.000 % |  |\n<!-- end -->\n\nAfter.\n";
        assert_eq!(replaced, expected);
        assert_eq!(
            replace(&replaced, &report).unwrap().0,
            expected,
            "the second time changes nothing"
        );
    }

    #[test]
    fn columns_without_a_figure_are_left_out() {
        let report = Report { rows: vec![Row { floor: None, quality: None, ..row() }], ..report() };
        let (replaced, _) = replace(&page("ours", "rows"), &report).unwrap();
        assert!(replaced.contains(
            "| case | operation | peer | ours | peer | ratio |\n|---|---|---|---|---|---|\n"
        ));
    }

    #[test]
    fn a_run_names_its_command_and_its_peers() {
        let (replaced, _) = replace(&page("ours", "run"), &report()).unwrap();
        for part in ["Command: `cargo xtask bench --quick`.", "fastbloom 0.17", "- hashes twice.\n"]
        {
            assert!(replaced.contains(part), "{part} in {replaced}");
        }
    }

    #[test]
    fn places_of_other_suites_stay() {
        let page = page("another", "rows");
        assert_eq!(replace(&page, &report()).unwrap(), (page, vec![]));
    }

    #[test]
    fn a_place_that_is_open_or_unknown_is_an_error() {
        let error = replace("<!-- bench ours rows -->\nold\n", &report()).unwrap_err();
        assert_eq!(error, "`<!-- bench ours rows -->` without `<!-- end -->`");
        let error = replace(&page("ours", "bars"), &report()).unwrap_err();
        assert_eq!(error, "`<!-- bench ours bars -->`: the part is run, rows or goals");
    }

    #[test]
    fn results_are_read_as_they_were_written() {
        let json = serde_json::to_string(&report()).unwrap().leak();
        let read: Report = serde_json::from_str(json).unwrap();
        assert_eq!(read.to_string(), report().to_string());
        let folder = std::env::temp_dir().join(format!("pds-pages-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let error = write(&read, &folder).unwrap_err().to_string();
        assert!(
            error.ends_with("no page has a line `<!-- bench SUITE rows -->` for ours"),
            "{error}"
        );
        fs::write(folder.join("ours.md"), page("ours", "rows")).unwrap();
        assert_eq!(write(&read, &folder).unwrap().len(), 1);
        assert!(write(&read, &folder).unwrap().is_empty(), "nothing to change");
        fs::remove_dir_all(folder).unwrap();
    }
}
