//! Records that lie one after another in memory, with their keys.

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
    /// The records with what ends each, and bytes behind them that belong to the next batch.
    pub(super) text: Vec<u8>,
    /// The records without what ends them.
    pub(super) records: Vec<Span>,
    pub(super) columns: Vec<Column>,
    pub(super) hashes: Vec<u64>,
    /// The header of the first CSV file, before its first records.
    pub(super) header: Option<Vec<u8>>,
    /// Whether no further batch waits, so that what was found is due.
    pub(crate) is_last_for_now: bool,
}

impl Batch {
    pub(super) fn clear(&mut self) {
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

    /// A record without what ends it.
    pub(crate) fn record(&self, index: usize) -> &[u8] {
        self.records[index].of(&self.text)
    }

    /// The key of a record.
    #[inline]
    pub(crate) fn key(&self, index: usize) -> &[u8] {
        self.cell(0, index)
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

    /// The text from one record up to another, each with what ends it. Nothing may lie [between](Self::follows) them.
    pub(crate) fn text(&self, from: usize, to: usize) -> &[u8] {
        let (first, last) = (self.records[from], self.records[to - 1]);
        &self.text[first.start as usize..=last.end as usize]
    }

    /// Whether a record lies directly behind the one before. Otherwise a record between them was left out.
    pub(crate) fn follows(&self, index: usize) -> bool {
        self.records[index].start == self.records[index - 1].end + 1
    }
}
