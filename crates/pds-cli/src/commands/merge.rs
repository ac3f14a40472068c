//! `pds merge`: one structure from several.

use super::build::tell_if_overfull;
use super::stored::{Limit, Structure, wrong};
use crate::error::Result;
use crate::output::{Output, tell};
use clap::Args;
use core::fmt::Display;
use pds::{DynSketch, HyperLogLog, UltraLogLog};
use std::path::{Path, PathBuf};

/// Merges filters or sketches of several files or machines into one.
///
/// All have to be of one kind and shape: build the others with --like the first.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pds merge -o week.pds monday.pds tuesday.pds
  pds build --like monday.pds -o tuesday.pds tuesday.txt")]
pub(crate) struct Options {
    /// Files to merge
    #[arg(required = true, num_args = 2.., value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The merged file, which appears when it is complete
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    limit: Limit,
}

/// Runs the command.
///
/// # Errors
/// If a file cannot be read, or does not fit to the first.
pub(crate) fn run(options: &Options) -> Result<()> {
    let (first, others) = options.files.split_first().ok_or("there is nothing to merge")?;
    if options.files.iter().filter(|file| file.as_path() == Path::new("-")).count() > 1 {
        return Err("standard input can be read only once: `-` stands there twice".into());
    }
    let output = Output::new(Some(&options.output))?;
    let mut merged = Structure::load(first, options.limit)?;
    for path in others {
        add(&mut merged, Structure::load(path, options.limit)?, path, first)?;
    }
    if let Structure::Filter(filter) = &merged {
        tell_if_overfull(filter);
    }
    merged.save(output)
}

/// The precision of a sketch whose precisions may differ when it merges.
fn precision(sketch: &DynSketch) -> Option<u32> {
    let hyper = sketch.downcast_ref::<HyperLogLog>().map(|sketch| sketch.precision());
    hyper.or_else(|| sketch.downcast_ref::<UltraLogLog>().map(|sketch| sketch.precision()))
}

fn add(merged: &mut Structure, other: Structure, path: &Path, first: &Path) -> Result<()> {
    let unfit = |what: &dyn Display| {
        wrong(path, format!("cannot be merged into {}: {what}", first.display()))
    };
    match (&mut *merged, &other) {
        (Structure::Filter(one), Structure::Filter(other)) => match one.merge(other) {
            Some(merged) => merged.map_err(|error| unfit(&error)),
            None => Err(unfit(&format!("a {} is built from all of its keys at once", one.kind()))),
        },
        (Structure::Sketch(one), Structure::Sketch(other)) => {
            let differ = precision(one) != precision(other);
            one.merge(other).map_err(|error| unfit(&error))?;
            if differ {
                tell(format_args!(
                    "{} and {} have different precisions: the merged sketch has the lesser of them",
                    first.display(),
                    path.display()
                ));
            }
            Ok(())
        }
        (Structure::Hitters(one), Structure::Hitters(other)) => {
            one.merge(other).map_err(|error| unfit(&error))
        }
        (one, other) => {
            let (here, there) = (one.kind(), other.kind());
            Err(unfit(&format!("the kind differs: {here} here, {there} in the other")))
        }
    }
}
