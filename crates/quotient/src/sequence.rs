//! Reading and writing all entries of a table in order: one pass over its memory.

use pds_core::error::AllocError;
use pds_core::storage::WordSource;

use crate::arch::Portable;
use crate::blocks::{BLOCK, Blocks};
use crate::table::Table;

/// Iterator over the entries of a table, each with its quotient, in ascending order.
pub(crate) struct Reader<'a, W: WordSource> {
    blocks: Blocks<'a, W, Portable>,
    /// The block of the quotients that come next, and its quotients that have a run and were not begun.
    block: usize,
    occupied: u64,
    /// The quotient of the run that is read, if it has not ended.
    quotient: Option<usize>,
    /// The next slot.
    slot: usize,
}

impl<'a, W: WordSource> Reader<'a, W> {
    pub(crate) fn new(table: &'a Table<W>) -> Self {
        let blocks = table.blocks(Portable);
        let occupied = if blocks.len() > 0 { blocks.occupied(0) } else { 0 };
        Self { blocks, block: 0, occupied, quotient: None, slot: 0 }
    }

    /// Returns the next quotient that has a run.
    fn next_quotient(&mut self) -> Option<usize> {
        while self.occupied == 0 {
            self.block += 1;
            if self.block >= self.blocks.len() {
                return None;
            }
            self.occupied = self.blocks.occupied(self.block);
        }
        let quotient = BLOCK * self.block + self.occupied.trailing_zeros() as usize;
        self.occupied &= self.occupied - 1;
        self.slot = self.slot.max(quotient);
        Some(quotient)
    }
}

impl<W: WordSource> Iterator for Reader<'_, W> {
    type Item = (usize, u64);

    fn next(&mut self) -> Option<(usize, u64)> {
        let quotient = match self.quotient {
            Some(quotient) => quotient,
            None => self.next_quotient()?,
        };
        // Damaged bytes may have a run without an end.
        if self.slot >= self.blocks.room() {
            return None;
        }
        let item = (quotient, self.blocks.entry(self.slot));
        self.quotient = Some(quotient).filter(|_| !self.blocks.ends_run(self.slot));
        self.slot += 1;
        Some(item)
    }
}

/// Writer of a table whose entries come in ascending order.
pub(crate) struct Writer {
    table: Table,
    /// The quotient of the last entry.
    quotient: usize,
    /// The slot after the last entry.
    slot: usize,
}

impl Writer {
    /// Starts an empty table.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub(crate) fn new(quotients: u64, width: u32) -> Result<Self, AllocError> {
        Ok(Self { table: Table::new(quotients, width)?, quotient: 0, slot: 0 })
    }

    /// Appends an entry. Its quotient is at least that of the entry before.
    ///
    /// # Errors
    /// [`AllocError`] if slots are added at the end and the allocator refuses the memory.
    pub(crate) fn push(&mut self, quotient: usize, entry: u64) -> Result<(), AllocError> {
        debug_assert!(self.quotient <= quotient);
        let is_new = quotient > self.quotient || self.slot == 0;
        let slot = if is_new { self.slot.max(quotient) } else { self.slot };
        self.table.make_room(slot + 1)?;
        if is_new {
            self.end_run(quotient / BLOCK);
            self.table.blocks_mut().flip_occupied(quotient);
        }
        self.table.blocks_mut().set_entry(slot, entry);
        self.table.count_one();
        (self.quotient, self.slot) = (quotient, slot + 1);
        Ok(())
    }

    /// Returns the table.
    pub(crate) fn finish(mut self) -> Table {
        self.end_run(usize::MAX);
        self.table.set_end(self.slot);
        self.table
    }

    /// Ends the last run, before one of a quotient in block `next`.
    fn end_run(&mut self, next: usize) {
        let Some(last) = self.slot.checked_sub(1) else { return };
        let mut blocks = self.table.blocks_mut();
        blocks.flip_run_end(last);
        for block in self.quotient / BLOCK + 1..=next.min(last / BLOCK) {
            blocks.set_offset(block, self.slot - BLOCK * block);
        }
    }
}
