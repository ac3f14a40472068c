//! `pds similar`: near duplicates.

use crate::error::Result;
use crate::input::{Inputs, Progress};
use crate::key;
use crate::output::{Cell, Format, Report};
use crate::parse;
use alloc::sync::Arc;
use clap::{Args, ValueEnum};
use core::hash::Hasher;
use pds::compare::HumanCount;
use pds::{LshIndex, MinHash};
use std::collections::HashMap;
use std::hash::DefaultHasher;
use std::path::PathBuf;

/// Lists pairs of lines, or of whole files, that are nearly the same.
///
/// A document is the set of its shingles. The similarity of two documents is the Jaccard index of their sets: the share of all
/// their shingles that both have. It is estimated, with an interval that holds the truth with the probability --recall. A pair
/// at the threshold is listed with that probability, a more similar one with a higher one. So the estimates of some pairs that
/// are listed are below the threshold: a pair is left out only if its whole interval is.
///
/// Copies of a document are listed with the first of them, and no pair again for each copy.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  pds similar titles.txt                         lines that differ in little
  pds similar --files --threshold 70% 'docs/*.md'
  pds similar --shingle words:2 --csv -f abstract papers.csv")]
pub(crate) struct Options {
    #[command(flatten)]
    inputs: Inputs,
    /// Each file is a document. Otherwise each line is one
    #[arg(long = "files", conflicts_with_all = ["null", "delimiter", "fields", "csv", "json", "skip_bad"])]
    whole_files: bool,
    /// The least similarity to list
    #[arg(short, long, value_name = "JACCARD", value_parser = parse::fraction, default_value = "80%")]
    threshold: f64,
    /// The probability with which a pair at the threshold is listed
    #[arg(long, value_name = "P", value_parser = parse::fraction, default_value = "95%")]
    recall: f64,
    /// Runs of so many characters or words: chars:4, words:3
    #[arg(short, long, value_name = "UNIT:N", value_parser = Shingle::parse, default_value = "chars:4")]
    shingle: Shingle,
    /// Values per document: more of them, less error, 8 bytes each
    #[arg(long, value_name = "N", default_value_t = 128)]
    values: u32,
    /// The most pairs to list: more of them are an error
    #[arg(long, value_name = "N", value_parser = parse::count, default_value = "1M")]
    max_pairs: u64,
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
    text: Option<Arc<[u8]>>,
    sketch: MinHash,
}

/// The length and two hashes: different documents have different ones, but for a chance of 2^-128.
fn fingerprint(text: &[u8]) -> [u64; 3] {
    let mut other = DefaultHasher::new();
    other.write(text);
    [text.len() as u64, key::hash(text), other.finish()]
}

/// Documents, each once.
struct Documents {
    shingle: Shingle,
    values: u32,
    different: Vec<Document>,
    /// The places of the different ones, by what tells them apart.
    places: HashMap<[u64; 3], u32>,
    /// Where further copies come from, with the place of the first.
    copies: Vec<(u32, Cell)>,
}

impl Documents {
    fn insert(&mut self, name: Cell, text: &[u8], is_line: bool) -> Result<()> {
        let key = fingerprint(text);
        if let Some(&first) = self.places.get(&key) {
            self.copies.push((first, name));
            return Ok(());
        }
        let mut sketch = MinHash::new(self.values)?;
        self.shingle.insert_all(text, &mut sketch);
        // Nothing is similar to an empty document.
        if !sketch.is_empty() {
            let place = u32::try_from(self.different.len()).map_err(|_| "too many documents")?;
            self.places.insert(key, place);
            self.different.push(Document { name, text: is_line.then(|| text.into()), sketch });
        }
        Ok(())
    }

    fn describe(&self) -> String {
        format!("{} different documents", HumanCount(self.different.len() as u64))
    }
}

/// Runs the command.
///
/// # Errors
/// If an input cannot be read, the output not written, or if there are more pairs than may be.
pub(crate) fn run(options: &Options) -> Result<()> {
    let documents = documents(options)?;
    let all = &documents.different;
    // A pair at the threshold may be missed by the index, or estimated too low: half of what may be missed for each.
    let recall = f64::midpoint(options.recall, 1.0);
    let builder = LshIndex::builder().num_values(options.values);
    let mut index = builder.threshold(options.threshold).recall(recall).build()?;
    index.insert_batch((0..).zip(all.iter().map(|document| &document.sketch)))?;
    let columns = ["left", "right", "similarity", "at_least", "at_most", "left_line", "right_line"];
    let mut report = Report::new(if options.whole_files { &columns[..5] } else { &columns });
    let mut put = |left: &Document, name: &Cell, right: &Document, range: [f64; 3]| {
        if report.len() >= options.max_pairs {
            return Err(format!(
                "there are more than the {} pairs that --max-pairs allows; a higher --threshold gives fewer",
                HumanCount(options.max_pairs)
            ));
        }
        let mut row = vec![left.name.clone(), name.clone()];
        row.extend(range.map(Cell::from));
        let texts = [left, right].into_iter().filter_map(|document| document.text.clone());
        row.extend(texts.map(Cell::from));
        report.push(row);
        Ok(())
    };
    let mut copies = documents.copies.iter().peekable();
    for (place, left) in (0_u32..).zip(all) {
        while let Some((_, name)) = copies.next_if(|(first, _)| *first == place) {
            put(left, name, left, [1.0; 3])?;
        }
        for other in index.query(&left.sketch)?.into_iter().filter(|&other| other > place) {
            let right = &all[other as usize];
            let found = left.sketch.compare(&right.sketch)?;
            let interval = found.jaccard_interval(options.recall)?;
            let (least, most) = interval.into_inner();
            if most >= options.threshold {
                put(left, &right.name, right, [found.jaccard().value, least, most])?;
            }
        }
    }
    report.write(options.format, options.output.as_deref())
}

fn documents(options: &Options) -> Result<Documents> {
    let work = options.inputs.work(&[])?;
    let mut documents = Documents {
        shingle: options.shingle,
        values: options.values,
        different: Vec::new(),
        places: HashMap::new(),
        copies: Vec::new(),
    };
    if options.whole_files {
        work.read_whole(|name, text, progress: &Progress| {
            documents.insert(Cell::Text(name), &text, false)?;
            progress.say(|| documents.describe());
            Ok(())
        })?;
    } else {
        let names = work.names();
        work.read(false, |batch, progress| {
            for index in 0..batch.len() {
                let number = batch.number(index);
                let name = match names.as_slice() {
                    [_] => Cell::Count(number),
                    several => Cell::Text(format!("{}:{number}", several[batch.source()])),
                };
                documents.insert(name, batch.key(index), true)?;
            }
            progress.say(|| documents.describe());
            Ok(())
        })?;
    }
    // The copies of each document together, in their order.
    documents.copies.sort_by_key(|(first, _)| *first);
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
