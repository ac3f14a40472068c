//! `pds similar`: near duplicates.

use crate::error::Result;
use crate::input::Inputs;
use crate::key;
use crate::output::{Cell, Format, Report};
use crate::parse;
use clap::{Args, ValueEnum};
use pds::{LshIndex, MinHash};
use std::path::PathBuf;

/// Lists pairs of lines, or of whole files, that are nearly the same.
///
/// A document is the set of its shingles. The similarity of two documents is the Jaccard index of their sets: the share of all
/// their shingles that both have. It is estimated, with an interval that holds the truth with a probability of 95 %. A pair at
/// the threshold is found with the probability --recall, a more similar one with a higher one.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pds similar titles.txt                         lines that differ in little
  pds similar --files --threshold 70% 'docs/*.md'
  pds similar --shingle words:2 --csv -f abstract papers.csv")]
pub(crate) struct Options {
    #[command(flatten)]
    inputs: Inputs,
    /// Each file is a document. Otherwise each line is one
    #[arg(long = "files")]
    whole_files: bool,
    /// The least similarity to list
    #[arg(short, long, value_name = "JACCARD", value_parser = parse::fraction, default_value = "80%")]
    threshold: f64,
    /// The probability with which a pair at the threshold is found
    #[arg(long, value_name = "P", value_parser = parse::fraction, default_value = "95%")]
    recall: f64,
    /// Runs of so many characters or words: chars:4, words:3
    #[arg(short, long, value_name = "UNIT:N", value_parser = Shingle::parse, default_value = "chars:4")]
    shingle: Shingle,
    /// Values per document: more of them, less error, 8 bytes each
    #[arg(long, value_name = "N", default_value_t = 128)]
    values: u32,
    /// Form of the result
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Write to this file, which appears when it is complete
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The unit and the length of shingles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shingle {
    unit: Unit,
    length: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Unit {
    Chars,
    Words,
}

impl Shingle {
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not like chars:4 or words:3");
        let (unit, length) = text.split_once(':').ok_or_else(wrong)?;
        let unit = <Unit as ValueEnum>::from_str(unit, false).map_err(|_| wrong())?;
        match length.parse() {
            Ok(length @ 1..) => Ok(Self { unit, length }),
            _ => Err(wrong()),
        }
    }

    /// Inserts the shingles of a document. A shorter document than a shingle is one by itself.
    fn insert_all(self, document: &[u8], sketch: &mut MinHash) {
        // Words are compared without the blanks behind them.
        let trimmed = |part: &'_ [u8]| {
            if self.unit == Unit::Words { part.trim_ascii_end().len() } else { part.len() }
        };
        let (starts, end): (Vec<usize>, usize) = match self.unit {
            // A byte that continues a character of UTF-8 begins none.
            Unit::Chars => (starts_of(document, |_, byte| byte & 0xc0 != 0x80), document.len()),
            Unit::Words => {
                let is_blank = |byte: u8| byte.is_ascii_whitespace();
                let begins =
                    |before: Option<u8>, byte| !is_blank(byte) && before.is_none_or(is_blank);
                (starts_of(document, begins), document.trim_ascii_end().len())
            }
        };
        if starts.len() <= self.length {
            if !document.is_empty() {
                let start = starts.first().copied().unwrap_or(0);
                sketch.insert_hash(key::hash(&document[start..end]));
            }
            return;
        }
        for (index, &start) in starts[..=starts.len() - self.length].iter().enumerate() {
            let stop = starts.get(index + self.length).copied().unwrap_or(end);
            let part = &document[start..stop];
            sketch.insert_hash(key::hash(&part[..trimmed(part)]));
        }
    }
}

/// The places of bytes that begin a unit, by the byte before and themselves.
fn starts_of(document: &[u8], begins: impl Fn(Option<u8>, u8) -> bool) -> Vec<usize> {
    let before = core::iter::once(None).chain(document.iter().copied().map(Some));
    let bytes = document.iter().copied().zip(before).enumerate();
    bytes.filter(|&(_, (byte, before))| begins(before, byte)).map(|(place, _)| place).collect()
}

/// A document: where it comes from, and its text if it is a line.
struct Document {
    name: Cell,
    text: Option<Vec<u8>>,
    sketch: MinHash,
}

/// Runs the command.
///
/// # Errors
/// If an input cannot be read, or the output not written.
pub(crate) fn run(options: &Options) -> Result<()> {
    let documents = documents(options)?;
    let builder = LshIndex::builder().num_values(options.values);
    let mut index = builder.threshold(options.threshold).recall(options.recall).build()?;
    index.insert_batch((0..).zip(documents.iter().map(|document| &document.sketch)))?;
    let columns = ["left", "right", "similarity", "at_least", "at_most", "left_line", "right_line"];
    let mut report = Report::new(if options.whole_files { &columns[..5] } else { &columns });
    for (left, right) in index.near_duplicates() {
        let [left, right] = [left, right].map(|number| &documents[number as usize]);
        let found = left.sketch.compare(&right.sketch)?;
        let similarity = found.jaccard().value;
        if similarity < options.threshold {
            continue;
        }
        let interval = found.jaccard_interval(0.95)?;
        let mut row = vec![left.name.clone(), right.name.clone(), similarity.into()];
        row.extend([Cell::from(*interval.start()), Cell::from(*interval.end())]);
        row.extend(
            [left, right].into_iter().filter_map(|document| Some(document.text.as_deref()?.into())),
        );
        report.push(row);
    }
    report.write(options.format, options.output.as_deref())
}

fn documents(options: &Options) -> Result<Vec<Document>> {
    let work = options.inputs.work(&[])?;
    let mut documents = Vec::new();
    let sketch = |text: &[u8]| -> Result<MinHash> {
        let mut sketch = MinHash::new(options.values)?;
        options.shingle.insert_all(text, &mut sketch);
        Ok(sketch)
    };
    if options.whole_files {
        work.read_whole(|name, text| {
            documents.push(Document { name: Cell::Text(name), text: None, sketch: sketch(&text)? });
            Ok(())
        })?;
        return Ok(documents);
    }
    work.read(false, |batch, progress| {
        for index in 0..batch.len() {
            let text = batch.key(index);
            let name = Cell::Count(documents.len() as u64 + 1);
            documents.push(Document { name, text: Some(text.to_vec()), sketch: sketch(text)? });
        }
        progress.say(|| format!("{} documents", documents.len()));
        Ok(())
    })?;
    Ok(documents)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sketch(shingle: &str, text: &str) -> MinHash {
        let mut sketch = MinHash::new(1_024).unwrap();
        Shingle::parse(shingle).unwrap().insert_all(text.as_bytes(), &mut sketch);
        sketch
    }

    #[test]
    fn shingles_are_the_runs_of_characters_and_words() {
        let of = |parts: &[&str]| {
            let mut sketch = MinHash::new(1_024).unwrap();
            parts.iter().for_each(|part| _ = sketch.insert(*part));
            sketch
        };
        for (shingle, text, parts) in [
            ("chars:2", "naïve", &["na", "aï", "ïv", "ve"][..]),
            ("chars:9", "short", &["short"]),
            ("words:2", "  a b  c ", &["a b", "b  c"]),
            ("words:1", "a b", &["a", "b"]),
            ("words:3", "a b c", &["a b c"]),
            ("chars:4", "", &[]),
        ] {
            assert!(sketch(shingle, text) == of(parts), "{shingle} of {text}");
        }
        assert!(Shingle::parse("chars:0").is_err() && Shingle::parse("4").is_err());
    }
}
