//! Cutting of bytes into records.

use super::batch::{Batch, Span};
use super::selector::{self, Selector};
use super::source::BLOCK;
use memchr::{memchr, memchr_iter};
use std::io::{self, Read};

/// Why a source cannot be read on: in the record with this number, counted from 1, if it is about one.
pub(super) struct Failure {
    pub(super) record: Option<u64>,
    pub(super) what: String,
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self { record: None, what: error.to_string() }
    }
}

/// What is cut out of sources, and how.
pub(super) struct Rules {
    pub(super) columns: Vec<Selector>,
    pub(super) terminator: u8,
    pub(super) max_record: usize,
    pub(super) skip_bad: bool,
    /// Records that were left out.
    pub(super) skipped: u64,
    /// Whether a batch has the header already.
    pub(super) has_header: bool,
}

/// A source that gives one batch after another.
pub(super) trait Cut {
    /// Fills an empty batch. Returns `false` at the end of the source; the batch may then hold its last records.
    fn fill(&mut self, batch: &mut Batch, rules: &mut Rules) -> Result<bool, Failure>;
}

/// Records that end in one byte.
pub(super) struct Lines<R> {
    reader: R,
    /// The beginning of a record whose end has not been read.
    rest: Vec<u8>,
    records: u64,
}

impl<R: Read> Lines<R> {
    pub(super) const fn new(reader: R) -> Self {
        Self { reader, rest: Vec::new(), records: 0 }
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
}

impl<R: Read> Cut for Lines<R> {
    fn fill(&mut self, batch: &mut Batch, rules: &mut Rules) -> Result<bool, Failure> {
        let mut filled = self.rest.len();
        if batch.text.len() < filled {
            batch.text.resize(filled, 0);
        }
        batch.text[..filled].copy_from_slice(&self.rest);
        self.rest.clear();
        let is_open = loop {
            let read = self.read(&mut batch.text, filled)?;
            let start = filled;
            filled += read;
            if read == 0 {
                // The last record may lack its end. What is written has it, as with `sort`.
                if filled > 0 {
                    batch.text[filled] = rules.terminator;
                    filled += 1;
                }
                break false;
            }
            if memchr(rules.terminator, &batch.text[start..filled]).is_some() {
                break true;
            }
            if filled > rules.max_record {
                return Err(self.too_long(0, rules));
            }
        };
        let mut start = 0;
        for end in memchr_iter(rules.terminator, &batch.text[..filled]) {
            if end - start > rules.max_record {
                return Err(self.too_long(batch.records.len(), rules));
            }
            batch.records.push(Span::new(start, end));
            start = end + 1;
        }
        self.rest.extend_from_slice(&batch.text[start..filled]);
        let first = self.records + 1;
        self.records += batch.records.len() as u64;
        select(batch, rules, first)?;
        Ok(is_open)
    }
}

impl<R> Lines<R> {
    fn too_long(&self, before: usize, rules: &Rules) -> Failure {
        Failure {
            record: Some(self.records + before as u64 + 1),
            what: format!(
                "the record has more than the {} bytes that --max-record allows",
                rules.max_record
            ),
        }
    }
}

/// Selects the keys of all records of a batch, whose first has the number `first`.
fn select(batch: &mut Batch, rules: &mut Rules, first: u64) -> Result<(), Failure> {
    if rules.columns.iter().all(|selector| matches!(selector, Selector::Record)) {
        return Ok(());
    }
    let records = core::mem::take(&mut batch.records);
    for (record, number) in records.into_iter().zip(first..) {
        let done = batch.records.len();
        match select_one(batch, &rules.columns, record) {
            Ok(()) => batch.records.push(record),
            Err(_) if rules.skip_bad => {
                rules.skipped += 1;
                for column in &mut batch.columns {
                    column.spans.truncate(done);
                }
            }
            Err(what) => return Err(Failure { record: Some(number), what }),
        }
    }
    Ok(())
}

fn select_one(batch: &mut Batch, columns: &[Selector], record: Span) -> Result<(), String> {
    let mut json = None;
    for (index, selector) in columns.iter().enumerate() {
        match selector {
            Selector::Record => {}
            Selector::Fields { delimiter, places } => {
                selector::fields(batch, index, record, *delimiter, places)?;
            }
            Selector::Pointers(pointers) => {
                if json.is_none() {
                    let line = &batch.text[record.start as usize..record.end as usize];
                    let value = serde_json::from_slice(line);
                    json = Some(value.map_err(|error| format!("is not JSON: {error}"))?);
                }
                let value = json.as_ref().expect("it was read above");
                selector::pointers(&mut batch.columns[index], value, pointers)?;
            }
            Selector::Columns { .. } => unreachable!("columns are those of CSV"),
        }
    }
    Ok(())
}

/// Records of CSV.
pub(super) struct Csv<R> {
    reader: csv::Reader<R>,
    delimiter: u8,
    record: csv::ByteRecord,
    has_begun: bool,
}

impl<R: Read> Csv<R> {
    pub(super) fn new(source: R, delimiter: u8) -> Self {
        let mut builder = csv::ReaderBuilder::new();
        builder.has_headers(false).flexible(true).delimiter(delimiter).buffer_capacity(BLOCK);
        let reader = builder.from_reader(source);
        Self { reader, delimiter, record: csv::ByteRecord::new(), has_begun: false }
    }

    /// Reads the next record. Returns `false` at the end.
    fn next(&mut self, rules: &Rules) -> Result<bool, Failure> {
        let line = self.reader.position().line();
        let at = |what| Failure { record: Some(line), what };
        let found = self.reader.read_byte_record(&mut self.record);
        let found = found.map_err(|error| at(error.to_string()))?;
        if found && self.record.as_slice().len() > rules.max_record {
            let most = rules.max_record;
            return Err(at(format!(
                "the record has more than the {most} bytes that --max-record allows"
            )));
        }
        Ok(found)
    }

    /// Reads the header, and finds the columns of all selectors in it.
    fn begin(&mut self, batch: &mut Batch, rules: &mut Rules) -> Result<bool, Failure> {
        self.has_begun = true;
        if !self.next(rules)? {
            return Ok(false);
        }
        for selector in &mut rules.columns {
            let Selector::Columns { names, places } = selector else { continue };
            let found =
                names.iter().map(|name| place_of(&self.record, name)).collect::<Result<_, _>>();
            *places = found.map_err(|what| Failure { record: Some(1), what })?;
        }
        if !rules.has_header {
            let header = batch.header.insert(Vec::new());
            selector::write_record(header, self.delimiter, &self.record);
            rules.has_header = true;
        }
        Ok(true)
    }
}

/// The place of the column with this name, or with this number if none has the name.
fn place_of(header: &csv::ByteRecord, name: &str) -> Result<usize, String> {
    let by_name = header.iter().position(|column| column == name.as_bytes());
    let by_number = || name.parse().ok().filter(|number| (1..=header.len()).contains(number));
    by_name.or_else(|| by_number().map(|number| number - 1)).ok_or_else(|| {
        let names: Vec<_> = header.iter().map(String::from_utf8_lossy).collect();
        format!("there is no column `{name}`: the header has {}", names.join(", "))
    })
}

impl<R: Read> Cut for Csv<R> {
    fn fill(&mut self, batch: &mut Batch, rules: &mut Rules) -> Result<bool, Failure> {
        if !self.has_begun && !self.begin(batch, rules)? {
            return Ok(false);
        }
        batch.text.clear();
        while batch.text.len() < BLOCK {
            let line = self.reader.position().line();
            if !self.next(rules)? {
                return Ok(false);
            }
            let done = batch.records.len();
            match select_columns(batch, &rules.columns, &self.record) {
                Ok(()) => {
                    let start = batch.text.len();
                    selector::write_record(&mut batch.text, self.delimiter, &self.record);
                    batch.records.push(Span::new(start, batch.text.len() - 1));
                }
                Err(_) if rules.skip_bad => {
                    rules.skipped += 1;
                    for column in &mut batch.columns {
                        column.spans.truncate(done);
                    }
                }
                Err(what) => return Err(Failure { record: Some(line), what }),
            }
        }
        Ok(true)
    }
}

fn select_columns(
    batch: &mut Batch,
    columns: &[Selector],
    record: &csv::ByteRecord,
) -> Result<(), String> {
    for (selector, column) in columns.iter().zip(&mut batch.columns) {
        if let Selector::Columns { places, .. } = selector {
            selector::columns(column, record, places)?;
        }
    }
    Ok(())
}
