//! Where a key's counters are.

use pds_core::internal::Lane;

use crate::RowHash;

/// The places of a key's counters, row by row.
pub(crate) struct Cells {
    rows: RowHash,
    width: u64,
    row_start: u64,
    end: u64,
}

impl Cells {
    /// Starts at the first of the rows of `width` counters that make up `counters` in all.
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

/// Narrows the place of a counter; that it fits was proven when the memory was allocated.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "below the number of counters in memory")]
pub(crate) const fn index(cell: u64) -> usize {
    cell as usize
}

/// Returns how many words hold so many counters.
pub(crate) const fn words_for<C: Lane>(counters: u64) -> u64 {
    counters.div_ceil(C::PER_WORD as u64)
}
