//! The numbers of the sets that contain a key.

use core::fmt;
use core::iter::FusedIterator;

use pds_core::storage::{WordSource, Words};

use super::rows::{GROUP, Rows};

/// The numbers of the sets that may contain a key, in ascending order. Made by
/// [`FilterBank::sets_with`](crate::FilterBank::sets_with).
#[must_use]
#[derive(Clone)]
pub struct Sets<'a, W = Words> {
    rows: &'a Rows<W>,
    num_hashes: u32,
    hash: u64,
    /// The answers of the group of `word` that were not given yet.
    left: [u64; GROUP],
    /// The index of the word of a row that gives the next answer.
    word: usize,
}

impl<'a, W: WordSource> Sets<'a, W> {
    pub(super) fn new(rows: &'a Rows<W>, num_hashes: u32, hash: u64) -> Self {
        let mut sets = Self { rows, num_hashes, hash, left: [0; GROUP], word: 0 };
        if rows.num_sets() > 0 {
            sets.ask();
        }
        sets
    }

    fn ask(&mut self) {
        self.left = self.rows.matches(self.word / GROUP, self.num_hashes, self.hash);
    }
}

impl<W: WordSource> Iterator for Sets<'_, W> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        loop {
            let left = &mut self.left[self.word % GROUP];
            if *left != 0 {
                let bit = left.trailing_zeros() as usize;
                *left &= *left - 1;
                return Some(64 * self.word + bit);
            }
            if self.word + 1 >= self.rows.width() {
                return None;
            }
            self.word += 1;
            if self.word.is_multiple_of(GROUP) {
                self.ask();
            }
        }
    }
}

impl<W: WordSource> FusedIterator for Sets<'_, W> {}

impl<W: WordSource> fmt::Debug for Sets<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left = Self { left: self.left, ..*self };
        f.debug_list().entries(left).finish()
    }
}
