//! What is done with many keys, by whichever kernel.

use crate::arch::{Kernel, Work};
use pds_core::internal::{prefetch_reduced, reduced_mut};

use crate::blocks::{BlockSlice, BlockSource, Blocks, StoredBlock};
use crate::layout::{Block, Layout, Pattern, mix};

/// How many keys are under way before the first of them is looked at.
///
/// Enough to keep busy every read that a core can have outstanding, few enough that none of the blocks
/// leaves the first cache before its turn.
const AHEAD: usize = 32;

/// Asks a block for each key: `hash` gives the hash of a key, `answer` takes the answers in order.
pub(crate) struct ContainsMany<'a, B, K, H, A> {
    pub(crate) blocks: &'a B,
    pub(crate) keys: &'a [K],
    pub(crate) hash: H,
    pub(crate) answer: A,
}

impl<B: BlockSource, K, H: Fn(&K) -> u64, A: FnMut(bool)> Work for ContainsMany<'_, B, K, H, A> {
    type Output = ();

    #[inline(always)]
    fn run<P: Pattern>(self, kernel: impl Kernel) {
        let Self { keys, hash, mut answer, .. } = self;
        let blocks = self.blocks.blocks();
        fetching_ahead(keys, hash, blocks, BlockSlice::prefetch, |blocks, mixed| {
            answer(contains::<P, _>(kernel, blocks, mixed));
        });
    }
}

/// Inserts keys: `hash` gives the hash of a key. The output is how many were not contained before.
pub(crate) struct InsertMany<'a, K, H> {
    pub(crate) blocks: &'a mut Blocks,
    pub(crate) keys: &'a [K],
    pub(crate) hash: H,
}

impl<K, H: Fn(&K) -> u64> Work for InsertMany<'_, K, H> {
    type Output = usize;

    #[inline(always)]
    fn run<P: Pattern>(self, kernel: impl Kernel) -> usize {
        let (blocks, layout) = self.blocks.blocks_mut();
        let mut new = 0;
        let fetch = |blocks: &&mut [Block], mixed| prefetch_reduced(blocks, mixed);
        fetching_ahead(self.keys, self.hash, blocks, fetch, |blocks, mixed| {
            new += usize::from(insert::<P>(kernel, blocks, layout, mixed));
        });
        new
    }
}

#[inline(always)]
fn contains<P: Pattern, B: StoredBlock>(
    kernel: impl Kernel,
    blocks: &BlockSlice<'_, B>,
    mixed: u64,
) -> bool {
    kernel.contains::<P>(blocks.layout, mixed, &blocks.block(mixed))
}

#[inline(always)]
fn insert<P: Pattern>(
    kernel: impl Kernel,
    blocks: &mut [Block],
    layout: &Layout,
    mixed: u64,
) -> bool {
    kernel.insert::<P>(layout, mixed, reduced_mut(blocks, mixed))
}

/// Visits the mixed hash of every key in order, its block sent for some [`AHEAD`] keys earlier.
///
/// The hashes of a chunk are made in a loop of their own, which the compiler turns into vectors where
/// the key and its hasher allow; blocks are sent for one by one between visits, which keeps the
/// memory evenly busy.
#[inline(always)]
pub(crate) fn fetching_ahead<K, B>(
    keys: &[K],
    hash: impl Fn(&K) -> u64,
    mut blocks: B,
    fetch: impl Fn(&B, u64),
    mut visit: impl FnMut(&mut B, u64),
) {
    let mut chunks = keys.chunks(AHEAD).map(|keys| Chunk::new(keys, &hash));
    let mut now = chunks.next().unwrap_or_default();
    now.hashes().iter().for_each(|&mixed| fetch(&blocks, mixed));
    while now.len > 0 {
        let next = chunks.next().unwrap_or_default();
        for (&mixed, &later) in now.hashes().iter().zip(next.hashes()) {
            fetch(&blocks, later);
            visit(&mut blocks, mixed);
        }
        now.hashes().iter().skip(next.len).for_each(|&mixed| visit(&mut blocks, mixed));
        now = next;
    }
}

/// The mixed hashes of up to [`AHEAD`] keys.
#[derive(Default)]
struct Chunk {
    mixed: [u64; AHEAD],
    len: usize,
}

impl Chunk {
    #[inline(always)]
    fn new<K>(keys: &[K], hash: impl Fn(&K) -> u64) -> Self {
        let mut mixed = [0; AHEAD];
        for (mixed, key) in mixed.iter_mut().zip(keys) {
            *mixed = mix(hash(key));
        }
        Self { mixed, len: keys.len() }
    }

    #[inline(always)]
    fn hashes(&self) -> &[u64] {
        &self.mixed[..self.len.min(AHEAD)]
    }
}

/// Answers as single bits: bit `i % 64` of word `i / 64` is the answer for key `i`.
///
/// # Panics
/// When `out` has not exactly the words that `len` bits need.
pub(crate) fn bitmap(out: &mut [u64], len: usize) -> impl FnMut(bool) {
    assert_eq!(out.len(), len.div_ceil(64), "one word for every 64 answers");
    out.fill(0);
    let mut indices = 0..len;
    move |answer| {
        if let Some(index) = indices.next() {
            out[index / 64] |= u64::from(answer) << (index % 64);
        }
    }
}

/// Answers one by one.
///
/// # Panics
/// When `out` is not as long as there are keys.
pub(crate) fn flags(out: &mut [bool], len: usize) -> impl FnMut(bool) {
    assert_eq!(out.len(), len, "one answer a key");
    let mut out = out.iter_mut();
    move |answer| {
        if let Some(slot) = out.next() {
            *slot = answer;
        }
    }
}
