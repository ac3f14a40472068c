//! The limit of memory: random lines of an array, read or changed with prefetches, without other work.
//!
//! The memory and the prefetch are those of the structures (`pds_core::internal`). The floor then differs from them
//! only in the work per line.

use pds::error::AllocError;
use pds::hash::reduce;
use pds_core::internal::{LINE_BYTES, Words, prefetch};

use crate::contest::Contender;

/// The prefetch distance in reads: slightly more than a core can have in flight.
const AHEAD: usize = 32;

/// An array that is read at one random line per key.
///
/// No structure that needs one line per key can be faster. A structure that needs `k` lines takes `k` times as long.
#[derive(Debug)]
pub struct Floor {
    words: Words,
    writes: bool,
}

impl Floor {
    /// Creates an array of `bytes` bytes, on huge pages if the compared structure is.
    ///
    /// # Errors
    /// [`AllocError`] if memory is refused.
    pub fn new(bytes: u64, huge_pages: bool) -> Result<Self, AllocError> {
        let mut words = Words::zeroed(bytes / 8)?;
        if huge_pages {
            words.advise_huge_pages();
        }
        // Pages that were never written all map to the same page of zeros, which is always in cache.
        words.fill(1);
        Ok(Self { words, writes: false })
    }

    /// Sets whether lines are changed as well as read. Use the value of the compared operation.
    pub const fn set_writes(&mut self, writes: bool) {
        self.writes = writes;
    }
}

impl Contender for Floor {
    fn run(&mut self, keys: &[u64]) -> u64 {
        let (lines, _) = self.words.as_chunks_mut::<LINE_WORDS>();
        if self.writes {
            for_each_line(lines, keys, |line, key| {
                line[0] |= key;
                line[0]
            })
        } else {
            for_each_line(lines, keys, |line, _| line[0])
        }
    }
}

/// Words per line.
const LINE_WORDS: usize = LINE_BYTES / 8;

#[expect(clippy::cast_possible_truncation, reason = "a line's number is below a slice's length")]
fn for_each_line(
    lines: &mut [[u64; LINE_WORDS]],
    keys: &[u64],
    mut touch: impl FnMut(&mut [u64; LINE_WORDS], u64) -> u64,
) -> u64 {
    let len = lines.len() as u64;
    let line = |key| reduce(key, len) as usize;
    let mut sum = 0_u64;
    for (index, &key) in keys.iter().enumerate() {
        if let Some(&later) = keys.get(index + AHEAD) {
            prefetch(lines, line(later));
        }
        sum = sum.wrapping_add(touch(&mut lines[line(key)], key));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::key;

    #[test]
    fn every_key_reads_one_line() {
        let keys: Vec<u64> = (0..1_000).map(key).collect();
        for bytes in [64, 4096, 100_000] {
            assert_eq!(Floor::new(bytes, false).expect("memory").run(&keys), 1_000);
        }
    }

    #[test]
    fn a_floor_that_writes_leaves_what_it_wrote() {
        let mut floor = Floor::new(64, false).expect("memory");
        floor.set_writes(true);
        assert_eq!(floor.run(&[2]), 3);
        floor.set_writes(false);
        assert_eq!(floor.run(&[4]), 3);
    }
}
