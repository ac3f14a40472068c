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
    let read = bytes.as_ref();
    let of = |error| wrong(path, error);
    let envelope = Envelope::open(read).map_err(of)?;
    envelope.verify().map_err(of)?;
    let kind = envelope.header().kind;
    if kind == Kind::COMPRESSED {
        Compressed::from_bytes(read).map_err(of)?;
        return Ok((kind, read.len() as u64));
    }
    let as_filter = DynFilterView::open(read).and_then(|view| view.verify());
    let as_sketch = || DynSketch::from_bytes(read).map(drop);
    // What is neither has been verified by its checksums alone.
    let is_other = |error: &DecodeError| error.kind() == DecodeErrorKind::Kind;
    match as_filter.or_else(|error| if is_other(&error) { as_sketch() } else { Err(error) }) {
        Err(error) if !is_other(&error) => return Err(of(error)),
        _ => {}
    }
    Ok((kind, read.len() as u64))
}
