//! The bits: rows with one column for each generation, packed into words.

use core::ops::Range;

use bloom_core::DoubleHash;
use pds_core::error::AllocError;
use pds_core::internal::{
    StoredWord, Visitor, prefetch_reduced, reduced, reduced_mut, visit_chunks,
};
use pds_core::storage::{WordSource, Words};
use pds_params::window::Grid;

/// Number of words that a lookup reads before it branches on their bits, and that a batch prefetches.
// With 15 columns at a fill of 0.35, an absent key is still in some column with a probability of 0.64 after three words, 0.22
// after four, and 0.08 after five.
const LIKELY_WORDS: u32 = 4;

/// The most words (512 KiB) that stay in the cache, where prefetching only costs instructions.
const IN_CACHE: usize = 1 << 16;

/// Rows of bits, of which one column is written and some are read.
#[derive(Clone, Debug)]
pub struct Columns<W = Words> {
    words: W,
    columns: u32,
    layout: Layout,
    hashes: u32,
    /// The columns that answer, as bits of the first row of a word.
    live: u64,
    /// The column that takes keys, as a bit of the first row of a word.
    current: u64,
}

impl Columns {
    pub(crate) fn zeroed(grid: &Grid) -> Result<Self, AllocError> {
        Ok(Self::new(Words::zeroed(grid.num_words())?, grid))
    }

    pub(crate) fn try_clone(&self) -> Result<Self, AllocError> {
        Ok(Self { words: self.words.try_clone()?, ..*self })
    }

    /// Sets the bits of a hash in the current column. Returns whether no live column had all of them.
    // The numbers of hashes for the rates 1 % and 0.1 % are constants, and their loops are unrolled.
    #[inline]
    pub(crate) fn insert(&mut self, hash: u64) -> bool {
        match self.hashes {
            7 => self.insert_with(7, hash),
            10 => self.insert_with(10, hash),
            hashes => self.insert_with(hashes, hash),
        }
    }

    // Equal places do no harm: only the current column is written, and each place is read before it is.
    #[inline(always)]
    fn insert_with(&mut self, hashes: u32, hash: u64) -> bool {
        let layout = self.layout;
        let (mut columns, current, words) = (self.live, self.current, &mut *self.words);
        let (len, mut probes) = (words.len(), DoubleHash::new(hash));
        for _ in 0..hashes {
            let x = probes.next_unreduced();
            let row = layout.row(x, len);
            let word = reduced_mut(words, x);
            columns &= *word >> row;
            *word |= current << row;
        }
        columns == 0
    }

    /// Prefetches all words of a hash.
    #[inline]
    pub(crate) fn prefetch(&self, hash: u64) {
        prefetch_first(&self.words, hash, self.hashes);
    }

    /// Returns whether prefetching pays.
    pub(crate) fn exceeds_cache(&self) -> bool {
        self.words.len() > IN_CACHE
    }

    /// Clears columns, as bits of a word, in a range of words.
    #[inline]
    pub(crate) fn clear(&mut self, columns: u64, words: Range<usize>) {
        self.words[words].iter_mut().for_each(|word| *word &= !columns);
    }

    pub(crate) fn clear_all(&mut self) {
        self.words.fill(0);
    }
}

impl<W: WordSource> Columns<W> {
    /// Creates the bits, with the first column as the current one, and all live.
    pub(crate) fn new(words: W, grid: &Grid) -> Self {
        let (columns, hashes) = (grid.columns(), grid.num_hashes());
        let layout = Layout { log_rows: grid.rows_per_word().ilog2() };
        let mut columns = Self { words, columns, layout, hashes, live: 0, current: 0 };
        columns.set_current(0, None);
        columns
    }

    pub(crate) const fn words(&self) -> &W {
        &self.words
    }

    /// Makes a column the current one. All columns answer but `spare`.
    pub(crate) fn set_current(&mut self, column: u32, spare: Option<u32>) {
        self.current = self.layout.bit(column);
        let live = (0..self.columns).filter(|&column| Some(column) != spare);
        self.live = live.fold(0, |bits, column| bits | self.layout.bit(column));
    }

    /// Returns all bits of a column in a word.
    pub(crate) const fn in_word(&self, column: u32) -> u64 {
        self.layout.first_column() << self.layout.shift(column)
    }

    /// Returns the bits of a word that belong to no column.
    pub(crate) fn unused(&self) -> u64 {
        (0..self.columns).fold(u64::MAX, |bits, column| bits & !self.in_word(column))
    }

    #[inline]
    pub(crate) fn contains(&self, hash: u64) -> bool {
        self.contains_in(self.words.as_words(), hash)
    }

    #[inline(always)]
    fn contains_in(&self, words: &[W::Word], hash: u64) -> bool {
        match self.hashes {
            7 => self.contains_with(words, 7, hash),
            10 => self.contains_with(words, 10, hash),
            hashes => self.contains_with(words, hashes, hash),
        }
    }

    #[inline(always)]
    fn contains_with(&self, words: &[W::Word], hashes: u32, hash: u64) -> bool {
        let layout = self.layout;
        let (mut columns, mut probes) = (self.live, DoubleHash::new(hash));
        for probe in 1..=hashes {
            let x = probes.next_unreduced();
            columns &= reduced(words, x).value() >> layout.row(x, words.len());
            if probe >= LIKELY_WORDS && columns == 0 {
                return false;
            }
        }
        columns != 0
    }

    pub(crate) fn contains_each<K>(&self, keys: &[K], hash: impl Fn(&K) -> u64, out: &mut [bool]) {
        let words = self.words.as_words();
        if words.len() > IN_CACHE {
            visit_chunks(keys, hash, Lookups { columns: self, words, out });
        } else {
            for (key, answer) in keys.iter().zip(out) {
                *answer = self.contains_in(words, hash(key));
            }
        }
    }

    /// Counts the set bits of each live column.
    pub(crate) fn ones(&self) -> impl Iterator<Item = u64> {
        let live = (0..self.columns).filter(|&column| self.live & self.in_word(column) != 0);
        live.map(|column| {
            let bits = self.in_word(column);
            self.words.values().map(|word| u64::from((word & bits).count_ones())).sum()
        })
    }
}

/// Prefetches the words of the first positions of a hash.
#[inline(always)]
fn prefetch_first<T>(words: &[T], hash: u64, positions: u32) {
    let mut probes = DoubleHash::new(hash);
    for _ in 0..positions {
        prefetch_reduced(words, probes.next_unreduced());
    }
}

/// How columns lie in a word: each has one bit per row, side by side.
// A row is then a shift of the word, after which all words have a column at the same bit.
#[derive(Clone, Copy, Debug)]
struct Layout {
    /// Logarithm of the number of rows per word.
    log_rows: u32,
}

impl Layout {
    /// Returns the row in its word of a position, which is a fraction of 2^64.
    // Of the product with the number of words, the upper half is the word. The lower half is the place in the word as a
    // fraction, so its upper bits are the row.
    #[inline(always)]
    const fn row(self, x: u64, words: usize) -> u64 {
        x.wrapping_mul(words as u64) >> 1 >> (63 - self.log_rows)
    }

    const fn shift(self, column: u32) -> u32 {
        column << self.log_rows
    }

    /// Returns the bit of a column in the first row.
    const fn bit(self, column: u32) -> u64 {
        1 << self.shift(column)
    }

    /// Returns the bits of the first column.
    const fn first_column(self) -> u64 {
        u64::MAX >> (64 - (1 << self.log_rows))
    }
}

/// Lookups of a batch.
struct Lookups<'a, W: WordSource> {
    columns: &'a Columns<W>,
    words: &'a [W::Word],
    out: &'a mut [bool],
}

impl<W: WordSource> Visitor for Lookups<'_, W> {
    type Place = u64;

    #[inline(always)]
    fn prefetch(&self, hash: u64) -> u64 {
        prefetch_first(self.words, hash, LIKELY_WORDS.min(self.columns.hashes));
        hash
    }

    #[inline(always)]
    fn visit(&mut self, index: usize, hash: u64) {
        self.out[index] = self.columns.contains_in(self.words, hash);
    }

    #[inline(always)]
    fn end(&mut self, len: usize) {
        let out = core::mem::take(&mut self.out);
        self.out = &mut out[len..];
    }
}
