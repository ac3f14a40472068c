//! Batches of lookups and inserts.

use core::mem;

use pds_core::internal::{AHEAD, StoredWord, Visitor, Work, prefetch_reduced, visit_ahead};

use crate::kernel::{Lanes, covers, insert, load};
use crate::layout::{Block, LANES, Layout, Positions};

/// A prefetched key: the index of its block, and its hash.
#[derive(Clone, Copy, Default)]
pub(crate) struct Place {
    pub(crate) block: usize,
    pub(crate) hash: u64,
}

/// Tests many keys: `hash` gives the hash of a key, `answers` takes the answers.
pub(crate) struct ContainsMany<'a, W, K, H, A> {
    pub(crate) blocks: &'a [[W; LANES]],
    pub(crate) layout: &'a Layout,
    pub(crate) keys: &'a [K],
    pub(crate) hash: H,
    pub(crate) answers: A,
}

impl<W: StoredWord, K, H: Fn(&K) -> u64, A: Answers> ContainsMany<'_, W, K, H, A> {
    // One loop for each case, so that the positions are a constant in it.
    #[inline(always)]
    fn run_as<const WIDE: bool>(self) {
        match self.layout.positions() {
            Positions::Chosen => self.run_for::<WIDE>(Positions::Chosen),
            Positions::Every => self.run_for::<WIDE>(Positions::Every),
            Positions::Second => self.run_for::<WIDE>(Positions::Second),
        }
    }

    #[inline(always)]
    fn run_for<const WIDE: bool>(self, positions: Positions) {
        let Self { blocks, layout, keys, hash, answers } = self;
        let lanes = Lanes::load::<WIDE>();
        visit_ahead(
            keys,
            hash,
            Contains::<WIDE, _, _> { blocks, layout, lanes, positions, answers },
        );
    }
}

impl<W: StoredWord, K, H: Fn(&K) -> u64, A: Answers> Work for ContainsMany<'_, W, K, H, A> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.run_as::<false>();
    }

    #[inline(always)]
    fn run_wide(self) {
        self.run_as::<true>();
    }
}

struct Contains<'a, const WIDE: bool, W, A> {
    blocks: &'a [[W; LANES]],
    layout: &'a Layout,
    lanes: Lanes,
    positions: Positions,
    answers: A,
}

impl<const WIDE: bool, W: StoredWord, A: Answers> Visitor for Contains<'_, WIDE, W, A> {
    type Place = Place;
    const HASHES_APART: bool = WIDE;

    #[inline(always)]
    fn prefetch(&self, hash: u64) -> Place {
        Place { block: prefetch_reduced(self.blocks, hash), hash }
    }

    #[inline(always)]
    fn visit(&mut self, index: usize, place: Place) {
        let masks = self.lanes.masks(self.layout, self.positions, place.hash);
        self.answers.put(index, covers(&load(&self.blocks[place.block]), &masks));
    }

    #[inline(always)]
    fn end(&mut self, len: usize) {
        self.answers.end(len);
    }
}

/// Inserts many keys: `hash` gives the hash of a key. Returns how many were not contained before.
pub(crate) struct InsertMany<'a, K, H> {
    pub(crate) blocks: &'a mut [Block],
    pub(crate) layout: &'a Layout,
    pub(crate) keys: &'a [K],
    pub(crate) hash: H,
}

impl<K, H: Fn(&K) -> u64> InsertMany<'_, K, H> {
    #[inline(always)]
    fn run_as<const WIDE: bool>(self) -> usize {
        match self.layout.positions() {
            Positions::Chosen => self.run_for::<WIDE>(Positions::Chosen),
            Positions::Every => self.run_for::<WIDE>(Positions::Every),
            Positions::Second => self.run_for::<WIDE>(Positions::Second),
        }
    }

    #[inline(always)]
    fn run_for<const WIDE: bool>(self, positions: Positions) -> usize {
        let Self { blocks, layout, keys, hash } = self;
        let lanes = Lanes::load::<WIDE>();
        visit_ahead(keys, hash, Insert::<WIDE> { blocks, layout, lanes, positions, new: 0 }).new
    }
}

impl<K, H: Fn(&K) -> u64> Work for InsertMany<'_, K, H> {
    type Output = usize;

    #[inline(always)]
    fn run(self) -> usize {
        self.run_as::<false>()
    }

    #[inline(always)]
    fn run_wide(self) -> usize {
        self.run_as::<true>()
    }
}

struct Insert<'a, const WIDE: bool> {
    blocks: &'a mut [Block],
    layout: &'a Layout,
    lanes: Lanes,
    positions: Positions,
    new: usize,
}

impl<const WIDE: bool> Visitor for Insert<'_, WIDE> {
    type Place = Place;
    const HASHES_APART: bool = WIDE;

    #[inline(always)]
    fn prefetch(&self, hash: u64) -> Place {
        Place { block: prefetch_reduced(self.blocks, hash), hash }
    }

    #[inline(always)]
    fn visit(&mut self, _: usize, place: Place) {
        let masks = self.lanes.masks(self.layout, self.positions, place.hash);
        self.new += usize::from(insert(&mut self.blocks[place.block], &masks));
    }
}

/// The output of the answers of a batch.
// Each answer is written to its place at once. A copy from a buffer in between would wait for its last byte.
pub(crate) trait Answers {
    /// Takes the answer for a key, given its index in its chunk.
    fn put(&mut self, index: usize, answer: bool);

    /// Ends a chunk of `len` keys: [`AHEAD`] in all chunks but the last.
    fn end(&mut self, len: usize);
}

/// Answers as single bits: bit `i % 64` of word `i / 64` is the answer for key `i`.
pub(crate) struct Bitmap<'a> {
    out: &'a mut [u64],
    first: usize,
    bits: u64,
}

impl<'a> Bitmap<'a> {
    /// # Panics
    /// If `out` does not have exactly the words that `keys` bits need.
    #[track_caller]
    pub(crate) fn new(out: &'a mut [u64], keys: usize) -> Self {
        let words = out.len();
        assert!(
            words == keys.div_ceil(64),
            "one word for every 64 keys: {keys} keys, {words} words"
        );
        out.fill(0);
        Self { out, first: 0, bits: 0 }
    }
}

impl Answers for Bitmap<'_> {
    #[inline(always)]
    fn put(&mut self, index: usize, answer: bool) {
        self.bits |= u64::from(answer) << index;
    }

    #[inline(always)]
    fn end(&mut self, len: usize) {
        const { assert!(64 % AHEAD == 0, "a word takes whole chunks") };
        if let Some(word) = self.out.get_mut(self.first / 64) {
            *word |= mem::take(&mut self.bits) << (self.first % 64);
        }
        self.first += len;
    }
}

/// Answers one by one.
pub(crate) struct Flags<'a>(pub(crate) &'a mut [bool]);

impl Answers for Flags<'_> {
    #[inline(always)]
    fn put(&mut self, index: usize, answer: bool) {
        self.0[index] = answer;
    }

    #[inline(always)]
    fn end(&mut self, len: usize) {
        self.0 = &mut mem::take(&mut self.0)[len..];
    }
}
