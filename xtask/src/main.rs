#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

extern crate alloc;

mod bench;
mod check;
mod headline;
mod params;
mod plot;
mod process;
mod room;
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
    Bench(bench::Options),
    Check(check::Options),
    Params(params::Options),
    Room(room::Options),
    Headline(headline::Options),
    Plot(plot::Options),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Validate(options) => validate::run(&options),
        Command::Bench(options) => bench::run(&options).map(|()| ExitCode::SUCCESS),
        Command::Check(options) => check::run(&options).map(|()| ExitCode::SUCCESS),
        Command::Params(options) => params::run(&options).map(|()| ExitCode::SUCCESS),
        Command::Room(options) => room::run(&options).map(|()| ExitCode::SUCCESS),
        Command::Headline(options) => headline::run(&options).map(|()| ExitCode::SUCCESS),
        Command::Plot(options) => plot::run(&options).map(|()| ExitCode::SUCCESS),
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}
