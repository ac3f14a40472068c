//! `pds top`: the most frequent lines.

use crate::error::Result;
use crate::input::Inputs;
use crate::output::{Cell, Format, Report};
use crate::parse;
use clap::Args;
use pds::HeavyHitters;
use pds::compare::HumanCount;
use pds::heavy_hitters::{HeavyHittersParams, Hitter};
use pds::params::cms::MAX_TRACKED;
use std::path::PathBuf;

/// Lists the most frequent lines, with bounds that are certain.
///
/// A line came at least `at_least` and at most `at_most` times. `certain` says whether the line belongs to the list for sure.
/// With --share no line above the share is missed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pds top words.txt                                     the first ten
  pds top -n 20 -d ' ' -f 1 access.log                  addresses
  pds top --share 1% --json -f /user/id events.jsonl    users with more than 1 % of the events")]
pub(crate) struct Options {
    #[command(flatten)]
    inputs: Inputs,
    /// How many lines to list
    #[arg(short = 'n', long, value_name = "N", value_parser = parse::count, default_value = "10", conflicts_with = "share")]
    number: u64,
    /// List every line above this share of all lines
    #[arg(long, value_name = "SHARE", value_parser = parse::fraction)]
    share: Option<f64>,
    /// Lines that are counted at once: bounds are apart by at most the number of all lines divided by it [default: 100k, or more if
    /// --number or --share need more]
    #[arg(long, value_name = "N", value_parser = parse::count)]
    capacity: Option<u64>,
    /// Form of the result
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Write to this file, which appears when it is complete
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// If an input cannot be read, or the output not written.
pub(crate) fn run(options: &Options) -> Result<()> {
    let params = params(options)?;
    let mut lines = HeavyHitters::<Vec<u8>>::builder().params(params).build()?;
    options.inputs.work(&[])?.read(false, |batch, progress| {
        for index in 0..batch.len() {
            lines.insert(batch.key(index));
        }
        progress.say(|| {
            format!("{} lines, {} different ones counted", HumanCount(lines.total()), lines.len())
        });
        Ok(())
    })?;
    let mut report = Report::new(&["line", "at_least", "at_most", "share", "certain"]);
    for (hitter, is_certain) in listed(&lines, options) {
        let interval = hitter.interval();
        let share = hitter.estimate.value() as f64 / lines.total() as f64;
        report.push(vec![
            Cell::from(hitter.key.as_slice()),
            interval.truth_at_least.into(),
            interval.truth_at_most.into(),
            share.into(),
            is_certain.into(),
        ]);
    }
    report.write(options.format, options.output.as_deref())
}

/// The most lines that are counted at once by default.
const CAPACITY: u64 = 100_000;

fn params(options: &Options) -> Result<HeavyHittersParams> {
    let (share, least) = match options.share {
        Some(share) => (share, HeavyHittersParams::new(share)?.capacity()),
        // No line is promised to be listed. Ten times as many lines as are listed are counted, so that their order is right.
        None if options.number <= MAX_TRACKED / 10 => (0.5, 10 * options.number),
        None => {
            let (number, most) = (HumanCount(options.number), HumanCount(MAX_TRACKED / 10));
            return Err(format!("--number is {number}, but must be at most {most}").into());
        }
    };
    let capacity = options.capacity.unwrap_or_else(|| CAPACITY.max(least));
    Ok(HeavyHittersParams::with_capacity(share, capacity)?)
}

/// The lines to list, each with whether it belongs there for sure.
fn listed<'a>(
    lines: &'a HeavyHitters<Vec<u8>>,
    options: &Options,
) -> Vec<(Hitter<'a, Vec<u8>>, bool)> {
    if options.share.is_some() {
        let threshold = lines.threshold();
        let certain =
            |hitter: Hitter<'a, _>| (hitter, hitter.interval().truth_at_least > threshold);
        return lines.top().into_iter().map(certain).collect();
    }
    let number = usize::try_from(options.number).unwrap_or(usize::MAX);
    let mut all: Vec<_> = lines.iter().collect();
    // Equal counts in the order of the lines: the same list on every run.
    all.sort_by(|left, right| {
        right.estimate.cmp(&left.estimate).then_with(|| left.key.cmp(right.key))
    });
    // A line that is not listed came at most so often.
    let untracked = lines.untracked_at_most();
    let rest = all.get(number).map_or(untracked, |hitter| hitter.estimate.max(untracked));
    let certain =
        |hitter: Hitter<'a, _>| (hitter, hitter.interval().truth_at_least >= rest.value());
    all.into_iter().take(number).map(certain).collect()
}
