//! Places of the counters of a key.

use core::mem;

use pds_core::internal::{Lane, reduced, reduced_in_row, reduced_in_row_mut, reduced_mut};

use crate::rows::RowHash;

/// The places of a key's counters, row by row.
pub(crate) struct Cells {
    rows: RowHash,
    width: u64,
    row_start: u64,
    end: u64,
}

impl Cells {
    /// Starts at the first row. There are `counters` in all, in rows of `width`.
    #[inline]
    pub(crate) const fn new(width: u64, counters: u64, hash: u64) -> Self {
        Self { rows: RowHash::new(hash), width, row_start: 0, end: counters }
    }
}

impl Iterator for Cells {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.row_start == self.end {
            return None;
        }
        let cell = self.row_start + self.rows.next_column(self.width);
        self.row_start += self.width;
        Some(index(cell))
    }
}

/// Number of rows that are read at once. Most sketches have four or five rows.
// Only the first rows are: in a loop of fours the compiler branches on which counter is the least. Mispredictions then
// double the time.
const AT_ONCE: usize = 4;

/// Folds the counters of a key, one from each row of `width` counters.
// `Cells` compares each place with the end, and takes a tenth to a fifth more time: in cache the number of instructions
// matters.
#[inline]
pub(crate) fn fold_counters<C, T>(
    mut rows: &[C],
    width: u64,
    hash: u64,
    mut value: T,
    mut with: impl FnMut(T, &C) -> T,
) -> T {
    let (mut hash, width) = (RowHash::new(hash), index(width));
    if let Some((first, others)) = rows.split_at_checked(AT_ONCE.saturating_mul(width)) {
        for row in 0..AT_ONCE {
            let place = hash.next_unreduced();
            value = with(value, reduced_in_row::<AT_ONCE, C>(first, width, row, place));
        }
        rows = others;
    }
    while let Some((row, others)) = rows.split_at_checked(width) {
        value = with(value, reduced(row, hash.next_unreduced()));
        rows = others;
    }
    value
}

/// Folds the counters of a key as [`fold_counters`] does. `with` may change them.
#[inline]
pub(crate) fn fold_counters_mut<C, T>(
    mut rows: &mut [C],
    width: u64,
    hash: u64,
    mut value: T,
    mut with: impl FnMut(T, &mut C) -> T,
) -> T {
    let (mut hash, width) = (RowHash::new(hash), index(width));
    let at_once = AT_ONCE.saturating_mul(width);
    if rows.len() >= at_once {
        let (first, others) = mem::take(&mut rows).split_at_mut(at_once);
        for row in 0..AT_ONCE {
            let place = hash.next_unreduced();
            value = with(value, reduced_in_row_mut::<AT_ONCE, C>(first, width, row, place));
        }
        rows = others;
    }
    while rows.len() >= width {
        let (row, others) = mem::take(&mut rows).split_at_mut(width);
        value = with(value, reduced_mut(row, hash.next_unreduced()));
        rows = others;
    }
    value
}

/// Narrows the place of a counter. It fits, because the counters are in memory.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "below the number of counters in memory")]
#[must_use]
pub const fn index(cell: u64) -> usize {
    cell as usize
}

/// Returns the number of words that hold `counters` counters.
#[must_use]
pub const fn words_for<C: Lane>(counters: u64) -> u64 {
    counters.div_ceil(C::PER_WORD as u64)
}
