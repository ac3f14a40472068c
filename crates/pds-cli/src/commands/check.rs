//! `pds check`: which lines a filter contains.

use super::stored::{Limit, Stored, wrong};
use crate::error::Result;
use crate::input::Inputs;
use crate::output::Output;
use clap::Args;
use core::ops::ControlFlow;
use pds::compare::HumanCount;
use pds::hash::PortableHasher;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Prints the lines that a filter contains: those that are in the set, and others at the filter's rate.
///
/// Exit status, as that of grep: 0 if a line was printed, 1 if none was, 2 on an error. The filter is mapped: a key costs a few
/// pages of the file, whatever its size, and is not compared with its checksum; for lines the file is verified first.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pds check breached.pds -k 'correct horse'      && echo 'known to others'
  pds check seen.pds today.txt                   lines that came before
  pds check -v seen.pds today.txt                lines that are new for sure
  pds check -c -d ' ' -f 1 blocked.pds access.log")]
pub(crate) struct Options {
    /// File with a filter
    filter: PathBuf,
    /// Ask for this key instead of lines. May be repeated
    #[arg(short, long = "key", value_name = "KEY", conflicts_with_all = ["files", "csv", "json", "fields", "delimiter", "skip_bad"])]
    keys: Vec<OsString>,
    #[command(flatten)]
    inputs: Inputs,
    /// Print the lines that the filter does not contain: they are not in the set for sure
    #[arg(short = 'v', long)]
    invert: bool,
    /// Print how many lines there are
    #[arg(short, long, conflicts_with = "quiet")]
    count: bool,
    /// Print nothing, and end at the first line
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    limit: Limit,
}

/// Runs the command.
///
/// # Errors
/// If the file holds no filter, or an input cannot be read.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let mut output = Output::new(None)?;
    let mut work = options.inputs.work(&[])?.with_text_keys();
    if options.keys.is_empty() && options.filter == Path::new("-") && work.reads_stdin() {
        return Err("standard input cannot hold both the filter and the lines".into());
    }
    let terminator = work.terminator();
    let filter = Stored::open(&options.filter, options.limit)?.into_filter()?;
    if options.keys.is_empty() {
        // Bits that were lost would answer `no` for keys that are there. For one key a look at all of them costs too much.
        filter.verify().map_err(|error| wrong(&options.filter, error))?;
    }
    let prints = !options.count && !options.quiet;
    let mut found = 0_u64;
    if options.keys.is_empty() {
        if prints {
            work = work.passing_on_to(&output, true)?;
        }
        let (mut hashes, mut answers) = (Vec::new(), Vec::new());
        work.read_until(false, |batch, progress| {
            if let Some(header) = batch.header().filter(|_| prints) {
                output.put(header)?;
            }
            hashes.clear();
            let hash = |index| filter.hasher().hash_bytes(batch.key(index));
            hashes.extend((0..batch.len()).map(hash));
            answers.resize(hashes.len(), false);
            filter.contains_hash_batch(&hashes, &mut answers);
            answers.iter_mut().for_each(|answer| *answer ^= options.invert);
            found += answers.iter().filter(|&&is_found| is_found).count() as u64;
            if prints {
                batch.write_marked(&mut output, &answers)?;
            }
            progress.say(|| format!("{} found", HumanCount(found)));
            let is_known = options.quiet && found > 0;
            Ok(if is_known { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
    }
    for key in options.keys.iter().map(|key| key.as_encoded_bytes()) {
        if filter.contains_hash(filter.hasher().hash_bytes(key)) != options.invert {
            found += 1;
            if prints {
                output.put(key)?;
                output.put(&[terminator])?;
            }
        }
    }
    if options.count {
        output.put(format!("{found}\n").as_bytes())?;
    }
    output.finish()?;
    Ok(ExitCode::from(u8::from(found == 0)))
}
