//! `cargo xtask validate`: does every structure keep its promises?
//!
//! A run is a list of [`schedule::Job`]s, which every structure of the registry in [`structures`] makes. Each job
//! measures, and states the law that its number must follow. [`judge`] turns all numbers together into verdicts, and
//! [`report`] shows them.

mod alike;
mod blocked;
mod bloom;
mod cardinality;
mod constructors;
mod corpus;
mod counting;
mod counts;
mod coverage;
mod covering;
mod cuckoo;
mod durable;
mod effort;
mod errors;
mod fingerprints;
mod formats;
mod frequency;
mod fuse;
mod grid;
mod identity;
mod judge;
mod keys;
mod many;
mod measure;
mod membership;
mod proofs;
mod quotient;
mod random;
mod removal;
mod report;
mod scalable;
mod schedule;
mod similarity;
mod structures;
mod subject;
#[cfg(test)]
mod tests;
mod theta;
mod transfer;
mod window;

/// The names that the modules of structures have in common.
mod prelude {
    pub(crate) use super::Run;
    pub(crate) use super::coverage::{AS_STATED, Answer, Asked, COVERAGE, Intervals, NARROW};
    pub(crate) use super::judge::{Case, Check, Interval, Law, Measurement};
    pub(crate) use super::measure::Rates;
    pub(crate) use super::measure::{FALSE_POSITIVES, LOST_KEYS, MEAN_RATE, PROMISE, SET_BITS};
    pub(crate) use super::random::{Random, first, label, next, some};
    pub(crate) use super::schedule::Job;
    pub(crate) use super::structures::{Fault, Structure, fault};
    pub(crate) use crate::numbers::{index, mean_and_variance, real, whole};
    pub(crate) use pds_testkit::keys;
}

use clap::Args;
use core::error::Error;
use corpus::Corpus;
use effort::Effort;
pub(crate) use measure::PROMISE as RATE_OF_PROMISE;
use report::Report;
use report::output::{Output, Render, write_all};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;
use structures::{Fault, Structure};

/// The seed of a run that names none.
const DEFAULT_SEED: u64 = 1;

/// Measures every structure and compares with what it promises.
///
/// The exit status is 1 when a promise is broken. With an injected fault, it is 1 when every check that the fault must
/// break is broken.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// One or two minutes on two cores, for rates down to 1e-4
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// Hours on two cores: rates down to 1e-6, deviations of two per cent, filters beyond 2^32 bits
    #[arg(long)]
    full: bool,
    /// Validates this structure only
    #[arg(long, value_name = "NAME", value_parser = structures::structure_parser())]
    structure: Option<&'static Structure>,
    /// Repeats the run that printed this number
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SEED)]
    seed: u64,
    /// Folder of real keys, by default `../shared/data` beside the workspace, or else a built-in sample
    ///
    /// Every file of it is a list of keys: text in UTF-8 with one key per line, and at least a hundred different
    /// ones. The first 16 MiB are read. Hidden files and those whose names begin with README are left out.
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Writes all rows as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Writes a report with plots, in one file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Validates a structure with this fault injected, to see the validator fail
    ///
    /// Without `--quick` and `--full`, the run takes the least effort that sees the fault.
    #[arg(long, value_name = "FAULT", value_parser = structures::fault_parser())]
    inject: Option<&'static Fault>,
    /// Prints the time that each check of each structure took
    #[arg(long)]
    timings: bool,
}

impl Options {
    fn effort(&self) -> Effort {
        match (self.quick, self.full) {
            (true, _) => Effort::Quick,
            (_, true) => Effort::Full,
            _ => self.inject.map_or(Effort::Normal, |fault| fault.effort),
        }
    }

    /// Refuses a fault of another structure, and an effort that cannot see the fault.
    fn check(&self) -> Result<(), String> {
        let Some(fault) = self.inject else { return Ok(()) };
        let (owner, effort) = (fault.structure().name, self.effort());
        match self.structure {
            Some(Structure { name, .. }) if *name != owner => {
                Err(format!("{} is a fault of {owner}, not of {name}", fault.name))
            }
            _ if effort < fault.effort => Err(format!(
                "{} cannot see {}: it takes {}",
                effort.option(),
                fault.name,
                fault.effort.option()
            )),
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
        words.extend(self.structure.map(|one| format!("--structure {}", one.name)));
        words.extend(self.inject.map(|fault| format!("--inject {}", fault.name)));
        words.push(format!("--seed {}", self.seed));
        words.extend(self.data.as_ref().map(|folder| format!("--data {}", folder.display())));
        words.join(" ")
    }
}

/// The context that the jobs of a run share.
#[derive(Debug)]
pub(crate) struct Run {
    effort: Effort,
    seed: u64,
    corpus: Corpus,
}

/// Runs the validation and shows it.
///
/// # Errors
/// Before the run when the fault is not one of the structure, the effort cannot see it, the data folder cannot be read or
/// a file of a report cannot be opened; after it when one cannot be written.
pub(crate) fn run(options: &Options) -> Result<ExitCode, Box<dyn Error>> {
    options.check()?;
    let corpus = Corpus::load(options.data.as_deref())?;
    let outputs = options.outputs()?;
    let run = Run { effort: options.effort(), seed: options.seed, corpus };
    let start = Instant::now();
    let jobs = match options.inject {
        Some(fault) => (fault.jobs)(&run),
        None => structures::jobs(&run, options.structure),
    };
    let done = schedule::run(jobs);
    let elapsed = start.elapsed();
    if options.timings {
        report::timings::print(&done)?;
    }
    let measurements = done.into_iter().flat_map(|done| done.measurements).collect();
    let report = Report::new(options.command(), &run, elapsed, measurements);
    report::table::print(&report)?;
    write_all(outputs, &report)?;
    let fails = match options.inject {
        Some(fault) => {
            let missed = report.missed(fault);
            missed
                .iter()
                .for_each(|check| println!("{} did not break: {}", fault.name, check.title));
            missed.is_empty()
        }
        None => report.broken() > 0,
    };
    Ok(if fails { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
