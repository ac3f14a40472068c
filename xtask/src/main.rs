#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

extern crate alloc;

mod capacity;
mod check;
mod numbers;
mod passed;
mod plot;
mod process;
mod validate;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// The project's own tool.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Validate(validate::Options),
    /// Measures structures against peers. All options go to `pds-benches`; its `--help` lists them.
    #[command(disable_help_flag = true)]
    Bench(passed::Options),
    Check(check::Options),
    /// Sizes, error rates and a choice of structure. All options go to `pds params`; its `--help` lists them.
    #[command(disable_help_flag = true)]
    Params(passed::Options),
    Capacity(capacity::Options),
    Plot(plot::Options),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Validate(options) => validate::run(&options),
        Command::Bench(options) => {
            options.run("--release --package pds-benches --").map(|()| ExitCode::SUCCESS)
        }
        Command::Check(options) => check::run(&options).map(|()| ExitCode::SUCCESS),
        Command::Params(options) => {
            options.run("--package pds-cli -- params").map(|()| ExitCode::SUCCESS)
        }
        Command::Capacity(options) => capacity::run(&options).map(|()| ExitCode::SUCCESS),
        Command::Plot(options) => plot::run(&options).map(|()| ExitCode::SUCCESS),
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}
