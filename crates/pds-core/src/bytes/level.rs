//! The envelopes that are open while one is written or read.

use xxhash_rust::xxh3::Xxh3;

use super::header::ALIGNMENT;

/// How many envelopes can lie around another one.
pub const MAX_NESTING: usize = 4;

/// A payload that is being written or read.
pub(super) struct Level {
    /// Checksum of the payload so far.
    pub(super) sum: Xxh3,
    /// Offset of its first byte.
    pub(super) start: u64,
    /// Offset behind its last byte.
    pub(super) end: u64,
}

/// The payloads that are being written or read, from the outermost on. A byte belongs to all of them.
#[derive(Default)]
pub(super) struct Levels {
    // On the stack: bytes that are refused allocate nothing.
    levels: [Option<Level>; MAX_NESTING + 1],
    open: usize,
}

impl Levels {
    /// Those of an envelope with this many around it, which are not read along.
    pub(super) fn nested(depth: usize) -> Self {
        Self { open: depth, ..Self::default() }
    }

    /// Returns whether no other payload can be opened inside of these.
    pub(super) const fn is_full(&self) -> bool {
        self.open > MAX_NESTING
    }

    /// Opens a payload from `start` to `end`, inside of the others.
    pub(super) fn push(&mut self, start: u64, end: u64) {
        self.levels[self.open] = Some(Level { sum: Xxh3::new(), start, end });
        self.open += 1;
    }

    /// Closes the innermost payload. Returns its checksum.
    pub(super) fn pop(&mut self) -> u64 {
        self.open -= 1;
        self.levels[self.open].take().map_or(0, |level| level.sum.digest())
    }

    pub(super) fn outermost(&self) -> Option<&Level> {
        self.levels[0].as_ref()
    }

    pub(super) fn innermost(&self) -> Option<&Level> {
        self.open.checked_sub(1).and_then(|last| self.levels[last].as_ref())
    }

    /// Adds bytes to the checksums.
    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.levels.iter_mut().flatten().for_each(|level| level.sum.update(bytes));
    }
}

/// How many zeros stand in front of a nested envelope, this far into the payload that holds it.
#[expect(clippy::cast_possible_truncation, reason = "below the alignment")]
pub(super) const fn padding_at(position: u64) -> usize {
    (position.wrapping_neg() % ALIGNMENT as u64) as usize
}
