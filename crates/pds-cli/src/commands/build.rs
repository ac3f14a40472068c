//! `pds build`: filters and sketches as files.

mod kind;

use super::distinct;
use super::stored::{Limit, Structure, wrong};
use crate::error::{Error, Result};
use crate::input::{Inputs, Work};
use crate::output::{Output, tell};
use crate::parse;
use clap::Args;
use kind::Kind;
use pds::compare::{Candidate, HumanBytes, HumanCount};
use pds::fuse::{FuseFilter, RibbonFilter};
use pds::hash::DefaultHashBuilder;
use pds::params::HeavyHittersParams;
use pds::{
    CountMinSketch, CountSketch, CountingQuotientFilter, DynFilter, HealthStatus, HeavyHitters,
    HyperLogLog, ScalableBloomFilter, UltraLogLog, registry,
};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Builds a filter or a sketch of all lines, and writes it to a file.
///
/// `pds check` answers from the file, and other languages read it by docs/format.md. Without --items the lines are counted first, which
/// takes 8 bytes of memory per line. With it cuckoo and quotient filters take 9 to 18 bytes per different line meanwhile, to store each
/// once.
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
    /// False-positive rate of a filter [default: 1 %]
    #[arg(short, long, value_name = "RATE", value_parser = parse::fraction, conflicts_with = "memory")]
    rate: Option<f64>,
    /// Size a filter for this number of different lines, and read them only once
    #[arg(short = 'n', long, value_name = "N", value_parser = parse::count)]
    items: Option<u64>,
    /// Size a filter by its memory, at the lowest rate
    #[arg(short, long, value_name = "BYTES", value_parser = parse::bytes)]
    memory: Option<u64>,
    /// Relative standard error of a cardinality sketch [default: 0.81 %]
    #[arg(long, value_name = "ERROR", value_parser = parse::fraction)]
    error: Option<f64>,
    /// Error of counts: of count-min as a share of all lines [default: 0.1 %], of count-sketch as a share of the root of the sum of
    /// all squared counts [default: 1 %]
    #[arg(long, value_name = "SHARE", value_parser = parse::fraction)]
    epsilon: Option<f64>,
    /// Share of counts that may err by more [default: 1 %]
    #[arg(long, value_name = "SHARE", value_parser = parse::fraction)]
    delta: Option<f64>,
    /// Share of all lines above which a heavy hitter is not missed [default: 0.1 %]
    #[arg(long, value_name = "SHARE", value_parser = parse::fraction)]
    share: Option<f64>,
    /// Tell on standard error what was built
    #[arg(long)]
    stats: bool,
    #[command(flatten)]
    limit: Limit,
}

/// Runs the command.
///
/// # Errors
/// If an input cannot be read, the structure not built, or the file not written. Nothing is written then.
pub(crate) fn run(options: &Options) -> Result<()> {
    let kind = if options.is_static { Kind::Ribbon } else { options.kind };
    if options.like.is_none() {
        options.refuse_unused(kind)?;
    }
    // A name that cannot be written is found before hours of work.
    let output = Output::new(Some(&options.output))?;
    let structure = match &options.like {
        Some(path) => like(options, path)?,
        None if kind.is_sketch() => sketch(options, kind)?,
        None => filter(options, kind)?,
    };
    tell_about(&structure, options.stats);
    structure.save(output)
}

impl Options {
    /// # Errors
    /// If an option was given that does nothing for this kind.
    fn refuse_unused(&self, kind: Kind) -> Result<()> {
        let is_filter = !kind.is_sketch();
        let counts = matches!(kind, Kind::CountMin | Kind::CountSketch);
        let distinct = matches!(kind, Kind::HyperLogLog | Kind::UltraLogLog);
        let options = [
            ("--rate", self.rate.is_some(), is_filter),
            ("--items", self.items.is_some(), is_filter && !kind.is_static()),
            ("--memory", self.memory.is_some(), kind.is_sized_by_memory()),
            ("--error", self.error.is_some(), distinct),
            ("--epsilon", self.epsilon.is_some(), counts),
            ("--delta", self.delta.is_some(), counts),
            ("--share", self.share.is_some(), kind == Kind::HeavyHitters),
        ];
        let is_unused = |&&(_, is_given, is_used): &&(_, bool, bool)| is_given && !is_used;
        let Some((name, ..)) = options.iter().find(is_unused) else { return Ok(()) };
        let used = options.iter().filter(|(.., is_used)| *is_used).map(|(name, ..)| *name);
        let used = used.collect::<Vec<_>>().join(", ");
        Err(format!("{name} has no effect on --kind {}: it takes {used}", kind.name()).into())
    }

    fn rate(&self) -> f64 {
        self.rate.unwrap_or(0.01)
    }

    /// The work of reading, with keys that are equal to lines.
    fn work(&self) -> Result<Work> {
        Ok(self.inputs.work(&[])?.with_text_keys())
    }
}

/// Tells what was built, if that is asked for or if it will not do what it is for.
fn tell_about(structure: &Structure, is_asked: bool) {
    let kind = structure.kind();
    if let Structure::Filter(filter) = structure {
        tell_if_overfull(filter);
    }
    if !is_asked {
        return;
    }
    match structure {
        Structure::Filter(filter) => tell(format_args!(
            "{kind}, {}; false-positive rate {:.3e}",
            HumanBytes(filter.size_in_bytes()),
            filter.false_positive_rate()
        )),
        Structure::Sketch(sketch) => {
            tell(format_args!("{kind}, {}", HumanBytes(sketch.size_in_bytes())));
        }
        Structure::Hitters(hitters) => {
            tell(format_args!("{kind} of {} lines", HumanCount(hitters.total())));
        }
    }
}

/// Tells that a filter holds so many lines that its rate is another one than that it was sized for.
pub(super) fn tell_if_overfull(filter: &DynFilter) {
    let rate = filter.false_positive_rate();
    let is_unwell = filter.health().is_some_and(|health| health.status != HealthStatus::Ok);
    // Filters without a report of their own: a rate is a mean, which chance moves a little.
    let is_beyond = filter.promised_rate().is_some_and(|promised| rate > 1.5 * promised);
    if is_unwell || is_beyond {
        tell(format_args!(
            "the {} holds more lines than it was sized for: its false-positive rate is {rate:.3e}; build a larger one",
            filter.kind()
        ));
    }
}

/// Fills an empty filter of the kind and shape of another, or an equal sketch.
fn like(options: &Options, path: &Path) -> Result<Structure> {
    let mut empty = Structure::load(path, options.limit)?;
    match &mut empty {
        Structure::Filter(filter) => {
            if !filter.clear() {
                let rate = filter.promised_rate().unwrap_or_else(|| options.rate());
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
    let counts = kind::counts(filter.kind());
    // A filter that forgets keys must hold each key once, and cannot tell by itself: two keys may look alike to it.
    let mut hashes = kind::stores_copies(filter.kind()).then(HashSet::new);
    options.work()?.read(true, |batch, progress| {
        for &hash in batch.hashes() {
            let is_new = match &mut hashes {
                Some(hashes) => hashes.insert(hash),
                None => counts || !filter.contains_hash(hash),
            };
            if is_new {
                filter.insert_hash(hash)?;
            }
        }
        progress.say(|| HumanBytes(filter.size_in_bytes()).to_string());
        Ok(())
    })
}

fn filter(options: &Options, kind: Kind) -> Result<Structure> {
    let filter = match options.items {
        Some(items) if !kind.is_static() => {
            let mut filter = empty(kind, options.rate(), options.memory, items)?;
            stream(options, &mut filter, &options.output)?;
            filter
        }
        _ => {
            // A rate that no filter has is found before hours of work.
            from_hashes(kind, options.rate(), options.memory, Vec::new())?;
            from_hashes(kind, options.rate(), options.memory, all_hashes(options)?)?
        }
    };
    Ok(Structure::Filter(filter))
}

/// The hashes of all lines.
fn all_hashes(options: &Options) -> Result<Vec<u64>> {
    let mut hashes = Vec::new();
    options.work()?.read(true, |batch, progress| {
        let more = batch.hashes();
        hashes.try_reserve(more.len()).map_err(|_| {
            let lines = HumanCount(hashes.len() as u64);
            Error::Message(format!(
                "no memory for the hashes of more than {lines} lines; with --items lines are read one by one, into filters that are not static"
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
            return Ok(builder.build()?.into());
        }
        Kind::ScalableBloom => {
            return Ok(ScalableBloomFilter::new(items, rate)?.into());
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
    let work = options.work()?;
    let precision = || distinct::params(options.error).map(|params| params.precision());
    // The memory of a count sketch grows with the square of 1 / epsilon.
    let epsilon = if kind == Kind::CountSketch { 0.01 } else { 0.001 };
    let (epsilon, delta) = (options.epsilon.unwrap_or(epsilon), options.delta.unwrap_or(0.01));
    let mut sketch: pds::DynSketch = match kind {
        Kind::HyperLogLog => HyperLogLog::new(precision()?)?.into(),
        Kind::UltraLogLog => UltraLogLog::new(precision()?)?.into(),
        Kind::CountMin => CountMinSketch::new(epsilon, delta)?.into(),
        Kind::CountSketch => CountSketch::new(epsilon, delta)?.into(),
        Kind::HeavyHitters => {
            let params = HeavyHittersParams::new(options.share.unwrap_or(0.001))?;
            let mut hitters = HeavyHitters::<Vec<u8>>::builder().params(params).build()?;
            work.read(false, |batch, progress| {
                (0..batch.len()).for_each(|index| _ = hitters.insert(batch.key(index)));
                progress.say(|| format!("{} lines", HumanCount(hitters.total())));
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
