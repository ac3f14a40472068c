//! Entries of quotients: the contents of a filter, without keys, hashers and fingerprints.
//!
//! A table is a multiset of pairs of a quotient and an entry. Its bytes depend on that multiset alone.

use core::ops::Range;

use pds_core::error::AllocError;
use pds_core::storage::{WordSource, Words};

use crate::arch::{Bits, Kernel, Portable, with_bits};
use crate::blocks::{BLOCK, Blocks, BlocksMut, GROUP, Layout, SATURATED, Short};

/// Sorted entries of the quotients 0 to `quotients` - 1.
// Invariant: the last run ends before `slots`, which is the least multiple of 8 for that and for a slot per quotient. All
// bits of the words beyond `slots` are 0.
#[derive(Clone, Debug)]
pub(crate) struct Table<W = Words> {
    words: W,
    layout: Layout,
    quotients: usize,
    /// Number of slots in the portable bytes.
    slots: usize,
    /// Number of blocks in the words.
    blocks: usize,
    short: Short,
    len: u64,
    kernel: Kernel,
}

impl<W: WordSource> Table<W> {
    pub(crate) const fn words(&self) -> &W {
        &self.words
    }

    /// Returns the table in the words of portable bytes, with `slots` slots.
    ///
    /// # Errors
    /// [`AllocError`] if the slots are more than the address space has bytes.
    pub(crate) fn stored(
        words: W,
        quotients: u64,
        width: u32,
        slots: u64,
        len: u64,
    ) -> Result<Self, AllocError> {
        let layout = Layout::new(width);
        let (quotients, slots) = (addressable(quotients)?, addressable(slots)?);
        let (blocks, short) = (slots.div_ceil(BLOCK), Short::of(slots));
        Ok(Self { words, layout, quotients, slots, blocks, short, len, kernel: Kernel::best() })
    }

    /// Returns the number of quotients.
    pub(crate) const fn quotients(&self) -> usize {
        self.quotients
    }

    pub(crate) const fn layout(&self) -> Layout {
        self.layout
    }

    /// Returns the number of slots, those after the last quotient included.
    pub(crate) const fn slots(&self) -> usize {
        self.slots
    }

    /// Returns the number of entries.
    pub(crate) const fn len(&self) -> u64 {
        self.len
    }

    #[inline(always)]
    pub(crate) fn blocks<B: Bits>(&self, bits: B) -> Blocks<'_, W, B> {
        Blocks::new(&self.words, self.layout, self.blocks, self.short, bits)
    }

    /// Returns whether the quotient has this entry.
    #[inline]
    pub(crate) fn contains(&self, quotient: usize, entry: u64) -> bool {
        with_bits!(self.kernel, |bits| self.blocks(bits).contains(quotient, entry))
    }

    /// Returns the slots of the run of a quotient. If it has none, the range is empty, where the run would start.
    pub(crate) fn run(&self, quotient: usize) -> Range<usize> {
        with_bits!(self.kernel, |bits| self.blocks(bits).run(quotient))
    }

    /// Returns the entry of a slot.
    pub(crate) fn entry(&self, slot: usize) -> u64 {
        self.blocks(Portable).entry(slot)
    }

    /// Returns how often the quotient has this entry.
    ///
    /// # Complexity
    /// O(length of the run).
    pub(crate) fn count(&self, quotient: usize, entry: u64) -> u64 {
        let entries = self.run(quotient).map(|slot| self.entry(slot));
        entries.skip_while(|&found| found < entry).take_while(|&found| found == entry).count()
            as u64
    }

    /// Prefetches the block of a quotient: its head, and the entries around the quotient's slot.
    #[inline(always)]
    pub(crate) fn prefetch(&self, quotient: usize) {
        self.blocks(Portable).prefetch(quotient);
    }

    /// Returns the first slot of a run whose entry is above `entry`, or the end of the run.
    fn place_in(&self, run: &Range<usize>, entry: u64) -> usize {
        let mut slots = run.clone();
        slots.find(|&slot| self.entry(slot) > entry).unwrap_or(run.end)
    }
}

/// Returns a number of slots as a `usize`.
fn addressable(slots: u64) -> Result<usize, AllocError> {
    usize::try_from(slots).map_err(|_| AllocError { bytes: slots })
}

impl Table {
    /// Creates an empty table.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub(crate) fn new(quotients: u64, width: u32) -> Result<Self, AllocError> {
        Self::with_slots(quotients, width, quotients.next_multiple_of(GROUP as u64))
    }

    /// Creates an empty table with this number of slots, a multiple of 8.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub(crate) fn with_slots(quotients: u64, width: u32, slots: u64) -> Result<Self, AllocError> {
        let layout = Layout::new(width);
        let words = Words::zeroed(layout.words(slots.div_ceil(BLOCK as u64)))?;
        Ok(Self { short: Short::NONE, ..Table::stored(words, quotients, width, slots, 0)? })
    }

    /// Chooses the code that finds bits.
    #[cfg(all(test, feature = "std"))]
    pub(crate) fn with_kernel(self, kernel: Kernel) -> Self {
        Self { kernel, ..self }
    }

    pub(crate) fn try_clone(&self) -> Result<Self, AllocError> {
        Ok(Self { words: self.words.try_clone()?, ..*self })
    }

    /// Removes all entries.
    pub(crate) fn clear(&mut self) {
        self.words.fill(0);
        self.slots = self.quotients.next_multiple_of(GROUP);
        self.len = 0;
    }

    pub(crate) fn blocks_mut(&mut self) -> BlocksMut<'_> {
        BlocksMut { words: &mut self.words, layout: self.layout }
    }

    /// Inserts an entry of a quotient, after those of the quotient that are not above it. Returns whether it had none that
    /// is equal.
    ///
    /// # Errors
    /// [`AllocError`] if slots are added at the end and the allocator refuses the memory. Nothing is changed then.
    ///
    /// # Complexity
    /// O(length of the cluster); O(size) if slots are added.
    #[inline]
    pub(crate) fn insert(&mut self, quotient: usize, entry: u64) -> Result<bool, AllocError> {
        with_bits!(self.kernel, |bits| self.insert_with(bits, quotient, entry, true))
    }

    /// Inserts an entry of a quotient that has none that is equal. Returns whether it was inserted.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    pub(crate) fn insert_if_absent(
        &mut self,
        quotient: usize,
        entry: u64,
    ) -> Result<bool, AllocError> {
        with_bits!(self.kernel, |bits| self.insert_with(bits, quotient, entry, false))
    }

    #[inline(always)]
    fn insert_with<B: Bits>(
        &mut self,
        bits: B,
        quotient: usize,
        entry: u64,
        copies: bool,
    ) -> Result<bool, AllocError> {
        let run = self.blocks(bits).run(quotient);
        if run.is_empty() && run.start == quotient {
            self.fill_own_slot(quotient, entry);
            return Ok(true);
        }
        self.insert_in_cluster(bits, quotient, run, entry, copies)
    }

    // Not inlined: the way to an empty slot is short without it.
    #[inline(never)]
    fn insert_in_cluster<B: Bits>(
        &mut self,
        bits: B,
        quotient: usize,
        run: Range<usize>,
        entry: u64,
        copies: bool,
    ) -> Result<bool, AllocError> {
        let slot = self.place_in(&run, entry);
        let is_new = slot == run.start || self.entry(slot - 1) != entry;
        if is_new || copies {
            self.insert_at(bits, quotient, &run, slot, entry)?;
        }
        Ok(is_new)
    }

    /// Inserts an entry at a slot of the run of its quotient, or at the end of the run.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    #[inline(always)]
    pub(crate) fn insert_at<B: Bits>(
        &mut self,
        bits: B,
        quotient: usize,
        run: &Range<usize>,
        slot: usize,
        entry: u64,
    ) -> Result<(), AllocError> {
        debug_assert!(run.start <= slot && slot <= run.end);
        if run.is_empty() && slot == quotient {
            self.fill_own_slot(quotient, entry);
            return Ok(());
        }
        let empty = self.blocks(bits).first_empty(run.end);
        self.make_room(empty + 1)?;
        let (is_new, is_last) = (run.is_empty(), slot == run.end);
        let mut blocks = self.blocks_mut();
        if is_new {
            blocks.flip_occupied(quotient);
        } else if is_last {
            blocks.flip_run_end(slot - 1);
        }
        if slot == empty {
            blocks.set_entry(slot, entry);
            blocks.flip_run_end(slot);
        } else {
            blocks.push_up(slot..empty + 1, entry, is_last);
        }
        // All slots from the entry's on were taken, by quotients at most that of the slot. So the runs of earlier
        // quotients take one more slot of every block that begins among them.
        for block in quotient / BLOCK + 1..=empty / BLOCK {
            blocks.raise_offset(block);
        }
        if empty >= self.slots {
            self.slots = (empty + 1).next_multiple_of(GROUP);
        }
        self.len += 1;
        Ok(())
    }

    /// Inserts an entry of a quotient without a run, whose own slot is empty.
    #[inline(always)]
    fn fill_own_slot(&mut self, quotient: usize, entry: u64) {
        let mut blocks = self.blocks_mut();
        blocks.flip_occupied(quotient);
        blocks.flip_run_end(quotient);
        blocks.flip_entry(quotient, entry);
        self.len += 1;
    }

    /// Removes one entry of a quotient. Returns whether there was one.
    ///
    /// # Complexity
    /// O(length of the cluster).
    pub(crate) fn remove(&mut self, quotient: usize, entry: u64) -> bool {
        with_bits!(self.kernel, |bits| self.remove_with(bits, quotient, entry))
    }

    #[inline(always)]
    fn remove_with<B: Bits>(&mut self, bits: B, quotient: usize, entry: u64) -> bool {
        let run = self.blocks(bits).run(quotient);
        let found = run.clone().find(|&slot| self.entry(slot) == entry);
        let Some(slot) = found else { return false };
        if run == (quotient..quotient + 1) && self.blocks(bits).first_at_home(run.end) == run.end {
            self.clear_own_slot(quotient, entry);
        } else {
            self.remove_from_cluster(bits, quotient, run, slot);
        }
        true
    }

    /// Removes the only entry of a quotient from its own slot, after which no entry has to move.
    #[inline(always)]
    fn clear_own_slot(&mut self, quotient: usize, entry: u64) {
        let mut blocks = self.blocks_mut();
        blocks.flip_occupied(quotient);
        blocks.flip_run_end(quotient);
        blocks.flip_entry(quotient, entry);
        self.len -= 1;
    }

    // Not inlined: the way without it is short.
    #[inline(never)]
    fn remove_from_cluster<B: Bits>(
        &mut self,
        bits: B,
        quotient: usize,
        run: Range<usize>,
        slot: usize,
    ) {
        self.remove_at(bits, quotient, &run, slot);
    }

    /// Removes the entry at a slot of the run of its quotient.
    #[inline(always)]
    pub(crate) fn remove_at<B: Bits>(
        &mut self,
        bits: B,
        quotient: usize,
        run: &Range<usize>,
        slot: usize,
    ) {
        debug_assert!(run.contains(&slot));
        // Entries move down up to the first slot that is empty, or begins the run of its own quotient.
        let end = self.blocks(bits).first_at_home(run.end);
        let (is_only, is_last) = (run.len() == 1, slot + 1 == run.end);
        let mut blocks = self.blocks_mut();
        blocks.pull_down(slot..end);
        if is_only {
            blocks.flip_occupied(quotient);
        } else if is_last {
            blocks.flip_run_end(slot - 1);
        }
        self.lower_offsets(bits, quotient / BLOCK, (end - 1) / BLOCK);
        // No quotient is at home after the last one, so there `end` is the end of all runs.
        if end > self.quotients {
            self.set_end(end - 1);
        }
        self.len -= 1;
    }

    /// Replaces the entries at the slots `old` of the run of a quotient by `new`. If there are none, `old` is where they go.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    ///
    /// # Complexity
    /// O(length of the cluster) for each entry more or less.
    pub(crate) fn replace(
        &mut self,
        quotient: usize,
        run: Range<usize>,
        old: Range<usize>,
        new: &[u64],
    ) -> Result<(), AllocError> {
        with_bits!(self.kernel, |bits| self.replace_with(bits, quotient, run, old, new))
    }

    fn replace_with<B: Bits>(
        &mut self,
        bits: B,
        quotient: usize,
        mut run: Range<usize>,
        old: Range<usize>,
        new: &[u64],
    ) -> Result<(), AllocError> {
        for added in 0..new.len().saturating_sub(old.len()) {
            let inserted = self.insert_at(bits, quotient, &run, old.end, 0);
            if inserted.is_err() {
                self.remove_each(bits, quotient, run, old.end, added);
                return inserted;
            }
            run.end += 1;
        }
        let fewer = old.len().saturating_sub(new.len());
        self.remove_each(bits, quotient, run, old.start, fewer);
        for (slot, &entry) in (old.start..).zip(new) {
            self.blocks_mut().set_entry(slot, entry);
        }
        Ok(())
    }

    /// Removes this many entries of the run of a quotient, from a slot on.
    fn remove_each<B: Bits>(
        &mut self,
        bits: B,
        quotient: usize,
        mut run: Range<usize>,
        slot: usize,
        times: usize,
    ) {
        for _ in 0..times {
            self.remove_at(bits, quotient, &run, slot);
            run.end -= 1;
        }
    }

    /// Subtracts 1 from the offsets of the blocks after `first`, up to `last`. The runs, and the offset of the first, are
    /// right.
    #[inline(always)]
    fn lower_offsets<B: Bits>(&mut self, bits: B, first: usize, last: usize) {
        let mut offset = self.blocks(bits).offset(first);
        for block in first + 1..=last {
            let blocks = self.blocks(bits);
            offset = match blocks.stored_offset(block) {
                // The offset may be greater, or 255 no more: it is counted, from the block before on.
                SATURATED => blocks.after_block(block - 1, offset) - BLOCK * block,
                offset => offset - 1,
            };
            self.blocks_mut().set_offset(block, offset);
        }
    }

    /// Makes room for this many slots.
    #[inline(always)]
    pub(crate) fn make_room(&mut self, slots: usize) -> Result<(), AllocError> {
        if slots <= BLOCK * self.blocks { Ok(()) } else { self.add_blocks(slots) }
    }

    #[cold]
    #[inline(never)]
    fn add_blocks(&mut self, slots: usize) -> Result<(), AllocError> {
        // As many slots again as there are beyond the quotients, so that a long run at the end is copied few times.
        let beyond = slots - self.quotients;
        let blocks = (slots + beyond).div_ceil(BLOCK);
        let mut words = Words::zeroed(self.layout.words(blocks as u64))?;
        words[..self.words.len()].copy_from_slice(&self.words);
        (self.words, self.blocks) = (words, blocks);
        Ok(())
    }

    pub(crate) const fn words_mut(&mut self) -> &mut Words {
        &mut self.words
    }

    /// Sets the number of entries.
    pub(crate) fn set_len(&mut self, len: u64) {
        self.len = len;
    }

    /// Sets the slots to those that a last run which ends before `slot` needs.
    pub(crate) fn set_end(&mut self, slot: usize) {
        self.slots = self.quotients.max(slot).next_multiple_of(GROUP);
    }
}

/// Tables are equal if their entries and sizes are.
impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        let shape = |table: &Self| (table.layout, table.quotients, table.slots, table.len);
        // The words beyond the slots of both are 0.
        shape(self) == shape(other) && self.words.iter().zip(&*other.words).all(|(a, b)| a == b)
    }
}

impl Eq for Table {}
