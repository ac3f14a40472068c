//! Keys of one part: exact, or in a filter.

use super::parts::{Keys, most_in_part, within_part};
use crate::error::{Error, Result};
use crate::input::Batch;
use crate::key;
use crate::line_set::{Entry, Extras, LineSet};
use pds::QuotientFilter;
use pds::compare::HumanCount;
use pds::error::BuildError;

/// The lines themselves. Their use is counted in bytes.
pub(super) struct Lines {
    set: LineSet,
    /// How often a line came before the time when it is written.
    before: u64,
}

impl Lines {
    /// Lines that are written when they come again, if `repeated`, or when they are new.
    pub(super) fn new(repeated: bool) -> Self {
        let set = LineSet::new(Extras { counts: repeated, records: false });
        Self { set, before: repeated.into() }
    }

    pub(super) const fn len(&self) -> u64 {
        self.set.len()
    }

    pub(super) fn size_in_bytes(&self) -> u64 {
        self.set.size_in_bytes()
    }
}

impl Keys for Lines {
    fn prepare(&mut self, hashes: &[u64]) {
        self.set.prepare(hashes);
    }

    #[inline]
    fn insert(&mut self, _: usize, hash: u64, key: &[u8], most: u64) -> Result<Option<bool>> {
        Ok(self.set.insert(hash, key, &[], most).map(|count| count == self.before))
    }

    fn used(&self) -> u64 {
        self.size_in_bytes()
    }

    fn used_after(&self, batch: &Batch) -> u64 {
        self.set.size_after(batch.len(), batch.key_bytes())
    }
}

/// Fingerprints of lines. Their use is counted in lines.
pub(super) struct FilterKeys {
    seen: QuotientFilter,
    /// Lines that came again, if those are wanted.
    again: Option<QuotientFilter>,
    /// Hashes of a batch, and whether they were there before it.
    hashes: Vec<u64>,
    known: Vec<bool>,
    /// Lines that were there from the start.
    moved: u64,
}

impl FilterKeys {
    /// Checks that a filter of so many lines in all can have a rate.
    ///
    /// # Errors
    /// If none has it.
    pub(super) fn check(rate: f64, max_lines: u64) -> Result<()> {
        filter(1, max_lines, rate, max_lines).map(drop)
    }

    /// A filter of the lines of one part, of `max_lines` in all parts.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub(super) fn new(lines: &Lines, rate: f64, max_lines: u64) -> Result<Self> {
        let most = most_in_part(max_lines);
        let moved = |is_moved: &dyn Fn(&Entry<'_>) -> bool| {
            let entries = || lines.set.iter().filter(|entry| is_moved(entry));
            let mut filter = filter(entries().count() as u64, most, rate, max_lines)?;
            for entry in entries() {
                filter.insert_hash_if_absent(within_part(key::hash(entry.key)))?;
            }
            Ok::<_, Error>(filter)
        };
        let seen = moved(&|_| true)?;
        let again = lines.before > 0;
        let again = again.then(|| moved(&|entry| entry.count > 1)).transpose()?;
        Ok(Self { moved: seen.len(), seen, again, hashes: Vec::new(), known: Vec::new() })
    }

    pub(super) fn size_in_bytes(&self) -> u64 {
        self.seen.size_in_bytes() + self.again.as_ref().map_or(0, QuotientFilter::size_in_bytes)
    }

    /// Lines that the filter took for new ones.
    pub(super) fn added(&self) -> u64 {
        self.seen.len() - self.moved
    }

    /// Whether a line with this hash was seen, perhaps.
    pub(super) fn contains(&self, hash: u64) -> bool {
        self.seen.contains_hash(within_part(hash))
    }
}

/// A growing filter for `items` lines at first and `most` at last, of `max_lines` in all parts.
fn filter(items: u64, most: u64, rate: f64, max_lines: u64) -> Result<QuotientFilter> {
    let builder = QuotientFilter::builder().expected_items(items.clamp(1, most)).grows_to(most);
    builder.false_positive_rate(rate).build().map_err(|error| match error {
        // The widths that are wrong then are those of the library.
        BuildError::Param(_) => format!(
            "--rate is {rate:?}, but no filter of {} lines (--max-lines) has it: its hashes have 64 bits. Give a greater rate or \
             fewer lines",
            HumanCount(max_lines)
        )
        .into(),
        error => error.into(),
    })
}

impl Keys for FilterKeys {
    fn prepare(&mut self, hashes: &[u64]) {
        self.hashes.clear();
        self.hashes.extend(hashes.iter().map(|&hash| within_part(hash)));
        self.known.resize(hashes.len(), false);
        // Most lines have come before. Those are found together, many accesses to memory at a time.
        self.seen.contains_hash_batch(&self.hashes, &mut self.known);
    }

    #[inline]
    fn insert(&mut self, place: usize, _: u64, _: &[u8], most: u64) -> Result<Option<bool>> {
        let hash = self.hashes[place];
        let mut is_new = !self.known[place];
        if is_new && self.seen.len() >= most {
            if !self.seen.contains_hash(hash) {
                return Ok(None);
            }
            is_new = false;
        }
        is_new = is_new && self.seen.insert_hash_if_absent(hash)?;
        Ok(Some(match &mut self.again {
            None => is_new,
            Some(again) => !is_new && again.insert_hash_if_absent(hash)?,
        }))
    }

    fn used(&self) -> u64 {
        self.seen.len()
    }

    fn used_after(&self, batch: &Batch) -> u64 {
        self.used() + batch.len() as u64
    }
}
