//! What memory allows: random lines of an array, read with prefetches and nothing else.

use pds::AllocError;
use pds::hash::reduce;
use pds::memory::{LINE_BYTES, Words, prefetch};

use crate::contest::Contender;

/// How many reads ahead a line is asked for: some more than a core can have under way.
const AHEAD: usize = 32;

/// An array to be read at one random line a key.
///
/// No structure that needs one line a key can be faster, and one that needs `k` lines takes `k` times
/// as long.
#[derive(Debug)]
pub struct Floor(Words);

impl Floor {
    /// Creates an array of `bytes` bytes, on huge pages where that is what it is compared with.
    ///
    /// # Errors
    /// [`AllocError`] when memory is refused.
    pub fn new(bytes: u64, huge_pages: bool) -> Result<Self, AllocError> {
        let mut words = Words::zeroed(bytes / 8)?;
        if huge_pages {
            words.advise_huge_pages();
        }
        // Pages that were never written are all the same page of zeros, which is always in cache.
        words.fill(1);
        Ok(Self(words))
    }
}

impl Contender for Floor {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a line's number is below a slice's length"
    )]
    fn run(&mut self, keys: &[u64]) -> u64 {
        let (lines, _) = self.0.as_chunks::<{ LINE_BYTES / 8 }>();
        let line = |key| reduce(key, lines.len() as u64) as usize;
        let mut sum = 0;
        for (index, &key) in keys.iter().enumerate() {
            if let Some(&later) = keys.get(index + AHEAD) {
                prefetch(lines, line(later));
            }
            sum += lines[line(key)][0];
        }
        sum
    }
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
}
