//! Stack of envelopes that are open during writing or reading.

use xxhash_rust::xxh3::Xxh3;

use super::header::ALIGNMENT;

/// Greatest number of envelopes around another one.
pub const MAX_NESTING: usize = 4;

/// Payload that is being written or read.
pub(super) struct Level {
    /// Checksum of the payload so far.
    pub(super) sum: Xxh3,
    /// Offset of the first byte.
    pub(super) start: u64,
    /// Offset after the last byte.
    pub(super) end: u64,
}

/// Payloads that are being written or read, from the outermost to the innermost. Each byte belongs to all of them.
#[derive(Default)]
pub(super) struct Levels {
    // An array, not a `Vec`: decoding of bytes that are refused must not allocate.
    levels: [Option<Level>; MAX_NESTING + 1],
    open: usize,
}

impl Levels {
    /// Creates the levels of an envelope with `depth` others around it, which are not read.
    pub(super) fn nested(depth: usize) -> Self {
        Self { open: depth, ..Self::default() }
    }

    /// Returns whether no further payload can be opened.
    pub(super) const fn is_full(&self) -> bool {
        self.open > MAX_NESTING
    }

    /// Opens a payload from `start` to `end` within the others.
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

/// Returns the number of zeros before a nested envelope at this position of the payload.
#[expect(clippy::cast_possible_truncation, reason = "below the alignment")]
pub(super) const fn padding_at(position: u64) -> usize {
    (position.wrapping_neg() % ALIGNMENT as u64) as usize
}
