#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

extern crate alloc;

mod commands;
mod error;
mod input;
mod key;
mod line_set;
mod output;
mod parse;

use clap::{Arg, CommandFactory, FromArgMatches, Parser, Subcommand};
use commands::{
    build, check, convert, dedup, distinct, info, merge, params, serve_page, shell, similar, top,
    verify,
};
use error::{Error, Result};
use std::io::{self, Write};
use std::process::ExitCode;

/// Duplicates, distinct counts, frequent lines and filters, of files and streams of any size.
///
/// Exit status: 0 if all went well, 1 if `check` found no line, 2 on an error.
#[derive(Debug, Parser)]
#[command(name = "pds", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Dedup(dedup::Options),
    Distinct(distinct::Options),
    Top(top::Options),
    Similar(similar::Options),
    Build(build::Options),
    Check(check::Options),
    Info(info::Options),
    Verify(verify::Options),
    Merge(merge::Options),
    Convert(convert::Options),
    Params(params::Options),
    ServePage(serve_page::Options),
    #[command(hide = true)]
    Completions(shell::Completions),
    #[command(hide = true)]
    Man(shell::Manual),
}

fn main() -> ExitCode {
    let cli = match parse() {
        Ok(cli) => cli,
        Err(asked) => return print(&asked),
    };
    match run(cli.command) {
        Ok(code) => code,
        // The reader has seen enough, as in `pds dedup FILE | head`.
        Err(Error::BrokenPipe) => ExitCode::SUCCESS,
        Err(Error::Message(message)) => {
            output::tell(message);
            ExitCode::from(2)
        }
    }
}

/// Reads the arguments. A negative number is the value of its option, which says what it allows, and no option itself.
fn parse() -> clap::error::Result<Cli> {
    let negative = |option: Arg| {
        let takes_values = option.get_action().takes_values();
        if takes_values { option.allow_negative_numbers(true) } else { option }
    };
    let command = Cli::command().mut_subcommands(|each| each.mut_args(negative));
    Cli::from_arg_matches(&command.try_get_matches()?)
}

/// Prints what `--help` and `--version` ask for, or what is wrong with the arguments.
fn print(asked: &clap::Error) -> ExitCode {
    let printed = asked.print().and_then(|()| io::stdout().flush());
    match printed.map_err(|error| Error::writing("standard output", &error)) {
        Err(Error::Message(message)) => {
            output::tell(message);
            ExitCode::from(2)
        }
        _ => ExitCode::from(if asked.use_stderr() { 2 } else { 0 }),
    }
}

fn run(command: Command) -> Result<ExitCode> {
    match command {
        Command::Dedup(options) => dedup::run(&options),
        Command::Distinct(options) => distinct::run(&options),
        Command::Top(options) => top::run(&options),
        Command::Similar(options) => similar::run(&options),
        Command::Build(options) => build::run(&options),
        Command::Check(options) => return check::run(&options),
        Command::Info(options) => info::run(&options),
        Command::Verify(options) => verify::run(&options),
        Command::Merge(options) => merge::run(&options),
        Command::Convert(options) => convert::run(&options),
        Command::Params(options) => params::run(&options),
        Command::ServePage(options) => serve_page::run(&options),
        Command::Completions(options) => shell::completions(&options, Cli::command()),
        Command::Man(options) => shell::manual(&options, Cli::command()),
    }
    .map(|()| ExitCode::SUCCESS)
}
