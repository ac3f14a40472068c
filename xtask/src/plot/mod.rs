//! `cargo xtask plot`: the pictures of the documents.

mod chart;
mod cluster;
mod lookups;
mod rates;
mod sizes;
mod table;

use crate::process::{Outcome, root};
pub(crate) use chart::drawing;
use chart::{Chart, THEMES, Theme};
use clap::Args;
use core::error::Error;
use std::fs;
use std::path::PathBuf;

/// Draws the pictures of the documents, each for a light and a dark background: `docs/images/NAME-light.svg` and `NAME-dark.svg`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Takes the measured rates from the results that `cargo xtask validate --json FILE` has written, and keeps them in
    /// docs/validation/rates.md
    #[arg(long, value_name = "FILE")]
    validation: Option<PathBuf>,
}

/// Writes all pictures.
///
/// # Errors
/// If a document cannot be read, or a picture cannot be written.
pub(crate) fn run(options: &Options) -> Outcome {
    if let Some(file) = &options.validation {
        let named = |error: Box<dyn Error>| format!("{}: {error}", file.display());
        let page = fs::read_to_string(file).map_err(Box::from).and_then(|json| rates::page(&json));
        fs::write(root().join("docs/validation/rates.md"), page.map_err(named)?)?;
    }
    for chart in charts()? {
        for theme in &THEMES {
            let path = path(&chart, theme);
            fs::write(&path, chart.draw(theme)?)?;
            eprintln!("wrote {}", path.display());
        }
    }
    Ok(())
}

fn charts() -> Result<[Chart; 4], Box<dyn Error>> {
    Ok([sizes::chart()?, rates::chart()?, lookups::chart()?, cluster::chart()?])
}

fn path(chart: &Chart, theme: &Theme) -> PathBuf {
    root().join(format!("docs/images/{}-{}.svg", chart.file, theme.name))
}

/// Returns the text of a document.
fn document(name: &str) -> Result<String, String> {
    fs::read_to_string(root().join("docs").join(name))
        .map_err(|error| format!("docs/{name}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pictures_are_what_the_command_draws() {
        for chart in charts().unwrap() {
            for theme in &THEMES {
                let committed = fs::read_to_string(path(&chart, theme)).unwrap();
                assert!(
                    chart.draw(theme).unwrap() == committed,
                    "{}: run `cargo xtask plot`",
                    path(&chart, theme).display()
                );
            }
        }
    }
}
