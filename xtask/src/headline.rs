//! `cargo xtask headline`: the best-known figures of this field, measured here.

mod addresses;
mod contest;
mod distinct;
mod lookups;
mod textbook;

use crate::process::Outcome;
use clap::Args;
use comfy_table::{Table, presets};
use core::error::Error;
use pds_testkit::pipe;
use pds_testkit::stats::Median;
use serde::Serialize;
use std::fs;
use std::path::PathBuf;

/// Well-known figures of the field, each beside the figure measured here: memory, lookups, rates, errors.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Takes a tenth of the keys beyond the caches, and of the sketches: ten seconds.
    #[arg(long)]
    quick: bool,
    /// Writes the rows to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// A published figure and the figure measured here.
#[derive(Debug, Serialize)]
struct Row {
    /// The measured quantity, and the number of keys.
    case: String,
    /// The published figure.
    published: &'static str,
    /// Its source, if known.
    source: Option<&'static str>,
    /// The measured figure.
    measured: Figure,
}

/// The quantity of a row.
#[derive(Debug, Serialize)]
enum Figure {
    /// Memory of a structure, in bytes.
    Bytes(u64),
    /// Time of a lookup, in nanoseconds.
    Nanoseconds(Median),
    /// A ratio of speeds.
    TimesAsFast(Median),
    /// The share of absent keys that were answered `true`.
    Rate(f64),
    /// The root mean square of relative errors, and its own standard error.
    Error { value: f64, standard_error: f64 },
}

/// The rows of one topic.
type Rows = Result<Vec<Row>, Box<dyn Error>>;

/// In place of a figure that is not published.
const NONE: &str = "-";

/// Measures all figures and prints them.
///
/// # Errors
/// If a structure cannot be built, or the file cannot be written.
pub(crate) fn run(options: &Options) -> Outcome {
    let scale = if options.quick { 10 } else { 1 };
    let mut rows = Vec::new();
    for items in [10_000, 1_000_000] {
        rows.extend(addresses::rows(items)?);
    }
    for items in [50_000, 100_000_000 / scale] {
        rows.extend(lookups::rows(items)?);
    }
    for items in [100_000, 10_000_000] {
        rows.extend(distinct::rows(items, 400 * 100_000 / items.min(1_000_000) / scale)?);
    }
    pipe::print(format_args!("{}\n\n{}\n", table(&rows), sources(&rows)))?;
    if let Some(file) = &options.json {
        fs::write(file, serde_json::to_string_pretty(&rows)?)?;
    }
    Ok(())
}

/// Returns a published figure. If its source is known, it has the number of the source.
fn table(rows: &[Row]) -> String {
    let known = known(rows);
    let cells = |row: &Row| {
        let number = known.iter().position(|&source| Some(source) == row.source);
        let mark = number.map_or_else(String::new, |number| format!(" [{}]", number + 1));
        [row.case.clone(), format!("{}{mark}", row.published), row.measured.to_string()]
    };
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(["case", "published", "here"]);
    table.add_rows(rows.iter().map(cells)).to_string()
}

/// Returns the sources in the order in which rows name them.
fn known(rows: &[Row]) -> Vec<&'static str> {
    let mut known = Vec::new();
    for source in rows.iter().filter_map(|row| row.source) {
        if !known.contains(&source) {
            known.push(source);
        }
    }
    known
}

/// Returns the sources by their numbers, and a note about figures without one.
fn sources(rows: &[Row]) -> String {
    let known = (1..).zip(known(rows)).map(|(number, source)| format!("[{number}] {source}.\n"));
    known.collect::<String>()
        + "Published figures without a number go from text to text; their source is unknown."
}

impl core::fmt::Display for Figure {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Bytes(bytes) if *bytes < 1_000_000 => write!(f, "{:.1} kB", *bytes as f64 / 1e3),
            Self::Bytes(bytes) => write!(f, "{:.2} MB", *bytes as f64 / 1e6),
            Self::Nanoseconds(time) => write!(f, "{time} ns"),
            Self::TimesAsFast(ratio) => write!(f, "{ratio}x"),
            Self::Rate(rate) => write!(f, "{:.2} %", 100.0 * rate),
            Self::Error { value, standard_error } => {
                write!(f, "{:.2} ± {:.2} %", 100.0 * value, 100.0 * standard_error)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_has_its_rows() {
        let rows = [addresses::rows(1_000), lookups::rows(1_000), distinct::rows(50_000, 30)];
        let rows: Vec<Row> = rows.into_iter().flat_map(Result::unwrap).collect();
        let text = table(&rows);
        for part in [
            "HashSet<String>",
            "blocked",
            "cuckoo",
            "12,288 bytes",
            "| 5.3x  ",
            "[2]",
            " ns",
            " kB",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        for row in &rows {
            match row.measured {
                Figure::Rate(rate) => assert!((0.0..0.03).contains(&rate), "{row:?}"),
                Figure::Error { value, .. } => assert!((1e-3..0.1).contains(&value), "{row:?}"),
                Figure::Bytes(bytes) => assert!(bytes > 1_000, "{row:?}"),
                Figure::Nanoseconds(time) | Figure::TimesAsFast(time) => assert!(time.value > 0.0),
            }
        }
    }
}
