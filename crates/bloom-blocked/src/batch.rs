//! What is done with many keys, by whichever kernel.

use core::marker::PhantomData;
use core::mem;

use crate::arch::{Kernel, Work};
use pds_core::internal::prefetch_reduced;

use crate::blocks::{BlockSlice, BlockSource, Blocks, StoredBlock};
use crate::layout::{Block, Layout, Pattern};

/// How many keys are under way before the first of them is looked at.
///
/// Enough to keep busy every read that a core can have outstanding, few enough that none of the blocks
/// leaves the first cache before its turn.
const AHEAD: usize = 32;

/// Asks a block for each key: `hash` gives the hash of a key, `answers` takes the answers.
pub(crate) struct ContainsMany<'a, B, K, H, A> {
    pub(crate) blocks: &'a B,
    pub(crate) keys: &'a [K],
    pub(crate) hash: H,
    pub(crate) answers: A,
}

impl<B: BlockSource, K, H: Fn(&K) -> u64, A: Answers> Work for ContainsMany<'_, B, K, H, A> {
    type Output = ();

    #[inline(always)]
    fn run<P: Pattern>(self, kernel: impl Kernel) {
        let (blocks, answers) = (self.blocks.blocks(), self.answers);
        let asking = Asking { kernel, blocks, answers, pattern: PhantomData::<P> };
        fetching_ahead(hashing_of(kernel), self.keys, self.hash, asking);
    }
}

struct Asking<'a, N, B, A, P> {
    kernel: N,
    blocks: BlockSlice<'a, B>,
    answers: A,
    pattern: PhantomData<P>,
}

impl<N: Kernel, B: StoredBlock, A: Answers, P: Pattern> Visitor for Asking<'_, N, B, A, P> {
    #[inline(always)]
    fn fetch(&self, hash: u64) -> usize {
        self.blocks.prefetch(hash)
    }

    #[inline(always)]
    fn visit(&mut self, index: usize, key: Fetched) {
        let (layout, block) = (self.blocks.layout, self.blocks.at(key.block));
        self.answers.put(index, self.kernel.contains::<P>(layout, key.hash, &block));
    }

    #[inline(always)]
    fn end(&mut self, len: usize) {
        self.answers.end(len);
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
        let inserting = Inserting { kernel, blocks, layout, new: 0, pattern: PhantomData::<P> };
        fetching_ahead(hashing_of(kernel), self.keys, self.hash, inserting).new
    }
}

struct Inserting<'a, N, P> {
    kernel: N,
    blocks: &'a mut [Block],
    layout: &'a Layout,
    new: usize,
    pattern: PhantomData<P>,
}

impl<N: Kernel, P: Pattern> Visitor for Inserting<'_, N, P> {
    #[inline(always)]
    fn fetch(&self, hash: u64) -> usize {
        prefetch_reduced(self.blocks, hash)
    }

    #[inline(always)]
    fn visit(&mut self, _: usize, key: Fetched) {
        let block = &mut self.blocks[key.block];
        self.new += usize::from(self.kernel.insert::<P>(self.layout, key.hash, block));
    }
}

#[inline(always)]
fn hashing_of<K: Kernel>(_: K) -> Hashing {
    K::HASHING
}

/// How a chunk of keys is hashed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hashing {
    /// In a loop of its own, of which the compiler makes vectors where the key and its hasher allow.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "no other has them"))]
    Vectors,
    /// One by one between other work, where vectors have no 64-bit multiplication: made of others it takes longer.
    OneByOne,
}

/// A key under way: where its block is, and its hash.
#[derive(Clone, Copy, Default)]
pub(crate) struct Fetched {
    pub(crate) block: usize,
    pub(crate) hash: u64,
}

/// What is done with keys. Methods and no closures: the compiler calls those, where they are long.
pub(crate) trait Visitor {
    /// Sends for the block of a hash. Returns its number.
    fn fetch(&self, hash: u64) -> usize;

    /// The turn of a key, by its index in its chunk.
    fn visit(&mut self, index: usize, key: Fetched);

    /// The end of a chunk of so many keys.
    #[inline(always)]
    fn end(&mut self, _len: usize) {}
}

/// Visits every key in order, its block sent for some [`AHEAD`] keys earlier. Returns the visitor.
///
/// A block is sent for between every two visits, which keeps the memory evenly busy.
#[inline(always)]
pub(crate) fn fetching_ahead<K, V: Visitor>(
    hashing: Hashing,
    keys: &[K],
    hash: impl Fn(&K) -> u64,
    mut visitor: V,
) -> V {
    let mut under_way = [Fetched::default(); AHEAD];
    let mut chunks = keys.chunks(AHEAD);
    let mut now = chunks.next().unwrap_or_default();
    hashing.replace(&mut under_way, now, &hash, |_, hash, _| visitor.fetch(hash));
    for next in chunks {
        hashing.replace(&mut under_way, next, &hash, |index, hash, earlier| {
            let block = visitor.fetch(hash);
            visitor.visit(index, earlier);
            block
        });
        for (index, &key) in under_way.iter().enumerate().skip(next.len()) {
            visitor.visit(index, key);
        }
        visitor.end(AHEAD);
        now = next;
    }
    for (index, &key) in under_way.iter().enumerate().take(now.len()) {
        visitor.visit(index, key);
    }
    visitor.end(now.len());
    visitor
}

impl Hashing {
    /// Puts keys in the place of those under way, which `take` gets with the index and the hash of the new
    /// one, whose block it sends for.
    #[inline(always)]
    fn replace<K>(
        self,
        under_way: &mut [Fetched; AHEAD],
        keys: &[K],
        hash: impl Fn(&K) -> u64,
        mut take: impl FnMut(usize, u64, Fetched) -> usize,
    ) {
        let slots = under_way.iter_mut().enumerate();
        let mut replace = |(index, slot): (usize, &mut Fetched), hash| {
            *slot = Fetched { block: take(index, hash, *slot), hash };
        };
        if self == Self::OneByOne {
            slots.zip(keys).for_each(|(slot, key)| replace(slot, hash(key)));
            return;
        }
        let mut hashes = [0; AHEAD];
        for (place, key) in hashes.iter_mut().zip(keys) {
            *place = hash(key);
        }
        slots.zip(&hashes[..keys.len()]).for_each(|(slot, &hash)| replace(slot, hash));
    }
}

/// Where answers go: each to its place at once. From a buffer in between, a copy would wait for its last byte.
pub(crate) trait Answers {
    /// Takes the answer for a key, by its index in its chunk.
    fn put(&mut self, index: usize, answer: bool);

    /// The end of a chunk of so many keys, which are [`AHEAD`] but in the last.
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
    /// When `out` has not exactly the words that `len` bits need.
    pub(crate) fn new(out: &'a mut [u64], len: usize) -> Self {
        assert_eq!(out.len(), len.div_ceil(64), "one word for every 64 answers");
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
pub(crate) struct Flags<'a>(&'a mut [bool]);

impl<'a> Flags<'a> {
    /// # Panics
    /// When `out` is not as long as there are keys.
    pub(crate) fn new(out: &'a mut [bool], len: usize) -> Self {
        assert_eq!(out.len(), len, "one answer a key");
        Self(out)
    }
}

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
