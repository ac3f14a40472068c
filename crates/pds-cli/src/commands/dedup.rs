//! `pds dedup`: each line once.

mod keys;
mod parts;
mod recent;
mod seen;
mod time;

use crate::error::{Error, Result};
use crate::input::{Batch, Inputs, Progress};
use crate::line_set::{Extras, LineSet};
use crate::output::{Output, tell};
use crate::parse;
use clap::Args;
use pds::compare::{HumanBytes, HumanCount};
use seen::Seen;
use std::path::PathBuf;
use time::Window;

/// Different lines that a filter holds at most, unless told otherwise.
const MAX_LINES: u64 = 1_000_000_000;

/// Removes repeated lines and keeps the order.
///
/// Exact until the lines take --memory. From then on a growing filter decides, and a message says so: it lets no line through
/// twice, and drops a new line at --rate. The filter takes memory of its own: about 3 bytes per line.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pds dedup urls.txt.gz -o unique.txt
  tail -f access.log | pds dedup -d ' ' -f 1      each address when it comes first
  pds dedup --csv -f email people.csv
  pds dedup --count words.txt | sort -rn | head
  pds dedup --memory 1GiB --rate 1e-6 '*.log'     up to --max-lines different lines
  pds dedup --window 1h --time /at --max-lines 10M --json -f /id events.jsonl")]
pub(crate) struct Options {
    #[command(flatten)]
    inputs: Inputs,
    /// Write to this file, which appears when it is complete
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Memory for exact answers
    #[arg(short, long, value_name = "BYTES", value_parser = parse::bytes, default_value = "1GiB")]
    memory: u64,
    /// The share of new lines that the filter may drop [default: 1e-6]
    #[arg(long, value_name = "RATE", value_parser = parse::fraction)]
    rate: Option<f64>,
    /// The most different lines that the filter will hold: more of them are an error. With --window of a time: the most within
    /// that time of one another, which take up to 50 bytes each [default: 1G]
    #[arg(long, value_name = "N", value_parser = parse::count)]
    max_lines: Option<u64>,
    /// Forget lines that came more than N lines ago, or more than a time such as 90s, 1h or 7d ago. For lines the filter decides
    /// from the start, for a time the 64-bit hash of each line
    #[arg(long, value_name = "N|TIME", value_parser = Window::parse, conflicts_with_all = ["count", "unique", "repeated", "memory"])]
    window: Option<Window>,
    /// The field that holds the time of a record, for --window: seconds or milliseconds since 1970, or a date as in RFC 3339 or an
    /// access log
    #[arg(long, value_name = "FIELD", requires = "window")]
    time: Option<String>,
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
    if matches!(options.window, Some(Window::Time(_))) != options.time.is_some() {
        return Err("--time and --window with a time, such as 1h, need each other".into());
    }
    let time_field: Vec<_> = options.time.iter().cloned().collect();
    let mut output = Output::new(options.output.as_deref())?;
    let work = options.inputs.work(&time_field)?.passing_on_to(&output, true)?;
    let (names, skips_bad) = (work.names(), work.skips_bad());
    let mut seen = Seen::new(options)?;
    parts::start_threads();
    let (mut lines, mut written, mut answers) = (0, 0, Vec::new());
    work.read(true, |batch, progress| {
        if let Some(header) = batch.header() {
            output.put(header)?;
        }
        let time = |index| {
            let time = time::milliseconds(batch.group(index));
            if time.is_some() || skips_bad {
                return Ok(time);
            }
            let place = format!("{}:{}", names[batch.source()], batch.number(index));
            let text = String::from_utf8_lossy(batch.group(index));
            Err(Error::at(place, format_args!("`{text}` is no time: {}", time::FORMS)))
        };
        // Answers from before an error are passed on.
        let marked = seen.mark(batch, progress, time, &mut answers);
        lines += answers.len() as u64;
        written += batch.write_marked(&mut output, &answers)?;
        marked?;
        progress.say(|| seen.describe(written));
        Ok(())
    })?;
    output.finish()?;
    seen.report(lines, written, options.stats)
}

/// Prints counts, or the lines that occur once. Both are known only after the last line was read.
fn counted(options: &Options) -> Result<()> {
    let mut output = Output::new(options.output.as_deref())?;
    let work = options.inputs.work(&[])?.passing_on_to(&output, false)?;
    let terminator = work.terminator();
    let mut set = LineSet::new(Extras { counts: true, records: !work.keys_are_records() });
    let (mut lines, mut header) = (0, None);
    work.read(true, |batch: &Batch, progress: &Progress| {
        if let Some(text) = batch.header() {
            header = Some(text.to_vec());
        }
        set.prepare(batch.hashes());
        for (index, &hash) in batch.hashes().iter().enumerate() {
            let inserted = set.insert(hash, batch.key(index), batch.record(index), options.memory);
            inserted.ok_or_else(|| too_many(&set, lines + index as u64, options.memory))?;
        }
        lines += batch.len() as u64;
        progress.say(|| {
            let size = HumanBytes(set.size_in_bytes());
            format!("{} different, {size}", HumanCount(set.len()))
        });
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
        tell(format_args!(
            "{} lines, {} different, {} written; exact, {size}",
            HumanCount(lines),
            HumanCount(set.len()),
            HumanCount(written)
        ));
    }
    Ok(())
}

fn too_many(set: &LineSet, lines: u64, memory: u64) -> String {
    format!(
        "{} different lines of {} take more than the {} that --memory allows: counts are exact or not at all (`pds top` counts in \
         little memory)",
        HumanCount(set.len()),
        HumanCount(lines),
        HumanBytes(memory)
    )
}
