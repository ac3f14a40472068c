//! Cutting of bytes into records.

use super::batch::{Batch, Span};
use super::json;
use super::selector::{self, Selector};
use super::source::BLOCK;
use crate::output::exact_size;
use memchr::{memchr, memchr_iter};
use serde_json::value::RawValue;
use std::io::{self, Read};

/// The byte order mark, which some programs write at the beginning of a file.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// Why a source cannot be read on: in the line with this number, counted from 1, if it is about one.
pub(super) struct Failure {
    pub(super) line: Option<u64>,
    pub(super) what: String,
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self { line: None, what: error.to_string() }
    }
}

/// A source that gives one batch after another.
pub(super) trait Cut {
    /// Fills an empty batch. Returns `false` at the end of the source; the batch may then hold its last records.
    ///
    /// # Errors
    /// If the source cannot be read on. The batch holds the records before.
    fn fill(&mut self, batch: &mut Batch) -> Result<bool, Failure>;
}

/// Records that end in one byte. Their keys are selected later.
pub(super) struct Lines<R> {
    reader: R,
    terminator: u8,
    max_record: usize,
    /// The beginning of a record whose end has not been read.
    rest: Vec<u8>,
    records: u64,
}

impl<R: Read> Lines<R> {
    pub(super) const fn new(reader: R, terminator: u8, max_record: usize) -> Self {
        Self { reader, terminator, max_record, rest: Vec::new(), records: 0 }
    }

    /// Appends what a single read gives to the text of the batch, which it is `filled` up to. Returns its number of bytes.
    fn read(&mut self, text: &mut Vec<u8>, filled: usize) -> io::Result<usize> {
        if text.len() < filled + BLOCK {
            text.resize(filled + BLOCK, 0);
        }
        loop {
            match self.reader.read(&mut text[filled..filled + BLOCK]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }

    /// Reads until a record ends. Returns the length of the text, and whether the source goes on.
    fn read_record(&mut self, text: &mut Vec<u8>) -> Result<(usize, bool), Failure> {
        let mut filled = self.rest.len();
        if text.len() < filled {
            text.resize(filled, 0);
        }
        text[..filled].copy_from_slice(&self.rest);
        self.rest.clear();
        loop {
            let read = self.read(text, filled)?;
            let start = filled;
            filled += read;
            if read == 0 {
                // The last record may lack its end. What is written has it, as with `sort`.
                if filled > 0 {
                    text[filled] = self.terminator;
                    filled += 1;
                }
                return Ok((filled, false));
            }
            if memchr(self.terminator, &text[start..filled]).is_some() {
                return Ok((filled, true));
            }
            if filled > self.max_record {
                return Err(self.too_long(0));
            }
        }
    }

    fn too_long(&self, before: usize) -> Failure {
        let line = Some(self.records + before as u64 + 1);
        Failure { line, what: too_long(self.max_record) }
    }
}

fn too_long(max_record: usize) -> String {
    format!(
        "the record has more than the {} that --max-record allows",
        exact_size(max_record as u64)
    )
}

impl<R: Read> Cut for Lines<R> {
    fn fill(&mut self, batch: &mut Batch) -> Result<bool, Failure> {
        batch.first = self.records + 1;
        let (filled, is_open) = self.read_record(&mut batch.text)?;
        let mut start = 0;
        for end in memchr_iter(self.terminator, &batch.text[..filled]) {
            if end - start > self.max_record {
                return Err(self.too_long(batch.records.len()));
            }
            batch.records.push(Span::new(start, end));
            start = end + 1;
        }
        self.rest.extend_from_slice(&batch.text[start..filled]);
        self.records += batch.records.len() as u64;
        Ok(is_open)
    }
}

/// Selects the keys of all records of a batch of [`Lines`].
///
/// # Errors
/// If a record lacks what is selected, unless such records are left out. The batch holds the records before.
pub(super) fn select(
    batch: &mut Batch,
    columns: &[Selector],
    exact: bool,
    skip_bad: bool,
) -> Result<(), Failure> {
    if columns.iter().all(|selector| matches!(selector, Selector::Record)) {
        return Ok(());
    }
    let records = core::mem::take(&mut batch.records);
    for (record, line) in records.into_iter().zip(batch.first..) {
        match select_one(batch, columns, exact, record, line == 1) {
            Ok(()) => batch.keep(record),
            Err(_) if skip_bad => batch.leave_out(),
            Err(what) => return Err(Failure { line: Some(line), what }),
        }
    }
    Ok(())
}

fn select_one(
    batch: &mut Batch,
    columns: &[Selector],
    exact: bool,
    record: Span,
    is_first: bool,
) -> Result<(), String> {
    let mut document: Option<Box<RawValue>> = None;
    for (index, selector) in columns.iter().enumerate() {
        match selector {
            Selector::Record => {}
            Selector::Fields { delimiter, places } => {
                selector::fields(batch, index, record, *delimiter, places)?;
            }
            Selector::Pointers(pointers) => {
                if document.is_none() {
                    let line = &batch.text[record.start as usize..record.end as usize];
                    let mark = if is_first { MARK } else { b"" };
                    let value = serde_json::from_slice(line.strip_prefix(mark).unwrap_or(line));
                    document = Some(value.map_err(|error| json::error(&error))?);
                }
                let value = document.as_ref().expect("it was read above");
                selector::pointers(&mut batch.columns[index], value, pointers, exact)?;
            }
            Selector::Columns(_) => unreachable!("columns are those of CSV"),
        }
    }
    Ok(())
}

/// Rules for the records of CSV, in all of its files.
pub(super) struct CsvRules {
    pub(super) columns: Vec<Selector>,
    pub(super) delimiter: u8,
    pub(super) max_record: usize,
    pub(super) skip_bad: bool,
    /// Whether all records need the columns of the first header in its order: if they are written, or are keys as they are.
    pub(super) same_header: bool,
    /// The header of the first file.
    pub(super) header: Option<csv::ByteRecord>,
}

/// Records of CSV.
pub(super) struct Csv<'a, R> {
    reader: csv::Reader<Limited<R>>,
    rules: &'a mut CsvRules,
    /// For each selector, where its columns are in this file.
    places: Vec<Vec<usize>>,
    record: csv::ByteRecord,
    records: u64,
    has_begun: bool,
    /// Whether records end in a line feed alone, which counts as part of the record.
    ends_in_feed: bool,
}

impl<'a, R: Read> Csv<'a, R> {
    pub(super) fn new(source: R, rules: &'a mut CsvRules) -> Self {
        let mut builder = csv::ReaderBuilder::new();
        builder.has_headers(false).flexible(true).delimiter(rules.delimiter).buffer_capacity(BLOCK);
        let source = Limited { inner: source, left: 0, max_record: rules.max_record };
        let (reader, record) = (builder.from_reader(source), csv::ByteRecord::new());
        let (places, records, has_begun, ends_in_feed) = (Vec::new(), 0, false, false);
        Self { reader, rules, places, record, records, has_begun, ends_in_feed }
    }

    /// Reads the next record. Returns its line, or `None` at the end.
    fn next(&mut self) -> Result<Option<u64>, Failure> {
        let before = self.reader.position().line();
        let at = |what| Failure { line: Some(before), what };
        // The reader asks for whole blocks.
        self.reader.get_mut().left = self.rules.max_record + BLOCK;
        let found = self.reader.read_byte_record(&mut self.record);
        let found = found.map_err(|error| at(error.to_string()))?;
        if found && self.record.as_slice().len() > self.rules.max_record {
            return Err(at(too_long(self.rules.max_record)));
        }
        // Empty lines before the record belong to none. Its own end may have been read, and line feeds in it were.
        let inside = memchr_iter(b'\n', self.record.as_slice()).count() as u64;
        let after = self.reader.position().line();
        if !self.has_begun {
            self.ends_in_feed = after > before + inside;
        }
        let line = after.saturating_sub(inside + u64::from(self.ends_in_feed));
        Ok(found.then_some(line.max(before)))
    }

    /// Reads the header, and finds the columns of all selectors in it.
    fn begin(&mut self, batch: &mut Batch) -> Result<bool, Failure> {
        let found = self.next()?;
        self.has_begun = true;
        if found.is_none() {
            return Ok(false);
        }
        let at = |what| Failure { line: Some(1), what };
        let header = &self.record;
        for selector in &self.rules.columns {
            let names: &[String] =
                if let Selector::Columns(names) = selector { names } else { &[] };
            let found = names.iter().map(|name| place_of(header, name)).collect::<Result<_, _>>();
            self.places.push(found.map_err(at)?);
        }
        match &self.rules.header {
            None => {
                let text = batch.header.insert(Vec::new());
                selector::write_record(text, self.rules.delimiter, header);
                self.rules.header = Some(header.clone());
            }
            Some(first) if self.rules.same_header && first != header => {
                return Err(at(format!(
                    "the header is {}, but must be that of the first file: {}",
                    names(header),
                    names(first)
                )));
            }
            Some(_) => {}
        }
        Ok(true)
    }

    fn keep(&self, batch: &mut Batch) {
        let start = batch.text.len();
        selector::write_record(&mut batch.text, self.rules.delimiter, &self.record);
        batch.keep(Span::new(start, batch.text.len() - 1));
    }
}

/// Names of a header that a message lists, at most.
const MOST_NAMES: usize = 20;

fn names(header: &csv::ByteRecord) -> String {
    let listed = header.iter().take(MOST_NAMES).map(String::from_utf8_lossy);
    let listed = listed.collect::<Vec<_>>().join(", ");
    match header.len().saturating_sub(MOST_NAMES) {
        0 => listed,
        more => format!("{listed} and {more} more"),
    }
}

/// The place of the column with this name, or with this number if none has the name.
fn place_of(header: &csv::ByteRecord, name: &str) -> Result<usize, String> {
    let by_name = header.iter().position(|column| column == name.as_bytes());
    let by_number = || name.parse().ok().filter(|number| (1..=header.len()).contains(number));
    by_name
        .or_else(|| by_number().map(|number| number - 1))
        .ok_or_else(|| format!("there is no column `{name}`: the header has {}", names(header)))
}

impl<R: Read> Cut for Csv<'_, R> {
    fn fill(&mut self, batch: &mut Batch) -> Result<bool, Failure> {
        if !self.has_begun && !self.begin(batch)? {
            return Ok(false);
        }
        batch.text.clear();
        batch.first = self.records + 1;
        while batch.text.len() < BLOCK {
            let Some(line) = self.next()? else { return Ok(false) };
            self.records += 1;
            match select_columns(batch, &self.places, &self.record) {
                Ok(()) => self.keep(batch),
                Err(_) if self.rules.skip_bad => batch.leave_out(),
                Err(what) => return Err(Failure { line: Some(line), what }),
            }
        }
        Ok(true)
    }
}

fn select_columns(
    batch: &mut Batch,
    places: &[Vec<usize>],
    record: &csv::ByteRecord,
) -> Result<(), String> {
    for (places, column) in places.iter().zip(&mut batch.columns) {
        if !column.is_record {
            selector::columns(column, record, places)?;
        }
    }
    Ok(())
}

/// A source without the byte order mark that it may begin with.
pub(super) fn without_mark<R: Read>(mut source: R) -> io::Result<impl Read> {
    let mut start = Vec::new();
    source.by_ref().take(MARK.len() as u64).read_to_end(&mut start)?;
    if start == MARK {
        start.clear();
    }
    Ok(io::Cursor::new(start).chain(source))
}

/// A source of which no more than so many bytes are read for one record.
struct Limited<R> {
    inner: R,
    left: usize,
    max_record: usize,
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::Error::other(too_long(self.max_record)));
        }
        let most = buffer.len().min(self.left);
        let read = self.inner.read(&mut buffer[..most])?;
        self.left -= read;
        Ok(read)
    }
}
