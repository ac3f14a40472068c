//! Command that prints one table of every operation against every peer, and the goals.

#![forbid(unsafe_code)]

use core::error::Error;
use core::fmt::Display;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Parser;
use pds_benches::SUITES;
use pds_benches::goals::judge;
use pds_benches::machine::Machine;
use pds_benches::report::{Report, Row, markdown};
use pds_benches::suite::{Bench, Effort, Suite};
use pds_testkit::pipe;

/// Times every structure against its peers, side by side in one process.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask bench", version)]
struct Arguments {
    /// Measures fewer pairs: the least number that a goal is judged by.
    #[arg(long, conflicts_with = "full")]
    quick: bool,

    /// Measures more pairs, and structures beyond the caches. `bloom` alone takes five minutes, and `blocked` 20 GiB of
    /// memory.
    #[arg(long)]
    full: bool,

    /// Measures only the structures with these names.
    #[arg(long, value_name = "NAME", value_parser = SUITES.iter().map(|suite| suite.name).collect::<Vec<_>>())]
    structure: Vec<String>,

    /// Reads results that `--json` has written, and measures nothing.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["quick", "full", "structure", "json"])]
    read: Option<PathBuf>,

    /// Writes all rows, goals and the machine to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Replaces the tables of the measured structures in the pages of this folder, such as docs/performance.
    #[arg(long, value_name = "FOLDER")]
    markdown: Option<PathBuf>,
}

impl Arguments {
    const fn effort(&self) -> Effort {
        match (self.quick, self.full) {
            (true, _) => Effort::Quick,
            (_, true) => Effort::Full,
            _ => Effort::Normal,
        }
    }

    /// Returns the command that repeats the run, without the files that it writes.
    fn command(&self) -> String {
        let mut words = vec!["cargo xtask bench".to_owned()];
        words.extend(self.quick.then(|| "--quick".to_owned()));
        words.extend(self.full.then(|| "--full".to_owned()));
        words.extend(self.structure.iter().map(|name| format!("--structure {name}")));
        words.join(" ")
    }

    fn suites(&self) -> Vec<&'static Suite> {
        let all = self.structure.is_empty();
        let wanted = |suite: &&Suite| all || self.structure.iter().any(|name| name == suite.name);
        SUITES.iter().filter(wanted).collect()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    if cfg!(debug_assertions) {
        eprintln!("this build is not optimised, so its figures mean nothing: use --release");
    }
    // The file is opened before the run, so that a wrong path does not cost an hour.
    let json = arguments.json.as_deref().map(|path| named(path, File::create(path))).transpose()?;
    let report = match &arguments.read {
        // The names in it are borrowed from the text, which stays until the end of the process.
        Some(path) => {
            let text = named(path, fs::read_to_string(path))?;
            named(path, serde_json::from_str(text.leak()))?
        }
        None => measured(&arguments)?,
    };
    pipe::print(&report)?;
    if let (Some(path), Some(mut file)) = (&arguments.json, json) {
        named(path, file.write_all(serde_json::to_string_pretty(&report)?.as_bytes()))?;
    }
    if let Some(folder) = &arguments.markdown {
        let changed = markdown::write(&report, folder)?;
        changed.iter().for_each(|page| eprintln!("wrote {page}"));
    }
    Ok(())
}

fn measured(arguments: &Arguments) -> Result<Report, Box<dyn Error>> {
    let suites = arguments.suites();
    let rows = measure(&suites, arguments.effort())?;
    Ok(Report {
        command: arguments.command(),
        machine: Machine::inspect(rows.iter().map(|row| row.peer)),
        goals: judge(&suites, &rows),
        rows,
    })
}

/// Adds the name of a file to an error.
fn named<T, E: Display>(path: &Path, result: Result<T, E>) -> Result<T, String> {
    result.map_err(|error| format!("{}: {error}", path.display()))
}

fn measure(suites: &[&Suite], effort: Effort) -> Result<Vec<Row>, Box<dyn Error>> {
    let mut rows = Vec::new();
    for suite in suites {
        let (start, before) = (Instant::now(), rows.len());
        let mut take = |row: Row| {
            let Row { structure, case, operation, peer, ratio, .. } = &row;
            let seconds = start.elapsed().as_secs_f64();
            eprintln!("{seconds:>5.0} s  {structure} {case}, {operation} against {peer}: {ratio}");
            rows.push(row);
        };
        (suite.run)(&mut Bench::new(suite.name, effort, &mut take))?;
        if rows.len() == before {
            eprintln!("         {} has rows only with --full", suite.name);
        }
    }
    Ok(rows)
}
