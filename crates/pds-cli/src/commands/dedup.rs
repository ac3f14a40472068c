//! `pds dedup`: each line once.

mod seen;

use crate::error::Result;
use crate::input::{Batch, Inputs, Progress};
use crate::line_set::{Extras, LineSet};
use crate::output::Output;
use crate::parse;
use clap::Args;
use pds::compare::{HumanBytes, HumanCount};
use seen::Seen;
use std::path::PathBuf;

/// Removes repeated lines and keeps the order.
///
/// Exact until the lines take --memory. From then on a growing filter decides, and a message says so: it lets no line through
/// twice, and drops a new line at --rate.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pds dedup urls.txt.gz -o unique.txt
  tail -f access.log | pds dedup -d ' ' -f 1      each address when it comes first
  pds dedup --csv -f email people.csv
  pds dedup --count words.txt | sort -rn | head
  pds dedup --memory 1GiB --rate 1e-6 '*.log'     any number of lines")]
pub(crate) struct Options {
    #[command(flatten)]
    inputs: Inputs,
    /// Write to this file, which appears when it is complete
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Memory for exact answers
    #[arg(short, long, value_name = "BYTES", value_parser = parse::bytes, default_value = "1GiB")]
    memory: u64,
    /// The share of new lines that the filter may drop
    #[arg(long, value_name = "RATE", value_parser = parse::fraction, default_value = "1e-6")]
    rate: f64,
    /// The most different lines that the filter will hold
    #[arg(long, value_name = "N", value_parser = parse::count, default_value = "1G")]
    max_lines: u64,
    /// Forget lines that came more than N lines ago (the filter decides from the start)
    #[arg(long, value_name = "N", value_parser = parse::count, conflicts_with_all = ["count", "unique", "repeated"])]
    window: Option<u64>,
    /// Print each line at the end, behind how often it came
    #[arg(short, long, conflicts_with_all = ["unique", "repeated"])]
    count: bool,
    /// Print only lines that came once, at the end
    #[arg(short, long, conflicts_with = "repeated")]
    unique: bool,
    /// Print only lines that came more than once: each when it comes the second time
    #[arg(short, long)]
    repeated: bool,
    /// Tell on standard error what was read, found and used
    #[arg(long)]
    stats: bool,
}

/// Runs the command.
///
/// # Errors
/// If an input cannot be read, the output not written, or the memory does not suffice for counts.
pub(crate) fn run(options: &Options) -> Result<()> {
    if options.count || options.unique {
        return counted(options);
    }
    let work = options.inputs.work(&[])?;
    let mut output = Output::new(options.output.as_deref())?;
    let mut seen = Seen::new(options)?;
    let mut second = if options.repeated { Some(Seen::new(options)?) } else { None };
    let (mut lines, mut written, mut answers) = (0, 0, Vec::new());
    work.read(true, |batch, progress| {
        if let Some(header) = batch.header() {
            output.put(header)?;
        }
        seen.mark(batch, &mut answers)?;
        if let Some(second) = &mut second {
            // Of those that came before, each is new to the second set once.
            answers.iter_mut().for_each(|is_new| *is_new = !*is_new);
            second.mark_some(batch, &mut answers)?;
        }
        lines += batch.len() as u64;
        written += write_marked(&mut output, batch, &answers)?;
        progress.say(|| seen.describe(written));
        Ok(())
    })?;
    output.finish()?;
    seen.report(lines, written, options.stats);
    Ok(())
}

/// Writes the records that are marked. Returns their number.
fn write_marked(output: &mut Output, batch: &Batch, marks: &[bool]) -> Result<u64> {
    let (mut written, mut index) = (0, 0);
    while index < marks.len() {
        if !marks[index] {
            index += 1;
            continue;
        }
        let more = (index + 1..marks.len()).take_while(|&next| marks[next] && batch.follows(next));
        let end = index + 1 + more.count();
        output.put(batch.text(index, end))?;
        written += (end - index) as u64;
        index = end;
    }
    if batch.is_last_for_now {
        output.pass_on()?;
    }
    Ok(written)
}

/// Prints counts, or the lines that occur once. Both are known only after the last line was read.
fn counted(options: &Options) -> Result<()> {
    let work = options.inputs.work(&[])?;
    let terminator = work.terminator();
    let mut output = Output::new(options.output.as_deref())?;
    let mut set = LineSet::new(Extras { counts: true, records: !work.keys_are_records() });
    let (mut lines, mut header) = (0, None);
    work.read(true, |batch: &Batch, progress: &Progress| {
        if set.size_with(batch.len()) > options.memory {
            return Err(format!(
                "{} different lines of {} take more than the {} that --memory allows: counts are exact or not at all \
                 (`pds top` counts in little memory)",
                HumanCount(set.len()),
                HumanCount(lines),
                HumanBytes(options.memory)
            )
            .into());
        }
        if let Some(text) = batch.header() {
            header = Some(text.to_vec());
        }
        set.reserve(batch.len());
        set.prepare(batch.hashes());
        for (index, &hash) in batch.hashes().iter().enumerate() {
            set.insert(hash, batch.key(index), batch.record(index));
        }
        lines += batch.len() as u64;
        progress.say(|| format!("{} different", HumanCount(set.len())));
        Ok(())
    })?;
    if let Some(header) = header.filter(|_| options.unique) {
        output.put(&header)?;
    }
    let mut written = 0;
    for entry in set.iter() {
        if options.count {
            output.put(format!("{:>7} ", entry.count).as_bytes())?;
        } else if entry.count > 1 {
            continue;
        }
        written += 1;
        output.put(entry.record)?;
        output.put(&[terminator])?;
    }
    output.finish()?;
    if options.stats {
        let size = HumanBytes(set.size_in_bytes());
        eprintln!(
            "pds: {} lines, {} different, {} written; exact, {size}",
            HumanCount(lines),
            HumanCount(set.len()),
            HumanCount(written)
        );
    }
    Ok(())
}
