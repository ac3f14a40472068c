//! `pds info`: what is in a file.

mod foreign;

use super::stored::{Bytes, Limit, Stored, Structure, wrong};
use crate::error::{Error, Result};
use crate::output::{Cell, Facts, Format, Output};
use clap::Args;
use pds::bytes::{Compressed, Envelope};
use pds::compare::HumanBytes;
use pds::error::DecodeErrorKind;
use pds::{DynFilterView, HealthStatus, HyperLogLog, UltraLogLog, registry};
use std::path::{Path, PathBuf};

/// Tells what a file holds: kind, size, number of keys, false-positive rate, and a picture of its bits.
///
/// Files of other systems are recognised by their bytes: Redis and Valkey, DataSketches, Spark, Presto, Guava, Parquet, Milvus, PostgreSQL,
/// DCSO and xor_singleheader (docs/formats.md).
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pds info seen.pds
  pds info --format json *.pds
  redis-cli --raw get visitors | head -c -1 | pds info -     a HyperLogLog of Redis")]
pub(crate) struct Options {
    /// Files of this family or of another system
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Form of the result
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    limit: Limit,
}

/// Runs the command.
///
/// # Errors
/// If a file cannot be read, or is in no format that is known. The others are told.
pub(crate) fn run(options: &Options) -> Result<()> {
    let mut output = Output::new(None)?;
    let (mut told, mut wrong) = (0, Vec::new());
    for path in &options.files {
        let facts = match facts(path, options.limit) {
            Ok(facts) => facts,
            Err(Error::Message(message)) => {
                wrong.push(message);
                continue;
            }
            Err(error) => return Err(error),
        };
        if told > 0 && options.format == Format::Table {
            output.put(b"\n")?;
        }
        output.put(&facts.text(options.format, told == 0))?;
        told += 1;
    }
    output.finish()?;
    if wrong.is_empty() { Ok(()) } else { Err(Error::Message(wrong.join("\npds: "))) }
}

fn facts(path: &Path, limit: Limit) -> Result<Facts> {
    let bytes = Bytes::open(path)?;
    let length = bytes.as_ref().len() as u64;
    let mut facts = Facts::new();
    facts.put("file", path.as_os_str().as_encoded_bytes());
    if let Err(error) = Envelope::open(bytes.as_ref()) {
        let is_other = matches!(error.kind(), DecodeErrorKind::Magic | DecodeErrorKind::Truncated);
        let found = if is_other { foreign::read(bytes.as_ref()) } else { None };
        let Some((name, found)) = found else {
            let also = if is_other {
                ", and they are in no format of another system that is known"
            } else {
                ""
            };
            return Err(wrong(path, format_args!("{error}{also}")));
        };
        facts.put("format", name);
        facts.put("size", size(length));
        facts.put("bytes", length);
        facts.extend(found);
        return Ok(facts);
    }
    let stored = Stored::of(path, bytes, limit)?;
    facts.put("kind", stored.kind().to_string());
    facts.put("type", registry::of_kind(stored.kind()).map(|structure| structure.type_name));
    facts.put("size", size(length));
    facts.put("bytes", length);
    if stored.is_compressed() {
        let contents =
            Compressed::from_bytes(stored.bytes()).map_err(|error| stored.wrong(error))?;
        facts.put("form", "compressed");
        facts.put("plain_bytes", contents.header().envelope_bytes());
        return Ok(facts);
    }
    if stored.is_sketch() {
        about_sketch(&stored.structure()?, &mut facts)?;
    } else {
        let payload = Envelope::open(stored.bytes()).map_err(|error| stored.wrong(error))?;
        payload.verify().map_err(|error| stored.wrong(error))?;
        let fill = picture(payload.payload());
        if let Some(filter) = stored.into_filter_if_any()? {
            about_filter(&filter, &mut facts);
            facts.put("fill", fill);
        }
    }
    Ok(facts)
}

fn size(bytes: u64) -> String {
    HumanBytes(bytes).to_string()
}

fn about_filter(filter: &DynFilterView<'_>, facts: &mut Facts) {
    facts.put("keys", filter.approx_len().map(|keys| Cell::whole(keys.value)));
    facts.put("keys_error", filter.approx_len().map(|keys| keys.standard_error));
    facts.put("expected_keys", filter.expected_items());
    facts.put("false_positive_rate", filter.false_positive_rate());
    facts.put("promised_rate", filter.promised_rate());
    let health = filter.health().map(|health| match health.status {
        HealthStatus::Ok => "ok",
        HealthStatus::Warning => "warning: it holds more keys than it was built for",
        HealthStatus::Critical => "critical: build a larger one",
    });
    facts.put("health", health);
}

fn about_sketch(structure: &Structure, facts: &mut Facts) -> Result<()> {
    match structure {
        Structure::Filter(_) => {}
        Structure::Hitters(hitters) => {
            facts.put("lines", hitters.total());
            facts.put("capacity", hitters.capacity());
        }
        Structure::Sketch(sketch) => {
            facts.put("distinct", sketch.cardinality().map(Cell::whole));
            let interval = match (
                sketch.downcast_ref::<HyperLogLog>(),
                sketch.downcast_ref::<UltraLogLog>(),
            ) {
                (Some(sketch), _) => Some(sketch.estimate_interval(0.95)?),
                (_, Some(sketch)) => Some(sketch.estimate_interval(0.95)?),
                _ => None,
            };
            let [least, most] = [
                interval.as_ref().map(|interval| interval.start().ceil()),
                interval.as_ref().map(|interval| interval.end().floor()),
            ];
            facts.put("at_least_95", least.map(Cell::whole));
            facts.put("at_most_95", most.map(Cell::whole));
        }
    }
    Ok(())
}

/// Parts that the picture has.
const PARTS: usize = 60;
/// How full a part is, from none of its bits to all.
const LEVELS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The share of bits that are set in each part of the payload, and in all of it.
fn picture(payload: &[u8]) -> Cell {
    if payload.is_empty() {
        return Cell::None;
    }
    let parts = payload.chunks(payload.len().div_ceil(PARTS));
    let ones = |part: &[u8]| part.iter().map(|byte| u64::from(byte.count_ones())).sum::<u64>();
    let bars: String = parts.map(|part| level(ones(part), part.len())).collect();
    let share = 100.0 * ones(payload) as f64 / (8.0 * payload.len() as f64);
    Cell::Text(format!("▕{bars}▏ {share:.1} %"))
}

fn level(ones: u64, bytes: usize) -> char {
    let eighths = (ones * 8).div_ceil(8 * bytes as u64);
    LEVELS[usize::try_from(eighths).unwrap_or(8).min(8)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_shows_where_bits_are() {
        let payload = [[0; 60], [0xff; 60], [0x0f; 60]].concat();
        let Cell::Text(text) = picture(&payload) else { panic!("a picture") };
        assert_eq!(
            text,
            format!("▕{}{}{}▏ 50.0 %", " ".repeat(20), "█".repeat(20), "▄".repeat(20))
        );
    }
}
