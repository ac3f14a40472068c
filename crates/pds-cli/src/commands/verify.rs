//! `pds verify`: whether files are undamaged.

use super::stored::{Bytes, wrong};
use crate::error::{Error, Result};
use crate::output::Output;
use clap::Args;
use pds::bytes::{Compressed, Envelope, Kind};
use pds::compare::HumanBytes;
use pds::error::{DecodeError, DecodeErrorKind};
use pds::{DynFilterView, DynSketch};
use std::path::{Path, PathBuf};

/// Verifies checksums, and all that a filter or sketch can check of itself.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Files to verify
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print nothing about files that are well
    #[arg(short, long)]
    quiet: bool,
}

/// Runs the command.
///
/// # Errors
/// If a file cannot be read, or is damaged. The others are verified, too.
pub(crate) fn run(options: &Options) -> Result<()> {
    let mut output = Output::new(None)?;
    let mut wrong = Vec::new();
    for path in &options.files {
        match verify(path) {
            Ok((kind, bytes)) if !options.quiet => {
                output.put(
                    format!("{}: {kind}, {}, well\n", path.display(), HumanBytes(bytes)).as_bytes(),
                )?;
            }
            Ok(_) => {}
            Err(Error::Message(message)) => wrong.push(message),
            Err(error) => return Err(error),
        }
    }
    output.finish()?;
    if wrong.is_empty() { Ok(()) } else { Err(Error::Message(wrong.join("\npds: "))) }
}

fn verify(path: &Path) -> Result<(Kind, u64)> {
    let bytes = Bytes::open(path)?;
    let of = |error| wrong(path, error);
    let envelope = Envelope::open(bytes.as_ref()).map_err(of)?;
    envelope.verify().map_err(of)?;
    let known = (envelope.header().kind, bytes.as_ref().len() as u64);
    if known.0 == Kind::COMPRESSED {
        Compressed::from_bytes(bytes.as_ref()).map_err(of)?;
        return Ok(known);
    }
    let sketch = DynSketch::from_bytes(bytes.as_ref()).map(drop);
    let filter = || DynFilterView::open(bytes).and_then(|view| view.verify());
    // What is neither has been verified by its checksums alone.
    let is_other = |error: &DecodeError| error.kind() == DecodeErrorKind::Kind;
    match sketch.or_else(|error| if is_other(&error) { filter() } else { Err(error) }) {
        Err(error) if !is_other(&error) => Err(of(error)),
        _ => Ok(known),
    }
}
