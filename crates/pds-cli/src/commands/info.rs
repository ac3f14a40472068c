//! `pds info`: what is in a file.

use super::stored::{Bytes, Structure, wrong};
use crate::error::Result;
use crate::output::{Cell, Facts, Format, Output};
use clap::Args;
use pds::bytes::{Compressed, Envelope, Kind};
use pds::compare::HumanBytes;
use pds::error::DecodeErrorKind;
use pds::{DynFilterView, HealthStatus, HyperLogLog, UltraLogLog, registry};
use std::path::{Path, PathBuf};

/// Tells what a file holds: kind, size, number of keys, false-positive rate, and a picture of its bits.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Files of any kind of this family
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Form of the result
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Runs the command.
///
/// # Errors
/// If a file cannot be read, or is none of this family.
pub(crate) fn run(options: &Options) -> Result<()> {
    let mut output = Output::new(None)?;
    for (index, path) in options.files.iter().enumerate() {
        if index > 0 && options.format == Format::Table {
            output.put(b"\n")?;
        }
        output.put(&facts(path)?.text(options.format, index == 0))?;
    }
    output.finish()
}

fn facts(path: &Path) -> Result<Facts> {
    let bytes = Bytes::open(path)?;
    let of = |error| wrong(path, error);
    let envelope = Envelope::open(bytes.as_ref()).map_err(of)?;
    let header = envelope.header();
    let mut facts = Facts::new();
    facts.put("file", path.display().to_string());
    facts.put("kind", header.kind.to_string());
    if let Some(structure) = registry::of_kind(header.kind) {
        facts.put("type", structure.type_name);
    }
    facts.put("size", size(bytes.as_ref().len() as u64));
    facts.put("bytes", bytes.as_ref().len() as u64);
    if header.kind == Kind::COMPRESSED {
        let compressed = Compressed::from_bytes(bytes.as_ref()).map_err(of)?;
        facts.put("contents", compressed.header().kind.to_string());
        facts.put("contents_bytes", compressed.header().envelope_bytes());
        return Ok(facts);
    }
    let (kind, fill) = (header.kind, picture(envelope.payload()));
    match DynFilterView::open(bytes) {
        Ok(filter) => {
            about_filter(&filter, &mut facts);
            facts.put("fill", fill);
        }
        Err(error) if error.kind() == DecodeErrorKind::Kind => {
            about_sketch(path, kind, &mut facts)?;
        }
        Err(error) => return Err(of(error)),
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

fn about_sketch(path: &Path, kind: Kind, facts: &mut Facts) -> Result<()> {
    let is_known = [
        Kind::COUNT_MIN,
        Kind::COUNT_SKETCH,
        Kind::HYPER_LOG_LOG,
        Kind::ULTRA_LOG_LOG,
        Kind::HEAVY_HITTERS,
    ]
    .contains(&kind);
    if !is_known {
        return Ok(());
    }
    match Structure::load(path)? {
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
            facts.put(
                "at_least_95",
                interval.clone().map(|interval| Cell::whole(interval.start().ceil())),
            );
            facts.put("at_most_95", interval.map(|interval| Cell::whole(interval.end().floor())));
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
