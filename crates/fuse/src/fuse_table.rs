//! Packed cells over a fuse graph: three for each key, whose sum is what is stored for the key.

use pds_core::error::{AllocError, DecodeError, ParamError};
use pds_core::hash::reduce;
use pds_core::internal::DecodeFault;
use pds_core::internal::{StoredWord, Visitor, check_padding, prefetch, visit_ahead};
use pds_core::storage::{WordSource, Words};
use pds_params::fuse::FuseShape;
use pds_params::internal::ParamFault;

use crate::equation::salt;
use crate::graph::{Edge, Graph};
use crate::rest;
use crate::system::{bits_from, ones};
use crate::{index, is_worth_prefetching};

/// Greatest number of seeds that a shard tries.
pub(crate) const MAX_SEEDS: u64 = 8;

/// Numbers that determine a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TableParams {
    /// Number of distinct keys.
    pub(crate) keys: u64,
    /// Width of a cell in bits, from 1 to 34.
    pub(crate) width: u32,
    /// Number of steps by which the graph grew.
    pub(crate) growth: u32,
    /// Number of keys in the exact list.
    pub(crate) rest: u64,
}

impl TableParams {
    /// Checks the parameters.
    ///
    /// # Errors
    /// If no construction ends with them.
    pub(crate) fn shape(&self) -> Result<FuseShape, ParamError> {
        let out_of_range = |parameter, value, max| {
            Err(ParamError(ParamFault::OutOfRange { parameter, value, min: 0, max }))
        };
        if self.rest > self.keys {
            return out_of_range("rest", self.rest, self.keys);
        }
        if self.keys == 0 && self.growth > 0 {
            return out_of_range("growth", self.growth.into(), 0);
        }
        FuseShape::new(self.keys, self.growth)
    }
}

/// Cells of all shards, the salt of each shard, and the exact list.
// Invariant: the words have the length that the parameters state, or more, and the salt of a single shard is in them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FuseTable<W = Words> {
    words: W,
    params: TableParams,
    graph: Graph,
    shards: u64,
    slots_per_shard: u64,
    words_per_shard: u64,
    /// Salt of the first shard.
    salt: u64,
    /// Number of first slots in all shards.
    starts: u64,
    /// Number of cells of a shard that are no first slots, with those that fill its last word.
    gap: u64,
    /// Width of a cell if it is 8, 16 or 32 bits, and if there are keys and no exact list. 0 otherwise.
    // These widths need no shifts, and have short paths of their own. Callers inline that of 8 bits alone: all three
    // make it slower by a tenth. With several shards a call takes a fifth, since fewer lookups are under way at once.
    plain_width: u32,
}

/// A key in a table: where the cells of its shard begin, and its edge.
#[derive(Clone, Copy, Default)]
pub(crate) struct Place {
    start: usize,
    edge: Edge,
}

impl Place {
    pub(crate) const fn fingerprint(&self) -> u64 {
        self.edge.fingerprint
    }
}

impl<W> FuseTable<W> {
    pub(crate) const fn params(&self) -> &TableParams {
        &self.params
    }

    pub(crate) const fn storage(&self) -> &W {
        &self.words
    }

    pub(crate) const fn num_slots(&self) -> u64 {
        self.slots_per_shard * self.shards
    }

    pub(crate) const fn slots_per_shard(&self) -> u64 {
        self.slots_per_shard
    }

    pub(crate) const fn words_per_shard(&self) -> u64 {
        self.words_per_shard
    }

    const fn salts_at(&self) -> u64 {
        self.words_per_shard * self.shards
    }

    const fn rest_at(&self) -> u64 {
        self.salts_at() + self.shards
    }

    /// Returns the number of words. Others may follow.
    pub(crate) const fn len(&self) -> u64 {
        self.rest_at().saturating_add(self.params.rest)
    }

    /// Returns the shard of a key and its position in it.
    // The position of a hash within its shard is the fractional part of the product.
    #[inline(always)]
    pub(crate) const fn shard(shards: u64, hash: u64) -> (u64, u64) {
        (reduce(hash, shards), hash.wrapping_mul(shards))
    }

    pub(crate) const fn graph(&self) -> Graph {
        self.graph
    }

    pub(crate) const fn shards(&self) -> u64 {
        self.shards
    }
}

impl FuseTable<()> {
    /// Lays out a table.
    ///
    /// # Errors
    /// As [`TableParams::shape`].
    pub(crate) fn layout(params: TableParams) -> Result<Self, ParamError> {
        let shape = params.shape()?;
        let slots_per_shard = shape.slots_per_shard();
        let words_per_shard = (slots_per_shard * u64::from(params.width)).div_ceil(64);
        let cells_per_shard = words_per_shard * 64 / u64::from(params.width);
        Ok(Self {
            words: (),
            params,
            graph: Graph::new(&shape),
            shards: shape.shards(),
            slots_per_shard,
            words_per_shard,
            starts: shape.starts() * shape.shards(),
            gap: cells_per_shard - shape.starts(),
            salt: 0,
            plain_width: match params.width {
                width @ (8 | 16 | 32) if params.rest == 0 && shape.shards() > 0 => width,
                _ => 0,
            },
        })
    }

    /// Opens words that hold the table, and perhaps more.
    ///
    /// # Panics
    /// If they are fewer than [`len`](Self::len).
    pub(crate) fn open<W: WordSource>(&self, words: W) -> FuseTable<W> {
        assert!(words.as_words().len() as u64 >= self.len(), "words of the table");
        let salts_at = index(self.salts_at());
        let salt = words.as_words().get(salts_at).map_or(0, StoredWord::value);
        FuseTable {
            words,
            params: self.params,
            graph: self.graph,
            shards: self.shards,
            slots_per_shard: self.slots_per_shard,
            words_per_shard: self.words_per_shard,
            salt,
            starts: self.starts,
            gap: self.gap,
            plain_width: self.plain_width,
        }
    }
}

impl FuseTable<Words> {
    /// Copies the table.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub(crate) fn try_clone(&self) -> Result<Self, AllocError> {
        Ok(Self { words: self.words.try_clone()?, ..*self })
    }

    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// Returns the table followed by this number of words, which are 0.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub(crate) fn with_room(&self, more: u64) -> Result<Self, AllocError> {
        let mut words = Words::zeroed((self.words.len() as u64).saturating_add(more))?;
        words[..self.words.len()].copy_from_slice(&self.words);
        Ok(Self { words, ..*self })
    }
}

impl PartialEq for FuseTable<Words> {
    fn eq(&self, other: &Self) -> bool {
        self.params == other.params && self.words == other.words
    }
}

impl Eq for FuseTable<Words> {}

impl<W: WordSource> FuseTable<W> {
    pub(crate) fn words(&self) -> &[W::Word] {
        self.words.as_words()
    }

    /// Finds the cells of a key. `None` if there are none at all.
    #[inline(always)]
    pub(crate) fn place(&self, words: &[W::Word], hash: u64) -> Option<Place> {
        if self.shards == 1 {
            return Some(Place { start: 0, edge: self.graph.edge(hash, hash, self.salt) });
        }
        if self.shards == 0 {
            return None;
        }
        let (shard, position) = Self::shard(self.shards, hash);
        let salt = words[index(self.salts_at() + shard)].value();
        let start = index(shard * self.words_per_shard);
        Some(Place { start, edge: self.graph.edge(position, hash, salt) })
    }

    /// Returns the number of one of the slots of a key, among those of all shards.
    pub(crate) fn slot_of(&self, place: &Place, own: usize) -> u64 {
        let shard = (place.start as u64).checked_div(self.words_per_shard).unwrap_or_default();
        shard * self.slots_per_shard + place.edge.slots[own]
    }

    /// Returns the sum of the cells of a key, and above the width of a cell any bits.
    #[inline(always)]
    pub(crate) fn sum(&self, words: &[W::Word], place: &Place) -> u64 {
        sum(&words[place.start..], &place.edge, self.params.width)
    }

    /// Returns whether a key is one of the set, or taken for one.
    #[inline(always)]
    pub(crate) fn contains(&self, words: &[W::Word], hash: u64) -> bool {
        if self.plain_width == 8 {
            return self.contains_plain::<8>(words, hash);
        }
        self.contains_in_any(words, hash)
    }

    #[inline(always)]
    fn contains_plain<const WIDTH: u32>(&self, words: &[W::Word], hash: u64) -> bool {
        is_met::<WIDTH, _>(words, &self.plain_edge(words, hash))
    }

    /// Returns the edge of a key in a plain table, with its cells numbered through all shards.
    #[inline(always)]
    fn plain_edge(&self, words: &[W::Word], hash: u64) -> Edge {
        if self.shards == 1 {
            return self.graph.edge(hash, hash, self.salt);
        }
        // The product rounds down at the ends of shards, too: this is the shard of the first slot.
        let shard = reduce(hash, self.shards);
        let first = reduce(hash, self.starts) + shard * self.gap;
        self.graph.edge_from(first, hash, words[index(self.salts_at() + shard)].value())
    }

    #[inline(never)]
    fn contains_in_any(&self, words: &[W::Word], hash: u64) -> bool {
        match self.plain_width {
            16 => self.contains_plain::<16>(words, hash),
            32 => self.contains_plain::<32>(words, hash),
            _ => self.place(words, hash).is_some_and(|place| self.has(words, &place, hash)),
        }
    }

    /// Returns whether the sum of the cells of a key is its fingerprint, or the key is in the exact list.
    #[inline(always)]
    fn has(&self, words: &[W::Word], place: &Place, hash: u64) -> bool {
        let (sum, width) = (self.sum(words, place), self.params.width);
        (sum ^ place.edge.fingerprint) << (64 - width) == 0 || self.is_exact(words, hash)
    }

    /// Returns whether a key is in the exact list.
    #[inline(always)]
    fn is_exact(&self, words: &[W::Word], hash: u64) -> bool {
        self.params.rest > 0 && self.find_exact(words, hash).is_some()
    }

    /// Returns the index of a key in the exact list.
    #[inline(never)]
    pub(crate) fn find_exact(&self, words: &[W::Word], hash: u64) -> Option<usize> {
        rest::find(&words[index(self.rest_at())..index(self.len())], hash)
    }

    /// Answers many keys.
    pub(crate) fn contains_each(&self, hashes: &[u64], out: &mut [bool]) {
        let words = self.words();
        match self.plain_width {
            8 => self.contains_each_plain::<8>(hashes, out),
            16 => self.contains_each_plain::<16>(hashes, out),
            32 => self.contains_each_plain::<32>(hashes, out),
            _ => self.answer_each(hashes, out, |hash, place| {
                place.is_some_and(|place| self.has(words, place, hash))
            }),
        }
    }

    /// Answers many keys by their places, each after it was prefetched if that is worth it.
    #[inline(always)]
    pub(crate) fn answer_each<T>(
        &self,
        hashes: &[u64],
        out: &mut [T],
        answer: impl Fn(u64, Option<&Place>) -> T,
    ) {
        let words = self.words();
        if is_worth_prefetching(words.len(), hashes.len()) && self.shards > 0 {
            let batch = Batch { table: self, words, hashes, out, at: 0, answer };
            visit_ahead(hashes, |&hash| hash, batch);
        } else {
            for (&hash, out) in hashes.iter().zip(out) {
                *out = answer(hash, self.place(words, hash).as_ref());
            }
        }
    }

    fn contains_each_plain<const WIDTH: u32>(&self, hashes: &[u64], out: &mut [bool]) {
        let words = self.words();
        if is_worth_prefetching(words.len(), hashes.len()) {
            let batch = PlainBatch::<WIDTH, W> { table: self, words, out, at: 0 };
            visit_ahead(hashes, |&hash| hash, batch);
        } else {
            let pairs = hashes.iter().zip(out);
            pairs.for_each(|(&hash, place)| *place = self.contains_plain::<WIDTH>(words, hash));
        }
    }

    /// Checks what the words could contradict: salts, unused bits, and the order of the exact list. Returns the index of
    /// the first wrong word, and what is wrong.
    ///
    /// # Errors
    /// [`DecodeError`]. The words begin at offset `at`.
    pub(crate) fn check(&self, at: u64) -> Result<(), DecodeError> {
        let words = self.words();
        let offset = |word: u64| at + 8 * word;
        let used = self.slots_per_shard * u64::from(self.params.width) % 64;
        for shard in 0..self.shards {
            let last = (shard + 1) * self.words_per_shard - 1;
            check_padding(offset(last), used, words[index(last)].value())?;
            let at = self.salts_at() + shard;
            let found = words[index(at)].value();
            if !(0..MAX_SEEDS).any(|seed| salt(seed) == found) {
                let (name, allowed) = ("the salt of a shard", "the mix of a number below 8");
                return Err(DecodeError(DecodeFault::Field {
                    name,
                    offset: offset(at),
                    found,
                    allowed,
                }));
            }
        }
        let list = &words[index(self.rest_at())..index(self.len())];
        let Some(wrong) = rest::first_unordered(list) else { return Ok(()) };
        Err(DecodeError(DecodeFault::Field {
            name: "a hash of the exact list",
            offset: offset(self.rest_at() + wrong as u64),
            found: list[wrong].value(),
            allowed: "greater than the one before",
        }))
    }
}

/// Lookups in a plain table.
struct PlainBatch<'a, const WIDTH: u32, W: WordSource> {
    table: &'a FuseTable<W>,
    words: &'a [W::Word],
    out: &'a mut [bool],
    at: usize,
}

impl<const WIDTH: u32, W: WordSource> Visitor for PlainBatch<'_, WIDTH, W> {
    type Place = Edge;
    const HASHES_APART: bool = false;

    #[inline(always)]
    fn prefetch(&self, hash: u64) -> Edge {
        let edge = self.table.plain_edge(self.words, hash);
        let per_word = u64::from(64 / WIDTH);
        edge.slots.iter().for_each(|slot| prefetch(self.words, index(slot / per_word)));
        edge
    }

    #[inline(always)]
    fn visit(&mut self, _: usize, edge: Edge) {
        self.out[self.at] = is_met::<WIDTH, _>(self.words, &edge);
        self.at += 1;
    }
}

/// Lookups in any table with a shard.
struct Batch<'a, W: WordSource, T, F> {
    table: &'a FuseTable<W>,
    words: &'a [W::Word],
    hashes: &'a [u64],
    out: &'a mut [T],
    at: usize,
    answer: F,
}

impl<W: WordSource, T, F: Fn(u64, Option<&Place>) -> T> Visitor for Batch<'_, W, T, F> {
    type Place = Place;
    const HASHES_APART: bool = false;

    #[inline(always)]
    fn prefetch(&self, hash: u64) -> Place {
        // There is a shard, so there is a place.
        let place = self.table.place(self.words, hash).unwrap_or_default();
        let width = u64::from(self.table.params.width);
        let word_of = |slot: u64| place.start + index(slot * width / 64);
        place.edge.slots.iter().for_each(|&slot| prefetch(self.words, word_of(slot)));
        place
    }

    #[inline(always)]
    fn visit(&mut self, _: usize, place: Place) {
        self.out[self.at] = (self.answer)(self.hashes[self.at], Some(&place));
        self.at += 1;
    }
}

/// Returns the sum of the cells at three slots, and above their width any bits.
#[inline(always)]
fn sum<W: StoredWord>(words: &[W], edge: &Edge, width: u32) -> u64 {
    // The most common widths need no shifts.
    match width {
        8 => bytes(words, edge),
        16 => quarters(words, edge),
        32 => halves(words, edge),
        _ => cells(words, edge, width),
    }
}

/// Returns whether the sum of three cells is the fingerprint.
#[inline(always)]
fn is_met<const WIDTH: u32, W: StoredWord>(words: &[W], edge: &Edge) -> bool {
    (sum(words, edge, WIDTH) ^ edge.fingerprint) & ones(WIDTH as u64) == 0
}

#[inline(always)]
fn cells<W: StoredWord>(words: &[W], edge: &Edge, width: u32) -> u64 {
    let [first, second, third] = edge.slots.map(|slot| cell(words, slot, width));
    first ^ second ^ third
}

/// Returns the sum of the bytes at three slots.
#[inline(always)]
fn bytes<W: StoredWord>(words: &[W], edge: &Edge) -> u64 {
    let [first, second, third] = edge.slots.map(|slot| W::byte(words, index(slot)));
    (first ^ second ^ third).into()
}

/// Returns the sum of the 16 bits at three slots.
#[inline(always)]
fn quarters<W: StoredWord>(words: &[W], edge: &Edge) -> u64 {
    let [first, second, third] = edge.slots.map(|slot| W::quarter(words, index(slot)));
    (first ^ second ^ third).into()
}

/// Returns the sum of the 32 bits at three slots.
#[inline(always)]
fn halves<W: StoredWord>(words: &[W], edge: &Edge) -> u64 {
    let [first, second, third] = edge.slots.map(|slot| W::half(words, index(slot)));
    (first ^ second ^ third).into()
}

/// Greatest width of a cell that 64 bits from any byte on hold.
const MAX_UNALIGNED: u32 = 57;

/// Returns a cell, and above its width any bits.
#[inline(always)]
pub(crate) fn cell<W: StoredWord>(words: &[W], slot: u64, width: u32) -> u64 {
    let bit = slot * u64::from(width);
    match W::unaligned(words, index(bit / 8)) {
        Some(bits) if width <= MAX_UNALIGNED => bits >> (bit % 8),
        _ => cell_of_words(words, bit),
    }
}

/// Reads bits at the end of the words, wide cells, and any on machines on which bytes do not lie in order.
#[inline(never)]
fn cell_of_words<W: StoredWord>(words: &[W], bit: u64) -> u64 {
    bits_from(words, 0, bit)
}

/// Flips bits of a cell.
#[inline(always)]
pub(crate) fn flip(words: &mut [u64], slot: u64, width: u32, bits: u64) {
    let bit = slot * u64::from(width);
    let (word, shift) = (index(bit / 64), bit % 64);
    words[word] ^= bits << shift;
    // In two steps, as a shift by 64 is none.
    let high = (bits >> 1) >> (63 - shift);
    if high != 0 {
        words[word + 1] ^= high;
    }
}

/// Sets the cell of each taken slot, so that the sum of the cells of a key is `bits` of its edge and its own slot.
pub(crate) fn assign(
    cells: &mut [u64],
    width: u32,
    reversed: impl Iterator<Item = (Edge, u64)>,
    bits: impl Fn(&Edge, u64) -> u64,
) {
    // Compiled twice, once for the most common width.
    match width {
        8 => assign_each(cells, 8, reversed, bits),
        _ => assign_each(cells, width, reversed, bits),
    }
}

#[inline(always)]
fn assign_each(
    cells: &mut [u64],
    width: u32,
    reversed: impl Iterator<Item = (Edge, u64)>,
    bits: impl Fn(&Edge, u64) -> u64,
) {
    for (edge, slot) in reversed {
        // The cell of the slot is still 0, so the sum is that of the others.
        let value = (sum(cells, &edge, width) ^ bits(&edge, slot)) & ones(width.into());
        flip(cells, slot, width, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pds_testkit::keys;

    #[test]
    fn the_short_paths_find_the_cells_of_every_shard() {
        for (keys, width) in [(1_000, 8), (20_000_000, 8), (9_000_000, 16), (30_000_000, 32)] {
            let layout =
                FuseTable::layout(TableParams { keys, width, growth: 0, rest: 0 }).unwrap();
            let mut words = Words::zeroed(layout.len()).unwrap();
            let salts = words[index(layout.salts_at())..].iter_mut();
            salts.zip((0..MAX_SEEDS).cycle()).for_each(|(word, seed)| *word = salt(seed));
            let table = layout.open(words);
            // The last hash of each shard but the last one, and the first of the next.
            let ends = (1..table.shards).map(|shard| u64::MAX / table.shards * shard);
            let ends = ends.flat_map(|end| (0..table.shards).map(move |more| end + more));
            for hash in keys::random(1).take(10_000).chain(ends).chain([0, u64::MAX]) {
                let Place { start, edge } = table.place(table.words(), hash).unwrap();
                let first = start as u64 * 64 / u64::from(width);
                let plain = table.plain_edge(table.words(), hash);
                let expected = (edge.slots.map(|slot| first + slot), edge.fingerprint);
                assert_eq!((plain.slots, plain.fingerprint), expected, "{keys} keys: {hash:x}");
            }
        }
    }
}
