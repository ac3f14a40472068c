//! Records that lie one after another in memory, with their keys.

use crate::error::{Error, Result};
use crate::output::Output;

/// Where something lies in the text of a batch, or of a column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Span {
    #[expect(clippy::cast_possible_truncation, reason = "a batch has less than 2^32 bytes")]
    pub(super) const fn new(start: usize, end: usize) -> Self {
        Self { start: start as u32, end: end as u32 }
    }

    fn of(self, text: &[u8]) -> &[u8] {
        &text[self.start as usize..self.end as usize]
    }
}

/// A key for each record of a batch.
#[derive(Debug, Default)]
pub(super) struct Column {
    /// Empty if the keys are the records.
    pub(super) spans: Vec<Span>,
    /// Keys that had to be composed. The others lie in the text of the batch.
    pub(super) text: Vec<u8>,
    pub(super) is_composed: bool,
    pub(super) is_record: bool,
}

/// Some records of one source, in their order.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// The place of the source among all of them.
    pub(super) source: usize,
    /// The number of the first record that was cut, counted from 1.
    pub(super) first: u64,
    /// How many records before each one were left out of the batch. Empty if none was.
    pub(super) left_out: Vec<u32>,
    /// How many records were left out in all.
    pub(super) skipped: u32,
    /// Why the record behind these cannot be read.
    pub(super) failure: Option<Error>,
    /// The records with what ends each, and bytes behind them that belong to the next batch.
    pub(super) text: Vec<u8>,
    /// The records without what ends them.
    pub(super) records: Vec<Span>,
    pub(super) columns: Vec<Column>,
    pub(super) hashes: Vec<u64>,
    /// The header of the first CSV file, before its first records.
    pub(super) header: Option<Vec<u8>>,
    /// Whether no further batch waits, so that what was found is due.
    pub(super) is_last_for_now: bool,
}

impl Batch {
    pub(super) fn clear(&mut self) {
        self.skipped = 0;
        self.failure = None;
        self.left_out.clear();
        self.records.clear();
        self.hashes.clear();
        self.header = None;
        for column in &mut self.columns {
            column.spans.clear();
            column.text.clear();
        }
    }

    /// The number of records.
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// The hashes of the keys.
    pub(crate) fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// The header of the first file that has one, once: with the first records of that file.
    pub(crate) fn header(&self) -> Option<&[u8]> {
        self.header.as_deref()
    }

    /// The place of the source among all of them.
    pub(crate) const fn source(&self) -> usize {
        self.source
    }

    /// The number of a record in its source, counted from 1. Records that were left out count.
    pub(crate) fn number(&self, index: usize) -> u64 {
        let before = self.left_out.get(index).copied().unwrap_or(0);
        self.first + u64::from(before) + index as u64
    }

    /// Keeps a record.
    pub(super) fn keep(&mut self, record: Span) {
        if self.skipped > 0 {
            self.left_out.resize(self.records.len(), 0);
            self.left_out.push(self.skipped);
        }
        self.records.push(record);
    }

    /// Leaves a record out, and what was selected of it.
    pub(super) fn leave_out(&mut self) {
        self.skipped += 1;
        for column in &mut self.columns {
            column.spans.truncate(self.records.len());
        }
    }

    /// A record without what ends it.
    pub(crate) fn record(&self, index: usize) -> &[u8] {
        self.records[index].of(&self.text)
    }

    /// The key of a record.
    #[inline]
    pub(crate) fn key(&self, index: usize) -> &[u8] {
        self.cell(0, index)
    }

    /// The bytes of all keys, at most.
    pub(crate) fn key_bytes(&self) -> u64 {
        (self.text.len() + self.columns[0].text.len()) as u64
    }

    /// The group of a record.
    pub(crate) fn group(&self, index: usize) -> &[u8] {
        self.cell(1, index)
    }

    #[inline]
    fn cell(&self, column: usize, index: usize) -> &[u8] {
        let column = &self.columns[column];
        if column.is_record {
            return self.record(index);
        }
        column.spans[index].of(if column.is_composed { &column.text } else { &self.text })
    }

    /// Writes the records that are marked, each with what ends it. Returns their number.
    ///
    /// # Errors
    /// If they cannot be written.
    pub(crate) fn write_marked(&self, output: &mut Output, marks: &[bool]) -> Result<u64> {
        let (mut written, mut index) = (0, 0);
        while index < marks.len() {
            if !marks[index] {
                index += 1;
                continue;
            }
            // A record that was left out may lie between two others.
            let follows = |next: usize| self.records[next].start == self.records[next - 1].end + 1;
            let more = (index + 1..marks.len()).take_while(|&next| marks[next] && follows(next));
            let end = index + 1 + more.count();
            let (first, last) = (self.records[index], self.records[end - 1]);
            output.put(&self.text[first.start as usize..=last.end as usize])?;
            written += (end - index) as u64;
            index = end;
        }
        if self.is_last_for_now {
            output.pass_on()?;
        }
        Ok(written)
    }
}
