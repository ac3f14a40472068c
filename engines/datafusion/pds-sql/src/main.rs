#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod failure;
mod shell;
mod tables;

use std::io::{self, IsTerminal, Read, Write};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use datafusion_cli::print_format::PrintFormat;
use datafusion_cli::print_options::MaxRows;

use failure::{Failure, Result};
use shell::Shell;
use tables::Tables;
use tokio::runtime::Runtime;

/// SQL with sketches and filters over files.
///
/// Every file is a table of its name: `views.parquet` is the table `views`. Exit status: 0 if all went well, 1 if a query
/// failed, 2 if the arguments or a file are wrong.
#[derive(Debug, Parser)]
#[command(name = "pds-sql", version)]
struct Args {
    /// Statements of SQL, with `;` between them. With `-` or without SQL they come from standard input; a terminal gets a shell
    sql: Option<String>,

    /// Files in Parquet, CSV, TSV or JSON lines, the last three also compressed (.gz, .bz2, .xz, .zst)
    files: Vec<PathBuf>,

    /// Format of the results
    #[arg(long, value_enum, default_value_t = PrintFormat::Table)]
    format: PrintFormat,

    /// Number of rows that a table shows, or `none` for all of them; other formats show all rows
    #[arg(long, default_value = "40")]
    maxrows: MaxRows,
}

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(asked) => return show(&asked),
    };
    match run_guarded(args) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader has seen enough, as in `pds-sql 'SELECT ...' FILE | head`.
        Err(Failure::BrokenPipe) => ExitCode::SUCCESS,
        Err(Failure::Message { status, text }) => {
            // If nobody can read it, nothing is lost but the message.
            let _ = writeln!(io::stderr(), "pds-sql: {text}");
            ExitCode::from(status)
        }
    }
}

/// Prints what `--help` and `--version` ask for, or what is wrong with the arguments.
fn show(asked: &clap::Error) -> ExitCode {
    let _ = asked.print();
    ExitCode::from(if asked.use_stderr() { 2 } else { 0 })
}

/// Runs the statements. A panic inside of DataFusion, which damaged files can cause, is an error.
fn run_guarded(args: Args) -> Result<()> {
    panic::set_hook(Box::new(|_| {}));
    let runtime = Runtime::new().map_err(|error| Failure::usage(error.to_string()))?;
    let done = panic::catch_unwind(AssertUnwindSafe(|| runtime.block_on(run(args))));
    done.unwrap_or_else(|panic| Err(Failure::fault(&*panic)))
}

async fn run(args: Args) -> Result<()> {
    let sql = args.sql.filter(|sql| sql != "-");
    if let Some(file) = sql.as_deref().filter(|sql| Path::new(sql).exists()) {
        return Err(Failure::usage(format!(
            "`{file}` is a file, and the SQL comes before the files; `-` in place of SQL starts a shell"
        )));
    }
    let tables = Tables::of_files(args.files)?;
    let mut shell = Shell::new(args.format, args.maxrows)?;
    tables.register(shell.session()).await?;
    match sql {
        Some(sql) => shell.run(sql, &tables).await,
        None if io::stdin().is_terminal() => shell.interact(&tables).await,
        None => {
            let mut script = String::new();
            let read = io::stdin().read_to_string(&mut script);
            read.map_err(|error| Failure::usage(format!("standard input: {error}")))?;
            shell.run(script, &tables).await
        }
    }
}
