//! A matrix of bits: a row per position of a filter, a column per set.

use pds_core::error::AllocError;
use pds_core::internal::StoredWord;
use pds_core::storage::{WordSource, Words};

use crate::DoubleHash;

/// Words per row of a group: 512 sets, one cache line.
// All words of a group lie together, so that new sets move the rows of the last group only. In groups of one word, which
// would never move, a lookup would read a line per 64 sets.
pub(super) const GROUP: usize = 8;

/// Rows of bits, in groups of up to 512 columns. The rows of the last group have the words that its columns need.
///
/// Invariants of words in memory: the bits beyond the last column are clear, and so are words that no row has.
#[derive(Clone)]
pub(crate) struct Rows<W> {
    words: W,
    num_rows: u64,
    num_sets: usize,
}

/// Where the rows of a group are: the index of the first word, and words per row.
#[derive(Clone, Copy)]
struct Group {
    start: usize,
    width: usize,
}

/// A column: the index of its word in row 0, words from row to row, and the bit in its word.
#[derive(Clone, Copy)]
struct Column {
    first: usize,
    width: usize,
    bit: usize,
}

impl Column {
    const fn word(self, row: usize) -> usize {
        self.first + row * self.width
    }
}

// Rows fit in memory if there is a column.
#[expect(
    clippy::cast_possible_truncation,
    reason = "rows are counted where there are columns only"
)]
impl<W> Rows<W> {
    /// Returns the rows that these words are. There must be [`num_words`](Self::num_words) of them or more.
    pub(super) const fn from_words(words: W, num_rows: u64, num_sets: usize) -> Self {
        Self { words, num_rows, num_sets }
    }

    pub(super) const fn storage(&self) -> &W {
        &self.words
    }

    pub(super) const fn num_sets(&self) -> usize {
        self.num_sets
    }

    /// Returns the number of words per row, in all groups together.
    pub(super) const fn width(&self) -> usize {
        self.num_sets.div_ceil(64)
    }

    /// Returns the number of words that the rows have.
    pub(super) const fn num_words(&self) -> usize {
        match self.width() {
            0 => 0,
            width => self.num_rows as usize * width,
        }
    }

    const fn group(&self, group: usize) -> Group {
        let left = self.width() - group * GROUP;
        let width = if left < GROUP { left } else { GROUP };
        Group { start: group * GROUP * self.num_rows as usize, width }
    }

    const fn column(&self, set: usize) -> Column {
        let (group, word) = (set / 64 / GROUP, set / 64 % GROUP);
        let Group { start, width } = self.group(group);
        Column { first: start + word, width, bit: set % 64 }
    }

    const fn rows(&self) -> usize {
        self.num_rows as usize
    }

    /// Returns the bits of the last word of a row that columns have. All of them if there is no column.
    pub(super) const fn last_mask(&self) -> u64 {
        u64::MAX >> (self.num_sets.wrapping_neg() % 64)
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "rows are counted where there are columns only"
)]
impl<W: WordSource> Rows<W> {
    /// Returns the columns of a group that have the bits of all rows of a key.
    #[inline]
    pub(super) fn matches(&self, group: usize, num_hashes: u32, hash: u64) -> [u64; GROUP] {
        let Group { start, width } = self.group(group);
        let words = &self.words.as_words()[start..start + self.rows() * width];
        let mut probes = DoubleHash::new(hash);
        let mut all = [0; GROUP];
        all[..width].fill(u64::MAX);
        for _ in 0..num_hashes {
            let row = &words[probes.next_position(self.num_rows) as usize * width..][..width];
            // Eight words take a few instructions, because their number is known.
            match row.first_chunk::<GROUP>() {
                Some(row) => and(&mut all, row),
                None => and(&mut all[..width], row),
            }
        }
        if group == (self.width() - 1) / GROUP {
            // In bytes that were not verified, unused bits may be set.
            all[width - 1] &= self.last_mask();
        }
        all
    }

    /// Returns whether a column has the bits of all rows of a key.
    #[inline]
    pub(super) fn contains(&self, set: usize, num_hashes: u32, hash: u64) -> bool {
        let (column, words) = (self.column(set), self.words.as_words());
        let mut probes = DoubleHash::new(hash);
        (0..num_hashes).all(|_| {
            let row = probes.next_position(self.num_rows) as usize;
            words[column.word(row)].value() >> column.bit & 1 != 0
        })
    }

    /// Returns a column, 64 rows per word.
    pub(super) fn bits_of(&self, set: usize) -> Result<Words, AllocError> {
        let (column, words) = (self.column(set), self.words.as_words());
        let mut bits = Words::zeroed(self.num_rows.div_ceil(64))?;
        for row in 0..self.rows() {
            bits[row / 64] |= (words[column.word(row)].value() >> column.bit & 1) << (row % 64);
        }
        Ok(bits)
    }

    /// Returns the first row with a bit beyond the last column: the index of its word, and the word.
    pub(super) fn padding(&self) -> Option<(usize, u64)> {
        let last = self.column(self.num_sets.checked_sub(1)?);
        let words = self.words.as_words();
        let word = |row| (last.word(row), words[last.word(row)].value());
        (0..self.rows()).map(word).find(|&(_, word)| word & !self.last_mask() != 0)
    }
}

#[inline(always)]
fn and<T: StoredWord>(all: &mut [u64], row: &[T]) {
    all.iter_mut().zip(row).for_each(|(all, word)| *all &= word.value());
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "rows are counted where there are columns only"
)]
impl Rows<Words> {
    pub(super) fn new(num_rows: u64) -> Self {
        Self { words: Words::empty(), num_rows, num_sets: 0 }
    }

    /// Sets the bits of a key in a column. Returns whether one of them was clear.
    #[inline]
    pub(super) fn insert(&mut self, set: usize, num_hashes: u32, hash: u64) -> bool {
        let column = self.column(set);
        let mut probes = DoubleHash::new(hash);
        (0..num_hashes).fold(false, |new, _| {
            let row = probes.next_position(self.num_rows) as usize;
            let word = &mut self.words[column.word(row)];
            let was_clear = *word >> column.bit & 1 == 0;
            *word |= 1 << column.bit;
            new | was_clear
        })
    }

    /// Adds clear columns.
    pub(super) fn extend(&mut self, sets: usize) -> Result<(), AllocError> {
        let old = self.width();
        let num_sets = self.num_sets.saturating_add(sets);
        self.reserve(num_sets.div_ceil(64))?;
        self.num_sets = num_sets;
        if !old.is_multiple_of(GROUP) {
            let Group { start, width } = self.group(old / GROUP);
            self.widen(start, old % GROUP, width);
        }
        Ok(())
    }

    /// Makes room for rows of `width` words.
    // Memory that was never written costs address space only, so twice the room costs nothing at first.
    fn reserve(&mut self, width: usize) -> Result<(), AllocError> {
        let refused = AllocError { bytes: u64::MAX };
        let needed = self.num_rows.checked_mul(width as u64).ok_or(refused)?;
        let (old, used) = (self.words.len() as u64, self.num_words());
        if needed > old {
            let doubled = Words::zeroed(needed.max(2 * old));
            let mut words = doubled.or_else(|_| Words::zeroed(needed))?;
            words[..used].copy_from_slice(&self.words[..used]);
            self.words = words;
        }
        Ok(())
    }

    /// Moves the rows of the last group apart, from `old` words each to `new`. The words behind them are clear.
    fn widen(&mut self, start: usize, old: usize, new: usize) {
        if old == new {
            return;
        }
        for row in (0..self.rows()).rev() {
            let (from, to) = (start + row * old, start + row * new);
            self.words.copy_within(from..from + old, to);
            self.words[to + old..to + new].fill(0);
        }
    }

    /// Moves the rows of the last group together, from `old` words each to `old - 1`. The last word of each is clear.
    fn narrow(&mut self, start: usize, old: usize) {
        let (new, rows) = (old - 1, self.rows());
        for row in 0..rows {
            let from = start + row * old;
            self.words.copy_within(from..from + new, start + row * new);
        }
        self.words[start + rows * new..start + rows * old].fill(0);
    }

    /// Writes filters into clear columns from `first` on, which must lie in one word.
    pub(super) fn write<T: StoredWord>(&mut self, first: usize, filters: &[&[T]]) {
        debug_assert!(first % 64 + filters.len() <= 64 && first + filters.len() <= self.num_sets);
        let column = self.column(first);
        for (block, rows) in (0..self.rows()).step_by(64).enumerate() {
            let mut bits = [0; 64];
            for (bits, filter) in bits[column.bit..].iter_mut().zip(filters) {
                *bits = filter[block].value();
            }
            transpose(&mut bits);
            for (row, bits) in (rows..self.rows()).zip(bits) {
                self.words[column.word(row)] |= bits;
            }
        }
    }

    /// Removes a column. The last one takes its place.
    pub(super) fn swap_remove(&mut self, set: usize) {
        let last_set = self.num_sets - 1;
        let (column, last) = (self.column(set), self.column(last_set));
        for row in 0..self.rows() {
            let bit = self.words[last.word(row)] >> last.bit & 1;
            let word = &mut self.words[column.word(row)];
            *word = *word & !(1 << column.bit) | bit << column.bit;
            self.words[last.word(row)] &= !(1 << last.bit);
        }
        if last.bit == 0 {
            let Group { start, width } = self.group(last_set / 64 / GROUP);
            self.narrow(start, width);
        }
        self.num_sets = last_set;
    }

    /// Removes all columns.
    pub(super) fn clear(&mut self) {
        let used = self.num_words();
        self.words[..used].fill(0);
        self.num_sets = 0;
    }

    pub(super) fn try_clone(&self) -> Result<Self, AllocError> {
        let used = &self.words[..self.num_words()];
        let mut words = Words::zeroed(used.len() as u64)?;
        words.copy_from_slice(used);
        Ok(Self { words, ..*self })
    }
}

impl PartialEq for Rows<Words> {
    fn eq(&self, other: &Self) -> bool {
        (self.num_rows, self.num_sets) == (other.num_rows, other.num_sets)
            && self.words[..self.num_words()] == other.words[..other.num_words()]
    }
}

/// Exchanges rows and columns of 64 by 64 bits.
// In halves: the upper right quarter changes places with the lower left one, then so do the quarters of each quarter.
fn transpose(bits: &mut [u64; 64]) {
    let (mut half, mut lower) = (32, u64::MAX >> 32);
    while half > 0 {
        for i in (0..64).filter(|i| i & half == 0) {
            let differing = (bits[i] >> half ^ bits[i + half]) & lower;
            bits[i] ^= differing << half;
            bits[i + half] ^= differing;
        }
        half /= 2;
        lower ^= lower << half;
    }
}
