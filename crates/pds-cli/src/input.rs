//! Inputs: files, globs and standard input, cut into records with their keys.

mod batch;
mod cut;
mod json;
mod progress;
mod reader;
mod selector;
mod source;

pub(crate) use batch::Batch;
pub(crate) use progress::Progress;
pub(crate) use reader::Work;
use selector::Selector;
use source::Source;

use crate::error::{Error, Result};
use crate::parse;
use clap::Args;
use std::path::PathBuf;

/// The inputs, and the choice of keys in them.
#[derive(Clone, Debug, Args)]
pub(crate) struct Inputs {
    /// Files to read, or patterns such as '*.log'; standard input if there are none, or for `-`. Gzip and zstd are detected
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    form: Form,
}

const HEADING: &str = "Records and keys";

/// The form of the records, and what of them is a key.
#[derive(Clone, Debug, Args)]
pub(crate) struct Form {
    /// Records end in NUL, as those of `find -print0`
    #[arg(short = 'z', long, help_heading = HEADING)]
    null: bool,
    /// Fields end in this byte: one character, `\t`, or `blank` for runs of spaces and tabs [default: `\t`, with --csv a comma]
    #[arg(short, long, value_name = "BYTE", help_heading = HEADING, value_parser = Delimiter::parse, conflicts_with = "json")]
    delimiter: Option<Delimiter>,
    /// The key is this field: its number, with --csv its name, with --json its pointer such as /user/id. May be repeated
    #[arg(short, long = "field", value_name = "FIELD", help_heading = HEADING)]
    fields: Vec<String>,
    /// Records are CSV with a header
    #[arg(long, help_heading = HEADING, conflicts_with_all = ["json", "null"])]
    csv: bool,
    /// Records are JSON, one per line
    #[arg(long, help_heading = HEADING, conflicts_with = "null")]
    json: bool,
    /// Records without the field are left out, and counted at the end
    #[arg(long, help_heading = HEADING)]
    skip_bad: bool,
    /// The longest record that is read
    #[arg(long, value_name = "BYTES", help_heading = HEADING, value_parser = parse::bytes, default_value = "64MiB")]
    max_record: u64,
}

/// The end of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delimiter {
    Byte(u8),
    /// A run of spaces and tabs. Those before the first field do not count.
    Blank,
}

impl Delimiter {
    fn parse(text: &str) -> Result<Self, String> {
        match (text, text.as_bytes()) {
            ("\\t", _) => Ok(Self::Byte(b'\t')),
            ("\\0", _) => Ok(Self::Byte(0)),
            ("blank", _) => Ok(Self::Blank),
            (_, &[byte]) => Ok(Self::Byte(byte)),
            _ => Err(format!("`{text}` is not one byte, `\\t`, `\\0` or `blank`")),
        }
    }
}

impl Inputs {
    /// Opens the work of reading: its inputs are there and readable, and its fields are well formed.
    ///
    /// The first selection is the key. The second, if `by` is not empty, is its group.
    ///
    /// # Errors
    /// All inputs that cannot be read, before anything is.
    pub(crate) fn work(&self, by: &[String]) -> Result<Work> {
        self.form.work(&self.files, by)
    }
}

impl Form {
    /// [`Inputs::work`] of other files.
    pub(crate) fn work(&self, files: &[PathBuf], by: &[String]) -> Result<Work> {
        let sources = Source::all(files)?;
        let mut columns = vec![self.selector(&self.fields)?];
        if !by.is_empty() {
            columns.push(self.selector(by)?);
        }
        if self.delimiter.is_some() && !self.csv && self.fields.is_empty() && by.is_empty() {
            return Err(
                "--delimiter has no effect without --field: the key is the whole line".into()
            );
        }
        let max_record = usize::try_from(self.max_record).ok().filter(|&most| most <= 1 << 30);
        let max_record = max_record.ok_or("--max-record must be at most 1GiB")?;
        let terminator = if self.null { 0 } else { b'\n' };
        Ok(Work {
            sources,
            columns,
            terminator,
            csv: self.csv_delimiter()?,
            max_record,
            skip_bad: self.skip_bad,
            exact: true,
            passes_on: false,
            shows_progress: true,
        })
    }

    /// The delimiter of CSV: a comma unless another one is given.
    fn csv_delimiter(&self) -> Result<Option<u8>> {
        match self.delimiter {
            _ if !self.csv => Ok(None),
            None => Ok(Some(b',')),
            Some(Delimiter::Blank | Delimiter::Byte(b'\n' | b'\r' | b'"')) => {
                Err("--delimiter must be one character with --csv, and no quote or end of a line"
                    .into())
            }
            Some(Delimiter::Byte(byte)) => Ok(Some(byte)),
        }
    }

    fn selector(&self, fields: &[String]) -> Result<Selector> {
        if fields.is_empty() && self.json {
            // All of a line, so that what is no JSON is an error.
            return Ok(Selector::Pointers(vec![String::new()]));
        }
        if fields.is_empty() {
            return Ok(Selector::Record);
        }
        if self.csv {
            return Ok(Selector::Columns(fields.to_vec()));
        }
        if self.json {
            let wrong = fields.iter().find(|field| !field.is_empty() && !field.starts_with('/'));
            return match wrong {
                Some(field) => Err(Error::Message(format!(
                    "`{field}` is not a JSON pointer: it must be empty or begin with `/`, as /user/id does"
                ))),
                None => Ok(Selector::Pointers(fields.to_vec())),
            };
        }
        let numbers = fields.iter().flat_map(|field| field.split(','));
        let places = numbers.map(field_number).collect::<Result<_>>()?;
        let delimiter = self.delimiter.unwrap_or(Delimiter::Byte(b'\t'));
        Ok(Selector::Fields { delimiter, places })
    }
}

/// The place of a field from its number, which counts from 1.
fn field_number(text: &str) -> Result<usize> {
    match text.trim().parse::<usize>() {
        Ok(number @ 1..) => Ok(number - 1),
        _ => Err(Error::Message(format!(
            "`{text}` is not the number of a field: fields count from 1 (names need --csv, pointers --json)"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_as_people_write_them() {
        assert_eq!(Delimiter::parse(","), Ok(Delimiter::Byte(b',')));
        assert_eq!(Delimiter::parse("\\t"), Ok(Delimiter::Byte(b'\t')));
        assert_eq!(Delimiter::parse("blank"), Ok(Delimiter::Blank));
        assert!(Delimiter::parse(", ").is_err() && Delimiter::parse("").is_err());
    }
}
