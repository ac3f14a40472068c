//! `pds build`: filters and sketches as files.

mod kind;

use super::stored::{Structure, wrong};
use crate::error::{Error, Result};
use crate::input::Inputs;
use crate::output::Output;
use crate::parse;
use clap::Args;
use kind::Kind;
use pds::compare::{Candidate, HumanBytes, HumanCount};
use pds::error::BuildError;
use pds::fuse::{FuseFilter, RibbonFilter};
use pds::hash::DefaultHashBuilder;
use pds::params::hll::CardinalityEstimator;
use pds::params::{HeavyHittersParams, HllParams};
use pds::{
    CountMinSketch, CountSketch, CountingQuotientFilter, DynFilter, HeavyHitters, HyperLogLog,
    ScalableBloomFilter, UltraLogLog, registry,
};
use std::path::{Path, PathBuf};

/// Builds a filter or a sketch of all lines, and writes it to a file.
///
/// `pds check` and every language that reads docs/format.md ask the file. Without --items the lines are counted first, which
/// takes 8 bytes of memory per line.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pds build -o seen.pds urls.txt                               a Bloom filter at 1 %
  pds build --static --rate 1e-4 -o breached.pds hashes.zst    the fewest bits, for a list that is complete
  pds build --kind cuckoo --items 10M -o sessions.pds          room for 10 million, from standard input
  pds build --like monday.pds -o tuesday.pds tuesday.txt       so that both merge
  pds build --kind hyper-log-log -o visitors.pds -d ' ' -f 1 access.log")]
pub(crate) struct Options {
    #[command(flatten)]
    inputs: Inputs,
    /// The file to write, which appears when it is complete
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The kind of filter or sketch
    #[arg(short, long, value_enum, default_value_t = Kind::Bloom, hide_default_value = true)]
    kind: Kind,
    /// Build a ribbon filter: the fewest bits, and no keys later
    #[arg(long = "static", conflicts_with = "kind")]
    is_static: bool,
    /// Build an empty filter of the kind and shape of this one, and fill it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["kind", "is_static", "rate", "items", "memory"])]
    like: Option<PathBuf>,
    /// False-positive rate of a filter
    #[arg(short, long, value_name = "RATE", value_parser = parse::fraction, default_value = "1%", conflicts_with = "memory")]
    rate: f64,
    /// Size a filter for this number of different lines, and read them only once
    #[arg(short = 'n', long, value_name = "N", value_parser = parse::count)]
    items: Option<u64>,
    /// Size a filter by its memory, at the lowest rate
    #[arg(short, long, value_name = "BYTES", value_parser = parse::bytes)]
    memory: Option<u64>,
    /// Relative standard error of a cardinality sketch [default: 0.81 %]
    #[arg(long, value_name = "ERROR", value_parser = parse::fraction)]
    error: Option<f64>,
    /// Error of counts, as a share of all lines
    #[arg(long, value_name = "SHARE", value_parser = parse::fraction, default_value = "0.1%")]
    epsilon: f64,
    /// Share of counts that may err by more
    #[arg(long, value_name = "SHARE", value_parser = parse::fraction, default_value = "1%")]
    delta: f64,
    /// Share of all lines above which a heavy hitter is not missed
    #[arg(long, value_name = "SHARE", value_parser = parse::fraction, default_value = "0.1%")]
    share: f64,
    /// Tell on standard error what was built
    #[arg(long)]
    stats: bool,
}

/// Runs the command.
///
/// # Errors
/// If an input cannot be read, the structure not built, or the file not written. Nothing is written then.
pub(crate) fn run(options: &Options) -> Result<()> {
    // A name that cannot be written is found before hours of work.
    drop(Output::new(Some(&options.output))?);
    let structure = match &options.like {
        Some(path) => like(options, path)?,
        None if options.is_static => filter(options, Kind::Ribbon)?,
        None if options.kind.is_sketch() => sketch(options, options.kind)?,
        None => filter(options, options.kind)?,
    };
    if options.stats {
        tell(&structure);
    }
    structure.save(&options.output)
}

fn tell(structure: &Structure) {
    let kind = structure.kind();
    match structure {
        Structure::Filter(filter) => eprintln!(
            "pds: {kind}, {}; false-positive rate {:.3e}",
            HumanBytes(filter.size_in_bytes()),
            filter.false_positive_rate()
        ),
        Structure::Sketch(sketch) => {
            eprintln!("pds: {kind}, {}", HumanBytes(sketch.size_in_bytes()))
        }
        Structure::Hitters(hitters) => {
            eprintln!("pds: {kind} of {} lines", HumanCount(hitters.total()))
        }
    }
}

/// Fills an empty filter of the kind and shape of another, or an equal sketch.
fn like(options: &Options, path: &Path) -> Result<Structure> {
    let mut empty = Structure::load(path)?;
    match &mut empty {
        Structure::Filter(filter) => {
            if !filter.clear() {
                let rate = filter.promised_rate().unwrap_or(options.rate);
                let kind =
                    if filter.kind() == pds::bytes::Kind::FUSE { Kind::Fuse } else { Kind::Ribbon };
                return from_hashes(kind, rate, None, all_hashes(options)?).map(Structure::Filter);
            }
            stream(options, filter, path)?;
        }
        Structure::Sketch(_) | Structure::Hitters(_) => {
            return Err(wrong(
                path,
                "is no filter: sketches of one kind and equal options always merge",
            ));
        }
    }
    Ok(empty)
}

/// Inserts all lines as they come. `like` names the source of the hasher.
fn stream(options: &Options, filter: &mut DynFilter, like: &Path) -> Result<()> {
    if *filter.hasher() != DefaultHashBuilder::default() {
        return Err(wrong(like, "has a seed of its own, which this tool does not use"));
    }
    let keeps_copies = kind::counts(filter.kind());
    options.inputs.work(&[])?.read(true, |batch, progress| {
        for &hash in batch.hashes() {
            insert(filter, hash, keeps_copies)?;
        }
        progress.say(|| HumanBytes(filter.size_in_bytes()).to_string());
        Ok(())
    })
}

/// Inserts a key, once unless the filter counts.
fn insert(filter: &mut DynFilter, hash: u64, keeps_copies: bool) -> Result<()> {
    if keeps_copies || !filter.contains_hash(hash) {
        filter.insert_hash(hash)?;
    }
    Ok(())
}

fn filter(options: &Options, kind: Kind) -> Result<Structure> {
    let filter = match options.items {
        Some(items) if !kind.is_static() => {
            let mut filter = empty(kind, options.rate, options.memory, items)?;
            stream(options, &mut filter, &options.output)?;
            filter
        }
        _ => from_hashes(kind, options.rate, options.memory, all_hashes(options)?)?,
    };
    Ok(Structure::Filter(filter))
}

/// The hashes of all lines.
fn all_hashes(options: &Options) -> Result<Vec<u64>> {
    let mut hashes = Vec::new();
    options.inputs.work(&[])?.read(true, |batch, progress| {
        let more = batch.hashes();
        hashes.try_reserve(more.len()).map_err(|_| {
            let lines = HumanCount(hashes.len() as u64);
            Error::Message(format!(
                "no memory for the hashes of more than {lines} lines; --items reads them one by one"
            ))
        })?;
        hashes.extend_from_slice(more);
        progress.say(|| format!("{} lines", HumanCount(hashes.len() as u64)));
        Ok(())
    })?;
    Ok(hashes)
}

/// Builds a filter from the hashes of all lines, copies included.
fn from_hashes(
    kind: Kind,
    rate: f64,
    memory: Option<u64>,
    mut hashes: Vec<u64>,
) -> Result<DynFilter> {
    match kind {
        Kind::Ribbon | Kind::Fuse if memory.is_some() => {
            Err("--memory has no effect on a static filter: its lines and --rate fix its size"
                .into())
        }
        Kind::Ribbon => {
            let builder = RibbonFilter::builder().false_positive_rate(rate).parallel(true);
            Ok(builder.build_hashes(hashes)?.into())
        }
        Kind::Fuse => {
            let builder = FuseFilter::builder().false_positive_rate(rate).parallel(true);
            Ok(builder.build_hashes(hashes)?.into())
        }
        _ => {
            hashes.sort_unstable();
            let distinct = hashes.chunk_by(u64::eq).count() as u64;
            let mut filter = empty(kind, rate, memory, distinct.max(1))?;
            let keeps_copies = kind::counts(filter.kind());
            if !keeps_copies {
                hashes.dedup();
            }
            for hash in hashes {
                filter.insert_hash(hash)?;
            }
            Ok(filter)
        }
    }
}

/// An empty filter for so many different lines.
fn empty(kind: Kind, rate: f64, memory: Option<u64>, items: u64) -> Result<DynFilter> {
    let no_memory = |built: Result<DynFilter, BuildError>| match memory {
        Some(_) => Err(Error::from("--memory sizes no such filter: give --rate")),
        None => Ok(built?),
    };
    let structure = match kind {
        Kind::Bloom => &registry::BLOOM,
        Kind::BlockedBloom => &registry::BLOCKED_BLOOM,
        Kind::Cuckoo => &registry::CUCKOO,
        Kind::Quotient => &registry::QUOTIENT,
        Kind::CountingBloom => &registry::COUNTING_BLOOM,
        Kind::BlockedCountingBloom => &registry::BLOCKED_COUNTING_BLOOM,
        Kind::CountingQuotient => {
            // A count from 2 to 64 takes a second slot. Greater counts take more, for which it grows.
            let builder =
                CountingQuotientFilter::builder().expected_items(items).slots_per_item(2.0);
            let builder = builder.grows_to(items.saturating_mul(4)).false_positive_rate(rate);
            return no_memory(builder.build().map(Into::into));
        }
        Kind::ScalableBloom => {
            return no_memory(ScalableBloomFilter::new(items, rate).map(Into::into));
        }
        _ => unreachable!("sketches and static filters are built elsewhere"),
    };
    let candidate = match memory {
        Some(bytes) => Candidate::for_memory(structure, bytes, items)?,
        None => Candidate::new(structure, items, rate)?,
    };
    Ok(candidate
        .build(DefaultHashBuilder::default())
        .ok_or("the kind is not built key by key")??)
}

fn sketch(options: &Options, kind: Kind) -> Result<Structure> {
    let work = options.inputs.work(&[])?;
    let hll = || match options.error {
        Some(error) => HllParams::for_standard_error(CardinalityEstimator::Improved, error),
        None => HllParams::new(14),
    };
    let mut sketch: pds::DynSketch = match kind {
        Kind::HyperLogLog => HyperLogLog::new(hll()?.precision())?.into(),
        Kind::UltraLogLog => UltraLogLog::new(hll()?.precision())?.into(),
        Kind::CountMin => CountMinSketch::new(options.epsilon, options.delta)?.into(),
        Kind::CountSketch => CountSketch::new(options.epsilon, options.delta)?.into(),
        Kind::HeavyHitters => {
            let params = HeavyHittersParams::new(options.share)?;
            let mut hitters = HeavyHitters::<Vec<u8>>::builder().params(params).build()?;
            work.read(false, |batch, _| {
                (0..batch.len()).for_each(|index| _ = hitters.insert(batch.key(index)));
                Ok(())
            })?;
            return Ok(Structure::Hitters(hitters));
        }
        _ => unreachable!("filters are built elsewhere"),
    };
    work.read(true, |batch, _| {
        batch.hashes().iter().for_each(|&hash| sketch.insert_hash(hash));
        Ok(())
    })?;
    Ok(Structure::Sketch(sketch))
}
