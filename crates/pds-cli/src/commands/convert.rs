//! `pds convert`: the same structure in other bytes.

use super::stored::{Bytes, Limit, Structure, save, wrong};
use crate::error::Result;
use crate::output::Output;
use clap::{Args, ValueEnum};
use core::fmt::Display;
use pds::bytes::Envelope;
use pds::formats::datasketches::{DataSketchesHll, HllRegisters};
use pds::formats::milvus::MilvusBloomFilter;
use pds::theta::CompactThetaSketch;
use std::path::PathBuf;

/// Writes a filter or a sketch in another form: compressed to send it, or plain to ask it where it lies.
///
/// Files of other systems turn into another form of the same hash function: bits of one mean nothing to another. So a filter
/// of this family is built from the keys, and not from the filter of another system.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pds convert seen.pds -o seen.pdsz --to compressed
  pds convert seen.pdsz -o seen.pds --to plain
  pds convert visitors.hll -o small.hll --to datasketches-hll4
  pds convert column.mbf1 -o column.bloom --to parquet")]
pub(crate) struct Options {
    /// File to read, in any form
    #[arg(value_name = "FILE")]
    input: PathBuf,
    /// The file to write, which appears when it is complete
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The form to write
    #[arg(short, long, value_enum)]
    to: Form,
    #[command(flatten)]
    limit: Limit,
}

/// The forms that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// Portable bytes (docs/format.md): mapped and asked without a copy
    Plain,
    /// The fewest bytes that decode to the same structure: for filters that are not half full
    Compressed,
    /// DataSketches HLL, registers of 4 bits: the fewest bytes
    DatasketchesHll4,
    /// DataSketches HLL, registers of 6 bits
    DatasketchesHll6,
    /// DataSketches HLL, registers of 8 bits: the fastest in the library
    DatasketchesHll8,
    /// DataSketches theta, compact
    DatasketchesTheta,
    /// DataSketches theta, compact and compressed (version 4)
    DatasketchesThetaCompressed,
    /// The Bloom filter of a Parquet column, of the same bits in Milvus' MBF1
    Parquet,
}

/// Runs the command.
///
/// # Errors
/// If the file holds nothing that has the form, or the other cannot be written.
pub(crate) fn run(options: &Options) -> Result<()> {
    let mut output = Output::new(Some(&options.output))?;
    let bytes = match options.to {
        Form::Plain => {
            return Structure::load(&options.input, options.limit)?.save(output);
        }
        Form::Compressed => {
            let structure = Structure::load(&options.input, options.limit)?;
            return save(&structure.compressed(), output);
        }
        form => foreign(form, options)?,
    };
    output.put(&bytes)?;
    output.finish()
}

/// Reads a file of another system, and returns it in another form.
fn foreign(form: Form, options: &Options) -> Result<Vec<u8>> {
    let bytes = Bytes::open(&options.input)?;
    let bytes = bytes.as_ref();
    let hll = |width| {
        DataSketchesHll::from_bytes(bytes).map(|mut sketch| {
            sketch.set_width(width);
            sketch.to_bytes()
        })
    };
    let theta = CompactThetaSketch::from_bytes;
    if let Ok(envelope) = Envelope::open(bytes) {
        return Err(wrong(
            &options.input,
            format_args!(
                "holds a {} of this family, which has no such form: it hashes otherwise",
                envelope.header().kind
            ),
        ));
    }
    let of = |error: &dyn Display| wrong(&options.input, error);
    match form {
        Form::Plain | Form::Compressed => unreachable!("forms of this family"),
        Form::DatasketchesHll4 => hll(HllRegisters::Hll4).map_err(|error| of(&error)),
        Form::DatasketchesHll6 => hll(HllRegisters::Hll6).map_err(|error| of(&error)),
        Form::DatasketchesHll8 => hll(HllRegisters::Hll8).map_err(|error| of(&error)),
        Form::DatasketchesTheta => {
            theta(bytes).map(|sketch| sketch.to_bytes()).map_err(|error| of(&error))
        }
        Form::DatasketchesThetaCompressed => {
            theta(bytes).map(|sketch| sketch.to_compressed_bytes()).map_err(|error| of(&error))
        }
        Form::Parquet => {
            let filter = MilvusBloomFilter::from_bytes(bytes).map_err(|error| of(&error))?;
            Ok(filter.into_parquet().to_bytes())
        }
    }
}
