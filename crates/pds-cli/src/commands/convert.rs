//! `pds convert`: the same structure in other bytes.

use super::stored::{Structure, save};
use crate::error::Result;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Writes a filter or a sketch in another form: compressed to send it, or plain to ask it where it lies.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pds convert seen.pds -o seen.pdsz --to compressed
  pds convert seen.pdsz -o seen.pds --to plain")]
pub(crate) struct Options {
    /// File to read, in any form
    #[arg(value_name = "FILE")]
    input: PathBuf,
    /// The file to write, which appears when it is complete
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The form to write
    #[arg(short, long, value_enum)]
    to: Form,
}

/// The forms that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// Portable bytes (docs/format.md): mapped and asked without a copy
    Plain,
    /// The fewest bytes that decode to the same structure: for filters that are not half full
    Compressed,
}

/// Runs the command.
///
/// # Errors
/// If the file holds no filter or sketch, or the other cannot be written.
pub(crate) fn run(options: &Options) -> Result<()> {
    let structure = Structure::load(&options.input)?;
    match options.to {
        Form::Plain => structure.save(&options.output),
        Form::Compressed => save(&structure.compressed(), &options.output),
    }
}
