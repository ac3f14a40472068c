//! Blocks of 64 slots: an offset, two bits per slot, and the entries.
//!
//! A block is, in bytes: the offset (1), `occupied` (8), `run_ends` (8), and 64 entries of `width` bits, packed from the
//! least significant bit up. In portable bytes the last block may have fewer slots, in groups of 8. Then `occupied` and
//! `run_ends` have one byte per group. In memory all blocks are whole.
//!
//! The run of a quotient is all entries with it, side by side and in order. Runs are in the order of their quotients, and
//! each starts at the slot of its quotient or later. `occupied` has a bit per quotient that has a run. `run_ends` has a bit
//! per slot that ends a run. The offset counts the slots from the start of the block that are taken by runs of quotients
//! before it; 255 means 255 or more.

use core::array;
use core::ops::Range;

use pds_core::internal::{StoredWord, prefetch};
use pds_core::storage::{WordSource, Words};

use crate::arch::Bits;

/// Slots per block.
pub(crate) const BLOCK: usize = 64;
/// Slots are added in groups of this size. The entries of a group take whole bytes.
pub(crate) const GROUP: usize = 8;
/// Bytes of a block before its entries.
const HEAD: usize = 17;
const OCCUPIED_AT: usize = 1;
const RUN_ENDS_AT: usize = 9;
/// The offset that stands for itself and all greater ones.
pub(crate) const SATURATED: usize = 255;

/// Sizes that follow from the width of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    width: usize,
    block_bytes: usize,
    /// Number of entries that one load has whole, wherever the first begins.
    lanes: usize,
    /// The lowest bit of each of them.
    lowest: u64,
}

/// The widest entry, in bits: what can be read at any bit of a byte by one load.
pub(crate) const MAX_WIDTH: u32 = pds_params::quotient::MAX_REMAINDER_BITS;

impl Layout {
    pub(crate) const fn new(width: u32) -> Self {
        debug_assert!(1 <= width && width <= MAX_WIDTH);
        let width = width as usize;
        let lanes = (64 - 7) / width;
        let (mut lowest, mut lane) = (0, 0);
        while lane < lanes {
            lowest |= 1 << (lane * width);
            lane += 1;
        }
        Self { width, block_bytes: HEAD + 8 * width, lanes, lowest }
    }

    /// Returns the number of words in memory that hold this many blocks.
    // Seven bytes more than all slots, so that eight bytes can be stored from any of them on.
    pub(crate) const fn words(self, blocks: u64) -> u64 {
        blocks.saturating_mul(self.block_bytes as u64).saturating_add(7).div_ceil(8)
    }

    /// Returns the byte of the head of a block.
    #[inline(always)]
    pub(crate) const fn head(self, block: usize) -> usize {
        block * self.block_bytes
    }

    /// Most bytes of a block.
    pub(crate) const MAX_BLOCK_BYTES: usize = HEAD + 8 * MAX_WIDTH as usize;

    /// Returns where the parts of a block of `groups` groups lie in memory. With 0 groups there is no block.
    pub(crate) const fn short(self, block: usize, groups: usize) -> [Range<usize>; 4] {
        let head = self.head(block);
        let offset = if groups > 0 { 1 } else { 0 };
        let (occupied, ends, entries) =
            (head + OCCUPIED_AT, head + RUN_ENDS_AT, self.entries(block));
        [
            head..head + offset,
            occupied..occupied + groups,
            ends..ends + groups,
            entries..entries + groups * self.width,
        ]
    }

    /// Returns the byte of the bits of a block's quotients.
    #[inline(always)]
    pub(crate) const fn occupied(self, block: usize) -> usize {
        self.head(block) + OCCUPIED_AT
    }

    /// Returns the byte of the bits of the slots of a whole block that end a run.
    #[inline(always)]
    pub(crate) const fn run_ends(self, block: usize) -> usize {
        self.head(block) + RUN_ENDS_AT
    }

    /// Returns the first byte of the 64 bits in which the entry of a slot of a whole block begins, and its first bit there.
    ///
    /// They are counted from the first entry of the block on.
    #[inline(always)]
    pub(crate) const fn word(self, slot: usize) -> (usize, usize) {
        let bit = slot % BLOCK * self.width;
        (self.entries(slot / BLOCK) + bit / 64 * 8, bit % 64)
    }

    /// Returns the byte of the entries of a whole block.
    #[inline(always)]
    const fn entries(self, block: usize) -> usize {
        self.head(block) + HEAD
    }

    /// Returns the byte in which the entry of a slot of a whole block begins, and its first bit there.
    #[inline(always)]
    const fn entry(self, slot: usize) -> (usize, usize) {
        let bit = slot % BLOCK * self.width;
        (self.entries(slot / BLOCK) + bit / 8, bit % 8)
    }

    #[inline(always)]
    const fn mask(self) -> u64 {
        u64::MAX >> (64 - self.width)
    }
}

/// Returns the ones at `range`, whose end is at most 64 and above its start.
#[inline(always)]
const fn ones(range: Range<usize>) -> u64 {
    u64::MAX >> (64 - (range.end - range.start)) << range.start
}

/// The last block of portable bytes, if it has fewer than 64 slots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Short {
    block: usize,
    groups: usize,
}

impl Short {
    /// There is none.
    pub(crate) const NONE: Self = Self { block: usize::MAX, groups: BLOCK / GROUP };

    /// Returns the last block of this many slots.
    pub(crate) const fn of(slots: usize) -> Self {
        match slots % BLOCK {
            0 => Self::NONE,
            rest => Self { block: slots / BLOCK, groups: rest.div_ceil(GROUP) },
        }
    }

    /// Returns the mask of the slots in the block.
    const fn mask(self) -> u64 {
        ones(0..self.groups * GROUP)
    }
}

/// The part of a block before its entries.
struct Head {
    /// The offset as it is stored.
    offset: usize,
    occupied: u64,
    run_ends: u64,
}

impl Head {
    #[inline(always)]
    fn new(bytes: &[u8; HEAD]) -> Self {
        let word = |start: usize| u64::from_le_bytes(array::from_fn(|i| bytes[start + i]));
        let (occupied, run_ends) = (word(OCCUPIED_AT), word(RUN_ENDS_AT));
        Self { offset: bytes[0].into(), occupied, run_ends }
    }
}

/// Blocks to read.
// Damaged bytes make answers wrong. A read beyond the last word gives zeros, and no search leaves the blocks.
pub(crate) struct Blocks<'a, W: WordSource, B> {
    source: &'a W,
    words: &'a [W::Word],
    layout: Layout,
    /// Number of blocks, the last of which may be short.
    blocks: usize,
    short: Short,
    bits: B,
}

// A derived `Clone` would ask for that of the words.
impl<W: WordSource, B: Copy> Clone for Blocks<'_, W, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W: WordSource, B: Copy> Copy for Blocks<'_, W, B> {}

// Methods that are not inlined take `self` by value. A reference would keep the fields in memory on the way of all calls.
impl<'a, W: WordSource, B: Bits> Blocks<'a, W, B> {
    #[inline(always)]
    pub(crate) fn new(source: &'a W, layout: Layout, blocks: usize, short: Short, bits: B) -> Self {
        Self { source, words: source.as_words(), layout, blocks, short, bits }
    }

    /// Returns the number of slots that the blocks have room for.
    #[inline(always)]
    pub(crate) fn room(&self) -> usize {
        BLOCK * self.blocks + GROUP * self.short.groups - BLOCK
    }

    /// Returns the number of blocks.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.blocks
    }

    #[inline(always)]
    fn load(&self, byte: usize) -> u64 {
        W::Word::unaligned(self.words, byte)
            .unwrap_or_else(|| load_parts(self.words, self.source.tail(), byte))
    }

    // In memory all blocks are whole.
    #[inline(always)]
    fn is_short(&self, block: usize) -> bool {
        !W::IS_FIXED && block == self.short.block
    }

    #[inline(always)]
    fn head(&self, block: usize) -> Head {
        match W::Word::bytes(self.words, self.layout.head(block)) {
            Some(bytes) if !self.is_short(block) => Head::new(bytes),
            _ => self.head_in_parts(block),
        }
    }

    #[cold]
    #[inline(never)]
    fn head_in_parts(self, block: usize) -> Head {
        let (offset, occupied) = (self.stored_offset(block), self.occupied(block));
        Head { offset, occupied, run_ends: self.run_ends(block) }
    }

    /// Prefetches the head of the block of a quotient, and the entry of its slot.
    #[inline(always)]
    pub(crate) fn prefetch(&self, quotient: usize) {
        prefetch(self.words, self.layout.head(quotient / BLOCK) / 8);
        self.prefetch_entry(quotient);
    }

    /// Prefetches the entry of the slot of a quotient.
    // The run of the quotient lies some slots further on, which are in the same line or in the next. The line is on its way
    // while the head of the block is read.
    #[inline(always)]
    fn prefetch_entry(&self, quotient: usize) {
        prefetch(self.words, self.layout.entry(quotient).0 / 8);
    }

    /// Returns the bits of the quotients that have a run.
    #[inline(always)]
    pub(crate) fn occupied(&self, block: usize) -> u64 {
        let occupied = self.load(self.layout.occupied(block));
        if self.is_short(block) { occupied & self.short.mask() } else { occupied }
    }

    /// Returns the bits of the slots that end a run.
    #[inline(always)]
    pub(crate) fn run_ends(&self, block: usize) -> u64 {
        let head = self.layout.head(block);
        if self.is_short(block) {
            return self.load(head + OCCUPIED_AT + self.short.groups) & self.short.mask();
        }
        self.load(head + RUN_ENDS_AT)
    }

    /// Returns the offset as it is stored.
    #[inline(always)]
    pub(crate) fn stored_offset(&self, block: usize) -> usize {
        (self.load(self.layout.head(block)) & 0xff) as usize
    }

    /// Returns the byte in which the entry of a slot begins, and its first bit there.
    #[inline(always)]
    fn place(&self, slot: usize) -> (usize, usize) {
        let (byte, bit) = self.layout.entry(slot);
        if self.is_short(slot / BLOCK) {
            return (byte - (HEAD - OCCUPIED_AT - 2 * self.short.groups), bit);
        }
        (byte, bit)
    }

    /// Returns the entry of a slot.
    #[inline(always)]
    pub(crate) fn entry(&self, slot: usize) -> u64 {
        let (byte, bit) = self.place(slot);
        self.load(byte) >> bit & self.layout.mask()
    }

    #[inline(always)]
    pub(crate) fn is_occupied(&self, quotient: usize) -> bool {
        self.occupied(quotient / BLOCK) >> (quotient % BLOCK) & 1 == 1
    }

    #[inline(always)]
    pub(crate) fn ends_run(&self, slot: usize) -> bool {
        self.run_ends(slot / BLOCK) >> (slot % BLOCK) & 1 == 1
    }

    /// Returns the number of slots of a block, from its first, that runs of earlier quotients take.
    #[inline(always)]
    pub(crate) fn offset(&self, block: usize) -> usize {
        match self.stored_offset(block) {
            SATURATED => self.far_offset(block),
            offset => offset,
        }
    }

    /// Returns an offset of 255 or more: counts the runs from the last block with a smaller one on.
    #[cold]
    #[inline(never)]
    fn far_offset(self, block: usize) -> usize {
        let (mut from, mut runs) = (block, 0);
        while from > 0 && self.stored_offset(from) == SATURATED {
            from -= 1;
            runs += self.bits.count(self.occupied(from));
        }
        // Bytes that are damaged may say 255 in the first block, or have no run there.
        let offset = self.stored_offset(from) % SATURATED;
        self.after_runs(BLOCK * from + offset, runs).saturating_sub(BLOCK * block)
    }

    /// Returns the slot after the end of the next `runs` runs that end at `slot` or later. Without runs it is `slot`.
    #[inline(always)]
    pub(crate) fn after_runs(&self, slot: usize, runs: usize) -> usize {
        if runs == 0 {
            return slot;
        }
        let (mut block, mut rank) = (slot / BLOCK, runs - 1);
        let mut ends = self.run_ends(block) & u64::MAX << (slot % BLOCK);
        loop {
            let at = self.bits.select(ends, rank);
            if at < BLOCK {
                return BLOCK * block + at + 1;
            }
            rank -= self.bits.count(ends);
            block += 1;
            if block >= self.blocks {
                return BLOCK * block;
            }
            ends = self.run_ends(block);
        }
    }

    /// Returns the slot after the runs of all quotients before a block and of the given ones in it.
    ///
    /// The first slot of the block, if those runs end before it.
    #[inline(always)]
    fn after_runs_of(&self, block: usize, quotients: u64) -> usize {
        let runs = self.bits.count(self.occupied(block) & quotients);
        self.after_runs(BLOCK * block + self.offset(block), runs)
    }

    /// Returns the slot after the runs of all quotients below `quotient`, or one from the start of its block to it if
    /// those runs end earlier.
    #[inline(always)]
    pub(crate) fn after_runs_below(&self, quotient: usize) -> usize {
        self.after_runs_of(quotient / BLOCK, !(u64::MAX << (quotient % BLOCK)))
    }

    /// Returns the slots of the run of a quotient. If it has none, the range is empty, where the run would start.
    #[inline(always)]
    pub(crate) fn run(&self, quotient: usize) -> Range<usize> {
        self.prefetch_entry(quotient);
        let (block, at) = (quotient / BLOCK, quotient % BLOCK);
        let Head { offset, occupied, run_ends } = self.head(block);
        let (first, ends) = (from(offset), run_ends & from(offset));
        let runs = self.bits.count(occupied & !(u64::MAX << at));
        // The slots after a run, and the one at the offset.
        let begin = self.bits.nth(ends << 1 | first & first.wrapping_neg(), runs);
        let last = self.bits.nth(ends, runs);
        let is_occupied = occupied >> at & 1 == 1;
        if begin == 0 || is_occupied && last == 0 {
            return self.far_run(quotient);
        }
        let start = at.max(self.bits.len(begin) - 1);
        let end = if is_occupied { self.bits.len(last) } else { start };
        BLOCK * block + start..BLOCK * block + end
    }

    /// Returns the [`run`](Self::run) of a quotient if it may end in a later block.
    #[inline(never)]
    fn far_run(self, quotient: usize) -> Range<usize> {
        let start = quotient.max(self.after_runs_below(quotient));
        let runs = usize::from(self.is_occupied(quotient));
        start..self.after_runs(start, runs)
    }

    /// Returns whether the run of a quotient has this entry.
    // Whether the quotient has a run cannot be predicted, but without one the line of the entries is not needed. Only few runs
    // end in a later block, or are longer than one load.
    #[inline(always)]
    pub(crate) fn contains(&self, quotient: usize, entry: u64) -> bool {
        self.prefetch_entry(quotient);
        let (block, at) = (quotient / BLOCK, quotient % BLOCK);
        let Head { offset, occupied, run_ends } = self.head(block);
        if occupied >> at & 1 == 0 {
            return false;
        }
        let ends = run_ends & from(offset);
        let last = self.bits.nth(ends, self.bits.count(occupied & !(u64::MAX << at)));
        let before = self.bits.len(ends & last.wrapping_sub(1));
        let start = at.max(offset).max(before);
        // Above all lanes if the run goes on in the next block.
        let others = self.bits.len(last).wrapping_sub(start + 1);
        if others >= self.layout.lanes {
            return self.far_contains(quotient, entry);
        }
        let (byte, bit) = self.place(BLOCK * block + start);
        let Layout { width, lowest, .. } = self.layout;
        // A lane is 0 where the entries are equal. Lanes after the run are not.
        let lanes =
            (self.load(byte) >> bit ^ entry.wrapping_mul(lowest)) | from((others + 1) * width);
        let equal = lanes.wrapping_sub(lowest) & !lanes & lowest << (width - 1);
        equal != 0
    }

    #[inline(never)]
    fn far_contains(self, quotient: usize, entry: u64) -> bool {
        let mut run = self.run(quotient);
        run.end = run.end.min(self.room());
        // Entries of counts are not in order.
        run.map(|slot| self.entry(slot)).any(|found| found == entry)
    }

    /// Returns the first empty slot from `slot` on, which may be beyond the last block. Those before it are taken, from the
    /// slot of the quotient on.
    #[inline(always)]
    pub(crate) fn first_empty(&self, slot: usize) -> usize {
        // The mask ends with the slot, not before the next one: that may be in the next block.
        self.first_after_runs(slot, |at| u64::MAX >> (BLOCK - 1 - at))
    }

    /// Returns the first slot from `slot` on that no entry of a smaller quotient takes.
    #[inline(always)]
    pub(crate) fn first_at_home(&self, slot: usize) -> usize {
        self.first_after_runs(slot, |at| !(u64::MAX << at))
    }

    /// Returns the first slot from `slot` on where the runs of earlier blocks, and those of the quotients `before` it in its
    /// block, have ended.
    #[inline(always)]
    fn first_after_runs(&self, slot: usize, before: impl Fn(usize) -> u64) -> usize {
        let (mut block, mut at) = (slot / BLOCK, slot % BLOCK);
        if block >= self.blocks {
            return slot;
        }
        let mut offset = self.offset(block);
        loop {
            // Runs of earlier quotients take the whole block if the offset is 64 or more.
            at = at.max(offset);
            if at < BLOCK {
                let (occupied, ends) = (self.occupied(block), self.run_ends(block));
                let ends = ends & u64::MAX << offset;
                while at < BLOCK {
                    let runs = self.bits.count(occupied & before(at));
                    let last = if runs == 0 { 0 } else { self.bits.select(ends, runs - 1) + 1 };
                    if last <= at {
                        return BLOCK * block + at;
                    }
                    // 65 if the run goes on in the next block, whose offset tells where it ends.
                    at = last;
                }
            }
            (block, at) = (block + 1, 0);
            if block >= self.blocks {
                return BLOCK * block;
            }
            offset = match self.stored_offset(block) {
                // Counted from the block before: to walk back in every block would take quadratic time.
                SATURATED => self.after_block(block - 1, offset) - BLOCK * block,
                offset => offset,
            };
        }
    }

    /// Returns the slot after the runs of all quotients up to the last one of a block with this offset.
    ///
    /// The slot at the offset, if those runs end before it.
    #[inline(always)]
    pub(crate) fn after_block(&self, block: usize, offset: usize) -> usize {
        self.after_runs(BLOCK * block + offset, self.bits.count(self.occupied(block)))
    }
}

/// Returns the ones from a position on, which are none from 64 up.
#[inline(always)]
const fn from(position: usize) -> u64 {
    if position < BLOCK { u64::MAX << position } else { 0 }
}

/// Blocks to change.
#[derive(Debug)]
pub(crate) struct BlocksMut<'a> {
    pub(crate) words: &'a mut Words,
    pub(crate) layout: Layout,
}

impl BlocksMut<'_> {
    #[inline(always)]
    fn flip(&mut self, byte: usize, bits: u64) {
        let word = load(self.words, byte);
        store(self.words, byte, word ^ bits);
    }

    /// Sets bits of the 64 from a byte on.
    #[inline(always)]
    pub(crate) fn set_bits(&mut self, byte: usize, bits: u64) {
        let word = load(self.words, byte);
        store(self.words, byte, word | bits);
    }

    /// Sets or clears the bit of a quotient.
    #[inline(always)]
    pub(crate) fn flip_occupied(&mut self, quotient: usize) {
        self.flip(self.layout.occupied(quotient / BLOCK), 1 << (quotient % BLOCK));
    }

    /// Sets or clears the bit of a slot.
    #[inline(always)]
    pub(crate) fn flip_run_end(&mut self, slot: usize) {
        self.flip(self.layout.run_ends(slot / BLOCK), 1 << (slot % BLOCK));
    }

    /// Stores an offset, or 255 for a greater one.
    #[inline(always)]
    pub(crate) fn set_offset(&mut self, block: usize, offset: usize) {
        let byte = self.layout.head(block);
        let word = load(self.words, byte);
        store(self.words, byte, word & !0xff | offset.min(SATURATED) as u64);
    }

    /// Adds 1 to an offset, up to 255.
    #[inline(always)]
    pub(crate) fn raise_offset(&mut self, block: usize) {
        let byte = self.layout.head(block);
        let word = load(self.words, byte);
        store(self.words, byte, word + u64::from(word & 0xff != SATURATED as u64));
    }

    /// Replaces the entry of a slot.
    #[inline(always)]
    pub(crate) fn set_entry(&mut self, slot: usize, entry: u64) {
        let (byte, bit) = self.layout.entry(slot);
        let word = load(self.words, byte);
        store(self.words, byte, word & !(self.layout.mask() << bit) | entry << bit);
    }

    /// Writes the entry of an empty slot, or clears the slot that has it.
    #[inline(always)]
    pub(crate) fn flip_entry(&mut self, slot: usize, entry: u64) {
        let (byte, bit) = self.layout.entry(slot);
        self.flip(byte, entry << bit);
    }

    /// Moves the entries from `slots.start` on up by one slot, up to the last of `slots`, and puts an entry before them.
    ///
    /// The entry of the last slot is lost.
    pub(crate) fn push_up(&mut self, slots: Range<usize>, mut entry: u64, mut ends: bool) {
        let last = slots.end - 1;
        let mut start = slots.start;
        while start <= last {
            let block = start / BLOCK;
            let range = start % BLOCK..(last - BLOCK * block).min(BLOCK - 1) + 1;
            ends = self.push_ends_up(block, range.clone(), ends);
            entry = self.push_entries_up(block, range, entry);
            start = BLOCK * (block + 1);
        }
    }

    /// Moves the bits of some slots of a block up by one, with `carry` at the lowest. Returns the one that left.
    #[inline(always)]
    fn push_ends_up(&mut self, block: usize, range: Range<usize>, carry: bool) -> bool {
        let byte = self.layout.run_ends(block);
        let ends = load(self.words, byte);
        let mask = ones(range.clone());
        let moved = (ends & mask) << 1 | u64::from(carry) << range.start;
        store(self.words, byte, ends & !mask | moved & mask);
        ends >> (range.end - 1) & 1 == 1
    }

    /// Moves the entries of some slots of a block up by one, with `carry` at the lowest. Returns the one that left.
    #[inline(always)]
    fn push_entries_up(&mut self, block: usize, range: Range<usize>, mut carry: u64) -> u64 {
        let (width, start) = (self.layout.width, self.layout.entries(block));
        let (low, high) = (range.start * width, range.end * width);
        let (first, last) = (low / 64, (high - 1) / 64);
        let below = ones(0..high - 64 * last);
        let (out_byte, out_bit) = self.layout.entry(BLOCK * block + range.end - 1);
        let out = load(self.words, out_byte) >> out_bit & self.layout.mask();
        let mut shift = low % 64;
        let mut step = |index: usize, below: u64| {
            let byte = start + 8 * index;
            let word = load(self.words, byte);
            let (body, mask) = (word & u64::MAX << shift, u64::MAX << shift & below);
            store(self.words, byte, word & !mask | (body << width | carry << shift) & mask);
            carry = body >> (64 - width) | carry >> 1 >> (63 - shift);
            shift = 0;
        };
        (first..last).for_each(|index| step(index, u64::MAX));
        step(last, below);
        out
    }

    /// Moves all entries of `slots` but the first down by one slot. The last slot is empty then.
    pub(crate) fn pull_down(&mut self, slots: Range<usize>) {
        let (mut end, mut entry, mut ends) = (slots.end, 0, false);
        while end > slots.start {
            let block = (end - 1) / BLOCK;
            let start = slots.start.max(BLOCK * block);
            let range = start - BLOCK * block..end - BLOCK * block;
            ends = self.pull_ends_down(block, range.clone(), ends);
            entry = self.pull_entries_down(block, range, entry);
            end = start;
        }
    }

    /// Moves the bits of some slots of a block down by one, with `carry` at the highest. Returns the one that left.
    #[inline(always)]
    fn pull_ends_down(&mut self, block: usize, range: Range<usize>, carry: bool) -> bool {
        let byte = self.layout.run_ends(block);
        let ends = load(self.words, byte);
        let mask = ones(range.clone());
        let moved = (ends & mask) >> 1 | u64::from(carry) << (range.end - 1);
        store(self.words, byte, ends & !mask | moved & mask);
        ends >> range.start & 1 == 1
    }

    /// Moves the entries of some slots of a block down by one, with `carry` at the highest. Returns the one that left.
    #[inline(always)]
    fn pull_entries_down(&mut self, block: usize, range: Range<usize>, carry: u64) -> u64 {
        let (width, start) = (self.layout.width, self.layout.entries(block));
        let (low, high) = (range.start * width, range.end * width);
        let (first, last) = (low / 64, (high - 1) / 64);
        let above = u64::MAX << (low - 64 * first);
        let (out_byte, out_bit) = self.layout.entry(BLOCK * block + range.start);
        let out = load(self.words, out_byte) >> out_bit & self.layout.mask();
        // The carry lies at the top of a word, whose `shift` highest bits are beyond the range.
        let (mut carry, mut shift) = (carry << (64 - width), 64 * (last + 1) - high);
        let mut step = |index: usize, above: u64| {
            let byte = start + 8 * index;
            let word = load(self.words, byte);
            let (body, mask) = (word & u64::MAX >> shift, u64::MAX >> shift & above);
            store(self.words, byte, word & !mask | (body >> width | carry >> shift) & mask);
            carry = body << (64 - width) | carry << 1 << (63 - shift);
            shift = 0;
        };
        (first + 1..=last).rev().for_each(|index| step(index, u64::MAX));
        step(first, above);
        out
    }
}

#[inline(always)]
fn load(words: &Words, byte: usize) -> u64 {
    u64::unaligned(words, byte).unwrap_or_else(|| load_parts::<u64>(words, 0, byte))
}

/// Returns the 64 bits from a byte on. `tail` follows the last word. Bytes beyond it are 0.
#[cold]
#[inline(never)]
fn load_parts<V: StoredWord>(words: &[V], tail: u64, byte: usize) -> u64 {
    let word = |index: usize| match words.get(index) {
        Some(word) => word.value(),
        None if index == words.len() => tail,
        None => 0,
    };
    let shift = byte % 8 * 8;
    word(byte / 8) >> shift | word(byte / 8 + 1) << 1 << (63 - shift)
}

/// Stores the 64 bits from a byte on.
///
/// # Panics
/// If they are not all there.
#[inline(always)]
fn store(words: &mut Words, byte: usize, bits: u64) {
    if cfg!(target_endian = "little") {
        words.lanes_mut::<u8>()[byte..byte + 8].copy_from_slice(&bits.to_le_bytes());
        return;
    }
    for (index, part) in bits.to_le_bytes().into_iter().enumerate() {
        let at = byte + index;
        let shift = at % 8 * 8;
        words[at / 8] = words[at / 8] & !(0xff << shift) | u64::from(part) << shift;
    }
}
