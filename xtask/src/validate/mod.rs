//! `cargo xtask validate`: does every structure keep its promises?
//!
//! A run is a list of [`schedule::Job`]s that [`structures`] draws up from the [`grid`]; each measures and states the
//! law that its number must follow; [`judge`] turns all of them together into verdicts, and [`report`] shows them.

mod blocked;
mod bloom;
mod bounds;
mod cardinality;
mod constructors;
mod corpus;
mod counts;
mod coverage;
mod covering;
mod effort;
mod frequency;
mod grid;
mod identity;
mod judge;
mod keys;
mod measure;
mod proofs;
mod removal;
mod report;
mod sabotage;
mod sabotage_blocked;
mod sabotage_frequency;
mod sabotage_removal;
mod schedule;
mod signed;
mod structures;
mod subject;
#[cfg(test)]
mod tests;

use clap::Args;
use core::error::Error;
use corpus::Corpus;
use effort::Effort;
use report::Report;
use report::output::{Output, Render, write_all};
use sabotage::Fault;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// The seed of a run that names none.
const DEFAULT_SEED: u64 = 1;

/// Measures every structure and compares with what it promises; exit status 1 when a promise is broken.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// About a minute and a half on two cores, for rates down to 1e-4
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// Up to an hour on two cores: rates down to 1e-6, deviations of two per cent, filters beyond 2^32 bits
    #[arg(long)]
    full: bool,
    /// Validates this structure only
    #[arg(long, value_name = "NAME", value_parser = structures::names())]
    structure: Option<String>,
    /// Repeats the run that printed this number
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SEED)]
    seed: u64,
    /// Folder of real keys, by default `../shared/data` beside the workspace, or else a built-in sample
    ///
    /// Every file of it is a list of keys: text in UTF-8 with a key a line, a hundred different ones at least, of
    /// which the first 16 MiB are read. Hidden files and those whose names begin with README are left out.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Writes all rows as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Writes a report with plots, in one file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Validates a structure with this fault put in, to see the validator fail
    #[arg(long, value_name = "FAULT", value_enum)]
    sabotage: Option<Fault>,
}

impl Options {
    const fn effort(&self) -> Effort {
        match (self.quick, self.full) {
            (true, _) => Effort::Quick,
            (_, true) => Effort::Full,
            _ => Effort::Normal,
        }
    }

    /// A fault belongs to one structure, which need not be named.
    fn check(&self) -> Result<(), String> {
        match (self.sabotage, &self.structure) {
            (Some(fault), Some(name)) if name != fault.structure() => {
                Err(format!("{} is a fault of {}, not of {name}", fault.name(), fault.structure()))
            }
            _ => Ok(()),
        }
    }

    /// The files to write, opened.
    fn outputs(&self) -> Result<Vec<Output>, String> {
        let wanted: [(_, Render); 2] =
            [(&self.json, report::json::render), (&self.html, report::html::render)];
        let named = |(path, render): (&Option<PathBuf>, Render)| Some((path.clone()?, render));
        let opened = wanted.into_iter().filter_map(named);
        opened.map(|(path, render)| Output::open(path, render)).collect()
    }

    /// The command that repeats this run, without the files that it writes.
    fn command(&self) -> String {
        let mut words = vec!["cargo xtask validate".to_owned()];
        words.extend(self.quick.then(|| "--quick".to_owned()));
        words.extend(self.full.then(|| "--full".to_owned()));
        words.extend(self.structure.as_ref().map(|name| format!("--structure {name}")));
        words.extend(self.sabotage.map(|fault| format!("--sabotage {}", fault.name())));
        words.push(format!("--seed {}", self.seed));
        words.extend(self.data.as_ref().map(|folder| format!("--data {}", folder.display())));
        words.join(" ")
    }
}

/// What the jobs of a run share.
#[derive(Debug)]
struct Run {
    effort: Effort,
    seed: u64,
    corpus: Corpus,
}

/// Runs the validation and shows it.
///
/// # Errors
/// Before the run when the fault is none of the structure, the data folder cannot be read or a file of a report
/// cannot be opened; after it when one cannot be written.
pub(crate) fn run(options: &Options) -> Result<ExitCode, Box<dyn Error>> {
    options.check()?;
    let corpus = Corpus::load(options.data.as_deref())?;
    let outputs = options.outputs()?;
    let run = Run { effort: options.effort(), seed: options.seed, corpus };
    let start = Instant::now();
    let jobs = match options.sabotage {
        Some(fault) => fault.jobs(&run),
        None => structures::jobs(&run, options.structure.as_deref()),
    };
    let measurements = schedule::run(jobs);
    let report = Report::new(options.command(), &run, start.elapsed(), measurements);
    report::table::print(&report)?;
    write_all(outputs, &report)?;
    Ok(if report.broken() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
