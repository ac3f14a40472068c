//! `pds check`: which lines a filter contains.

use super::stored;
use crate::error::Result;
use crate::input::Inputs;
use crate::key::Key;
use crate::output::Output;
use clap::Args;
use pds::hash::KeyHasher;
use std::path::PathBuf;
use std::process::ExitCode;

/// Prints the lines that a filter contains: those that are in the set, and others at the filter's rate.
///
/// Exit status, as that of grep: 0 if a line was printed, 1 if none was, 2 on an error. The filter is mapped: a key costs a few
/// pages of the file, whatever its size.
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
    #[arg(short, long = "key", value_name = "KEY", conflicts_with = "files")]
    keys: Vec<String>,
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
}

/// Runs the command.
///
/// # Errors
/// If the file holds no filter, or an input cannot be read.
pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    let filter = stored::filter(&options.filter)?;
    let mut output = Output::new(None)?;
    let mut found = 0_u64;
    if options.keys.is_empty() {
        let (mut hashes, mut answers) = (Vec::new(), Vec::new());
        options.inputs.work(&[])?.read(false, |batch, _| {
            if options.quiet && found > 0 {
                return Ok(());
            }
            if let Some(header) = batch.header().filter(|_| !options.count && !options.quiet) {
                output.put(header)?;
            }
            hashes.clear();
            hashes.extend(
                (0..batch.len()).map(|index| filter.hasher().hash_key(&Key(batch.key(index)))),
            );
            answers.resize(hashes.len(), false);
            filter.contains_hash_batch(&hashes, &mut answers);
            for (index, _) in
                answers.iter().enumerate().filter(|(_, answer)| **answer != options.invert)
            {
                found += 1;
                if !options.count && !options.quiet {
                    output.put(batch.text(index, index + 1))?;
                }
            }
            if batch.is_last_for_now { output.pass_on() } else { Ok(()) }
        })?;
    }
    for key in &options.keys {
        if filter.contains(&Key(key.as_bytes())) != options.invert {
            found += 1;
            if !options.count && !options.quiet {
                output.put(format!("{key}\n").as_bytes())?;
            }
        }
    }
    if options.count {
        output.put(format!("{found}\n").as_bytes())?;
    }
    output.finish()?;
    Ok(ExitCode::from(u8::from(found == 0)))
}
