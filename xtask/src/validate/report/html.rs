//! The report for a browser: one file without references to others, readable on a telephone.

use super::plot;
use super::table::{HEADER, cells};
use super::{Report, about, count};
use crate::process::capture;
use crate::validate::judge::{Row, Verdict};
use crate::validate::structures::title;
use core::error::Error;
use core::fmt::Write;
use pds::compare::HumanCount;
use pds_testkit::page::{self, escape};
use std::process::Command;

/// The report as a page.
///
/// # Errors
/// When a plot cannot be drawn.
pub(crate) fn render(report: &Report) -> Result<String, Box<dyn Error>> {
    let structures = report.structures();
    let mut sections = String::new();
    for (name, rows) in &structures {
        sections += &section(name, rows)?;
    }
    let class = if report.broken() == 0 { "kept" } else { "broken" };
    let body = format!(
        "<p class=\"verdict {class}\">{verdict}</p>\n{broken}{overview}{reading}{sections}{facts}",
        verdict = escape(&report.verdict()),
        broken = broken(report),
        overview = overview(&structures),
        reading = reading(report),
        facts = facts(report),
    );
    Ok(page::page(&format!("Validation of pds {}", report.version), &body))
}

/// The rows of broken promises, where there are any: they come before everything else.
fn broken(report: &Report) -> String {
    let broken = || report.rows.iter().filter(|row| row.verdict == Verdict::Broken);
    if broken().next().is_none() { String::new() } else { wide(&table(broken())) }
}

/// A line for each structure: how many promises, and how they stand.
fn overview(structures: &[(&str, Vec<&Row>)]) -> String {
    let mut table = String::from(
        "<thead><tr><th>structure<th>promises<th>kept<th>weak<th>wide<th>broken</thead>\n",
    );
    for (name, rows) in structures {
        let [kept, weak, wider, broken] = tally(rows);
        let class = if broken > 0 { "broken" } else { "" };
        let _ = writeln!(
            table,
            "<tr class=\"{class}\"><td><a href=\"#{id}\">{title}</a><td>{all}<td>{kept}<td>{weak}<td>{wider}<td>{broken}",
            id = id(name),
            title = escape(title(name)),
            all = kept + weak + broken,
        );
    }
    wide(&format!("<table>{table}</table>"))
}

fn reading(report: &Report) -> String {
    format!(
        "<p>Each dot is a measurement, as a deviation from its prediction; each bar is the range that agrees with the \
         prediction. All bars together are so wide that a library without a fault leaves one of them once in {runs} \
         runs. A row is <em>weak</em> when its bar could hide a deviation of a tenth: it proves nothing. An interval \
         is <em>wide</em> when it holds the truth more often than it states.</p>\n",
        runs = HumanCount(format!("{:.0}", 1.0 / report.false_alarm).parse().unwrap_or_default()),
    )
}

/// One structure: what was tried, its exact checks, its plots.
fn section(name: &str, rows: &[&Row]) -> Result<String, Box<dyn Error>> {
    let (mut exact, mut plots) = (String::new(), String::new());
    for group in rows.chunk_by(|left, right| left.check == right.check) {
        // Chance may have a part in some rows only: what no key or one key gives is known.
        let drawn: Vec<&Row> = group.iter().copied().filter(|row| row.is_statistical()).collect();
        if drawn.is_empty() {
            let _ = writeln!(exact, "<article>{}{}</article>", heading(group), all(group));
        } else {
            let plot = plot::draw(&drawn)?;
            let _ = writeln!(plots, "<article>{}{plot}{}</article>", heading(group), all(group));
        }
    }
    Ok(format!(
        "<section id=\"{id}\">\n<h2>{title}</h2>\n<p>{tried}</p>\n<div class=\"grid\">\n{plots}</div>\n\
         <div class=\"grid\">\n{exact}</div>\n</section>\n",
        id = id(name),
        title = escape(title(name)),
        tried = escape(&tried(rows)),
    ))
}

/// A check: what it is called, what it means, how it went.
fn heading(group: &[&Row]) -> String {
    let (check, [kept, weak, wider, broken]) = (group[0].check, tally(group));
    let mut verdicts = format!("{kept} kept");
    for (number, name) in [(weak, "weak"), (wider, "wide"), (broken, "broken")] {
        if number > 0 {
            let _ = write!(verdicts, ", {number} {name}");
        }
    }
    format!(
        "<h3>{title}: {verdicts}</h3>\n<p>{meaning}</p>\n",
        title = headline(check.title),
        meaning = escape(check.meaning),
    )
}

/// A title as it begins a line: the name of a method stays as it is written.
fn headline(title: &str) -> String {
    let title = escape(title);
    if title.contains('_') {
        return format!("<code>{title}</code>");
    }
    let end = title.chars().next().map_or(0, char::len_utf8);
    title[..end].to_uppercase() + &title[end..]
}

/// Returns a sentence about the designs that a structure was tried with.
fn tried(rows: &[&Row]) -> String {
    let (items, rates) = (span(rows, |row| row.case.items), span(rows, |row| row.case.rate));
    format!(
        "Tried with {} to {} keys, rates or errors of {} to {}; keys: {}; hashers: {}.",
        HumanCount(items.0),
        HumanCount(items.1),
        about(rates.0),
        about(rates.1),
        listed(rows, |row| row.case.keys),
        listed(rows, |row| row.case.hasher),
    )
}

fn span<T: PartialOrd + Copy>(rows: &[&Row], of: impl Fn(&Row) -> T) -> (T, T) {
    rows.iter().map(|row| of(row)).fold((of(rows[0]), of(rows[0])), |(low, high), value| {
        (if value < low { value } else { low }, if value > high { value } else { high })
    })
}

/// Every name once, in alphabetical order.
fn listed(rows: &[&Row], of: impl Fn(&Row) -> &'static str) -> String {
    let mut names: Vec<_> = rows.iter().map(|row| of(row)).collect();
    names.sort_unstable();
    names.dedup();
    names.join(", ")
}

/// Returns the facts that are needed to repeat the run.
fn facts(report: &Report) -> String {
    let compiler = capture(Command::new("rustc").arg("--version"));
    format!(
        "<section>\n<h2>To repeat</h2>\n<dl><dt>Command</dt><dd><code>{command}</code></dd>\
         <dt>Seed</dt><dd>{seed}</dd><dt>Version</dt><dd>pds {version}, {compiler}</dd>\
         <dt>Machine</dt><dd>{arch}, {os}</dd>\
         <dt>Real keys</dt><dd>{keys}</dd><dt>Day</dt><dd>{date}, {seconds:.0} s</dd></dl>\n</section>\n",
        command = escape(&report.command),
        seed = report.seed,
        version = report.version,
        compiler = escape(compiler.as_deref().unwrap_or("an unknown compiler").trim()),
        arch = std::env::consts::ARCH,
        os = std::env::consts::OS,
        keys = escape(&report.real_keys),
        date = report.date,
        seconds = report.seconds,
    )
}

fn tally(rows: &[&Row]) -> [usize; 4] {
    [Verdict::Kept, Verdict::Weak, Verdict::Wide, Verdict::Broken]
        .map(|verdict| count(rows.iter().copied(), verdict))
}

/// All rows of a check, folded away.
fn all(group: &[&Row]) -> String {
    let table = wide(&table(group.iter().copied()));
    format!("<details><summary>All {} rows</summary>{table}</details>", group.len())
}

fn table<'a>(rows: impl Iterator<Item = &'a Row>) -> String {
    let mut table = String::from("<table class=\"rows\"><thead><tr>");
    for title in HEADER {
        let _ = write!(table, "<th>{title}");
    }
    table += "</thead>\n";
    for row in rows {
        let _ = write!(table, "<tr class=\"{}\">", format!("{:?}", row.verdict).to_lowercase());
        for cell in cells(row) {
            let _ = write!(table, "<td>{}", escape(&cell));
        }
        table += "\n";
    }
    table + "</table>"
}

/// Something that may be wider than the window, which then scrolls alone.
fn wide(content: &str) -> String {
    format!("<div class=\"wide\">{content}</div>\n")
}

fn id(name: &str) -> String {
    name.replace(' ', "-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::judge::{Case, Check, Law, Measurement};
    use crate::validate::measure::{FALSE_POSITIVES, LOST_KEYS};

    const LAW: Law = Law::Events { trials: 1_000_000, low: 0.01, high: 0.01 };

    fn measured(structure: &'static str, check: Check, law: Law, observed: f64) -> Measurement {
        Case::random(structure, 1_000, 0.01, "k 7").row(check, law, observed, 1e4)
    }

    fn report(observed: f64) -> Report {
        Report::of(vec![
            measured("bloom", LOST_KEYS, Law::Exactly(0.0), 0.0),
            measured("cuckoo", FALSE_POSITIVES, LAW, 9_990.0),
            measured("bloom", FALSE_POSITIVES, LAW, observed),
        ])
    }

    #[test]
    fn the_verdict_comes_first_and_every_structure_has_its_plots() {
        let page = render(&report(10_010.0)).unwrap();
        let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text} is missing"));
        let verdict = place("3 of 3 promises kept");
        assert!(
            verdict < place("<table>") && place("<table>") < place("<h2>Standard Bloom filter")
        );
        assert!(place("<h2>Standard Bloom") < place("<h2>Cuckoo"));
        assert_eq!(page.matches("<svg").count(), 2, "one for each check that chance has a part in");
        assert_eq!(page.matches("<td>k 7").count(), 3, "every row is there, once");
        assert!(
            page.contains("--seed 7") && page.contains("pds 1.2.3") && page.contains("2026-02-28")
        );
    }

    #[test]
    fn rows_without_chance_hide_no_plot() {
        let page = render(&Report::of(vec![
            measured("bloom", FALSE_POSITIVES, Law::Exactly(0.0), 0.0),
            measured("bloom", FALSE_POSITIVES, LAW, 10_010.0),
        ]));
        let page = page.unwrap();
        assert_eq!(page.matches("<svg").count(), 1);
        assert!(page.contains("All 2 rows"));
    }

    #[test]
    fn broken_promises_stand_right_below_the_verdict() {
        let page = render(&report(20_000.0)).unwrap();
        let verdict = page.find("1 of 3 promises broken").unwrap();
        let row = page.find("<tr class=\"broken\">").unwrap();
        assert!(verdict < row && row < page.find("<a href=\"#bloom\">").unwrap());
        assert_eq!(page.matches("<td>k 7").count(), 4, "the broken one twice");
    }
}
