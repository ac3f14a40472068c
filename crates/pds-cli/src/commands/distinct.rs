//! `pds distinct`: how many different lines.

use crate::error::Result;
use crate::input::Inputs;
use crate::line_set::{Extras, LineSet};
use crate::output::{Cell, Format, Report};
use crate::parse;
use clap::Args;
use pds::HyperLogLog;
use pds::compare::HumanCount;
use pds::params::HllParams;
use pds::params::hll::CardinalityEstimator;
use std::collections::HashMap;
use std::path::PathBuf;

/// Estimates how many different lines there are, with an interval that holds the true number.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pds distinct access.log
  pds distinct -d ' ' -f 1 access.log                  visitors
  pds distinct -d ' ' -f 1 --by 9 access.log           visitors by status code
  pds distinct --csv -f user --by country --format csv visits.csv
  pds distinct --exact access.log                      the true number beside it")]
pub(crate) struct Options {
    #[command(flatten)]
    inputs: Inputs,
    /// Count for each value of this field: number, name or pointer, as for --field. May be repeated
    #[arg(short, long, value_name = "FIELD")]
    by: Vec<String>,
    /// Relative standard error of the estimate [default: 0.81 %, which takes 16 KiB]
    #[arg(short, long, value_name = "ERROR", value_parser = parse::fraction)]
    error: Option<f64>,
    /// Probability with which the interval holds the true number
    #[arg(long, value_name = "P", value_parser = parse::fraction, default_value = "95%")]
    confidence: f64,
    /// Count exactly, too: takes memory for all different lines
    #[arg(long)]
    exact: bool,
    /// Form of the result
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Write to this file, which appears when it is complete
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The precision of the crate's default sketch.
const PRECISION: u32 = 14;

/// The parameters of a sketch with this standard error, or of the default one.
///
/// # Errors
/// If no sketch is so exact.
pub(crate) fn params(error: Option<f64>) -> Result<HllParams> {
    Ok(match error {
        Some(error) => HllParams::for_standard_error(CardinalityEstimator::Improved, error)?,
        None => HllParams::new(PRECISION)?,
    })
}

/// The counts of a group.
struct Counted {
    sketch: HyperLogLog,
    exact: Option<LineSet>,
    records: u64,
}

impl Counted {
    fn new(params: HllParams, exact: bool) -> Result<Self> {
        let sketch = HyperLogLog::new(params.precision())?;
        let exact = exact.then(|| LineSet::new(Extras::default()));
        Ok(Self { sketch, exact, records: 0 })
    }

    fn insert(&mut self, hash: u64, key: &[u8]) {
        self.records += 1;
        self.sketch.insert_hash(hash);
        if let Some(set) = &mut self.exact {
            set.insert(hash, key, &[], u64::MAX);
        }
    }

    fn cells(&self, confidence: f64) -> Result<[Cell; 4]> {
        // The true number is a whole one.
        let interval = self.sketch.estimate_interval(confidence)?;
        let numbers =
            [self.sketch.estimate().round(), interval.start().ceil(), interval.end().floor()];
        let [estimate, least, most] = numbers.map(Cell::whole);
        Ok([estimate, least, most, Cell::Count(self.records)])
    }
}

/// Runs the command.
///
/// # Errors
/// If an input cannot be read, or the output not written.
pub(crate) fn run(options: &Options) -> Result<()> {
    let params = params(options.error)?;
    let work = options.inputs.work(&options.by)?;
    if options.by.is_empty() {
        let mut all = Counted::new(params, options.exact)?;
        work.read(true, |batch, progress| {
            if all.exact.is_none() {
                all.records += batch.len() as u64;
                all.sketch.insert_hash_batch(batch.hashes());
            } else {
                let hashes = batch.hashes().iter().enumerate();
                hashes.for_each(|(index, &hash)| all.insert(hash, batch.key(index)));
            }
            progress.say(|| format!("{} lines", HumanCount(all.records)));
            Ok(())
        })?;
        return report(options, [(Vec::new(), all)]);
    }
    let mut groups: HashMap<Vec<u8>, Counted> = HashMap::new();
    work.read(true, |batch, progress| {
        for (index, &hash) in batch.hashes().iter().enumerate() {
            let name = batch.group(index);
            let group = match groups.get_mut(name) {
                Some(group) => group,
                None => groups.entry(name.to_vec()).or_insert(Counted::new(params, options.exact)?),
            };
            group.insert(hash, batch.key(index));
        }
        progress.say(|| format!("{} groups", HumanCount(groups.len() as u64)));
        Ok(())
    })?;
    let mut sorted: Vec<_> = groups.into_iter().collect();
    // The same order on every run, whatever the order of the lines.
    sorted.sort_unstable_by(|(left, _), (right, _)| left.cmp(right));
    report(options, sorted)
}

fn report(options: &Options, groups: impl IntoIterator<Item = (Vec<u8>, Counted)>) -> Result<()> {
    let by = !options.by.is_empty();
    let columns = [
        by.then_some("group"),
        Some("distinct"),
        Some("at_least"),
        Some("at_most"),
        Some("lines"),
        options.exact.then_some("exact"),
    ];
    let mut report = Report::new(&columns.into_iter().flatten().collect::<Vec<_>>());
    for (name, counted) in groups {
        let mut row = Vec::new();
        if by {
            row.push(Cell::Bytes(name.into()));
        }
        row.extend(counted.cells(options.confidence)?);
        row.extend(counted.exact.map(|set| Cell::Count(set.len())));
        report.push(row);
    }
    report.write(options.format, options.output.as_deref())
}
