//! The report for a browser: one file without references to others, readable on a telephone.

use super::plot;
use super::table::{HEADER, cells};
use super::{Report, count, number};
use crate::validate::judge::{Row, Verdict};
use core::error::Error;
use core::fmt::Write;
use std::fs;
use std::path::Path;

/// Writes the report.
///
/// # Errors
/// When a plot cannot be drawn or the file cannot be written.
pub(crate) fn write(report: &Report, file: &Path) -> Result<(), Box<dyn Error>> {
    fs::write(file, page(report)?)?;
    Ok(())
}

fn page(report: &Report) -> Result<String, Box<dyn Error>> {
    let mut sections = String::new();
    for group in report.groups() {
        sections += &section(group)?;
    }
    let class = if report.broken() == 0 { "kept" } else { "broken" };
    Ok(format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Validation of pds {version}</title>\n<style>\n{style}</style>\n<main>\n\
         <h1>Validation of pds {version}</h1>\n<p class=\"verdict {class}\">{verdict}</p>\n\
         {facts}\n{sections}</main>\n</html>\n",
        version = report.version,
        style = include_str!("style.css"),
        verdict = escape(&report.verdict()),
        facts = facts(report),
    ))
}

fn facts(report: &Report) -> String {
    format!(
        "<p>Each dot is a measurement, each bar the range that agrees with the prediction. All bars together are so \
         wide that a library without a fault leaves one of them once in {runs} runs. A row is <em>weak</em> when \
         its bar could hide a deviation of a tenth: it proves nothing.</p>\n\
         <dl><dt>To repeat</dt><dd><code>{command}</code></dd>\
         <dt>Real keys</dt><dd>{keys}</dd><dt>Time</dt><dd>{seconds:.0} s</dd></dl>",
        runs = number(1.0 / report.false_alarm),
        command = escape(&report.command),
        keys = escape(&report.real_keys),
        seconds = report.seconds,
    )
}

/// One check: what it means, its plot, its rows.
fn section(group: &[Row]) -> Result<String, Box<dyn Error>> {
    let check = group[0].check;
    let plot = if group[0].is_statistical() {
        format!("<div class=\"wide\">{}</div>\n", plot::draw(group)?)
    } else {
        String::new()
    };
    Ok(format!(
        "<section>\n<h2>{title}</h2>\n<p>{meaning} {tally}</p>\n{plot}\
         <details><summary>All rows</summary><div class=\"wide\">{table}</div></details>\n</section>\n",
        title = escape(check.title()),
        meaning = escape(check.meaning()),
        tally = tally(group),
        table = table(group),
    ))
}

fn tally(group: &[Row]) -> String {
    let [kept, weak, broken] =
        [Verdict::Kept, Verdict::Weak, Verdict::Broken].map(|verdict| count(group, verdict));
    format!("<b>{kept} kept, {weak} weak, {broken} broken.</b>")
}

fn table(group: &[Row]) -> String {
    let mut table = String::from("<table><thead><tr>");
    for title in HEADER {
        table += &format!("<th>{title}</th>");
    }
    table += "</tr></thead><tbody>\n";
    for row in group {
        let _ = write!(table, "<tr class=\"{}\">", plot::class(row.verdict));
        for cell in cells(row) {
            let _ = write!(table, "<td>{}</td>", escape(&cell));
        }
        table += "</tr>\n";
    }
    table + "</tbody></table>"
}

/// Makes text harmless inside HTML.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(escape("<a href=\"x\">&"), "&lt;a href=&quot;x&quot;&gt;&amp;");
    }
}
