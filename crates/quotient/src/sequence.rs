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
    /// The next slot, and the bits of the slots of its block that end a run.
    slot: usize,
    ends: u64,
}

impl<'a, W: WordSource> Reader<'a, W> {
    pub(crate) fn new(table: &'a Table<W>) -> Self {
        let blocks = table.blocks(Portable);
        let (occupied, ends) = (blocks.occupied(0), blocks.run_ends(0));
        Self { blocks, block: 0, occupied, quotient: None, slot: 0, ends }
    }

    /// Returns the next quotient that has a run.
    #[inline(always)]
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
        self.go_to(self.slot.max(quotient));
        Some(quotient)
    }

    /// Makes a slot the next one.
    #[inline(always)]
    fn go_to(&mut self, slot: usize) {
        if slot / BLOCK != self.slot / BLOCK && slot < self.blocks.room() {
            self.ends = self.blocks.run_ends(slot / BLOCK);
        }
        self.slot = slot;
    }
}

impl<W: WordSource> Iterator for Reader<'_, W> {
    type Item = (usize, u64);

    #[inline(always)]
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
        let ends = self.ends >> (self.slot % BLOCK) & 1 == 1;
        self.quotient = Some(quotient).filter(|_| !ends);
        self.go_to(self.slot + 1);
        Some(item)
    }
}

/// Writer of a table whose entries come in ascending order.
pub(crate) struct Writer {
    table: Table,
    width: usize,
    /// The quotient of the last entry.
    quotient: usize,
    /// The slot after the last entry.
    slot: usize,
    len: u64,
    occupied: Pending,
    ends: Pending,
    entries: Pending,
}

impl Writer {
    /// Starts an empty table.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub(crate) fn new(quotients: u64, width: u32) -> Result<Self, AllocError> {
        let table = Table::new(quotients, width)?;
        let layout = table.layout();
        let [occupied, ends, entries] = [layout.occupied(0), layout.run_ends(0), layout.word(0).0]
            .map(|byte| Pending { byte, bits: 0 });
        let width = width as usize;
        Ok(Self { table, width, quotient: 0, slot: 0, len: 0, occupied, ends, entries })
    }

    /// Appends an entry. Its quotient is at least that of the entry before.
    ///
    /// # Errors
    /// [`AllocError`] if slots are added at the end and the allocator refuses the memory.
    #[inline(always)]
    pub(crate) fn push(&mut self, quotient: usize, entry: u64) -> Result<(), AllocError> {
        debug_assert!(self.quotient <= quotient);
        let is_new = quotient > self.quotient || self.slot == 0;
        let slot = if is_new { self.slot.max(quotient) } else { self.slot };
        self.table.make_room(slot + 1)?;
        if is_new {
            self.end_run(quotient / BLOCK);
            let byte = self.table.layout().occupied(quotient / BLOCK);
            self.occupied.add(&mut self.table, byte, 1 << (quotient % BLOCK));
        }
        self.put_entry(slot, entry);
        self.len += 1;
        (self.quotient, self.slot) = (quotient, slot + 1);
        Ok(())
    }

    #[inline(always)]
    fn put_entry(&mut self, slot: usize, entry: u64) {
        let (byte, bit) = self.table.layout().word(slot);
        self.entries.add(&mut self.table, byte, entry << bit);
        // The entries of a block are whole words, so the rest is in the same block.
        if bit + self.width > 64 {
            self.entries.add(&mut self.table, byte + 8, entry >> (64 - bit));
        }
    }

    /// Returns the table.
    pub(crate) fn finish(mut self) -> Table {
        self.end_run(usize::MAX);
        for pending in [self.occupied, self.ends, self.entries] {
            pending.flush(&mut self.table);
        }
        self.table.set_end(self.slot);
        self.table.set_len(self.len);
        self.table
    }

    /// Ends the last run, before one of a quotient in block `next`.
    #[inline(always)]
    fn end_run(&mut self, next: usize) {
        let Some(last) = self.slot.checked_sub(1) else { return };
        let byte = self.table.layout().run_ends(last / BLOCK);
        self.ends.add(&mut self.table, byte, 1 << (last % BLOCK));
        for block in self.quotient / BLOCK + 1..=next.min(last / BLOCK) {
            self.table.blocks_mut().set_offset(block, self.slot - BLOCK * block);
        }
    }
}

/// Bits that are collected until all of their word are there.
// A store per entry would be followed by a load of some of the same bytes, for which the processor has to wait.
#[derive(Clone, Copy)]
struct Pending {
    /// The first byte of the word.
    byte: usize,
    bits: u64,
}

impl Pending {
    /// Adds bits to the word at this byte, which is not before the last one.
    #[inline(always)]
    fn add(&mut self, table: &mut Table, byte: usize, bits: u64) {
        if byte != self.byte {
            self.flush(table);
            *self = Self { byte, bits: 0 };
        }
        self.bits |= bits;
    }

    #[inline(always)]
    fn flush(self, table: &mut Table) {
        table.blocks_mut().set_bits(self.byte, self.bits);
    }
}
