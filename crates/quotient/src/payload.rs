//! The blocks of a table in portable bytes. `docs/format.md` of the workspace specifies them.

use core::ops::Range;

use pds_core::bytes::{Sink, Source};
use pds_core::error::DecodeError;
use pds_core::internal::{StoredWord, fill_words};
use pds_core::storage::WordSource;

use crate::arch::Portable;
use crate::blocks::{BLOCK, GROUP, Layout, SATURATED};
use crate::table::Table;

/// Most bytes after the last whole word of whole blocks: those of a word, and of a block.
const MAX_REST: usize = 7 + Layout::MAX_BLOCK_BYTES;

/// Returns the number of words in whole blocks of this many slots, and where the bytes after them lie in memory.
fn parts(layout: Layout, slots: usize) -> (usize, impl Iterator<Item = usize>) {
    let (block, groups) = (slots / BLOCK, slots % BLOCK / GROUP);
    let head = layout.head(block);
    let short = layout.short(block, groups);
    (head / 8, (head / 8 * 8..head).chain(short.into_iter().flatten()))
}

impl Table {
    /// Writes the blocks.
    pub(crate) fn put<S: Sink>(&self, sink: &mut S) -> Result<(), S::Error> {
        let (whole, places) = parts(self.layout(), self.slots());
        sink.put_words(self.words()[..whole].iter().copied())?;
        let (mut rest, mut len) = ([0; MAX_REST], 0);
        for (byte, place) in rest.iter_mut().zip(places) {
            *byte = u64::byte(self.words(), place);
            len += 1;
        }
        sink.put(&rest[..len])
    }

    /// Reads blocks of `slots` slots with `len` entries.
    ///
    /// # Errors
    /// As [`Source::take`], and [`Alloc`](pds_core::error::DecodeErrorKind::Alloc) if the allocator refuses the memory.
    /// Whatever the blocks hold is accepted.
    pub(crate) fn take<S: Source>(
        quotients: u64,
        width: u32,
        slots: u64,
        len: u64,
        source: &mut S,
    ) -> Result<Self, S::Error> {
        let mut table = Self::with_slots(quotients, width, slots).map_err(DecodeError::from)?;
        let (whole, places) = parts(table.layout(), table.slots());
        table.set_len(len);
        let words = table.words_mut();
        fill_words(source, &mut words[..whole])?;
        for place in places {
            let mut byte = [0];
            source.take(&mut byte)?;
            words[place / 8] |= u64::from(byte[0]) << (place % 8 * 8);
        }
        Ok(table)
    }
}

/// Which entries a run may have.
pub(crate) trait Order {
    /// Takes the next entry of a run, which may be the last of it.
    ///
    /// # Errors
    /// [`Fault`] if it cannot follow those before it, or cannot be the last.
    fn take(&mut self, entry: u64, is_last: bool) -> Result<(), Fault>;
}

/// The fault of an entry, and the allowed values.
pub(crate) type Fault = (&'static str, &'static str);

/// Entries are in ascending order. Equal ones are copies.
#[derive(Default)]
pub(crate) struct Ascending {
    last: u64,
}

impl Order for Ascending {
    fn take(&mut self, entry: u64, is_last: bool) -> Result<(), Fault> {
        if entry < self.last {
            return Err(("a remainder", "at least the one before it in its run"));
        }
        self.last = if is_last { 0 } else { entry };
        Ok(())
    }
}

impl<W: WordSource> Table<W> {
    /// Checks in one pass that the blocks are those of some entries, in this order. Returns their number, and the slot
    /// after the last run. The blocks begin at offset `start`.
    ///
    /// # Errors
    /// [`DecodeError`] names what contradicts the entries before it.
    pub(crate) fn check(
        &self,
        start: u64,
        order: &mut impl Order,
    ) -> Result<(u64, usize), DecodeError> {
        let blocks = self.blocks(Portable);
        let (mut cursor, mut len) = (0, 0);
        for block in 0..blocks.len() {
            let at = start + self.layout().head(block) as u64;
            let invalid =
                |name, found, allowed| Err(DecodeError::invalid(name, at, found, allowed));
            let first = BLOCK * block;
            let (offset, taken) = (blocks.stored_offset(block), cursor.max(first) - first);
            if offset != taken.min(SATURATED) {
                let allowed = "the slots that earlier runs take, at most 255";
                return invalid("the offset of a block", offset as u64, allowed);
            }
            let mut occupied = blocks.occupied(block);
            while occupied != 0 {
                let quotient = first + occupied.trailing_zeros() as usize;
                occupied &= occupied - 1;
                if quotient >= self.quotients() {
                    return invalid("a quotient", quotient as u64, "below the number of slots");
                }
                let begin = quotient.max(cursor);
                self.check_empty(cursor..begin, start)?;
                let run = self.check_run(begin, start, order)?;
                len += run.len() as u64;
                cursor = run.end;
            }
        }
        self.check_empty(cursor..self.slots().max(cursor), start)?;
        Ok((len, cursor))
    }

    /// Checks the run that begins at a slot. Returns its slots.
    fn check_run(
        &self,
        begin: usize,
        start: u64,
        order: &mut impl Order,
    ) -> Result<Range<usize>, DecodeError> {
        let blocks = self.blocks(Portable);
        for slot in begin..self.slots() {
            let entry = blocks.entry(slot);
            let ends = blocks.ends_run(slot);
            order
                .take(entry, ends)
                .map_err(|(name, allowed)| self.invalid(name, slot, start, entry, allowed))?;
            if ends {
                return Ok(begin..slot + 1);
            }
        }
        let allowed = "the first of a run that ends";
        Err(self.invalid("a slot", begin, start, begin as u64, allowed))
    }

    /// Checks that slots are empty.
    fn check_empty(&self, mut slots: Range<usize>, start: u64) -> Result<(), DecodeError> {
        let blocks = self.blocks(Portable);
        match slots.find(|&slot| blocks.entry(slot) != 0 || blocks.ends_run(slot)) {
            Some(slot) => Err(self.invalid("an unused slot", slot, start, slot as u64, "empty")),
            None => Ok(()),
        }
    }

    /// Returns the error of something in a slot, at the offset of its block.
    fn invalid(
        &self,
        name: &'static str,
        slot: usize,
        start: u64,
        found: u64,
        allowed: &'static str,
    ) -> DecodeError {
        let at = start + self.layout().head(slot / BLOCK) as u64;
        DecodeError::invalid(name, at, found, allowed)
    }
}
