//! `pds verify`: whether files are undamaged.

use super::stored::{Limit, Stored, wrong};
use crate::error::{Error, Result};
use crate::output::Output;
use clap::Args;
use pds::bytes::{Envelope, Kind};
use pds::compare::HumanBytes;
use pds::minhash::Signature;
use pds::{
    BlockedBloomFilter, ExactFilter, FilterBank, LayeredBloomFilter, LshIndex, MinHash,
    QuotientMap, RetrievalMap, TimedBloomFilter, UpdatableMap, WindowBloomFilter,
};
use std::path::{Path, PathBuf};

/// Verifies checksums, and all that a structure can check of itself.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pds verify seen.pds
  pds verify --quiet *.pds && echo 'all are well'")]
pub(crate) struct Options {
    /// Files to verify
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print nothing about files that are well
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    limit: Limit,
}

/// Runs the command.
///
/// # Errors
/// If a file cannot be read, or is damaged. The others are verified, too.
pub(crate) fn run(options: &Options) -> Result<()> {
    let mut output = Output::new(None)?;
    let mut wrong = Vec::new();
    // A reader that leaves does not make damaged files well.
    let mut is_read = true;
    for path in &options.files {
        match verify(path, options.limit) {
            Ok(found) if !options.quiet && is_read => {
                let line = format!("{}: {found}\n", path.display());
                match output.put(line.as_bytes()).and_then(|()| output.pass_on()) {
                    Err(Error::BrokenPipe) => is_read = false,
                    result => result?,
                }
            }
            Ok(_) => {}
            Err(Error::Message(message)) => wrong.push(message),
            Err(error) => return Err(error),
        }
    }
    if is_read {
        output.finish()?;
    }
    if wrong.is_empty() { Ok(()) } else { Err(Error::Message(wrong.join("\npds: "))) }
}

/// Checks a file, and returns a line about its contents.
fn verify(path: &Path, limit: Limit) -> Result<String> {
    let stored = Stored::open(path, limit)?;
    let envelope = Envelope::open(stored.bytes()).map_err(|error| stored.wrong(error))?;
    envelope.verify().map_err(|error| stored.wrong(error))?;
    let (kind, size) = (stored.kind(), HumanBytes(stored.bytes().len() as u64));
    let compressed = if stored.is_compressed() { ", compressed" } else { "" };
    let well = if let Some((_, decode)) = OTHERS.iter().find(|(other, _)| *other == kind) {
        decode(&stored)?;
        "well"
    } else if KEYED.contains(&kind) {
        // Keys may be of any type. Those of this tool are lines.
        let contents = if stored.is_sketch() { stored.structure().map(drop) } else { Ok(()) };
        match contents {
            Ok(()) if stored.is_sketch() => "well",
            Err(error) if stored.is_compressed() => return Err(error),
            _ => "checksums well",
        }
    } else if stored.is_compressed() || stored.is_sketch() {
        stored.structure()?;
        "well"
    } else {
        let filter = stored.into_filter()?;
        filter.verify().map_err(|error| wrong(path, error))?;
        "well"
    };
    Ok(format!("{kind}{compressed}, {size}, {well}"))
}

/// Decodes a structure, to see whether it can be.
type Decode = fn(&Stored) -> Result<()>;

/// Structures that this tool does nothing else with.
const OTHERS: [(Kind, Decode); 11] = [
    (Kind::RETRIEVAL, |stored| stored.decode::<RetrievalMap>().map(drop)),
    (Kind::UPDATABLE, |stored| stored.decode::<UpdatableMap>().map(drop)),
    (Kind::EXACT, |stored| stored.decode::<ExactFilter>().map(drop)),
    (Kind::QUOTIENT_MAP, |stored| stored.decode::<QuotientMap>().map(drop)),
    (Kind::WINDOW_BLOOM, |stored| stored.decode::<WindowBloomFilter>().map(drop)),
    (Kind::TIMED_BLOOM, |stored| stored.decode::<TimedBloomFilter>().map(drop)),
    (Kind::LAYERED_BLOOM, |stored| {
        let standard = stored.decode::<LayeredBloomFilter>().map(drop);
        standard.or_else(|error| {
            let blocked = stored.decode::<LayeredBloomFilter<BlockedBloomFilter>>();
            blocked.map(drop).map_err(|_| error)
        })
    }),
    (Kind::FILTER_BANK, |stored| stored.decode::<FilterBank>().map(drop)),
    (Kind::MIN_HASH, |stored| stored.decode::<MinHash>().map(drop)),
    (Kind::MIN_HASH_SIGNATURE, |stored| stored.decode::<Signature>().map(drop)),
    (Kind::LSH_INDEX, |stored| stored.decode::<LshIndex>().map(drop)),
];

/// Structures with keys of a type that their bytes do not say, and differences between two structures.
const KEYED: [Kind; 4] =
    [Kind::HEAVY_HITTERS, Kind::TOP_K, Kind::SKETCHED_HEAVY_HITTERS, Kind::DELTA];
