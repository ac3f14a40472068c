//! What is done with many keys, and with one, by whichever kernel.

use core::borrow::Borrow;

use crate::arch::{Kernel, Work};
use crate::blocks::{BlockSource, Blocks};
use crate::layout::mix;

/// How many keys are under way before the first of them is looked at.
///
/// Enough to keep busy every read that a core can have outstanding, few enough that none of the blocks
/// leaves the first cache before its turn.
const DISTANCE: usize = 32;

/// Asks one block.
pub(crate) struct Contains<'a, B> {
    pub(crate) blocks: &'a B,
    pub(crate) hash: u64,
}

impl<B: BlockSource> Work for Contains<'_, B> {
    type Output = bool;

    #[inline(always)]
    fn run(self, kernel: impl Kernel) -> bool {
        contains(kernel, self.blocks, mix(self.hash))
    }
}

/// Inserts one hash.
pub(crate) struct Insert<'a> {
    pub(crate) blocks: &'a mut Blocks,
    pub(crate) hash: u64,
}

impl Work for Insert<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self, kernel: impl Kernel) -> bool {
        insert(kernel, self.blocks, mix(self.hash))
    }
}

/// Asks `len` blocks: `hash` gives the hash of each key, `answer` takes its answer, both in order.
pub(crate) struct ContainsMany<'a, B, H, A> {
    pub(crate) blocks: &'a B,
    pub(crate) len: usize,
    pub(crate) hash: H,
    pub(crate) answer: A,
}

impl<B: BlockSource, H: Fn(usize) -> u64, A: FnMut(usize, bool)> Work
    for ContainsMany<'_, B, H, A>
{
    type Output = ();

    #[inline(always)]
    fn run(mut self, kernel: impl Kernel) {
        let mut ahead = Ahead::new(self.blocks, self.len, self.hash);
        for index in 0..self.len {
            let mixed = ahead.next(self.blocks, index);
            (self.answer)(index, contains(kernel, self.blocks, mixed));
        }
    }
}

/// Inserts `len` hashes. The output is how many were not contained before.
pub(crate) struct InsertMany<'a, H> {
    pub(crate) blocks: &'a mut Blocks,
    pub(crate) len: usize,
    pub(crate) hash: H,
}

impl<H: Fn(usize) -> u64> Work for InsertMany<'_, H> {
    type Output = usize;

    #[inline(always)]
    fn run(self, kernel: impl Kernel) -> usize {
        let mut ahead = Ahead::new(self.blocks, self.len, self.hash);
        let mut new = 0;
        for index in 0..self.len {
            let mixed = ahead.next(self.blocks, index);
            new += usize::from(insert(kernel, self.blocks, mixed));
        }
        new
    }
}

#[inline(always)]
fn contains(kernel: impl Kernel, blocks: &impl BlockSource, mixed: u64) -> bool {
    let layout = blocks.layout();
    kernel.contains(layout, mixed, blocks.block(layout.block_of(mixed)).borrow())
}

#[inline(always)]
fn insert(kernel: impl Kernel, blocks: &mut Blocks, mixed: u64) -> bool {
    let (layout, blocks) = blocks.layout_and_blocks();
    kernel.insert(layout, mixed, &mut blocks[layout.block_of(mixed)])
}

/// The mixed hashes of the next [`DISTANCE`] keys, whose blocks are on their way.
pub(crate) struct Ahead<H> {
    mixed: [u64; DISTANCE],
    len: usize,
    hash: H,
}

impl<H: Fn(usize) -> u64> Ahead<H> {
    #[inline(always)]
    pub(crate) fn new(blocks: &impl BlockSource, len: usize, hash: H) -> Self {
        let mut ahead = Self { mixed: [0; DISTANCE], len, hash };
        for index in 0..len.min(DISTANCE) {
            ahead.fetch(blocks, index);
        }
        ahead
    }

    /// Takes the mixed hash of key `index` and sends for a later one in its place.
    #[inline(always)]
    pub(crate) fn next(&mut self, blocks: &impl BlockSource, index: usize) -> u64 {
        let mixed = self.mixed[index % DISTANCE];
        if self.len - index > DISTANCE {
            self.fetch(blocks, index + DISTANCE);
        }
        mixed
    }

    #[inline(always)]
    fn fetch(&mut self, blocks: &impl BlockSource, index: usize) {
        let mixed = mix((self.hash)(index));
        blocks.prefetch(blocks.layout().block_of(mixed));
        self.mixed[index % DISTANCE] = mixed;
    }
}

/// Answers as single bits: bit `i % 64` of word `i / 64` is the answer for key `i`.
///
/// # Panics
/// When `out` has not exactly the words that `len` bits need.
pub(crate) fn bitmap(out: &mut [u64], len: usize) -> impl FnMut(usize, bool) {
    assert_eq!(out.len(), len.div_ceil(64), "one word for every 64 answers");
    out.fill(0);
    move |index, answer| out[index / 64] |= u64::from(answer) << (index % 64)
}

/// Answers one by one.
///
/// # Panics
/// When `out` is not as long as there are keys.
pub(crate) fn flags(out: &mut [bool], len: usize) -> impl FnMut(usize, bool) {
    assert_eq!(out.len(), len, "one answer a key");
    move |index, answer| out[index] = answer
}
