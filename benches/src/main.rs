//! Prints one table of every operation against every peer, and what was to be reached.

#![forbid(unsafe_code)]

use core::error::Error;
use std::fs;
use std::path::PathBuf;

use clap::Parser;
use pds_benches::SUITES;
use pds_benches::goals::judge;
use pds_benches::machine::Machine;
use pds_benches::membership::Suite;
use pds_benches::report::{Report, Row, size};

/// Sizes of filters, in bytes: inside of the innermost caches, inside of the outer ones, beyond all.
const SMALL: u64 = 64 << 10;
const MEDIUM: u64 = 8 << 20;
const LARGE: u64 = 1 << 30;

/// Times every structure against its peers, side by side in one process.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Fewer pairs: a preliminary figure.
    #[arg(long, conflicts_with = "full")]
    quick: bool,

    /// More pairs, and filters of 1 GiB: takes minutes and about 6 GiB of memory.
    #[arg(long)]
    full: bool,

    /// Only the structure of this name.
    #[arg(long, value_name = "NAME", value_parser = names())]
    structure: Option<String>,

    /// Writes all rows, goals and the machine to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Arguments {
    /// How many pairs, at least the fifteen of the rule; odd, so that the median is one of them.
    const fn pairs(&self) -> usize {
        match (self.quick, self.full) {
            (true, _) => 15,
            (_, true) => 51,
            _ => 31,
        }
    }

    const fn sizes(&self) -> &'static [u64] {
        if self.full { &[SMALL, MEDIUM, LARGE] } else { &[SMALL, MEDIUM] }
    }

    fn suites(&self) -> Vec<&'static Suite> {
        let wanted =
            |suite: &Suite| self.structure.as_deref().is_none_or(|name| name == suite.name);
        SUITES.iter().copied().filter(|suite| wanted(suite)).collect()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    if cfg!(debug_assertions) {
        eprintln!("this build is not optimised: its figures mean nothing; run it with --release");
    }
    let suites = arguments.suites();
    let rows = measure(&suites, &arguments)?;
    let peers = suites.iter().flat_map(|suite| suite.peers).map(|peer| peer.name);
    let report = Report { machine: Machine::inspect(peers), goals: judge(&suites, &rows), rows };
    print!("{report}");
    if let Some(path) = &arguments.json {
        fs::write(path, serde_json::to_string_pretty(&report)?)?;
    }
    Ok(())
}

fn names() -> Vec<&'static str> {
    SUITES.iter().map(|suite| suite.name).collect()
}

fn measure(suites: &[&Suite], arguments: &Arguments) -> Result<Vec<Row>, Box<dyn Error>> {
    let mut rows = Vec::new();
    for suite in suites {
        for &bytes in arguments.sizes() {
            eprintln!("{} of {}: filling", suite.name, size(bytes));
            suite.run(bytes, arguments.pairs(), |row| {
                eprintln!(
                    "{} of {}: {} against {}",
                    suite.name,
                    size(bytes),
                    row.operation,
                    row.peer
                );
                rows.push(row);
            })?;
        }
    }
    Ok(rows)
}
